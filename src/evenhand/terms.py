"""The terms of an analysis, from the study of a run or from what a user says of a file."""

from __future__ import annotations

import math
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
    """The margins and the families of a study."""
    families = tuple(Family(family.name, family.formats, family.q) for family in plan.families)
    return Setting(margins=plan.margins, families=families or (EVERY_FORMAT,), seed=seed)


def planned_arms(plan: Plan) -> list[str]:
    """The primary arms whose contrasts are planned: formats of the family, bundles in disguise.

    Raises:
        InputError: The study has none.
    """
    setting = of_plan(plan, plan.seed)
    arms = [
        arm.name
        for arm in plan.arms
        if arm.tag == PRIMARY
        and arm.wording == BASE
        and setting.family_of(arm.format) is not None
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
        if name.rpartition("/")[2] not in UNITS or not 0 < margin < math.inf:
            raise InputError(
                f"{name}={margin:g} is no margin",
                where="margins",
                mend=f"Give a finite one above 0 for {', '.join(UNITS)}, or for one domain as hiring/rate",
            )
    stray = next((name for name in references or {} if name not in FACTORS), None)
    if stray:
        raise InputError(f"{stray!r} is no factor", where="references", mend=f"Name {' or '.join(FACTORS)}")
    return Setting(
        default_references=dict(references or {}),
        margins=dict(margins or {}),
        families=(EVERY_FORMAT,),
        seed=1 if seed is None else seed,
    )
