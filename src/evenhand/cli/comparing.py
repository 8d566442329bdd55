"""The command that compares two runs or files of outcomes, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.options import json_option, number, pairs, print_json, sizes
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.analysis.comparison import Comparison


@click.command()
@click.argument("first", metavar="RUN_A|FILE", type=click.Path(path_type=Path))
@click.argument("second", metavar="RUN_B|FILE", type=click.Path(path_type=Path))
@click.option(
    "--model",
    "models",
    multiple=True,
    metavar="NAME",
    help="Twice: a respondent of the first and one of the second. [those of one name; else the only one of each]",
)
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="[DOMAIN/]FORMAT=SIZE",
    help="The largest change that counts as none, for files without a study; a run has its study's.",
)
@click.option("--reference", "references", multiple=True, metavar="FACTOR=LEVEL", help="A reference level, for files.")
@json_option
def compare(
    first: Path,
    second: Path,
    models: tuple[str, ...],
    margins: tuple[str, ...],
    references: tuple[str, ...],
    as_json: bool,
) -> int:
    """Say what changed from RUN_A to RUN_B (models, versions or prompts), on the slots that both answered."""
    from evenhand import study

    found = study.compare(
        first,
        second,
        respondents=_respondents(models),
        margins=sizes(margins, "--margin") or None,
        references=pairs(references, "--reference") or None,
    )
    if as_json:
        from evenhand.analysis.comparison import as_record

        print_json(as_record(found))
    else:
        _print(found)
    return 0


def _respondents(models: Sequence[str]) -> tuple[str, str] | None:
    if not models:
        return None
    if len(models) != 2:
        raise InputError(
            f"{len(models)} names were given",
            where="--model",
            mend="Give it twice, a respondent of the first and one of the second: --model A --model B",
        )
    return models[0], models[1]


def _print(found: Comparison) -> None:
    from rich.markup import escape

    from evenhand.cli.console import out, ruled, say

    table = ruled(
        "Changes of the planned contrasts, second less first, pooled over matched respondents",
        texts=("domain", "format", "group"),
        numbers=("first", "second", "change", "95% interval", "q", "slots"),
        caption="Above 0 the second favours the group more than the first did. Intervals: 95%. q: corrected within the "
        "family.\nSlots: with a score on both sides, on the first alone, on the second alone.",
    )
    table.add_column("status")
    table.add_column("what it says", overflow="fold")
    for row in found.changes:
        interval = f"{number(row.conf_low)} to {number(row.conf_high)}"
        numbers = (number(row.first), number(row.second), number(row.estimate), interval, number(row.q_value, ".3f"))
        slots = f"{row.shared:,}, {row.only_first:,}, {row.only_second:,}"
        texts = map(escape, (row.domain, row.format, row.group))
        table.add_row(*texts, *numbers, slots, row.status.replace("_", " "), escape(row.said))
    if found.changes:
        out().print(table)
    for line in (found.headline, *_scores(found), *(f"Note: {note}." for note in found.notes), _scope(found)):
        say(line)


def _scores(found: Comparison) -> list[str]:
    """By cell, whether everyone's score moved and how many slots were answered differently."""
    lines: list[str] = []
    moved = found.rows.filter(estimand="change_score").to_dicts()
    differ = found.rows.filter(estimand="answered_differently").to_dicts()
    for mean, share in zip(moved, differ, strict=True):
        if share["estimate"] is None:
            continue
        interval = f" [{number(mean['conf_low'])}, {number(mean['conf_high'])}]" if mean["conf_low"] is not None else ""
        mode = share["method"].rpartition("; ")[2]
        lines.append(
            f"{mean['domain']} {mean['format']} ({mode}): the mean score moved by {number(mean['estimate'])}"
            f"{interval}; {share['estimate']:.1%} of {share['n']:,} shared slots were answered differently."
        )
    return lines


def _scope(found: Comparison) -> str:
    who = "; ".join(a if a == b else f"{b} against {a}" for a, b in found.respondents)
    return (
        f"This speaks of {who}, on the shared slots alone: not of applications, wordings or formats that one side "
        "lacks, nor of whether either side is fair. Answers drawn anew differ by chance too; intervals allow for it."
    )
