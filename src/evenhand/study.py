"""The whole flow on one page: build, check, collect, tabulate, score, analyse. Read this first.

A study file says what to ask; `build` freezes it as an instrument in a run directory; `collect` puts every unit to
every model and keeps each reply in the ledger; `tabulate` reads the replies into the outcomes table; `score` draws
the four pillars from it; `analyse` answers what the papers ask, and `validate` draws audits to try that on; `showing`
makes what people see of all this. Each step imports its own rooms when it runs, so that a command pays for what it
uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from evenhand.analysis.blocks import Analysis
    from evenhand.analysis.comparison import Comparison
    from evenhand.analysis.scores import Scores
    from evenhand.analysis.validation_counts import Validation
    from evenhand.checking import Findings
    from evenhand.collection.asker import Conduct
    from evenhand.collection.attempts import Attempt
    from evenhand.collection.models import Respondent
    from evenhand.collection.progress import RunStatus
    from evenhand.collection.runner import Progress
    from evenhand.instrument import Instrument, Unit
    from evenhand.plan import Plan
    from evenhand.respondents.truth import Truth
    from evenhand.runs import Run
    from evenhand.statistics import ClusteredFit, MixedFit, RankLogitFit


def design(study: str | Path, *, formats: Mapping[str, str] | None = None) -> tuple[Plan, Instrument]:
    """A study's plan and its instrument, built in memory.

    Args:
        study: A preset's name or the path of a TOML file.
        formats: Other formats for some arms, by pattern.
    """
    from evenhand.construction import build_instrument
    from evenhand.plan import load_plan, with_formats

    plan = with_formats(load_plan(study), formats or {})
    return plan, build_instrument(plan)


def build(study: str | Path, folder: Path, *, formats: Mapping[str, str] | None = None) -> Run:
    """Build a study's instrument into a run directory; the same study into the same directory changes nothing."""
    from evenhand.runs import create_run

    return create_run(*design(study, formats=formats), folder)


def import_materials(kind: str, source: Path, folder: Path) -> Run:
    """Make a run from materials released elsewhere (`fairfund`)."""
    from evenhand.imports import IMPORTS
    from evenhand.runs import create_run

    plan, instrument = IMPORTS[kind](source)
    return create_run(plan, instrument, folder)


def import_packs(source: Path, folder: Path, *, strata: Path | None = None) -> list[Path]:
    """Make packs from the public AgentFairBench profiles."""
    from evenhand.imports.agentfairbench import import_packs as make_packs

    return make_packs(source, folder, strata=strata)


def import_decisions(source: Path, file: Path) -> dict[str, Any]:
    """Bring the released AgentFairBench decisions into an outcomes file; counts of what came in and what did not."""
    from evenhand.imports.agentfairbench_decisions import import_decisions as read_decisions
    from evenhand.outcomes.doors import write_outcomes

    found = read_decisions(source)
    table = found.outcomes
    write_outcomes(table, file)
    return {
        "decisions": table.height,
        "malformed": int(table["malformed"].sum()),
        "models": table["model"].n_unique(),
        "left_out": dict(found.left_out),
    }


def import_logs(logs: Sequence[Path], folder: Path, *, label: str = "") -> dict[str, int]:
    """Turn Inspect's logs of the audit's task into a run's ledger; the run is made where there is none yet."""
    from evenhand.collection import logs as inspect_logs
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.collection.lock import writing
    from evenhand.runs import create_run, is_run, open_run

    files = inspect_logs.find_logs(logs)
    if not is_run(folder):
        source = open_run(Path(inspect_logs.instrument_path(files[0])))
        create_run(source.plan, source.instrument, folder)
    run = open_run(folder)
    with writing(run.folder), open_ledger(run.ledger, digest=run.instrument.digest, write=True) as ledger:
        return inspect_logs.import_logs(files, ledger, run.instrument, settings=run.plan.settings, label=label)


def check(target: str) -> Findings:
    """Check a run directory, or a study built in memory; of a collected run the baseline of its groups too."""
    from evenhand.checking import check as check_target

    return check_target(target)


