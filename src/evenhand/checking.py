"""Checks of a design, of its texts, and after a collection of what each group was shown.

They prevent the error that audits of this kind exist to prevent: groups that differ in their applications, not in
their names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from evenhand.design.balance import Check
    from evenhand.instrument import Instrument
    from evenhand.plan import Plan
    from evenhand.runs import Run


@dataclass(frozen=True, slots=True)
class Findings:
    """What a check of a design found.

    Attributes:
        checks: The composition of every arm and pool.
        problems: What must be mended: confounded arms that are not declared so, faults of prompts and bundles, hints.
        notes: What a reader should know: arms declared confounded, cells that are balanced to within one only.
        words: Words of the texts by domain.
        baseline: After a collection the baseline-quality gap of every arm by group and model, as tidy rows; else None.
    """

    checks: tuple[Check, ...]
    problems: list[str]
    notes: list[str]
    words: list[dict[str, Any]]
    baseline: pl.DataFrame | None = None


def check(target: str) -> Findings:
    """Check a run directory, or a study built in memory."""
    from dataclasses import replace

    from evenhand.construction import build_instrument
    from evenhand.plan import load_plan
    from evenhand.runs import is_run, open_run

    if is_run(Path(target)):
        run = open_run(Path(target))
        findings = check_design(run.plan, run.instrument)
        return replace(findings, baseline=baseline_gaps(run)) if run.ledger.exists() else findings
    plan = load_plan(target)
    # Built whatever it holds, so that all problems are shown at once.
    open_to_all = replace(plan, arms=tuple(replace(arm, allow_confounded=True) for arm in plan.arms), totals=())
    return check_design(plan, build_instrument(open_to_all, sound=False))


def check_design(plan: Plan, instrument: Instrument) -> Findings:
    """The composition of every arm and pool, faults of prompts and bundles, and texts that hint at race or gender."""
    from evenhand.construction import wrong_totals
    from evenhand.design.hints import find_hints
    from evenhand.soundness import exactness_notes, find_faults, word_counts

    checks = instrument.check()
    allowed = {arm.name for arm in plan.arms if arm.allow_confounded}
    confounded = [found for found in checks if found.status == "confounded"]
    declared = [f"{found.problem} The study allows it." for found in confounded if allowed & set(found.arms)]
    problems = [found.problem for found in confounded if not allowed & set(found.arms)]
    problems += [f"{fault}." for fault in (*wrong_totals(instrument, plan), *find_faults(instrument))]
    problems += [str(hint) for hint in find_hints(instrument.texts())]
    return Findings(checks, problems, declared + exactness_notes(instrument), word_counts(instrument))


def baseline_gaps(run: Run) -> pl.DataFrame:
    """Whether the groups of every arm were shown equally good applications, by the models' own primary ratings."""
    from evenhand.analysis.composition import baseline_gaps as gaps
    from evenhand.collection.ledger_file import open_ledger
    from evenhand.outcomes.table import tabulate

    with open_ledger(run.ledger, digest=run.instrument.digest) as ledger:
        outcomes = tabulate(run.instrument, ledger, study=run.plan.name, epochs=run.plan.epochs)
    return gaps(
        outcomes,
        contrasts=run.instrument.contrasts(),
        references=reference_levels(run),
        confounded=confounded_arms(run.plan, run.instrument),
    )


def confounded_arms(plan: Plan, instrument: Instrument) -> dict[str, str]:
    """What each confounded arm is confounded with, in words; the note that all its results carry.

    A build refuses confounded arms that do not declare it, so that the declared ones alone are looked at.
    """
    declared = [arm.name for arm in plan.arms if arm.allow_confounded]
    found: dict[str, str] = {}
    for check in instrument.select(declared).check() if declared else ():
        if check.status == "confounded":
            found.setdefault(check.arm, f"{check.contrast} with {check.factor} ({check.pattern})")
    return found


def reference_levels(run: Run) -> dict[str, dict[str, str]]:
    """By domain, the reference level of each factor: White and Male where a pack has them, else its first level."""
    from evenhand.analysis.setting import REFERENCES
    from evenhand.packs import load_pack

    packs = [load_pack(name, beside=run.folder) for name in dict.fromkeys(arm.pack for arm in run.plan.arms)]
    found: dict[str, dict[str, str]] = {}
    for pack in packs:
        known = {"race": pack.groups.race, "gender": pack.groups.gender}
        levels = {name: REFERENCES[name] if REFERENCES[name] in had else had[0] for name, had in known.items()}
        found[pack.name] = {**levels, "pseudo_group": "A"}
    return found
