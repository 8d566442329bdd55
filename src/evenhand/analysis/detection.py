"""What the study could have seen ("The Audit Decides the Verdict", table 3): a null means nothing without a floor."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.analysis.between_models import heterogeneity_rows
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import UNITS
from evenhand.analysis.readings import joined
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, contrast_rows
from evenhand.statistics import detectable_multiplier, equivalence, standardised

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evenhand.analysis.families import Tested
    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material
    from evenhand.analysis.specifications import Specification

ALPHA = 0.05
POWER = 0.8
_LABELS = {"evenhand": "evenhand: Satterthwaite t", "paper": "paper: Wald z"}


def detection_floors(material: Material) -> pl.DataFrame:
    """For each planned contrast what it could have detected, and what it excludes.

    Returns:
        Tidy rows by specification. Pooled: `std_error_achieved`; `mde`, the smallest effect found with 80% power at
        5%; `mde_first_step`, the same at the level of the first step of the family's correction; `d`; each of these
        also over the cell's raw SD (`..._d`); `tost` (p value of the equivalence test, 90% interval); `bound`, the far
        end of that interval; `name_sd`, the SD of the name intercept. By respondent, in the specification that
        decides: `tost` and `bound`. And `tau`, how much respondents differ.
    """
    rows: list[Row] = []
    for specification in SPECIFICATIONS:
        for cell, row, tested in tested_contrasts(material, specification):
            rows += _floors(material, cell, row, specification, tested)
        rows += [row for cell in material.planned for row in _name_sd(material, cell, specification)]
    for cell in material.planned:
        if len(cell.models) < 2:
            continue
        for model in cell.models:
            for row in _contrasts(material, cell, "evenhand", model):
                rows += _excluded(material, row, "evenhand")
        rows += heterogeneity_rows(cell, {model: material.fitted(cell, "evenhand", model) for model in cell.models})
    return as_frame(rows)


def tested_contrasts(material: Material, specification: Specification) -> Iterator[tuple[Cell, Row, Tested]]:
    """Each planned contrast, pooled over respondents, with its cell and its place in its family."""
    pooled = [(cell, row) for cell in material.planned for row in _contrasts(material, cell, specification, POOLED)]
    tested = correct_families(material.setting, [cell.format for cell, _ in pooled], [row.p_value for _, row in pooled])
    for (cell, row), one in zip(pooled, tested, strict=True):
        yield cell, row, one


def levels_of(tested: Tested) -> dict[str, tuple[float, str]]:
    """The levels at which a contrast is looked for, as numbers and in words, by what the estimand's name ends with.

    Before correction, and at the first step of its family's (`_first_step`).
    """
    made = tested.tests - tested.missing
    first = f"{tested.family.q:g}/{made} = {tested.first_step:.2g}"
    return {"": (ALPHA, f"{ALPHA:.0%}"), "_first_step": (tested.first_step, first)}


def _contrasts(material: Material, cell: Cell, specification: Specification, model: str) -> Iterator[Row]:
    fitted = material.fitted(cell, specification, model)
    return contrast_rows(cell, fitted.fit, specification, model=model, trouble=fitted.trouble)


def _floors(material: Material, cell: Cell, row: Row, specification: Specification, tested: Tested) -> Iterator[Row]:
    label, unit = _LABELS[specification], UNITS[cell.format]
    head = replace(row, estimate=None, std_error=None, conf_low=None, conf_high=None, p_value=None)
    sizes = {"std_error_achieved": (row.std_error, "", "")}
    for which, (alpha, said) in levels_of(tested).items():
        size, told = detectable(row.std_error, row.df, alpha)
        sizes[f"mde{which}"] = (size, f"; {POWER:.0%} power, two-sided level {said}", told)
    for name, (size, how, told) in sizes.items():
        yield replace(head, estimand=name, estimate=size, method=f"{label}; {unit}{how}", note=joined(told, row.note))
    sizes = {"": (row.estimate, "the contrast", "")} | {f"{name}_": size for name, size in sizes.items()}
    for name, (size, how, told) in sizes.items():
        d = None if size is None else standardised(size, cell.sd)
        lost = "nothing varies: there is no SD to divide by" if size is not None and d is None else ""
        over = f"{label}; over the raw SD of {cell.sd:.4g} {unit}; {how.removeprefix('; ')}".removesuffix("; ")
        yield replace(head, estimand=f"{name}d", estimate=d, method=over, note=joined(told, lost, row.note))
    yield from _excluded(material, row, specification)


def detectable(std_error: float | None, df: float | None, alpha: float = ALPHA) -> tuple[float | None, str]:
    """The smallest effect that is found with 80% power at a level, or why there is none.

    Args:
        std_error: Of the contrast.
        df: Its degrees of freedom; None for a normal one.
        alpha: The level, two-sided.
    """
    told = untold(std_error, df)
    if std_error is None or told:
        return None, told
    df = math.inf if df is None else df
    return detectable_multiplier(df=df, alpha=alpha, power=POWER) * std_error, ""


def untold(std_error: float | None, df: float | None) -> str:
    """Why nothing can be told of what a contrast could have detected; empty where it can."""
    if std_error is None:
        return "there is no standard error"
    if df is not None and df < 1:
        return f"{df:.2g} degrees of freedom are too few to tell what could have been detected"
    return ""


def _excluded(material: Material, row: Row, specification: Specification) -> Iterator[Row]:
    margin = material.setting.margin(row.domain, row.format)
    return exclusion_rows(row, margin, f"{_LABELS[specification]}; {UNITS[row.format]}")


def exclusion_rows(row: Row, margin: float | None, label: str) -> Iterator[Row]:
    """The equivalence test of a contrast (`tost`: the estimate, 90% interval, p value) and its `bound`.

    Args:
        row: The contrast.
        margin: Declared beforehand; without one there is only the bound.
        label: How the contrast was estimated.
    """
    tost = replace(row, estimand="tost", p_value=None, conf_low=None, conf_high=None)
    against = f"two one-sided tests against {margin:g}" if margin else "two one-sided tests"
    tost = replace(tost, method=f"{label}; {against}, 90% interval")
    undeclared = "" if margin else f"no margin was declared for {row.format}: nothing of it can be called equivalent"
    bound = replace(
        tost,
        estimand="bound",
        estimate=None,
        std_error=None,
        method=f"{label}; far end of the 90% interval",
    )
    if row.estimate is None or row.std_error is None:
        yield replace(tost, note=joined(undeclared, "there is no standard error", row.note))
        yield replace(bound, note=joined("there is no standard error", row.note))
        return
    # Without a margin the interval alone is read, and any margin gives the same.
    found = equivalence(row.estimate, row.std_error, margin or 1.0, df=math.inf if row.df is None else row.df)
    yield replace(
        tost,
        conf_low=found.conf_low,
        conf_high=found.conf_high,
        p_value=found.p_value if margin else None,
        note=joined(undeclared, found.note, row.note),
    )
    yield replace(bound, estimate=found.bound, note=joined(found.note, row.note))


def _name_sd(material: Material, cell: Cell, specification: Specification) -> Iterator[Row]:
    fit = material.fitted(cell, specification).fit
    variance = None if fit is None else fit.variances.get("name")
    size = None if variance is None else math.sqrt(variance)
    told = "" if size is not None else "the name intercept is not identified, or nothing was fitted"
    if size == 0:
        told = "estimated at zero: names differ by less than these data tell"
    head = Row("name_sd", "name", "", cell.domain, cell.format, POOLED, n=0 if fit is None else fit.n)
    label, unit = specification, UNITS[cell.format]
    yield replace(head, estimate=size, method=f"{label}; SD of the name intercept; {unit}", note=told)
    d = None if size is None else standardised(size, cell.sd)
    yield replace(
        head,
        estimand="name_sd_d",
        estimate=d,
        method=f"{label}; SD of the name intercept, over the raw SD of {cell.sd:.4g} {unit}",
        note=told if size is None or d is not None else "nothing varies: there is no SD to divide by",
    )
