"""Refits without one name, one profile or one respondent: does any of them alone make a contrast?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.focal import UNITS
from evenhand.analysis.rows import Row
from evenhand.analysis.specifications import POOLED, contrast_rows, specify
from evenhand.errors import InputError
from evenhand.statistics import standardised
from evenhand.statistics.tails import t_two_sided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Fitted
    from evenhand.statistics import MixedFit

KINDS = ("name", "profile", "model")
"""What is left out, one level at a time."""


Contrast = tuple[str, str]
"""Factor and group."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A cell's contrasts without one level.

    Attributes:
        kind: The column.
        level: The level that is left out.
        fit: The fit to the other rows, in the specification that decides; None where there is none.
        trouble: Why there is none.
        estimates: By contrast, its estimate; those that are not identified are left out.
        p_values: By contrast, its p value; None where there is none.
    """

    kind: str
    level: str
    fit: MixedFit | None
    trouble: str
    estimates: Mapping[Contrast, float]
    p_values: Mapping[Contrast, float | None]

    @property
    def label(self) -> str:
        """The level as it is printed: a profile without framing has an empty part."""
        return " ".join(self.level.split("\x1f")).strip()

    def rows(self, cell: Cell) -> Iterator[Row]:
        """Its contrasts as rows."""
        for row in contrast_rows(cell, self.fit, "evenhand", trouble=self.trouble):
            yield replace(row, method=f"{row.method}; without {self.label}")


def refits(cell: Cell, pooled: Fitted) -> Iterator[LeftOut]:
    """The contrasts of a cell without each name, each profile and each respondent in turn.

    Args:
        cell: The cell.
        pooled: Its fit in the specification that decides, where each search begins.
    """
    contrasts = cell.groups
    for kind in KINDS:
        levels: list[str] = cell.rows[kind].drop_nulls().unique().sort().to_list()
        if len(levels) < 2:
            continue
        for level in levels:
            fit, trouble = _without(cell, pooled, kind, level)
            yield LeftOut(kind, level, fit, trouble, *_read(fit, contrasts))


def _without(cell: Cell, pooled: Fitted, kind: str, level: str) -> tuple[MixedFit | None, str]:
    model = pooled.specified.model
    if model is None:
        return None, pooled.trouble
    start = None if pooled.fit is None else pooled.fit.warm_start
    try:
        if kind in model.table.columns:
            return model.without(kind, level, start), ""
        # A ranking's model has no term for respondents.
        if model.table.height == cell.rows.height:
            return model.without_rows((cell.rows[kind] == level).to_numpy(), start), ""
        specified = specify(cell, cell.rows.filter(pl.col(kind) != level), "evenhand")
        return (specified.model.fit(start) if specified.model else None), specified.trouble
    except InputError as problem:
        return None, problem.what


def _read(
    fit: MixedFit | None, contrasts: Sequence[Contrast]
) -> tuple[dict[Contrast, float], dict[Contrast, float | None]]:
    """Estimates and p values alone: hundreds of refits need no tables."""
    estimates: dict[Contrast, float] = {}
    p_values: dict[Contrast, float | None] = dict.fromkeys(contrasts)
    if fit is None:
        return estimates, p_values
    places = {name: k for k, name in enumerate(fit.coef_names)}
    known = {pair: places[name] for pair in contrasts if (name := "".join(pair)) in places}
    at = list(known.values())
    beta, errors, df = fit.beta[at], fit.std_errors[at], fit.df_satterthwaite[at]
    statistic = np.divide(beta, errors, out=np.full(len(at), np.nan), where=errors > 0)
    p: list[float] = t_two_sided(statistic, df).tolist()
    for pair, estimate, value in zip(known, beta.tolist(), p, strict=True):
        if math.isfinite(estimate):
            estimates[pair] = estimate
        p_values[pair] = value if math.isfinite(value) else None
    return estimates, p_values


def shift_rows(cell: Cell, full: Sequence[Row], left_out: Sequence[LeftOut]) -> Iterator[Row]:
    """The largest shift of each contrast by what was left out, in units and in SDs.

    Args:
        cell: The cell.
        full: Its contrasts from all rows.
        left_out: Its contrasts without each level.

    Yields:
        Rows of estimands `max_shift` and `max_shift_d`; the note names the level.
    """
    for kind in KINDS:
        every = [one for one in left_out if one.kind == kind]
        for whole in full if every else ():
            yield from _largest(cell, whole, every, kind)


def _largest(cell: Cell, whole: Row, every: Sequence[LeftOut], kind: str) -> Iterator[Row]:
    pair = (whole.term, whole.group)
    head = Row("max_shift", *pair, cell.domain, cell.format, POOLED, n=len(every))
    estimates = {one.label: one.estimates[pair] for one in every if pair in one.estimates}
    unit, method = UNITS[cell.format], f"evenhand, leave one {kind} out: largest shift in size"
    missing = len(every) - len(estimates)
    lost = f"{missing} of {len(every)} refits gave no estimate" if missing else ""
    if whole.estimate is None or not estimates:
        note = "; ".join(part for part in ("there is nothing to shift", lost, whole.note) if part)
        yield replace(head, method=f"{method}; {unit}", note=note)
        yield replace(head, estimand="max_shift_d", method=method, note=note)
        return
    full = whole.estimate
    level = max(estimates, key=lambda name: abs(estimates[name] - full))
    shift = abs(estimates[level] - full)
    note = "; ".join(part for part in (f"without {level}: {estimates[level]:+.4g}, with it {full:+.4g}", lost) if part)
    yield replace(head, estimate=shift, method=f"{method}; {unit}", note=note)
    d = standardised(shift, cell.sd)
    told = note if d is not None else f"{note}; nothing varies: there is no SD to divide by"
    over = f"{method}; over the raw SD of {cell.sd:.4g} {unit}"
    yield replace(head, estimand="max_shift_d", estimate=d, method=over, note=told)
