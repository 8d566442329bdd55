"""What people are shown of runs: the report, the leaderboard of several, and the page that follows one.

Each function gathers what the rooms below found and hands it to `report`, which computes nothing.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand import study

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from datetime import datetime
    from pathlib import Path

    import polars as pl

    from evenhand.analysis.blocks import Analysis
    from evenhand.analysis.scores import Scores
    from evenhand.collection.progress import RunStatus
    from evenhand.plan import Plan
    from evenhand.report.board import Source
    from evenhand.runs import Run


def report(
    run: Run, *, processes: int | None = None, fresh: bool = False, progress: Callable[[str], None] | None = None
) -> tuple[Analysis, list[Path]]:
    """Write the page, the figures, the tables and the summary of a run into its `report/`.

    Args:
        run: The run; it is analysed, or its analysis read where it keeps a current one.
        processes: As `analyse` has it.
        fresh: As `analyse` has it.
        progress: Called with each step, in words.

    Returns:
        What was found, and the files, the page first.

    Raises:
        InputError: The run is a copy that cannot be written, or has outcomes and no ledger.
    """
    from evenhand.analysis.blocks import Analysis
    from evenhand.checking import check_design
    from evenhand.errors import InputError
    from evenhand.files import make_folder
    from evenhand.outcomes.doors import read_outcomes
    from evenhand.report.gathering import gather
    from evenhand.report.places import REPORT
    from evenhand.report.writing import write_report

    if not run.writable:
        raise InputError("the run cannot be written", where=str(run.folder), mend="Copy it, and report on the copy")
    make_folder(run.folder / REPORT)
    # Before a collection the page tells of the instrument alone.
    begun = run.ledger.exists()
    if not begun and run.outcomes.exists():
        raise InputError(
            "the run has outcomes, and its ledger is gone", where=str(run.ledger), mend="Put the ledger back"
        )
    status = study.status(run)

    def answered(name: str) -> None:
        if progress is not None:
            progress(f"Answered: {name.replace('_', ' ')}")

    analysis = Analysis({}, [], {}, {})
    if begun:
        analysis, _ = study.analyse(run.folder, processes=processes, fresh=fresh, progress=answered)
    if progress is not None:
        progress("Writing the page")
    pillar_rows = _pillar_rows(read_outcomes(run.outcomes)) if begun else None
    scores, unscored = _score(pillar_rows) if pillar_rows is not None and pillar_rows.height else (None, "")
    evidence = gather(
        run,
        analysis=analysis,
        status=status,
        accounting=study.account(_as_asked(run), run.instrument, models=len(status.models)),
        design=check_design(run.plan, run.instrument),
        replies=study.replies(run) if begun else (),
        scores=scores.rows.to_dicts() if scores else [],
        published=study.published_leaderboard().to_dicts() if scores and scores.comparable else [],
        unscored=unscored,
    )
    evidence = replace(evidence, moved=study.status(run) != status)
    return analysis, write_report(evidence, run.folder / REPORT)


def _as_asked(run: Run) -> Plan:
    """The plan with as many epochs as were collected, where they are more than it asks for."""
    from evenhand.collection.ledger_file import open_ledger

    if not run.ledger.exists():
        return run.plan
    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        collected = [ledger.epochs(respondent) for respondent in ledger.respondents()]
    return replace(run.plan, epochs=max(run.plan.epochs, *collected, 1))


def _score(rows: pl.DataFrame) -> tuple[Scores | None, str]:
    """The pillars, or why there are none: allocations of other designs and groups have no such scores."""
    from evenhand.errors import EvenhandError

    try:
        return study.score(rows), ""
    except EvenhandError as problem:
        return None, problem.what


def leaderboard(
    runs: Sequence[Path],
    folder: Path,
    *,
    method: str = "released",
    boot: int = 2000,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Write a static site that joins the pillar scores of several runs and the published models.

    Args:
        runs: Runs of FairFund-Bench.
        folder: Where to; a site that is there is written anew.
        method: As `score` has it.
        boot: Bootstrap replicates.
        seed: Of the bootstrap.
        progress: Called with each step, in words.

    Returns:
        The files, the first page first.

    Raises:
        InputError: No run, one run twice, a run without allocations to score, or runs of different domains.
    """
    from importlib.metadata import version

    from evenhand.errors import InputError
    from evenhand.report.board import write_board
    from evenhand.runs import open_run

    opened = [open_run(path) for path in runs]
    places = [run.folder.resolve() for run in opened]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        raise InputError("the run is named twice", where=str(twice), mend="Name each run once")
    if folder.resolve() in places:
        raise InputError(
            "the site would be written over a run", where=str(folder), mend="Choose another folder with -o"
        )
    names = _names([place.name for place in places])
    domains: dict[str | None, str] = {}
    sources: list[Source] = []
    comparable = True
    for run, name in zip(opened, names, strict=True):
        if progress is not None:
            progress(f"Scoring {name}")
        scores, source = _scored(run, name, method=method, boot=boot, seed=seed)
        domains.setdefault(scores.domain, str(run.folder))
        comparable = comparable and scores.comparable
        sources.append(source)
    if len(domains) > 1:
        raise InputError(
            f"the runs are of different domains ({', '.join(map(str, domains))}), whose scores are of other questions",
            where=", ".join(domains.values()),
            mend="Make a site for each",
        )
    published = study.published_leaderboard().to_dicts() if comparable else []
    return write_board(sources, published, folder, version=version("evenhand"))


