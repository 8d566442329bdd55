"""The command that writes a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from evenhand.cli.options import json_option, print_json, run_argument

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@run_argument
@click.option("--processes", type=click.IntRange(min=1), help="Processes. [one a core, where it is worth it]")
@click.option("--fresh", is_flag=True, help="Analyse again where RUN keeps an analysis of these very outcomes.")
@json_option
def report(folder: Path, processes: int | None, fresh: bool, as_json: bool) -> int:
    """Write the page, figures, tables and summary of RUN into RUN/report; RUN is analysed where it is not yet."""
    from evenhand import study
    from evenhand.cli import progress
    from evenhand.cli.console import print_files
    from evenhand.report.words import headline
    from evenhand.runs import open_run

    with progress.steps(quiet=as_json) as step:
        found, files = study.report(
            open_run(folder),
            processes=processes,
            fresh=fresh,
            progress=lambda name: step(f"Answered: {name.replace('_', ' ')}"),
        )
    said = headline(found.statuses)
    if as_json:
        print_json({"headline": said, "page": str(files[0]), "files": [str(path) for path in files]})
    else:
        click.echo(said)
        print_files(files[:2])
    return 0
