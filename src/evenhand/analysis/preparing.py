"""The costly part of an analysis, cell by cell: every fit, and every refit of planned cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.material import Fitted, fit_cell
from evenhand.analysis.robustness import CellFits, CellRobustness, robustness_of
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, Specification

if TYPE_CHECKING:
    from evenhand.analysis.material import Material


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
    cell = material.cells[place]
    models = [POOLED, *(cell.models if len(cell.models) > 1 else [])]
    keys: list[tuple[Specification, str]] = [(name, model) for name in SPECIFICATIONS for model in models]
    fits = {key: fit_cell(cell, *key) for key in keys}
    refits = None
    if cell in material.planned:
        alone = {model: fits["evenhand", model if len(models) > 1 else POOLED] for model in cell.models}
        refits = robustness_of(cell, CellFits({name: fits[name, POOLED] for name in SPECIFICATIONS}, alone))
    return Prepared({key: one.without_model() for key, one in fits.items()}, refits)
