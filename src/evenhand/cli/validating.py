"""The command that draws simulated audits, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import json_option, number, print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_TOLD = 100
"""How many audits go by between lines of progress."""


@click.command()
@click.argument("name", metavar="[STUDY]", default="verdict")
@click.option("--audits", type=click.IntRange(min=2), default=1000, show_default=True, help="Audits of each scenario.")
@click.option("--respondents", type=click.IntRange(min=1), default=5, show_default=True, help="Respondents an audit.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is drawn.")
@click.option("--scenario", "scenarios", default="*", show_default=True, help="Only scenarios that match this pattern.")
@click.option("--processes", type=click.IntRange(min=1), help="Processes. [one a core]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="A CSV file for the counts; NAME-recovery.csv beside it.",
)
@json_option
def validate(
    name: str,
    audits: int,
    respondents: int,
    seed: int,
    scenarios: str,
    processes: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Draw whole audits of STUDY with known effects and count how often its analysis is right."""
    from evenhand import study
    from evenhand.cli import progress
    from evenhand.files import replace_file

    if out is not None and not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent}", where="--out", mend="Make it, or name another file")
    with progress.steps(quiet=as_json) as step:
        found = study.validate(
            name,
            audits=audits,
            respondents=respondents,
            seed=seed,
            scenarios=scenarios,
            processes=processes,
            progress=lambda done: step(f"{done:,} audits") if done % _TOLD == 0 else None,
        )
    if out is not None:
        replace_file(out, found.contrasts.write_csv(null_value="NA").encode())
        replace_file(out.with_stem(f"{out.stem}-recovery"), found.recovery.write_csv(null_value="NA").encode())
    if as_json:
        print_json({"rows": found.contrasts.to_dicts(), "recovery": found.recovery.to_dicts()})
    else:
        _print_counts(found.contrasts)
        _print_recovery(found.recovery)
    return 0


def _print_counts(rows: pl.DataFrame) -> None:
    from rich.markup import escape

    from evenhand.cli.console import out, ruled

    table = ruled(
        "Simulated audits",
        texts=("scenario", "specification", "format"),
        numbers=("audits", "rejections", "coverage", "TOST", "SE ratio", "bias"),
        caption="Rejections: share of audits with any rejection in a planned family (at most 5% without effects).\n"
        "Coverage: of 95% intervals, with its Monte Carlo interval. TOST: share that rejects at a margin as large as\n"
        "the truth (at most 5%). SE ratio: mean standard error over the SD of estimates. Bias: largest, in SEs.",
    )
    for row in rows.to_dicts():
        texts = (escape(row[name]) for name in ("scenario", "specification", "format"))
        shares = (_share(row, name) for name in ("rejections", "coverage", "tost"))
        ratios = (number(row[name], ".2f") for name in ("error_ratio", "bias"))
        table.add_row(*texts, f"{row['audits']:,}", *shares, *ratios)
    out().print(table)


def _print_recovery(rows: pl.DataFrame) -> None:
    from rich.markup import escape

    from evenhand.cli.console import out, ruled

    if rows.is_empty():
        return
    table = ruled(
        "Planted control",
        texts=("scenario", "interval"),
        numbers=("planted", "audits", "lost", "recovered", "coverage"),
        caption="Sizes, in within-cell SDs, are planted into the ranks of one domain, one an audit in turn.\n"
        "Recovered: mean of the contrast after less before, with its Monte Carlo interval. Coverage: of each\n"
        "kind of interval. Lost: audits whose ties leave no room for so large a size.",
    )
    for row in rows.to_dicts():
        recovered = number(row["mean"], ".3f")
        if row["mean_low"] is not None:
            recovered += f" \\[{row['mean_low']:.3f}, {row['mean_high']:.3f}]"
        table.add_row(
            escape(row["scenario"]), escape(row["interval"]), f"{row['size']:.2f}", f"{row['audits']:,}",
            f"{row['lost']:,}", recovered, _share(row, "coverage"),
        )  # fmt: skip
    out().print(table)


def _share(row: Mapping[str, Any], name: str) -> str:
    if row[name] is None:
        return "none"
    return f"{row[name]:.1%} \\[{row[f'{name}_low']:.1%}, {row[f'{name}_high']:.1%}]"
