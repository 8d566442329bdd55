"""The terms of an analysis, from the study of a run or from what a user says of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.analysis.focal import BASE, BUNDLED, FACTORS, PRIMARY, UNITS
from evenhand.analysis.setting import Family, Setting
from evenhand.checking import confounded_arms, reference_levels
from evenhand.errors import InputError

EVERY_FORMAT = Family(name="every format", formats=tuple(UNITS))
"""Corrected together where a study or a file names no family."""

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.plan import Plan
    from evenhand.runs import Run


def of_run(
    run: Run, margins: Mapping[str, float] | None, references: Mapping[str, str] | None, seed: int | None
) -> Setting:
    """The terms that a study fixed beforehand.

    Raises:
        InputError: Margins or references are given: a run has its own, and others now would not be beforehand.
    """
    if margins or references:
        raise InputError(
            "a run has the margins and references of its study",
            where=str(run.folder),
            mend="Name them in study.toml before the run, or analyse the outcomes file apart",
        )
    return replace(
        of_plan(run.plan, run.plan.seed if seed is None else seed),
        references=reference_levels(run),
        confounded=confounded_arms(run.plan, run.instrument),
    )


def of_plan(plan: Plan, seed: int) -> Setting:
    """The margins and the family of a study."""
    families = plan.families
    return Setting(
        margins=plan.margins,
        family=Family(families[0].name, families[0].formats, families[0].q) if families else EVERY_FORMAT,
        seed=seed,
    )


def planned_arms(plan: Plan) -> list[str]:
    """The primary arms whose contrasts are planned: formats of the family, bundles in disguise.

    Raises:
        InputError: The study has none.
    """
    formats = of_plan(plan, plan.seed).family.formats
    arms = [
        arm.name
        for arm in plan.arms
        if arm.tag == PRIMARY
        and arm.wording == BASE
        and arm.format in formats
        and (arm.format not in BUNDLED or (arm.design or "").endswith("_disguised"))
        and not (arm.design or "").startswith("placebo")
    ]
    if not arms:
        raise InputError("the study plans no contrast", where=plan.name, mend="Name a study with primary arms")
    return arms


def of_file(margins: Mapping[str, float] | None, references: Mapping[str, str] | None, seed: int | None) -> Setting:
    """The terms that a user gives with a file of outcomes.

    Raises:
        InputError: A margin of an unknown format or that is not above 0, or a reference of an unknown factor.
    """
    for name, margin in (margins or {}).items():
        if name not in UNITS or not margin > 0:
            raise InputError(
                f"{name}={margin:g} is no margin", where="margins", mend=f"Give one above 0 for {', '.join(UNITS)}"
            )
    stray = next((name for name in references or {} if name not in FACTORS), None)
    if stray:
        raise InputError(f"{stray!r} is no factor", where="references", mend=f"Name {' or '.join(FACTORS)}")
    return Setting(
        default_references=dict(references or {}),
        margins=dict(margins or {}),
        family=EVERY_FORMAT,
        seed=1 if seed is None else seed,
    )
