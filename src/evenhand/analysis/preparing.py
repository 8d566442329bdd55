"""The costly part of an analysis, cell by cell: every fit, and every refit of planned cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.readings import pooled_and_each
from evenhand.analysis.robustness import CellRobustness, fits_of, robustness_of
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, Specification

if TYPE_CHECKING:
    from evenhand.analysis.material import Fitted, Material


@dataclass(frozen=True, slots=True)
class Prepared:
    """What was fitted to a cell.

    Attributes:
        fits: By specification and respondent (or `pooled`), without the models, which are large to send.
        robustness: Of a planned cell; else None.
    """

    fits: dict[tuple[Specification, str], Fitted]
    robustness: CellRobustness | None


def prepare_cell(material: Material, place: int) -> Prepared:
    """Every fit of one cell.

    Args:
        material: What is analysed.
        place: The cell's, among those of the material.
    """
    # Models are large: they live no longer than this cell's turn.
    own, cell = material.with_fits({}), material.cells[place]
    models = pooled_and_each(cell.models, POOLED)
    keys: list[tuple[Specification, str]] = [(name, model) for name in SPECIFICATIONS for model in models]
    fits = {key: own.fitted(cell, *key) for key in keys}
    refits = robustness_of(cell, fits_of(own, cell)) if cell in own.planned else None
    return Prepared({key: one.without_model() for key, one in fits.items()}, refits)
