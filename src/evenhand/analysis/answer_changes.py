"""What became of the answers themselves: how many slots both sides have, whether scores moved, who lost answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.focal import SCORE, UNITS
from evenhand.analysis.matching import UNSHARED, WHAT, shared_cells
from evenhand.analysis.readings import read_clustered
from evenhand.analysis.rows import Row
from evenhand.analysis.specifications import POOLED
from evenhand.analysis.validity import NOT_IDENTIFIED
from evenhand.errors import InputError
from evenhand.statistics import fit_clustered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.analysis.matching import SharedCell
    from evenhand.analysis.setting import Setting

LOST = ("refused", "malformed")
_ROUNDING = 1e-9


def slot_changes(cell: SharedCell) -> Iterator[Row]:
    """`shared_slots`, `only_first` and `only_second`; `change_score`, and `answered_differently`, of a cell."""
    for name, count in zip(("shared_slots", "only_first", "only_second"), cell.slots, strict=True):
        method = f"slots with a score, repeated answers once; {cell.mode}"
        yield replace(_head(cell, name, method), estimate=float(count), n=count)
    yield from _means(cell)


def losses(first: pl.DataFrame, second: pl.DataFrame, setting: Setting) -> Iterator[Row]:
    """The change of refused and of malformed shares on slots that were put to both sides, by group.

    Args:
        first: Scores of the first side, from `matching.with_bundles`.
        second: Those of the second.
        setting: The terms of the analysis.
    """
    for status in LOST:
        became = pl.when(pl.col("status") != "missing").then(100.0 * (pl.col("status") == status).cast(pl.Float64))
        asked = [table.filter(pl.col("task") != SCORE).with_columns(y=became) for table in (first, second)]
        for cell in shared_cells(asked[0], asked[1], setting):
            if not cell.rows.is_empty():
                yield from _lost(cell, status)


def _head(cell: SharedCell, estimand: str, method: str) -> Row:
    return Row(estimand, domain=cell.domain, format=cell.format, model=POOLED, method=method)


def _means(cell: SharedCell) -> Iterator[Row]:
    """The mean change of the score itself, and how many slots were answered differently."""
    moved = _head(cell, "change_score", f"mean of {WHAT}; {UNITS[cell.format]}; {cell.mode}")
    differ = _head(cell, "answered_differently", f"share of shared slots; {cell.mode}")
    if cell.rows.is_empty():
        yield from (replace(head, note=UNSHARED) for head in (moved, differ))
        return
    sums = cell.rows.group_by("call").agg(pl.col("y").sum().abs())["y"]
    if cell.bundled and bool((sums < _ROUNDING * cell.rows.height).all()):
        told = "the scores of a bundle sum to a constant: their mean cannot change"
        yield replace(moved, estimate=0.0, n=cell.rows.height, note=told)
    else:
        yield _mean(moved, cell.rows, bundled=cell.bundled)
    share = (cell.rows["y"].abs() > _ROUNDING).mean()
    assert isinstance(share, float)
    yield replace(differ, estimate=share, n=cell.rows.height, note="descriptive: no interval")


def _mean(head: Row, rows: pl.DataFrame, *, bundled: bool) -> Row:
    """A mean of differences; bundles, or the profiles of singles, are what varies together."""
    cluster = "unit" if bundled else "profile"
    try:
        fit = fit_clustered(rows, "y ~ 1", cluster=cluster, errors="cr2")
    except InputError as problem:
        mean = rows["y"].mean()
        return replace(head, estimate=mean if isinstance(mean, float) else None, n=rows.height, note=problem.what)
    return read_clustered(
        replace(head, method=f"{head.method}; errors clustered on the {cluster} (CR2)"), fit.rows()[0]
    )


def _lost(cell: SharedCell, status: str) -> Iterator[Row]:
    method = f"mean of {WHAT}, slots put to both sides; percentage points; {cell.mode}"
    head = _head(cell, f"change_share_{status}", method)
    if not any((side.rows["y"] != 0).any() for side in (cell.first, cell.second)):
        yield replace(head, estimate=0.0, n=cell.rows.height, note=f"no slot was {status} on either side")
        return
    yield _mean(head, cell.rows, bundled=cell.bundled)
    for factor in dict.fromkeys(factor for factor, _ in cell.compared):
        levels = [str(level) for level in cell.rows[factor].drop_nulls().unique().sort()]
        held = cell.rows.group_by("call").agg(pl.col(factor).n_unique())[factor].max()
        for level in levels:
            one = replace(head, term=factor, group=level)
            if cell.bundled and held != 1:
                yield replace(one, n=cell.rows.filter(pl.col(factor) == level).height, note=NOT_IDENTIFIED)
            else:
                yield _mean(one, cell.rows.filter(pl.col(factor) == level), bundled=cell.bundled)