def _scored(run: Run, name: str, *, method: str, boot: int, seed: int) -> tuple[Scores, Source]:
    """The scores of a run, and what a leaderboard tells of it."""
    import shlex

    from evenhand.errors import InputError
    from evenhand.report.board import Source

    pillars = _pillar_rows(study.tabulate(run))
    if pillars.is_empty():
        raise InputError(
            "the run has no answers that FairFund-Bench's pillars are computed from (rate, rank, allocate)",
            where=str(run.folder),
            mend="Name a run of `fairfund` that was collected; `evenhand report` writes the page of any run",
        )
    scores = study.score(pillars, method=method, boot=boot, seed=seed, where=str(run.folder))
    found = study.status(run)
    return scores, Source(
        name=name,
        study=run.plan.name,
        folder=str(run.folder),
        digest=run.instrument.digest,
        method=method,
        command=f"evenhand score {shlex.quote(str(run.folder))} --method {method} --boot {boot} --seed {seed}",
        scores=scores.rows.to_dicts(),
        models=found.models,
        arms=found.arms,
        waiting={row["model"]: row["units"] - row["final"] for row in found.models},
    )


def _pillar_rows(outcomes: pl.DataFrame) -> pl.DataFrame:
    """The rows that pillars are computed from: those of the benchmark's domain, else of the one with allocations.

    A run with allocations in several other domains has no pillars of its own: theirs are of different questions.
    """
    import polars as pl

    from evenhand.analysis.scores import BENCHMARK

    rows = outcomes.filter(pl.col("task").is_in(["rate", "rank", "allocate"]))
    rows = rows.filter((pl.col("task") == "allocate").any().over("domain"))
    domains = rows["domain"].unique().to_list()
    return rows.filter(pl.col("domain") == BENCHMARK) if len(domains) > 1 else rows


def _names(folders: Sequence[str]) -> list[str]:
    """Folders' names, told apart by a number where several have one, or that of the published rows."""
    from evenhand.report.board import PUBLISHED

    found = [PUBLISHED]
    for name in folders:
        further = 2
        chosen = name
        while chosen in found:
            chosen, further = f"{name} ({further})", further + 1
        found.append(chosen)
    return found[1:]


@contextmanager
def view(folder: Path, *, port: int = 0, prices: Path | None = None, shortest: float = 2.0) -> Generator[str]:
    """Serve the page that follows a run on this machine, for as long as it is open.

    The run may be collected meanwhile, by another process. Its instrument is loaded once the page is served.

    Args:
        folder: The run; nothing is written into it.
        port: Where; 0 for any that is free.
        prices: What tokens cost; by default the run's own file.
        shortest: Seconds between two looks at the run, at least.

    Yields:
        The address.

    Raises:
        RunError: This is no run, or its study was changed after the build.
        InputError: The port cannot be used.
    """
    from functools import cache

    from evenhand.report import live
    from evenhand.report.following import Follower
    from evenhand.report.places import REPORT
    from evenhand.report.serving import Site, serve
    from evenhand.runs import open_plan, open_run

    page = live.render(open_plan(folder).name, folder)
    opened = cache(lambda: open_run(folder))
    looks = {
        "progress": lambda: live.told_progress(opened(), *look(opened(), prices=prices)),
        "estimates": lambda: live.told_estimates(interim(opened())),
    }
    follower = Follower(looks, mark=lambda: live.mark(folder), shortest=shortest)
    with serve(Site(page, lambda: follower.state, folder / REPORT), port) as address, follower:
        yield address


def look(run: Run, *, prices: Path | None = None) -> tuple[RunStatus, dict[str, datetime]]:
    """How far a run is that another process may be collecting, and when each respondent was last heard.

    Nothing is written into the run, not even what an ordinary reader of the ledger leaves there.
    """
    from evenhand.collection.costs import read_prices
    from evenhand.collection.ledger_file import onlooking
    from evenhand.collection.progress import RunStatus, last_heard, summarise

    if not run.ledger.exists():
        return RunStatus(), {}
    table = read_prices(prices, folder=run.folder)
    with onlooking(run.ledger, digest=run.instrument.digest) as ledger:
        return summarise(
            run.instrument.units, ledger, epochs=run.plan.epochs, settings=run.plan.settings, prices=table
        ), last_heard(ledger)


def interim(run: Run) -> pl.DataFrame:
    """Running estimates of a run, not for decisions, as tidy rows; nothing is written into the run."""
    from evenhand.analysis.interim import interim_contrasts
    from evenhand.analysis.material import Material
    from evenhand.analysis.rows import as_frame
    from evenhand.collection.ledger_file import onlooking
    from evenhand.outcomes.table import tabulate as build_table
    from evenhand.terms import of_run

    if not run.ledger.exists():
        return as_frame([])
    with onlooking(run.ledger, digest=run.instrument.digest) as ledger:
        outcomes = build_table(run.instrument, ledger, study=run.plan.name, epochs=run.plan.epochs)
    if outcomes.is_empty():
        return as_frame([])
    return interim_contrasts(Material.of(outcomes, of_run(run, None, None, None)))
