"""The whole flow in one command: build, check, cost, run, analyse; the same command goes on where it stopped."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

# `analyse` prints and records here what it prints and records alone.
from evenhand.cli.analysing import analysis_record, print_verdict
from evenhand.cli.asking import model_options, named_models
from evenhand.cli.collecting import conduct_options, standing
from evenhand.cli.options import json_option, out_option, print_json
from evenhand.errors import CollectionError, DesignError, EvenhandError, InputError, InstrumentError, StudyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from evenhand.checking import Findings
    from evenhand.collection.asker import Conduct
    from evenhand.collection.models import Respondent
    from evenhand.instrument import Instrument
    from evenhand.plan import Plan
    from evenhand.runs import Run

CHECK_FAILED = 1
"""Exit code of an audit whose design has a problem."""
TOLD = ("run", "check", "build", "cost", "status", "analysis", "report")
"""What `--json` prints; null is what was not reached."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the command was given.

    Attributes:
        study: A preset's name or the path of a TOML file.
        out: The run directory.
        choose: The models that are asked, given the study's own.
        conduct: How they are asked.
        epochs: Repetitions of each unit in place of the study's, or None.
        prices: A table of prices, or None for the run's.
        budget: US dollars that the whole run may cost, or None.
        as_json: Whether one object is printed at the end, and nothing before it.
    """

    study: str
    out: Path
    choose: Callable[[Sequence[str]], list[Respondent]]
    conduct: Conduct
    epochs: int | None
    prices: Path | None
    budget: float | None
    as_json: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """An audit whose run is built.

    Attributes:
        terms: What the command was given.
        run: The run.
        respondents: The models that are asked.
        say: Announces a step.
        told: What `--json` prints; steps add to it.
    """

    terms: Terms
    run: Run
    respondents: list[Respondent]
    say: Callable[[str], None]
    told: dict[str, Any]


@click.command()
@click.argument("study_file", metavar="STUDY")
@out_option
@model_options
@conduct_options
@json_option
def audit(
    study_file: str,
    out: Path,
    models: tuple[str, ...],
    arguments: tuple[str, ...],
    label: str,
    reasoning_models: tuple[str, ...],
    config: Path | None,
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
    """Build STUDY, check it, say what it will cost, put it to models and analyse the replies.

    The same command goes on where it stopped. STUDY is a preset (verdict, fairfund, fairfund-wording, demo) or a TOML
    file. Exit 1: the check found a problem. Exit 3: units are still open, and nothing was analysed.
    """
    from evenhand.cli import progress
    from evenhand.collection.asker import Conduct

    def choose(otherwise: Sequence[str]) -> list[Respondent]:
        return named_models(models, arguments, label, config, otherwise=otherwise, reasoning=reasoning_models)

    conduct = Conduct(max_connections, timeout, max_retries, preflight, batch or 0)
    terms = Terms(study_file, out, choose, conduct, epochs, prices, budget, as_json)
    told: dict[str, Any] = dict.fromkeys(TOLD)
    stopped: EvenhandError | KeyboardInterrupt | None = None
    code = CHECK_FAILED
    try:
        with progress.steps(quiet=as_json) as say:
            under_way = _build(terms, say, told)
            if under_way is not None:
                stopped = _walk(under_way)
                code = 0
    except KeyboardInterrupt as error:
        stopped = error
    if as_json:
        print_json(told)
    if stopped:
        raise stopped
    return code


def _walk(under_way: Audit) -> EvenhandError | KeyboardInterrupt | None:
    """Take the steps; what ended them early, so that what was reached is told first."""
    try:
        for step in STEPS:
            step(under_way)
    except (EvenhandError, KeyboardInterrupt) as error:
        return error
    return None


def _build(terms: Terms, say: Callable[[str], None], told: dict[str, Any]) -> Audit | None:
    """The audit with its run built or opened again, or None where the check found a problem: nothing is written then.

    Raises:
        InputError: The study cannot be read or built, no model is named, or the folder holds another run.
    """
    from evenhand import study
    from evenhand.cli import designs
    from evenhand.runs import create_run

    say("Checking the design")
    found, made = _check(terms.study)
    told["check"] = _findings(found)
    if not terms.as_json:
        designs.print_checks(found)
    if found.problems or made is None:
        return None
    plan, instrument = made
    respondents = terms.choose(plan.models)
    _require_epochs(terms.epochs, plan)
    say("Building the instrument")
    run = create_run(plan, instrument, terms.out)
    again = sum(respondent.rerun for respondent in respondents)
    asked = replace(plan, epochs=terms.epochs or plan.epochs)
    accounting = study.account(asked, instrument, models=len(respondents), reasoning_models=again)
    told["run"], told["build"] = str(terms.out), accounting
    if not terms.as_json:
        designs.print_accounting(accounting, terms.out)
    return Audit(terms, run, respondents, say, told)


def _check(name: str) -> tuple[Findings, tuple[Plan, Instrument] | None]:
    """What the check of a study finds, and the study as it is built where a build takes it."""
    from evenhand import study
    from evenhand.checking import check_design

    try:
        plan, instrument = study.design(name)
    except (DesignError, InstrumentError, StudyError):
        # A build ends at the first problem; the check lists them all, unless there is nothing to look at.
        found = study.check(name)
        if not found.problems:
            raise
        return found, None
    return check_design(plan, instrument), (plan, instrument)


def _findings(found: Findings) -> dict[str, Any]:
    arms = [asdict(check) for check in found.checks]
    return {"arms": arms, "problems": found.problems, "notes": found.notes, "words": found.words}


def _require_epochs(epochs: int | None, plan: Plan) -> None:
    """Fewer epochs than the study's would leave the audit open for ever."""
    if epochs is not None and epochs < plan.epochs:
        raise InputError(
            f"{epochs} is fewer than the {plan.epochs} that the study asks for",
            where="--epochs",
            mend="Leave --epochs away, or change epochs in the study",
        )


