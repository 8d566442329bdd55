"""From a table and a formula to numbers: outcome, design matrix, groups.

Factors are coded as R codes them (treatment contrasts; a factor whose margin is not in the model gets a column for
every level), and coefficients are named as R names them (`raceBlack`, `raceBlack:genderMale`).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.statistics.formulas import Formula, Term

INTERCEPT = "(Intercept)"


@dataclass(frozen=True, slots=True)
class Matrices:
    """A model in numbers.

    Attributes:
        y: The outcome, shape (n,).
        x: The design matrix of the fixed terms, shape (n, p).
        coef_names: Names of its columns.
        levels: The levels of each factor in the formula, the reference first.
        table: The rows that are complete, in their order.
        dropped: Rows left out because a value is missing.
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    coef_names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    table: pl.DataFrame
    dropped: int


def build_matrices(
    data: Any, formula: Formula, *, reference: Mapping[str, str] | None = None, also: Sequence[str] = ()
) -> Matrices:
    """Lay out a model.

    Args:
        data: A polars or pandas frame.
        formula: What is explained by what.
        reference: The reference level of factors; by default the first level of an enumerated or ordered column, else
            the first in the alphabet. A number column that is named here is a factor.
        also: Columns needed beside (clusters, rankings).

    Raises:
        InputError: A column that is not there, an outcome that is no number, infinite values, a factor with one level,
            an unknown reference level, or no complete row.
    """
    reference = reference or {}
    columns = tuple(dict.fromkeys((*formula.columns, *also)))
    table = _as_polars(data, columns)
    stray = next((name for name in reference if name not in columns), None)
    if stray is not None:
        raise InputError(
            f"{stray!r} is not in the formula", where="reference", mend=f"Name one of {', '.join(columns)}"
        )
    _require_number(table, formula.outcome, "the outcome")
    complete = table.drop_nulls().filter(
        pl.all_horizontal(pl.selectors.float().is_not_nan()) if _floats(table) else True
    )
    if complete.is_empty():
        raise InputError("no row is complete", where="data", mend="Give rows with a value in every column named")
    for name in _floats(complete):
        if complete[name].is_infinite().any():
            raise InputError(f"{name} holds an infinite value", where="data", mend="Leave such rows out")
    fixed = tuple(dict.fromkeys(itertools.chain.from_iterable(formula.terms)))
    levels = {
        name: _levels(complete[name], name, reference.get(name))
        for name in fixed
        if name in reference or not complete[name].dtype.is_numeric()
    }
    x, names = _design(complete, formula.terms, levels)
    y = complete[formula.outcome].cast(pl.Float64).to_numpy()
    return Matrices(y, x, names, levels, complete, table.height - complete.height)


def _as_polars(data: Any, columns: Sequence[str]) -> pl.DataFrame:
    present = [str(column) for column in data.columns]
    missing = next((column for column in columns if column not in present), None)
    if missing is not None:
        raise InputError(f"there is no column {missing!r}", where="data", mend=f"Name one of {', '.join(present[:20])}")
    if isinstance(data, pl.DataFrame):
        return data.select(columns)
    return pl.DataFrame([_from_pandas(data[column], column) for column in columns])


def _from_pandas(series: Any, name: str) -> pl.Series:
    """A pandas column; a categorical one keeps the order of its categories."""
    values = [None if gone else value for value, gone in zip(series.tolist(), series.isna().tolist(), strict=True)]
    categories = getattr(series.dtype, "categories", None)
    if categories is None:
        return pl.Series(name, values, strict=False)
    labels = [str(category) for category in categories]
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.Enum(labels))


def _require_number(table: pl.DataFrame, name: str, what: str) -> None:
    dtype = table[name].dtype
    if not (dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Null))):
        raise InputError(f"{what} {name!r} is {dtype}, no number", where="data", mend="Give a column of numbers")


def _floats(table: pl.DataFrame) -> list[str]:
    return [name for name, dtype in table.schema.items() if dtype.is_float()]


def _levels(column: pl.Series, name: str, reference: str | None) -> tuple[str, ...]:
    present = set(column.cast(pl.String).to_list())
    if isinstance(column.dtype, pl.Enum):
        ordered = [level for level in column.dtype.categories.to_list() if level in present]
    elif column.dtype.is_numeric():
        ordered = [str(value) for value in column.unique().sort().to_list()]
    else:
        ordered = sorted(present)
    if len(ordered) < 2:
        raise InputError(
            f"the factor {name!r} has one level, {ordered[0]!r}", where="data", mend="Leave it out of the formula"
        )
    if reference is None:
        return tuple(ordered)
    if str(reference) not in ordered:
        raise InputError(
            f"{name} has no level {reference!r}", where="reference", mend=f"Use one of {', '.join(ordered)}"
        )
    return (str(reference), *(level for level in ordered if level != str(reference)))


def _design(
    table: pl.DataFrame, terms: Sequence[Term], levels: Mapping[str, tuple[str, ...]]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    columns: list[NDArray[np.float64]] = []
    names: list[str] = []
    for term in terms:
        parts = [_coded(table[name], name, term, terms, levels) for name in term]
        # The first factor's levels change fastest, as in R.
        for combination in itertools.product(*reversed(parts)):
            chosen = list(reversed(combination))
            names.append(":".join(name for name, _ in chosen) or INTERCEPT)
            product = np.ones(table.height)
            for _, values in chosen:
                product = product * values
            columns.append(product)
    x = np.column_stack(columns) if columns else np.empty((table.height, 0))
    return x, tuple(names)


def _coded(
    column: pl.Series, name: str, term: Term, terms: Sequence[Term], levels: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, NDArray[np.float64]]]:
    if name not in levels:
        return [(name, column.cast(pl.Float64).to_numpy())]
    without = frozenset(term) - {name}
    contrast = any(frozenset(other) == without for other in terms)
    text = column.cast(pl.String)
    return [(f"{name}{level}", (text == level).cast(pl.Float64).to_numpy()) for level in levels[name][contrast:]]
