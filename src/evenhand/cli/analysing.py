"""The command that analyses a run or a file of outcomes, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import json_option, pairs, print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from evenhand.analysis.blocks import Analysis
    from evenhand.analysis.verdict import Status


@click.command()
@click.argument("target", metavar="RUN|FILE", type=click.Path(path_type=Path))
@click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="FORMAT=SIZE",
    help="An equivalence margin, for a file without a study; a run has its study's.",
)
@click.option("--reference", "references", multiple=True, metavar="FACTOR=LEVEL", help="A reference level, for a file.")
@click.option("--seed", type=int, help="Seed of what is drawn. [the study's]")
@json_option
def analyse(
    target: Path, margins: tuple[str, ...], references: tuple[str, ...], seed: int | None, as_json: bool
) -> int:
    """Answer every question that the arms of RUN, or outcomes in FILE, allow; results are kept in the run."""
    from evenhand import study
    from evenhand.cli import progress
    from evenhand.cli.console import print_files

    sizes = {name: _size(text) for name, text in pairs(margins, "--margin").items()}
    with progress.steps(quiet=as_json) as step:
        found, files = study.analyse(
            target,
            margins=sizes or None,
            references=pairs(references, "--reference") or None,
            seed=seed,
            progress=lambda name: step(f"Answering: {name.replace('_', ' ')}"),
        )
    if as_json:
        print_json(_record(found))
        return 0
    _print_verdict(found)
    if files:
        print_files([files[-1]])
    return 0


@click.command()
@click.argument("name", metavar="[STUDY]", default="verdict")
@click.option("--audits", type=click.IntRange(min=2), default=1000, show_default=True, help="Audits of each scenario.")
@click.option("--respondents", type=click.IntRange(min=1), default=5, show_default=True, help="Respondents an audit.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is drawn.")
@click.option("--scenario", "scenarios", default="*", show_default=True, help="Only scenarios that match this pattern.")
@click.option("--processes", type=click.IntRange(min=1), help="Processes. [one a core]")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A CSV file for the table.")
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

    with progress.steps(quiet=as_json) as step:
        found = study.validate(
            name,
            audits=audits,
            respondents=respondents,
            seed=seed,
            scenarios=scenarios,
            processes=processes,
            progress=lambda done: step(f"{done:,} audits") if done % 500 == 0 else None,
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
    from rich.table import Table

    from evenhand.cli.console import out

    table = Table(
        title="Simulated audits",
        caption="Rejections: share of audits with any rejection in the planned family (at most 5% without effects).\n"
        "Coverage: of 95% intervals, with its Monte Carlo interval. TOST: share that rejects at a margin as large as\n"
        "the truth (at most 5%). SE ratio: mean standard error over the SD of estimates. Bias: largest, in SEs.",
        caption_justify="left",
    )
    for column in ("scenario", "specification", "format"):
        table.add_column(column)
    for column in ("audits", "rejections", "coverage", "TOST", "SE ratio", "bias"):
        table.add_column(column, justify="right")
    for row in rows.to_dicts():
        texts = (escape(row[name]) for name in ("scenario", "specification", "format"))
        shares = (_share(row, name) for name in ("rejections", "coverage", "tost"))
        table.add_row(*texts, f"{row['audits']:,}", *shares, _ratio(row["error_ratio"]), _ratio(row["bias"]))
    out().print(table)


def _print_recovery(rows: pl.DataFrame) -> None:
    from rich.markup import escape
    from rich.table import Table

    from evenhand.cli.console import out

    if rows.is_empty():
        return
    table = Table(
        title="Planted control",
        caption="Sizes, in within-cell SDs, are planted into the ranks of one domain, one an audit in turn.\n"
        "Recovered: mean of the contrast after less before, with its Monte Carlo interval. Coverage: of each\n"
        "kind of interval. Lost: audits whose ties leave no room for so large a size.",
        caption_justify="left",
    )
    table.add_column("scenario")
    table.add_column("interval")
    for column in ("planted", "audits", "lost", "recovered", "coverage"):
        table.add_column(column, justify="right")
    for row in rows.to_dicts():
        recovered = _ratio(row["mean"], 3)
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


def _ratio(value: float | None, digits: int = 2) -> str:
    return "none" if value is None else f"{value:.{digits}f}"


def _size(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} is no number", where="--margin", mend="Write it as rate=0.09") from None


def _record(found: Analysis) -> dict[str, Any]:
    from evenhand.analysis.verdict import as_records

    return {
        "blocks": {name: rows.to_dicts() for name, rows in found.blocks.items()},
        "verdict": as_records(found.statuses),
        "scope": dict(found.scope),
    }


def _print_verdict(found: Analysis) -> None:
    from rich.markup import escape
    from rich.table import Table

    from evenhand.cli.console import out

    console = out()
    for line in _instrument(found):
        console.print(line, markup=False, soft_wrap=True)
    table = Table(
        title="The planned contrasts, pooled over respondents",
        caption="Above 0 favours the group. Intervals: 95%. q: corrected within the family. No status means fair:\n"
        "it speaks of these formats, wordings, models, names and applications, and certifies no other.",
        caption_justify="left",
    )
    for column in ("domain", "format", "group"):
        table.add_column(column)
    for column in ("estimate", "95% interval", "d", "q"):
        table.add_column(column, justify="right")
    table.add_column("status")
    table.add_column("what it says", overflow="fold")
    for row in found.statuses:
        interval = f"{_number(row.conf_low)} to {_number(row.conf_high)}"
        numbers = (_number(row.estimate), interval, _number(row.d, 2), _q(row.q_value))
        texts = (row.domain, row.format, row.group)
        table.add_row(*map(escape, texts), *numbers, row.status.replace("_", " "), escape(row.said))
    if found.statuses:
        console.print(table)
    console.print(_headline(found.statuses), markup=False, soft_wrap=True)
    if found.statuses:
        covered = "; ".join(f"{name}: {', '.join(values)}" for name, values in found.scope.items())
        console.print(f"This speaks of {covered}. It certifies no other.", markup=False, soft_wrap=True)
    counts = ", ".join(f"{name} {rows.height:,}" for name, rows in found.blocks.items())
    console.print(f"Rows by block: {counts}.", markup=False, soft_wrap=True)


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
    return f"{_number(row['estimate'])} [{_number(row['conf_low'])}, {_number(row['conf_high'])}]"


def _headline(statuses: Sequence[Status]) -> str:
    """How many contrasts have each status, in words."""
    if not statuses:
        return "The study plans no contrast that these answers hold."
    total = len(statuses)
    counts = {name: sum(row.status == name for row in statuses) for name in ("disparity", "equivalent", "not_resolved")}
    return (
        f"Of {total} planned contrasts, {counts['disparity']} survive correction, {counts['equivalent']} are bounded "
        f"inside the margin declared beforehand, and {counts['not_resolved']} are not resolved."
    )


def _q(value: float | None) -> str:
    return "none" if value is None else f"{value:.3f}"


def _number(value: float | None, digits: int = 3) -> str:
    return "none" if value is None else f"{value:+.{digits}f}"
