"""What commands print of designs: accounting, composition, baseline quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from evenhand.cli.console import out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evenhand.checking import Findings

LEAST_GAP = 0.005
"""Rating points below which a gap in baseline quality prints as 0.00."""


def print_accounting(accounting: Mapping[str, Any], folder: Path | None) -> None:
    """The units, slots, requests and observations of a study, by arm."""
    table = Table(title=f"{escape(accounting['study'])}: digest {accounting['digest'][:16]}")
    table.add_column("arm")
    table.add_column("tag")
    columns = ("units", "slots", "requests", "observations")
    for column in columns:
        table.add_column(column, justify="right")
    for arm in accounting["arms"]:
        table.add_row(escape(arm["arm"]), escape(arm["tag"]), *(f"{arm[column]:,}" for column in columns))
    table.add_section()
    for total in accounting["totals"]:
        table.add_row(escape(total["name"]), "", *(f"{total[column]:,}" for column in columns))
    if accounting["totals"]:
        table.add_section()
    table.add_row("total", "", *(f"{accounting[column]:,}" for column in columns))
    console = out()
    console.print(table)
    said = f"Built in {folder}" if folder else "Nothing was written: name a run directory with -o RUN."
    console.print(said, soft_wrap=True, markup=False)


def print_checks(findings: Findings) -> None:
    """Composition by arm and pool, the lengths of texts, what to know, then everything that must be mended."""
    console = out()
    table = Table(title="Composition")
    for column in ("arm", "contrast", "factor", "status", "pattern"):
        table.add_column(column)
    for found in findings.checks:
        table.add_row(
            *(escape(text) for text in (found.arm, found.contrast, found.factor, found.status, found.pattern))
        )
    console.print(table)
    for row in findings.words:
        text = (
            f"{row['domain']}: {row['texts']} texts of {row['least']} to {row['most']} words, median {row['median']}."
        )
        console.print(text, markup=False, soft_wrap=True)
    for note in findings.notes:
        console.print(f"Note: {note}", markup=False, soft_wrap=True)
    for problem in findings.problems:
        console.print(problem, markup=False, soft_wrap=True)
    number = len(findings.problems)
    console.print("No problem found." if not number else f"{number} problem{'s' * (number > 1)} found.")


def print_baseline(rows: Sequence[Mapping[str, Any]]) -> None:
    """The gaps in baseline quality between the groups that an arm compares; those of nought are counted alone."""
    apart = [row for row in rows if abs(row["estimate"]) >= LEAST_GAP]
    console = out()
    if apart:
        table = Table(
            title="Baseline-quality gap, in rating points",
            caption="Mean primary rating of the profiles a group was shown,\nagainst the reference group's: what is "
            "not zero here shows\nas a contrast that is none.",
            caption_justify="left",
        )
        for column in ("model", "arm", "contrast", "group"):
            table.add_column(column)
        for column in ("gap", "slots"):
            table.add_column(column, justify="right")
        for row in apart:
            texts = (escape(row[column]) for column in ("model", "arm", "term", "group"))
            table.add_row(*texts, f"{row['estimate']:+.2f}", f"{row['n']:,}")
        console.print(table)
    if rows:
        console.print(f"Baseline quality: {len(rows) - len(apart)} of {len(rows)} gaps are below {LEAST_GAP} points.")