def _forecast(audit: Audit) -> None:
    """What is still to be sent, and what it will cost, before anything is sent."""
    from evenhand import study
    from evenhand.cli import console

    terms = audit.terms
    audit.say("Estimating the cost")
    rows = study.estimate(
        audit.run, audit.respondents, epochs=terms.epochs, prices=terms.prices, batch=terms.conduct.batch > 0
    )
    audit.told["cost"] = {"models": rows}
    if not terms.as_json:
        console.print_forecast(rows)


def _collect(audit: Audit) -> None:
    """Put the units to the models; how far they are is told, whatever ended it.

    Raises:
        CollectionError: Units are still open.
        InputError: A model cannot be made or asked like this.
    """
    from evenhand import study
    from evenhand.cli import progress

    terms = audit.terms
    audit.say(f"Asking {', '.join(respondent.id for respondent in audit.respondents)}")
    try:
        with progress.collecting(quiet=terms.as_json) as bars:
            study.collect(
                audit.run,
                audit.respondents,
                epochs=terms.epochs,
                conduct=terms.conduct,
                prices=terms.prices,
                budget=terms.budget,
                progress=bars,
            )
    except (CollectionError, KeyboardInterrupt):
        _tell_standing(audit)
        raise
    waiting = _tell_standing(audit)
    if waiting:
        raise CollectionError(
            f"{waiting:,} {'unit has' if waiting == 1 else 'units have'} no final answer yet, and nothing was analysed",
            where=str(terms.out),
            mend="Everything collected is kept. Run the same command again",
        )


def _tell_standing(audit: Audit) -> int:
    """Tell how far each model is; the number of units that still wait."""
    from evenhand.cli import console

    rows, errors = standing(audit.run, audit.respondents, prices=audit.terms.prices)
    audit.told["status"] = {"models": rows, "errors": errors}
    if not audit.terms.as_json:
        console.print_status(rows)
        console.print_errors(errors)
    return sum(row["units"] - row["final"] for row in rows)


def _report(audit: Audit) -> None:
    """Answer what the arms allow, and write the page; both are kept in the run."""
    from evenhand import showing
    from evenhand.cli.console import print_files

    audit.say("Analysing the replies")
    found, files = showing.report(audit.run, progress=audit.say)
    audit.told["analysis"] = analysis_record(found)
    audit.told["report"] = str(files[0])
    if not audit.terms.as_json:
        print_verdict(found)
        print_files(files[:2])


STEPS: tuple[Callable[[Audit], None], ...] = (_forecast, _collect, _report)
"""What is done with a run once it is built; each step prints what it found, or keeps it in `told`."""
