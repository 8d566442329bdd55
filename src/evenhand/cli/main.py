"""The commands. Heavy libraries are imported where they are used, so that `--help` answers at once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand import __version__
from evenhand.errors import EvenhandError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.runs import Run

_STOPPED = 3

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
out_option = click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="The run directory.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 done, 1 a check failed, 2 wrong use or unusable input, 3 incomplete."""
    try:
        code = commands.main(args=None if arguments is None else list(arguments), standalone_mode=False)
    except EvenhandError as error:
        click.echo(f"evenhand: {error}", err=True)
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("evenhand: stopped. What was collected is kept; the same command goes on from here.", err=True)
        code = _STOPPED
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody left to tell.
        sys.stderr.close()
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evenhand")
def commands() -> None:
    """Audit the decisions that language models make about people.

    Start with `evenhand demo`: the whole flow on simulated respondents, offline.
    """


@commands.command()
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
        _collect(run, run.plan.models, quiet=as_json)
        step("Reading the replies")
        outcomes = study.tabulate(run)
        step(f"Scoring, {boot} bootstrap replicates")
        scores = study.score(outcomes, boot=boot)
        files = study.keep_scores(run, scores)
    if as_json:
        _print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
        console.print_files([run.folder / "instrument", run.ledger, run.outcomes, *files])
    return 0


@commands.command()
@click.argument("study_file", metavar="STUDY")
@out_option
@click.option(
    "--models", type=click.IntRange(min=1), default=1, show_default=True, help="Models to count requests for."
)
@json_option
def build(study_file: str, out: Path, models: int, as_json: bool) -> int:
    """Build a study's instrument. STUDY is a preset (fairfund, fairfund-wording, demo) or a TOML file."""
    from evenhand import study
    from evenhand.cli import console

    run = study.build(study_file, out)
    accounting = study.account(run, models=models)
    if as_json:
        _print_json(accounting)
    else:
        console.print_accounting(accounting, run.folder)
    return 0


@commands.command()
@click.argument("target", metavar="RUN|STUDY")
@json_option
def check(target: str, as_json: bool) -> int:
    """Check a design: composition of every arm, and hints at race or gender in its packs. Exit 1 on a problem."""
    from evenhand import study
    from evenhand.cli import console

    plan, instrument = study.load_target(target)
    checks, problems = study.check(plan, instrument)
    if as_json:
        from dataclasses import asdict

        _print_json({"arms": [asdict(found) for found in checks], "problems": problems})
    else:
        console.print_checks(checks, problems)
    return 1 if problems else 0


@commands.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
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
@json_option
def run(
    folder: Path,
    models: tuple[str, ...],
    arguments: tuple[str, ...],
    label: str,
    arms: tuple[str, ...],
    limit: int | None,
    max_connections: int,
    as_json: bool,
) -> int:
    """Put the units of RUN to models. Every reply is kept as it arrives; the same command resumes."""
    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    opened = open_run(folder)
    models = models or opened.plan.models
    if not models:
        raise InputError("no model was named", where="run", mend="Name one with --model PROVIDER/NAME")
    respondents = _collect(
        opened,
        models,
        arguments=_parse_arguments(arguments),
        label=label,
        arms=arms,
        limit=limit,
        max_connections=max_connections,
        quiet=as_json,
    )
    rows = [row for row in study.status(opened, arms=arms, limit=limit) if row["model"] in respondents]
    if as_json:
        _print_json({"models": rows})
    else:
        console.print_status(rows)
    return 0 if all(row["final"] == row["units"] for row in rows) else _STOPPED


@commands.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
@json_option
def status(folder: Path, as_json: bool) -> int:
    """How far a run is: what became of its units, by model, and the tokens used."""
    from evenhand import study
    from evenhand.cli import console
    from evenhand.runs import open_run

    rows = study.status(open_run(folder))
    if as_json:
        _print_json({"models": rows})
    else:
        console.print_status(rows)
    return 0


@commands.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))
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
        _print_json({"file": str(out), "rows": table.height})
    else:
        click.echo(f"{table.height} rows in {out}")
    return 0


@commands.command()
@click.argument("files", metavar="FILE|RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--method",
    type=click.Choice(["released"]),
    default="released",
    show_default=True,
    help="How pillars are computed.",
)
@click.option(
    "--denominators",
    type=click.Path(path_type=Path),
    help="Denominators to divide by, instead of the released ones.",
)
@click.option("--recompute-denominators", is_flag=True, help="Take the denominators from the models scored here.")
@click.option("--boot", type=click.IntRange(min=0), default=2000, show_default=True, help="Bootstrap replicates.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@json_option
def score(
    files: tuple[Path, ...],
    method: str,
    denominators: Path | None,
    recompute_denominators: bool,
    boot: int,
    seed: int,
    as_json: bool,
) -> int:
    """Score outcomes files (or runs) on the four pillars of FairFund-Bench."""
    from evenhand import study
    from evenhand.cli import console

    table = study.read_tables(files)
    with console.scoring(table["model"].n_unique(), quiet=as_json) as progress:
        scores = study.score(
            table,
            method=method,
            denominators=denominators,
            recompute=recompute_denominators,
            boot=boot,
            seed=seed,
            progress=progress,
        )
    if as_json:
        _print_json(scores.to_json_dict())
    else:
        console.print_leaderboard(scores, study.published_leaderboard())
    return 0


@commands.command(name="import")
@click.argument("kind", type=click.Choice(["fairfund"]))
@click.argument("source", metavar="PATH", type=click.Path(path_type=Path))
@out_option
@json_option
def import_(kind: str, source: Path, out: Path, as_json: bool) -> int:
    """Make a run from materials released elsewhere."""
    from evenhand import study
    from evenhand.cli import console

    made = study.import_materials(kind, source, out)
    accounting = study.account(made, models=1)
    if as_json:
        _print_json(accounting)
    else:
        console.print_accounting(accounting, made.folder)
    return 0


def _collect(
    run: Run,
    models: Sequence[str],
    *,
    arguments: dict[str, Any] | None = None,
    label: str = "",
    arms: Sequence[str] = ("*",),
    limit: int | None = None,
    max_connections: int = 20,
    quiet: bool,
) -> set[str]:
    from evenhand import study
    from evenhand.cli import console
    from evenhand.collection.runner import Respondent

    if label and len(models) > 1:
        raise InputError("one label was given for several models", where="--as", mend="Name one --model with --as")
    respondents = [Respondent(model, arguments or {}, label) for model in dict.fromkeys(models)]
    with console.collecting(quiet=quiet) as progress:
        study.collect(run, respondents, progress=progress, arms=arms, limit=limit, max_connections=max_connections)
    return {respondent.id for respondent in respondents}


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


def _print_json(content: object) -> None:
    click.echo(json.dumps(content, ensure_ascii=False))
