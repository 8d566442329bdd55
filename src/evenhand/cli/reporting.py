"""The command that writes a report."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.options import json_option, print_json, run_argument


@click.command()
@run_argument
@click.option("--processes", type=click.IntRange(min=1), help="Processes. [one a core, where it is worth it]")
@click.option("--fresh", is_flag=True, help="Analyse again where RUN keeps an analysis of these very outcomes.")
@json_option
def report(folder: Path, processes: int | None, fresh: bool, as_json: bool) -> int:
    """Write the page, figures, tables and summary of RUN into RUN/report; RUN is analysed where it is not yet."""
    from evenhand import showing
    from evenhand.cli import progress
    from evenhand.cli.console import print_files
    from evenhand.report.words import headline, interim
    from evenhand.runs import open_run

    with progress.steps(quiet=as_json) as step:
        found, files = showing.report(
            open_run(folder),
            processes=processes,
            fresh=fresh,
            progress=step,
        )
    said, warnings = headline(found.statuses, found.scope.get("models", ())), interim(found.scope)
    if as_json:
        print_json(
            {"headline": said, "warnings": warnings, "page": str(files[0]), "files": [str(path) for path in files]}
        )
    else:
        for line in (said, *warnings):
            click.echo(line)
        print_files(files[:2])
    return 0


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("leaderboard"), show_default=True, help="The site."
)
@click.option(
    "--method",
    type=click.Choice(["released", "identified"]),
    default="released",
    show_default=True,
    help="How pillars are computed, as `evenhand score` has it.",
)
@click.option("--boot", type=click.IntRange(min=0), default=2000, show_default=True, help="Bootstrap replicates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@json_option
def leaderboard(runs: tuple[Path, ...], out: Path, method: str, boot: int, seed: int, as_json: bool) -> int:
    """Join runs of FairFund-Bench and the published models into a static site: a table, a page a model, its data."""
    from evenhand import showing
    from evenhand.cli import progress
    from evenhand.cli.console import print_files

    with progress.steps(quiet=as_json) as step:
        files = showing.leaderboard(runs, out, method=method, boot=boot, seed=seed, progress=step)
    if as_json:
        print_json({"page": str(files[0]), "files": [str(path) for path in files]})
    else:
        print_files(files[:1])
    return 0
