"""Commands that show what was collected: status, replies, export, outcomes."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.cli.asking import price_option
from evenhand.cli.options import json_option, print_json, run_argument
from evenhand.formats.types import REPLY_STATUSES


@click.command()
@run_argument
@price_option
@json_option
def status(folder: Path, prices: Path | None, as_json: bool) -> int:
    """How far a run is: its units by model, arm and group, tokens and cost, and who answered under which settings."""
    from dataclasses import asdict

    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    opened = open_run(folder)
    found = study.status(opened, prices=prices)
    groups = study.compare_groups(opened).to_dicts() if found.models else []
    if as_json:
        print_json({**asdict(found), "groups": groups})
    elif not found.models:
        waiting = len(opened.instrument.units) * opened.plan.epochs
        click.echo(f"Nothing was collected yet; {waiting:,} units wait. Collect with `evenhand run RUN --model ...`.")
    else:
        console.print_status(found.models)
        console.print_validity(found.arms)
        console.print_unanswered(found.arms, groups)
        console.print_served(found)
    return 0


@click.command()
@run_argument
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(REPLY_STATUSES), help="Only this; may be repeated."
)
@click.option("--model", "models", multiple=True, help="Only this model; may be repeated.")
@click.option("--arm", "arms", multiple=True, default=("*",), help="Only arms that match this pattern.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@json_option
def replies(
    folder: Path,
    statuses: tuple[str, ...],
    models: tuple[str, ...],
    arms: tuple[str, ...],
    limit: int | None,
    as_json: bool,
) -> int:
    """Show raw replies and how they were read: `evenhand replies RUN --status malformed`."""
    from itertools import islice

    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    found = study.replies(open_run(folder), statuses=statuses, models=models, arms=arms)
    shown = [console.reply_record(unit, attempt) for unit, attempt in islice(found, limit)]
    if as_json:
        print_json({"replies": shown})
    else:
        console.print_replies(shown)
    return 0


@click.command()
@run_argument
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="A .jsonl or .parquet file.")
@json_option
def export(folder: Path, out: Path, as_json: bool) -> int:
    """Write every attempt of a run for release: requests, raw replies, usage, versions; no keys."""
    from evenhand import study
    from evenhand.runs import open_run

    count = study.export(open_run(folder), out)
    if as_json:
        print_json({"file": str(out), "attempts": count})
    else:
        click.echo(f"{count} attempts in {out}")
    return 0


@click.command()
@run_argument
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="A .csv, .csv.gz or .parquet file.")
@click.option(
    "--schema",
    type=click.Choice(["evenhand", "fairfund"]),
    default="evenhand",
    show_default=True,
    help="All columns, or the 28 of the released codebook.",
)
@json_option
def outcomes(folder: Path, out: Path, schema: str, as_json: bool) -> int:
    """Write the outcomes of a run: one row per slot per model."""
    from evenhand import study
    from evenhand.outcomes.doors import write_outcomes
    from evenhand.runs import open_run

    table = study.tabulate(open_run(folder))
    write_outcomes(table, out, schema="fairfund" if schema == "fairfund" else "evenhand")
    if as_json:
        print_json({"file": str(out), "rows": table.height})
    else:
        click.echo(f"{table.height} rows in {out}")
    return 0
