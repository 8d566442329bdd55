"""Commands that collect replies and show them: demo, run, status, outcomes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import INCOMPLETE, json_option, print_json, run_argument
from evenhand.errors import CollectionError, InputError

STATUSES = ("answered", "refused", "malformed", "no_answer", "error")

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.models import Respondent


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("evenhand-demo"),
    show_default=True,
    help="The run directory.",
)
@click.option("--boot", type=click.IntRange(min=0), default=2000, show_default=True, help="Bootstrap replicates.")
@json_option
def demo(out: Path, boot: int, as_json: bool) -> int:
    """The whole of FairFund-Bench on three simulated respondents, offline, to a leaderboard."""
    from evenhand import study
    from evenhand.cli import console

    with console.steps(quiet=as_json) as step:
        step("Building the instrument")
        run = study.build("demo", out)
        step(f"Asking {', '.join(run.plan.models)}")
        with console.collecting(quiet=as_json) as progress:
            study.collect(run, _respondents(run.plan.models, {}), progress=progress)
        step("Reading the replies")
        outcomes = study.tabulate(run)
        step(f"Scoring, {boot} bootstrap replicates")
        scores = study.score(outcomes, boot=boot)
        files = study.keep_scores(out, scores)
    if as_json:
        print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
        console.print_files([run.folder / "instrument", run.ledger, run.outcomes, *files])
    return 0


@click.command()
@run_argument
@click.option("--model", "models", multiple=True, help="PROVIDER/NAME, any that Inspect reaches; may be repeated.")
@click.option("-M", "arguments", multiple=True, metavar="KEY=VALUE", help="An argument for the models' provider.")
@click.option("--as", "label", default="", help="The id of the model in the results (with one --model).")
@click.option(
    "--arm", "arms", multiple=True, default=("*",), help="Only arms that match this pattern; may be repeated."
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many units.")
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Requests at once, a model.",
)
@click.option("--timeout", type=click.IntRange(min=1), default=600, show_default=True, help="Seconds a request.")
@click.option(
    "--max-retries", type=click.IntRange(min=0), default=4, show_default=True, help="Retries of a request that failed."
)
@json_option
def run(
    folder: Path,
    models: tuple[str, ...],
    arguments: tuple[str, ...],
    label: str,
    arms: tuple[str, ...],
    limit: int | None,
    max_connections: int,
    timeout: int,
    max_retries: int,
    as_json: bool,
) -> int:
    """Put the units of RUN to models. Every reply is kept as it arrives; the same command resumes."""
    from evenhand import study
    from evenhand.cli import console
    from evenhand.collection.asker import Conduct
    from evenhand.runs import open_run

    opened = open_run(folder)
    models = models or opened.plan.models
    if not models:
        raise InputError("no model was named", where="run", mend="Name one with --model PROVIDER/NAME")
    respondents = _respondents(models, _parse_arguments(arguments), label)
    conduct = Conduct(max_connections=max_connections, timeout=timeout, max_retries=max_retries)
    stopped: CollectionError | None = None
    try:
        with console.collecting(quiet=as_json) as progress:
            study.collect(opened, respondents, progress=progress, arms=arms, limit=limit, conduct=conduct)
    except CollectionError as error:
        stopped = error
    asked = {respondent.id for respondent in respondents}
    rows, _ = study.status(opened, arms=arms, limit=limit)
    rows = [row for row in rows if row["model"] in asked]
    if as_json:
        print_json({"models": rows})
    else:
        console.print_status(rows)
    if stopped:
        raise stopped
    return 0 if all(row["final"] == row["units"] for row in rows) else INCOMPLETE


@click.command()
@run_argument
@json_option
def status(folder: Path, as_json: bool) -> int:
    """How far a run is: what became of its units by model, arm and group, and the tokens used."""
    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    opened = open_run(folder)
    models, arms = study.status(opened)
    groups = study.compare_groups(opened).to_dicts() if models else []
    if as_json:
        print_json({"models": models, "arms": arms, "groups": groups})
    elif not models:
        waiting = len(opened.instrument.units) * opened.plan.epochs
        click.echo(f"Nothing was collected yet; {waiting:,} units wait. Collect with `evenhand run RUN --model ...`.")
    else:
        console.print_status(models)
        console.print_unanswered(arms, groups)
    return 0


@click.command()
@run_argument
@click.option("--status", "statuses", multiple=True, type=click.Choice(STATUSES), help="Only this; may be repeated.")
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


def _respondents(models: Sequence[str], arguments: dict[str, Any], label: str = "") -> list[Respondent]:
    from evenhand.collection.models import Respondent

    if label and len(models) > 1:
        raise InputError("one label was given for several models", where="--as", mend="Name one --model with --as")
    return [Respondent(model, arguments, label) for model in dict.fromkeys(models)]


def _parse_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs; values are numbers, true, false, null or text."""
    parsed: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{pair!r} is not KEY=VALUE", where="-M", mend="Write it as -M key=value")
        try:
            parsed[key] = json.loads(value)
        except ValueError:
            parsed[key] = value
    return parsed
