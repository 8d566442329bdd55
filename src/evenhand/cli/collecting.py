"""Commands that collect replies: demo, run, cost, merge."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.asking import (
    Command,
    make_respondents,
    model_options,
    named_models,
    part_options,
    parts,
    price_option,
)
from evenhand.cli.options import INCOMPLETE, json_option, out_option, print_json, run_argument
from evenhand.errors import CollectionError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.models import Respondent
    from evenhand.runs import Run
    from evenhand.study import Part


def _amount(_context: click.Context, _option: click.Parameter, dollars: float | None) -> float | None:
    if dollars is not None and not isfinite(dollars):
        raise InputError(f"{dollars} is no amount", where="--budget", mend="Give US dollars, or leave it away")
    return dollars


def conduct_options(command: Command) -> Command:
    """The options that say how units are asked and what that may cost."""
    for option in reversed(
        (
            click.option(
                "--epochs", type=click.IntRange(min=1), help="Repetitions of each unit, in place of the study's."
            ),
            click.option(
                "--max-connections",
                type=click.IntRange(min=1),
                default=20,
                show_default=True,
                help="Requests at once, a model.",
            ),
            click.option(
                "--timeout", type=click.IntRange(min=1), default=600, show_default=True, help="Seconds a request."
            ),
            click.option(
                "--max-retries",
                type=click.IntRange(min=0),
                default=4,
                show_default=True,
                help="Retries of a request that failed.",
            ),
            click.option(
                "--preflight",
                type=click.IntRange(min=0),
                default=3,
                show_default=True,
                help="Units of each format to look at before the rest; 0 for none.",
            ),
            click.option(
                "--batch",
                type=click.IntRange(min=2),
                metavar="SIZE",
                help="Send batches of this size through the provider's batch mode.",
            ),
            price_option,
            click.option(
                "--budget",
                type=click.FloatRange(min=0),
                callback=_amount,
                help="US dollars that the whole run may cost.",
            ),
        )
    ):
        command = option(command)
    return command


def standing(
    opened: Run, respondents: Sequence[Respondent], *, part: Part | None = None, prices: Path | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """How far the models that were asked are, and why units of theirs stand as errors."""
    from evenhand import study

    asked = {respondent.id for respondent in respondents}
    found = study.status(opened, part=part, prices=prices)
    rows, errors = ([row for row in rows if row["model"] in asked] for rows in (found.models, found.errors))
    return rows, errors


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
    """The whole of FairFund-Bench on three simulated respondents, offline, to a leaderboard and a page."""
    from evenhand import showing, study
    from evenhand.cli import console, progress

    with progress.steps(quiet=as_json) as step:
        step("Building the instrument")
        run = study.build("demo", out)
        step(f"Asking {', '.join(run.plan.models)}")
        with progress.collecting(quiet=as_json) as bars:
            study.collect(run, make_respondents(run.plan.models), progress=bars)
        step("Reading the replies")
        outcomes = study.tabulate(run)
        step(f"Scoring, {boot} bootstrap replicates")
        scores = study.score(outcomes, boot=boot)
        files = study.keep_scores(out, scores)
        step("Analysing, and writing the page")
        _, pages = showing.report(run)
    if as_json:
        print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
        console.print_files([run.folder / "instrument", run.ledger, run.outcomes, *files, pages[0]])
    return 0


@click.command()
@run_argument
@model_options
@part_options
@conduct_options
@json_option
def run(
    folder: Path,
    models: tuple[str, ...],
    arguments: tuple[str, ...],
    label: str,
    reasoning_models: tuple[str, ...],
    config: Path | None,
    arms: tuple[str, ...],
    limit: int | None,
    shard: tuple[int, int],
    epochs: int | None,
    max_connections: int,
    timeout: int,
    max_retries: int,
    preflight: int,
    batch: int | None,
    prices: Path | None,
    budget: float | None,
    as_json: bool,
) -> int:
    """Put the units of RUN to models. Every reply is kept as it arrives; the same command resumes."""
    from evenhand import study
    from evenhand.cli import console, progress
    from evenhand.collection.asker import Conduct
    from evenhand.runs import open_run

    opened = open_run(folder)
    respondents = named_models(
        models, arguments, label, config, otherwise=opened.plan.models, reasoning=reasoning_models
    )
    part = parts(arms, limit, shard)
    conduct = Conduct(max_connections, timeout, max_retries, preflight, batch or 0)
    stopped: CollectionError | None = None
    try:
        with progress.collecting(quiet=as_json) as bars:
            study.collect(
                opened,
                respondents,
                part=part,
                epochs=epochs,
                conduct=conduct,
                prices=prices,
                budget=budget,
                progress=bars,
            )
    except CollectionError as error:
        stopped = error
    rows, errors = standing(opened, respondents, part=part, prices=prices)
    if as_json:
        print_json({"models": rows})
    else:
        console.print_status(rows)
        console.print_errors(errors)
    if stopped:
        raise stopped
    return 0 if all(row["final"] == row["units"] for row in rows) else INCOMPLETE


@click.command()
@run_argument
@model_options
@part_options
@click.option("--epochs", type=click.IntRange(min=1), help="Repetitions of each unit, in place of the study's.")
@click.option("--batch", is_flag=True, help="At the price of batch mode.")
@price_option
@json_option
def cost(
    folder: Path,
    models: tuple[str, ...],
    arguments: tuple[str, ...],
    label: str,
    reasoning_models: tuple[str, ...],
    config: Path | None,
    arms: tuple[str, ...],
    limit: int | None,
    shard: tuple[int, int],
    epochs: int | None,
    batch: bool,
    prices: Path | None,
    as_json: bool,
) -> int:
    """Estimate the tokens and the cost of what RUN still needs from models; nothing is sent."""
    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    opened = open_run(folder)
    respondents = named_models(
        models, arguments, label, config, otherwise=opened.plan.models, reasoning=reasoning_models
    )
    rows = study.estimate(
        opened, respondents, part=parts(arms, limit, shard), epochs=epochs, prices=prices, batch=batch
    )
    if as_json:
        print_json({"models": rows})
    else:
        console.print_forecast(rows)
    return 0


@click.command()
@click.argument("folders", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option
@json_option
def merge(folders: tuple[Path, ...], out: Path, as_json: bool) -> int:
    """Join runs that shared one instrument (`run --shard i/k`) into a new run."""
    from evenhand import study

    counts = study.merge(folders, out)
    if as_json:
        print_json({"run": str(out), **counts})
    else:
        click.echo(f"{counts['attempts']:,} attempts of {counts['ledgers']} runs in {out}")
        if counts["repeated"]:
            click.echo(f"{counts['repeated']:,} attempts were held by more than one run and are there once")
    return 0
