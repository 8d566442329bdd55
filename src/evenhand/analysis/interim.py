"""Estimates of a run while it is collected: cheap, pooled, and not for decisions.

Nobody planned a look before the end, so that nothing is tested here: no p value, no correction, no status.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.focal import demographic_rows
from evenhand.analysis.material import is_planned_place
from evenhand.analysis.readings import joined
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, clustered_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

SHARE, CONTRAST = "share_answered", "interim_contrast"
OPEN = ("missing", "error")
"""What may still be answered: units that were not sent, and those that are sent again."""


def interim_contrasts(material: Material) -> pl.DataFrame:
    """How much of the planned cells is answered, and their contrasts so far, pooled over respondents.

    Least squares with errors clustered on bundles or stimuli (`specifications.clustered_rows`), as the robustness
    checks of a finished run have them.

    Returns:
        Tidy rows: `share_answered` of all planned cells together (no domain) and of each, `n` its slots; then
        `interim_contrast` of each cell that has answers, in its format's unit. None have a p value.
    """
    shares = list(_shares(material))
    contrasts = [row for cell in material.planned for row in _contrasts(material, cell)]
    return as_frame([*shares, *contrasts])


def planned_slots(material: Material) -> list[dict[str, Any]]:
    """Slots of the planned cells, also of those without a score yet.

    Returns:
        By domain, task and presentation: how many were `asked`, are `scored`, and are `waiting` for an answer.
    """
    found = (
        demographic_rows(material.scores)
        .group_by("domain", "task", "presentation", maintain_order=True)
        .agg(
            asked=pl.len(),
            scored=(pl.col("y").is_not_null() & pl.col("y").is_finite()).sum(),
            waiting=(pl.col("y").is_null() & pl.col("status").is_in(OPEN)).sum(),
        )
    )
    return [row for row in found.to_dicts() if is_planned_place(row["task"], row["presentation"], material.setting)]


def _shares(material: Material) -> Iterator[Row]:
    planned = planned_slots(material)
    if planned:
        yield _share("", "", *(sum(row[name] for row in planned) for name in ("asked", "scored", "waiting")))
    for row in planned:
        yield _share(row["domain"], row["task"], row["asked"], row["scored"], row["waiting"])


def _share(domain: str, format: str, asked: int, scored: int, waiting: int) -> Row:
    lost = asked - scored - waiting
    told = [f"{waiting:,} of {asked:,} slots wait"] * bool(waiting)
    told += [f"{lost:,} came without an answer that can be scored"] * bool(lost)
    return Row(
        SHARE,
        domain=domain,
        format=format,
        model=POOLED,
        estimate=scored / asked,
        n=asked,
        method="share of the planned slots that have a score",
        note="; ".join(told),
    )


def _contrasts(material: Material, cell: Cell) -> Iterator[Row]:
    for row in clustered_rows(cell, cell.rows):
        yield replace(
            row,
            estimand=CONTRAST,
            p_value=None,
            method=f"{row.method}; against {cell.references[row.term]}",
            note=joined(row.note, *material.confounding(cell)),
        )
