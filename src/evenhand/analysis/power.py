"""Power curves: how likely each planned contrast would have been found, by how large the disparity truly is."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.analysis.detection import levels_of, tested_contrasts, untold
from evenhand.analysis.focal import UNITS
from evenhand.analysis.readings import joined
from evenhand.analysis.rows import Row, as_frame
from evenhand.statistics import power_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

EFFECTS = tuple(step / 50 for step in range(26))
"""True effects in raw SDs of the cell: 0 to 0.5 by 0.02."""


def power_curves(material: Material) -> pl.DataFrame:
    """For each planned contrast the power at each of `EFFECTS`, with the standard error that was achieved.

    Pooled over respondents, in the specification that decides. `floors` has where these curves reach 80% (`mde_d`).

    Returns:
        Tidy rows, one an effect, which `arm` names (`effect 0.10 SD`). `power`: the probability that the two-sided test
        rejects at 5%, before correction; `power_first_step`: at the level of the first step of the family's correction.
        A curve that cannot be computed is one row without an arm, with a note.
    """
    rows: list[Row] = []
    for cell, row, tested in tested_contrasts(material, "evenhand"):
        for which, (alpha, said) in levels_of(tested).items():
            rows += _curve(cell, row, f"power{which}", alpha, said)
    return as_frame(rows)


def _curve(cell: Cell, row: Row, estimand: str, alpha: float, said: str) -> Iterator[Row]:
    unit = UNITS[cell.format]
    test = f"two-sided, level {said}"
    numbers = dict.fromkeys(("estimate", "std_error", "conf_low", "conf_high", "p_value"))
    head = replace(row, estimand=estimand, method=f"evenhand: noncentral t, {test}; {unit}", **numbers)
    told = joined(
        untold(row.std_error, row.df),
        "the standard error is zero: there is no variation" if row.std_error == 0 else "",
        "" if cell.sd > 0 else "nothing varies: there is no SD to measure effects in",
    )
    if row.std_error is None or told:
        yield replace(head, note=joined(told, row.note))
        return
    law, df = ("normal", math.inf) if row.df is None else ("noncentral t", row.df)
    how = f"SE achieved {row.std_error:.4g} {unit}; effects in raw SDs of {cell.sd:.4g} {unit}"
    found = power_of(cell.sd * np.array(EFFECTS), row.std_error, df=df, alpha=alpha)
    for effect, power in zip(EFFECTS, found.tolist(), strict=True):
        arm = f"effect {effect:.2f} SD"
        yield replace(head, arm=arm, estimate=power, method=f"evenhand: {law}, {test}; {how}")
