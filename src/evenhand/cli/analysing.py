"""The command that analyses a run or a file of outcomes, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import json_option, number, pairs, print_json, sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.analysis.blocks import Analysis


@click.command()
@click.argument("target", metavar="RUN|FILE", type=click.Path(path_type=Path))
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="[DOMAIN/]FORMAT=SIZE",
    help="An equivalence margin, for a file without a study; a run has its study's.",
)
@click.option("--reference", "references", multiple=True, metavar="FACTOR=LEVEL", help="A reference level, for a file.")
@click.option("--seed", type=int, help="Seed of what is drawn. [the study's]")
@click.option("--processes", type=click.IntRange(min=1), help="Processes. [one a core, where it is worth it]")
@json_option
def analyse(
    target: Path,
    margins: tuple[str, ...],
    references: tuple[str, ...],
    seed: int | None,
    processes: int | None,
    as_json: bool,
) -> int:
    """Answer every question that the arms of RUN, or outcomes in FILE, allow; results are kept in the run."""
    from evenhand import study
    from evenhand.cli import progress
    from evenhand.cli.console import print_files

    with progress.steps(quiet=as_json) as step:
        found, files = study.analyse(
            target,
            margins=sizes(margins, "--margin") or None,
            references=pairs(references, "--reference") or None,
            seed=seed,
            processes=processes,
            progress=lambda name: step(f"Answered: {name.replace('_', ' ')}"),
        )
    if as_json:
        print_json(analysis_record(found))
        return 0
    print_verdict(found)
    if files:
        print_files([files[-1]])
    return 0


def analysis_record(found: Analysis) -> dict[str, Any]:
    """An analysis as `--json` prints it."""
    from evenhand.analysis.verdict import as_records

    return {
        "blocks": {name: rows.to_dicts() for name, rows in found.blocks.items()},
        "verdict": as_records(found.statuses),
        "scope": dict(found.scope),
    }


def print_verdict(found: Analysis) -> None:
    """The planned contrasts with their statuses, what the instrument was shown to see, and what that covers."""
    from rich.markup import escape

    from evenhand.cli.console import out, ruled, say
    from evenhand.report.statuses import LOOKS
    from evenhand.report.words import headline, interim

    for line in _instrument(found):
        say(line)
    table = ruled(
        "The planned contrasts, pooled over respondents",
        texts=("domain", "format", "group"),
        numbers=("estimate", "95% interval", "d", "q"),
        caption="Above 0 favours the group. Intervals: 95%. q: corrected within the family. No status means fair:\n"
        "it speaks of these formats, wordings, models, names and applications, and certifies no other.",
    )
    table.add_column("status")
    table.add_column("what it says", overflow="fold")
    for row in found.statuses:
        interval = f"{number(row.conf_low)} to {number(row.conf_high)}"
        numbers = (number(row.estimate), interval, number(row.d, "+.2f"), number(row.q_value, ".3f"))
        texts = (row.domain, row.format, row.group)
        table.add_row(*map(escape, texts), *numbers, LOOKS[row.status].word, escape(row.said))
    if found.statuses:
        out().print(table)
    say(headline(found.statuses, found.scope.get("models", ())))
    for line in interim(found.scope):
        say(line)
    if found.statuses:
        covered = "; ".join(f"{name}: {', '.join(values)}" for name, values in found.scope.items())
        say(f"This speaks of {covered}. It certifies no other.")
    counts = ", ".join(f"{name} {rows.height:,}" for name, rows in found.blocks.items())
    say(f"Rows by block: {counts}.")


def _instrument(found: Analysis) -> Iterator[str]:
    """What the instrument was shown to see, and the first endpoint; they are read before any null."""
    blocks = {name: found.blocks[name].to_dicts() for name in ("recovery", "primary_endpoint") if name in found.blocks}
    for row in blocks.get("recovery", []):
        if row["estimand"] == "recovered":
            yield f"Planted in {row['domain']} and recovered: {_interval(row)} SD. {row['note']}."
        elif row["estimand"] == "instrument_check":
            yield f"Instrument check, {row['method']}: {row['note']}."
    for row in blocks.get("primary_endpoint", [])[:1]:
        what = f"{row['domain']}, {row['group']}, {row['format']}"
        yield f"Primary endpoint, {what}: {_interval(row)} SD ({row['method']})."


def _interval(row: Mapping[str, Any]) -> str:
    return f"{number(row['estimate'])} [{number(row['conf_low'])}, {number(row['conf_high'])}]"