def true_contrast(
    run: Run, respondent: Respondent, *, arm: str, factor: str, group: str, reference: str, seed: int = 0
) -> Truth:
    """What a simulated respondent's planted disparity comes to on the observed scale of an arm.

    Args:
        run: The run.
        respondent: A simulated respondent, with its arguments.
        arm: One arm.
        factor: race or gender.
        group: The level compared.
        reference: With which level.
        seed: Of the simulation.
    """
    from evenhand.collection.runner import teach
    from evenhand.respondents import behaviour
    from evenhand.respondents.truth import observed_contrast

    return observed_contrast(
        run.instrument.select([arm]).units,
        behaviour(respondent.model.removeprefix("sim/"), respondent.arguments),
        teach(run.instrument),
        factor=factor,
        group=group,
        reference=reference,
        seed=seed,
    )


def account(plan: Plan, instrument: Instrument, *, models: int, reasoning_models: int = 0) -> dict[str, Any]:
    """Units, slots, requests and observations of a study, by arm, by the plan's totals and in all.

    Args:
        plan: The plan.
        instrument: What was built from it.
        models: Models that are asked.
        reasoning_models: Those among them that are also asked the arms with reasoning.
    """
    with_reasoning = {unit.arm for unit in instrument.units if unit.reasoning}
    arms: list[dict[str, Any]] = []
    for arm in instrument.accounting():
        times = plan.epochs * (reasoning_models if arm["arm"] in with_reasoning else models)
        arms.append(arm | {"requests": arm["units"] * times, "observations": arm["slots"] * times})

    def add_up(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
        return {key: sum(row[key] for row in rows) for key in ("units", "slots", "requests", "observations")}

    totals = [
        {"name": total.name} | add_up([arm for arm in arms if total.covers(arm["arm"], arm["tag"])])
        for total in plan.totals
    ]
    return {"study": plan.name, "digest": instrument.digest, **add_up(arms), "arms": arms, "totals": totals}


def collect(
    run: Run,
    respondents: Sequence[Respondent],
    *,
    part: Part | None = None,
    epochs: int | None = None,
    conduct: Conduct | None = None,
    prices: Path | None = None,
    budget: float | None = None,
    progress: Progress | None = None,
) -> None:
    """Put units to models; every reply goes to the ledger as it arrives, and the same call resumes."""
    from evenhand.collection import runner
    from evenhand.collection.costs import read_prices
    from evenhand.collection.environment import load_environment
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.collection.lock import writing

    load_environment()
    errand = runner.Errand(
        (part or Part()).of(run.instrument), run.plan.settings, epochs or run.plan.epochs, run.plan.seed
    )
    with writing(run.folder), open_ledger(run.ledger, digest=run.instrument.digest, write=True) as ledger:
        runner.collect(
            errand,
            respondents,
            ledger,
            conduct=conduct,
            progress=progress,
            lexicon=runner.teach(run.instrument),
            prices=read_prices(prices, folder=run.folder),
            budget=budget,
        )


@dataclass(frozen=True, slots=True)
class Part:
    """Which of an instrument's units are meant.

    Attributes:
        arms: Patterns of arms (`aid-rank-*`).
        limit: Only the first so many units of them.
        shard: `(i, k)`: of every k units the i-th, so that k machines share an instrument.
    """

    arms: tuple[str, ...] = ("*",)
    limit: int | None = None
    shard: tuple[int, int] = (1, 1)

    def of(self, instrument: Instrument) -> tuple[Unit, ...]:
        """The units."""
        own, of = self.shard
        return instrument.select(self.arms).units[: self.limit][own - 1 :: of]


def status(run: Run, *, part: Part | None = None, prices: Path | None = None) -> RunStatus:
    """What became of the units, from the ledger; empty before a collection."""
    from evenhand.collection.costs import read_prices
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.collection.progress import RunStatus, summarise

    if not run.ledger.exists():
        return RunStatus()
    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        return summarise(
            (part or Part()).of(run.instrument),
            ledger,
            epochs=run.plan.epochs,
            settings=run.plan.settings,
            prices=read_prices(prices, folder=run.folder),
        )


def estimate(
    run: Run,
    respondents: Sequence[Respondent],
    *,
    part: Part | None = None,
    epochs: int | None = None,
    prices: Path | None = None,
    batch: bool = False,
) -> list[dict[str, Any]]:
    """What putting the units to models will use and cost, a row a model, before anything is spent."""
    from evenhand.collection.costs import read_prices
    from evenhand.collection.forecast import forecast
    from evenhand.collection.ledger_file import open_ledger

    table = read_prices(prices, folder=run.folder)
    units = (part or Part()).of(run.instrument)
    times = epochs or run.plan.epochs
    if not run.ledger.exists():
        return forecast(units, respondents, None, table, settings=run.plan.settings, epochs=times, batch=batch)
    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        return forecast(units, respondents, ledger, table, settings=run.plan.settings, epochs=times, batch=batch)


def merge(folders: Sequence[Path], out: Path) -> dict[str, int]:
    """Join the ledgers of runs that share one instrument into a run of its own; counts of what was joined."""
    import shutil
    import tempfile

    from evenhand.collection.merging import merge_ledgers
    from evenhand.errors import RunError
    from evenhand.runs import create_run, is_run, open_run

    runs = [open_run(folder) for folder in folders]
    if is_run(out) and open_run(out).ledger.exists():
        raise RunError("the run was collected into already", where=str(out), mend="Merge into a new folder with -o")
    with tempfile.TemporaryDirectory(prefix="evenhand-merge-") as staging:
        joined = Path(staging) / runs[0].ledger.name
        digests = [run.instrument.digest for run in runs]
        counts = merge_ledgers([run.ledger for run in runs], joined, digests=digests)
        target = create_run(runs[0].plan, runs[0].instrument, out)
        shutil.move(joined, target.ledger)
    return counts


def compare_groups(run: Run) -> pl.DataFrame:
    """Whether units shown to one group were refused, malformed or lost more often, as tidy rows."""
    import polars as pl

    from evenhand.analysis.validity import unanswered_by_group
    from evenhand.checking import confounded_arms
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.collection.progress import standing_rows

    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        slots = standing_rows(run.instrument.units, ledger, epochs=run.plan.epochs)
    confounded = confounded_arms(run.plan, run.instrument)
    note = pl.col("arm").replace_strict({arm: f"confounded: {why}" for arm, why in confounded.items()}, default="")
    joined = pl.concat_str(pl.col("note"), note.str.replace("^(.)", "; $1"))
    return unanswered_by_group(pl.DataFrame(slots)).with_columns(joined.str.strip_prefix("; ").alias("note"))


def replies(
    run: Run, *, statuses: Sequence[str] = (), models: Sequence[str] = (), arms: Sequence[str] = ("*",)
) -> Iterator[tuple[Unit, Attempt]]:
    """The raw reply that counts of each unit, with its unit, by status, model and arm."""
    from evenhand.collection.ledger_file import open_ledger

    units = run.instrument.select(arms).by_key
    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        for model in ledger.respondents():
            if models and model not in models:
                continue
            for attempt in ledger.replies(model, statuses=statuses):
                if attempt.unit in units:
                    yield units[attempt.unit], attempt


def export(run: Run, path: Path) -> int:
    """Write every attempt of a run as JSON lines or Parquet, and return how many there are."""
    from evenhand.collection.export import export_attempts
    from evenhand.collection.ledger_file import open_ledger

    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        return export_attempts(ledger, path, digest=run.instrument.digest)


def tabulate(run: Run) -> pl.DataFrame:
    """Read every reply into the outcomes table, and keep it in the run as Parquet."""
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.outcomes.doors import write_outcomes
    from evenhand.outcomes.table import tabulate as build_table

    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        table = build_table(run.instrument, ledger, study=run.plan.name, epochs=run.plan.epochs)
    if run.writable:
        write_outcomes(table, run.outcomes)
    return table


def read_tables(paths: Sequence[Path]) -> pl.DataFrame:
    """The outcomes of files and runs, one below the other."""
    import polars as pl

    from evenhand.errors import InputError
    from evenhand.files import exists
    from evenhand.outcomes.doors import read_outcomes, validate

    tables = [_read_run(path) if exists(path, InputError, folder=True) else read_outcomes(path) for path in paths]
    table = pl.concat(tables)
    if len(tables) > 1:
        validate(table, where=" + ".join(str(path) for path in paths))
    return table


def read_any(path: Path) -> pl.DataFrame:
    """The outcomes of a run or of an outcomes file, or anyone's CSV or Parquet."""
    from evenhand.errors import InputError
    from evenhand.files import exists
    from evenhand.outcomes.schema import BUNDLE_KEY
    from evenhand.tables import columns_of, read_table

    if exists(path, InputError, folder=True) or {*BUNDLE_KEY[:4], "stimulus_id"} <= set(columns_of(path)):
        return read_tables([path])
    return read_table(path)


def fit(
    table: pl.DataFrame,
    formula: str,
    *,
    method: str,
    reference: Mapping[str, str] | None = None,
    cluster: str | None = None,
    ranking: str | None = None,
    absorb: str | None = None,
    ml: bool = False,
    **options: Any,
) -> MixedFit | ClusteredFit | RankLogitFit:
    """A model of anyone's table, by one of the three estimators; `options` are its own."""
    from evenhand.statistics import fit_clustered, fit_mixed, fit_rank_logit
    from evenhand.tables import joined

    if method == "mixed":
        table = table if absorb is None else joined(table, absorb)
        return fit_mixed(table, formula, reml=not ml, reference=reference, absorb=absorb)
    if cluster is not None:
        table = joined(table, cluster)
    if method == "clustered":
        return fit_clustered(table, formula, cluster=cluster or "", reference=reference, **options)
    table = joined(table, ranking or "")
    return fit_rank_logit(table, formula, ranking=ranking or "", cluster=cluster, reference=reference, **options)


def _read_run(folder: Path) -> pl.DataFrame:
    from evenhand.runs import open_run

    return tabulate(open_run(folder))


def score(
    outcomes: pl.DataFrame,
    *,
    method: str = "released",
    denominators: Path | None = None,
    recompute: bool = False,
    boot: int = 2000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
    where: str = "outcomes",
) -> Scores:
    """The four pillars of FairFund-Bench; by default with the released method and denominators."""
    from evenhand.analysis.denominators import Denominators
    from evenhand.analysis.scores import score as score_pillars

    return score_pillars(
        outcomes,
        denominators=Denominators.read(denominators) if denominators else None,
        recompute=recompute,
        boot=boot,
        seed=seed,
        method=method,
        progress=progress,
        where=where,
    )


def analyse(
    target: Path,
    *,
    margins: Mapping[str, float] | None = None,
    references: Mapping[str, str] | None = None,
    seed: int | None = None,
    processes: int | None = None,
    fresh: bool = True,
    progress: Callable[[str], None] | None = None,
) -> tuple[Analysis, list[Path]]:
    """Answer every question that a run's arms, or a file of outcomes, allow; results of a run are kept in it.

    Args:
        target: A run, or a file of outcomes.
        margins: Equivalence margins by format or `domain/format`, for outcomes that come without a study.
        references: The reference level of factors, for the same.
        seed: Of everything that is drawn; the study's own by default.
        processes: How many processes answer; by default one a core where it is worth it. A script that asks for
            several, or has many rows, needs `if __name__ == "__main__"`.
        fresh: Whether it is answered again where the run keeps an analysis of these very outcomes, on these terms, by
            these versions.
        progress: Called with the name of each cell and block that is answered.

    Returns:
        What was found, and the files written.
    """
    import hashlib

    from evenhand.analysis.blocks import analyse as answer
    from evenhand.analysis.material import Material
    from evenhand.analysis.results import read_results, write_results
    from evenhand.files import make_folder
    from evenhand.runs import is_run, open_run
    from evenhand.terms import of_file, of_run

    run = open_run(target) if is_run(target) else None
    setting = of_run(run, margins, references, seed) if run else of_file(margins, references, seed)
    if run is None or not run.writable:
        outcomes = tabulate(run) if run else read_tables([target])
        return answer(Material.of(outcomes, setting), processes=processes, progress=progress), []
    make_folder(run.results)
    outcomes = tabulate(run)
    digest = hashlib.sha256(run.outcomes.read_bytes()).hexdigest()
    source = {"study": run.plan.name, "instrument": run.instrument.digest, "outcomes": digest}
    kept = None if fresh else read_results(run.results, setting=setting, source=source)
    if kept is not None:
        return kept, []
    found = answer(Material.of(outcomes, setting), processes=processes, progress=progress)
    return found, write_results(found, run.results, setting=setting, source=source)


def compare(
    first: Path,
    second: Path,
    *,
    respondents: tuple[str, str] | None = None,
    margins: Mapping[str, float] | None = None,
    references: Mapping[str, str] | None = None,
) -> Comparison:
    """What changed from one run, or file of outcomes, to another, on the slots that both answered.

    Args:
        first: A run, or a file of outcomes; where both are runs, the terms are its study's.
        second: The other.
        respondents: One of each; by default those of one name are matched.
        margins: As `analyse` has them, for files without a study.
        references: The same.
    """
    from dataclasses import replace

    from evenhand.analysis.comparison import compare as take_off
    from evenhand.analysis.interim import OPEN
    from evenhand.errors import InputError
    from evenhand.runs import is_run, open_run
    from evenhand.terms import of_file, of_run

    if first.resolve() == second.resolve() and (respondents is None or len(set(respondents)) == 1):
        raise InputError(
            "both sides are the same answers", where=str(second), mend="Name two respondents: --model A --model B"
        )
    runs = [open_run(path) for path in (first, second) if is_run(path)]
    terms = [of_run(run, margins, references, None) for run in runs] or [of_file(margins, references, None)]
    setting = replace(terms[0], confounded={**terms[-1].confounded, **terms[0].confounded})
    tables = {path: read_tables([path]) for path in (first, second)}
    found = take_off(tables[first], tables[second], setting, respondents=respondents)
    waiting = {path: table.filter(table["status"].is_in(OPEN)).height for path, table in tables.items()}
    notes = [
        f"interim: {count:,} slots of {path} have no final answer yet, and statuses are not for decisions"
        for path, count in waiting.items()
        if count
    ]
    if len({run.instrument.digest for run in runs}) > 1:
        digests = " and ".join(run.instrument.digest[:12] for run in runs)
        notes.append(f"the instruments differ ({digests}): slots are matched by the ids of their applications")
    if any((one.margins, one.families) != (setting.margins, setting.families) for one in terms):
        notes.append("the studies declare other margins or families; those of the first count")
    return replace(found, notes=(*notes, *found.notes))


def validate(
    study: str | Path,
    *,
    audits: int,
    respondents: int = 5,
    seed: int = 1,
    scenarios: str = "*",
    processes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Validation:
    """Draw whole audits of a study with known effects, analyse each, and count what the analysis gets right."""
    from fnmatch import fnmatch

    from evenhand.analysis.validation import SCENARIOS
    from evenhand.analysis.validation import validate as count
    from evenhand.errors import InputError
    from evenhand.outcomes.table import blank
    from evenhand.terms import of_plan, planned_arms

    chosen = {name: world for name, world in SCENARIOS.items() if fnmatch(name, scenarios)}
    if not chosen:
        raise InputError(f"no scenario is like {scenarios!r}", where="--scenario", mend=f"Use {'; '.join(SCENARIOS)}")
    plan, instrument = design(study)
    names = [f"respondent-{k + 1}" for k in range(respondents)]
    slots = blank(instrument.select(planned_arms(plan)), study=plan.name, respondents=names)
    return count(slots, of_plan(plan, seed), audits=audits, scenarios=chosen, processes=processes, progress=progress)


def keep_scores(folder: Path, scores: Scores) -> list[Path]:
    """Write scores into a run's results, as JSON and CSV; nothing where the path is no folder or cannot be written."""
    from evenhand.analysis.scores import write_scores
    from evenhand.errors import InputError
    from evenhand.files import exists

    if not exists(folder, InputError, folder=True):
        return []
    from evenhand.runs import open_run

    run = open_run(folder)
    return write_scores(scores, run.results) if run.writable else []


def published_leaderboard() -> pl.DataFrame:
    """The 14 published models' pillars (Lukk 2026)."""
    from evenhand.analysis.scores import published_leaderboard as read_published

    return read_published()
