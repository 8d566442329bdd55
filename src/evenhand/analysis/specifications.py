"""The two specifications of a demographic contrast, and the contrasts they give.

`paper` is that of "The Audit Decides the Verdict" (section 2, appendix C): random intercepts for model, profile, name
pair and bundle; position and stratum fixed on bundles; Wald's z. `evenhand` decides: respondents see the same stimuli,
so singles have a stimulus intercept shared by them, and bundles a slot intercept; and the scores of a call sum to a
constant, so a bundle's n slots bear n - 1 degrees of freedom: each call is absorbed. Satterthwaite's t.
In both, framings are fixed, and so are wordings where outcomes have none that is the base.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.analysis.focal import FACTORS, UNITS
from evenhand.analysis.rows import Row
from evenhand.errors import InputError
from evenhand.statistics import MixedFit, MixedModel, fit_clustered, lay_out_mixed
from evenhand.statistics.formulas import parse_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from evenhand.analysis.focal import Cell

Specification = Literal["evenhand", "paper"]
SPECIFICATIONS: tuple[Specification, ...] = ("evenhand", "paper")
POOLED = "pooled"

_BUNDLE_TERMS = ("position", "stratum")
_TEXT_TERMS = ("framing", "wording_variant")
_RANDOM = {
    ("paper", False): ("model", "profile", "name"),
    ("paper", True): ("model", "profile", "name", "unit"),
    ("evenhand", False): ("model", "profile", "name", "stimulus"),
    ("evenhand", True): ("profile", "name", "slot"),
}
_METHODS = {
    "paper": "paper: mixed model, Wald z",
    "evenhand": "evenhand: mixed model, Satterthwaite t",
}


@dataclass(frozen=True, slots=True)
class Specified:
    """A specification applied to the rows of a cell.

    Attributes:
        model: The mixed model, laid out; None where no term repeats, nothing can be fitted, or it was left behind in
            the process that fitted it.
        trouble: Why there is none, in words.
        formula: What was fitted.
    """

    model: MixedModel | None
    trouble: str
    formula: str


def formula_of(cell: Cell, rows: pl.DataFrame, specification: Specification) -> str:
    """The formula of a cell: terms that have one level in these rows are left out.

    Args:
        cell: The cell.
        rows: Its rows, or some of them.
        specification: Which one.
    """
    fixed = [factor for factor in FACTORS if _levels(rows, factor) > 1]
    if cell.bundled:
        fixed += [term for term in _BUNDLE_TERMS if _levels(rows, term) > 1]
    fixed += [term for term in _TEXT_TERMS if _levels(rows, term) > 1]
    random = [term for term in _RANDOM[specification, cell.bundled] if 1 < _levels(rows, term) < rows.height]
    return f"y ~ {' + '.join([*fixed, *(f'(1|{term})' for term in random)]) or '1'}"


def specify(cell: Cell, rows: pl.DataFrame, specification: Specification) -> Specified:
    """Lay out a cell's model; what cannot be fitted is told, never raised.

    Args:
        cell: The cell.
        rows: Its rows, or some of them.
        specification: Which one.
    """
    formula = formula_of(cell, rows, specification)
    absorb = "call" if specification == "evenhand" and cell.bundled else None
    reference = _reference_levels(cell, rows, parse_formula(formula).columns)
    try:
        return Specified(lay_out_mixed(rows, formula, reference=reference, absorb=absorb), "", formula)
    except InputError as problem:
        return Specified(None, problem.what, formula)


def contrast_rows(
    cell: Cell,
    fit: MixedFit | None,
    specification: Specification,
    *,
    model: str = POOLED,
    trouble: str = "",
    estimand: str = "contrast",
) -> Iterator[Row]:
    """One row for each level of race and gender against its reference, in the cell's own unit.

    A contrast that was not estimated has its row too, with a note.

    Args:
        cell: The cell.
        fit: Its fit, or None.
        specification: Which one.
        model: The respondent.
        trouble: Why there is no fit.
        estimand: What the rows are called.
    """
    found = {} if fit is None else by_contrast(cell, fit.rows())
    notes = list(fit.notes) if fit is not None else [trouble]
    suffix = "_satterthwaite" if specification == "evenhand" else ""
    for factor, group in cell.compared:
        row = found.get((factor, group))
        told = [*notes] if row else [*notes, cell.why_not(factor, group)]
        estimated = row is not None and row["std_error"] is not None
        yield Row(
            estimand,
            term=factor,
            group=group,
            domain=cell.domain,
            format=cell.format,
            model=model,
            estimate=row["estimate"] if row else None,
            std_error=row["std_error"] if row else None,
            df=row["df"] if row and estimated and specification == "evenhand" else None,
            conf_low=row[f"conf_low{suffix}"] if row else None,
            conf_high=row[f"conf_high{suffix}"] if row else None,
            p_value=row[f"p_value{suffix}"] if row else None,
            n=0 if fit is None else fit.n,
            method=f"{_METHODS[specification]}; {UNITS[cell.format]}; against {cell.references[factor]}",
            note="; ".join(note for note in told if note),
        )


def by_contrast(cell: Cell, rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """What an estimator says of each level, where the level is compared with the reference of the cell."""
    found = {row["term"]: row for row in rows}
    named = {(factor, group): found.get(f"{factor}{group}") for factor, group in cell.groups}
    return {pair: row for pair, row in named.items() if row is not None}


def clustered_rows(cell: Cell, rows: pl.DataFrame, *, model: str = POOLED) -> Iterator[Row]:
    """The contrasts by least squares, errors clustered on the bundle, or on the stimulus of singles.

    Position, stratum and respondent are fixed effects, as in appendix C of the paper.
    """
    cluster = "unit" if cell.bundled else "stimulus"
    candidates = [*FACTORS, *(["position"] if cell.bundled else []), "stratum", *_TEXT_TERMS, "model"]
    fixed = [term for term in candidates if _levels(rows, term) > 1]
    try:
        fit = fit_clustered(
            rows, f"y ~ {' + '.join(fixed) or '1'}", cluster=cluster, reference=_reference_levels(cell, rows, fixed)
        )
    except InputError as problem:
        found, note, n = {}, problem.what, 0
    else:
        found, note, n = by_contrast(cell, fit.rows()), "; ".join(fit.notes), fit.n
    for factor, group in cell.compared:
        row = found.get((factor, group), {})
        yield Row(
            "contrast",
            term=factor,
            group=group,
            domain=cell.domain,
            format=cell.format,
            model=model,
            estimate=row.get("estimate"),
            std_error=row.get("std_error"),
            df=row.get("df"),
            conf_low=row.get("conf_low"),
            conf_high=row.get("conf_high"),
            p_value=row.get("p_value"),
            n=n,
            method=f"least squares, errors clustered on the {cluster}; {UNITS[cell.format]}",
            note=note if row else f"{note}; {cell.why_not(factor, group)}".removeprefix("; "),
        )


def _factors_in(cell: Cell, rows: pl.DataFrame) -> Sequence[str]:
    """The factors that vary, and whose reference level is there."""
    return [
        factor
        for factor in FACTORS
        if _levels(rows, factor) > 1 and cell.references.get(factor) in rows[factor].unique().to_list()
    ]


def _reference_levels(cell: Cell, rows: pl.DataFrame, terms: Sequence[str]) -> dict[str, str]:
    """The reference of every factor among the terms; naming one makes positions and strata factors, not numbers."""
    levels = {factor: cell.references[factor] for factor in _factors_in(cell, rows) if factor in terms}
    first = {term: rows[term].drop_nulls().min() for term in (*_BUNDLE_TERMS, *_TEXT_TERMS) if term in terms}
    return levels | {term: str(level) for term, level in first.items()}


def _levels(rows: pl.DataFrame, column: str) -> int:
    return rows[column].drop_nulls().n_unique()
