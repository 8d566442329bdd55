"""What every block of an analysis reads: outcomes with scores, the terms of the study, and fits made once.

A block is a function from the material to tidy rows. Several blocks rest on the same fits, which are kept here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evenhand.analysis.focal import Cell, focal_cells, scored
from evenhand.analysis.setting import Setting
from evenhand.analysis.specifications import POOLED, Specification, Specified, specify
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evenhand.statistics import MixedFit


LARGEST_SCORE = 1e35
FitKey = tuple[str, str, str, Specification, str]
"""Domain, format, mode, specification, and respondent or `pooled`."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A cell's model and its fit.

    Attributes:
        specified: The model, or why there is none.
        fit: The fit; None where there is nothing to fit (see `trouble`).
    """

    specified: Specified
    fit: MixedFit | None

    @property
    def trouble(self) -> str:
        """Why there is no model, in words; empty where there is one."""
        return self.specified.trouble

    def without_model(self) -> Fitted:
        """The fit alone, light enough to be sent between processes: its model must be laid out again to refit it."""
        return replace(self, specified=replace(self.specified, model=None))


@dataclass(frozen=True, slots=True)
class Material:
    """Outcomes and the terms of their analysis.

    Attributes:
        outcomes: The outcomes table.
        scores: The same with scores and the names of what repeats, see `focal.scored`.
        setting: What was fixed beforehand.
        cells: The primary cells in base wording.
    """

    outcomes: pl.DataFrame
    scores: pl.DataFrame
    setting: Setting
    cells: tuple[Cell, ...]
    _fits: dict[FitKey, Fitted] = field(default_factory=dict[FitKey, Fitted], repr=False)

    @classmethod
    def of(cls, outcomes: pl.DataFrame, setting: Setting | None = None) -> Material:
        """Prepare outcomes.

        Args:
            outcomes: The outcomes table.
            setting: The terms of the analysis; by default no margins, the usual references and the paper's family.

        Raises:
            InputError: A margin of a domain, or a reference level, that no row has.
        """
        setting = setting or Setting()
        scores = scored(outcomes)
        _check_terms(scores, setting)
        return cls(outcomes, scores, setting, tuple(focal_cells(scores, setting)))

    def cell(self, domain: str, format: str, mode: str) -> Cell | None:
        """One primary cell; None where the study has none."""
        return next((c for c in self.cells if (c.domain, c.format, c.mode) == (domain, format, mode)), None)

    @property
    def planned(self) -> tuple[Cell, ...]:
        """The cells of the planned families: their formats, bundles in their disguised presentation."""
        return tuple(cell for cell in self.cells if is_planned(cell, self.setting))

    def confounding(self, cell: Cell) -> list[str]:
        """What the arms of a cell are declared confounded with, as notes that all its results carry."""
        found = {self.setting.confounded.get(str(arm)) for arm in cell.rows["arm"].unique()} - {None}
        return [f"confounded: {what}" for what in sorted(map(str, found))]

    def fitted(self, cell: Cell, specification: Specification, model: str = POOLED) -> Fitted:
        """The fit of a cell to all respondents together or to one, made once for each primary cell.

        Where the analysis has several processes, such a fit comes without its model (`Specified.model` is None).

        Args:
            cell: A cell; of one that is not among the material's own no fit is kept.
            specification: Which one.
            model: A respondent, or `pooled`.
        """
        if all(cell is not own for own in self.cells):
            return fit_cell(cell, specification, model)
        key = (cell.domain, cell.format, cell.mode, specification, model)
        if key not in self._fits:
            self._fits[key] = fit_cell(cell, specification, model)
        return self._fits[key]

    def light_fits(self) -> dict[FitKey, Fitted]:
        """Every fit made so far, light enough to be sent between processes."""
        return {key: one.without_model() for key, one in self._fits.items()}

    def with_fits(self, fits: Mapping[FitKey, Fitted]) -> Material:
        """The same material with fits that were made elsewhere."""
        return replace(self, _fits=dict(fits))

    def keep(self, cell: Cell, fits: Mapping[tuple[Specification, str], Fitted]) -> None:
        """Keep fits that were made elsewhere, by specification and respondent."""
        for (specification, model), fit in fits.items():
            self._fits[cell.domain, cell.format, cell.mode, specification, model] = fit


def _check_terms(scores: pl.DataFrame, setting: Setting) -> None:
    """Refuse terms that speak of nothing in the outcomes: a slip would silently take contrasts or margins away."""
    domains = scores["domain"].unique().sort().to_list()
    stray = next((name for name in setting.margins if "/" in name and name.rpartition("/")[0] not in domains), None)
    if stray:
        raise InputError(
            f"the margin {stray} is of no domain here", where="margins", mend=f"The domains are {', '.join(domains)}"
        )
    if POOLED in scores["model"].unique().to_list():
        raise InputError(
            f"a respondent is called {POOLED!r}",
            where="model",
            mend="Rename it: so are all of them together called",
        )
    largest = scores["score"].abs().max() if "score" in scores.columns else None
    if isinstance(largest, float) and largest > LARGEST_SCORE:
        raise InputError(
            f"a score of {largest:g} is too large to be added up", where="score", mend="Give scores in a larger unit"
        )
    for factor, level in setting.default_references.items():
        levels = [str(one) for one in scores[factor].drop_nulls().unique().sort()] if factor in scores.columns else []
        if levels and level not in levels:
            raise InputError(
                f"no row has {factor} {level!r}", where="references", mend=f"The levels are {', '.join(levels)}"
            )


def is_planned(cell: Cell, setting: Setting) -> bool:
    """Whether a cell's contrasts belong to a family."""
    return is_planned_place(cell.format, cell.mode, setting)


def is_planned_place(format: str, mode: str, setting: Setting) -> bool:
    """Whether contrasts asked for like this belong to a family: a format that one names, bundles in disguise."""
    return setting.family_of(format) is not None and mode in {"single", "disguised"}


def fit_cell(cell: Cell, specification: Specification, model: str = POOLED) -> Fitted:
    """The fit of a cell to all respondents together or to one."""
    rows = cell.rows if model == POOLED else cell.of_model(model)
    specified = specify(cell, rows, specification)
    return Fitted(specified, specified.model.fit() if specified.model else None)
