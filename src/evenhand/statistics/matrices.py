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
_RANK_TOLERANCE = 1e-9
_FAR_FROM_SINGULAR = 1e-6
_MANY_LEVELS = 12


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
        remarks: The same in words, by level of the factors.
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    coef_names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    table: pl.DataFrame
    dropped: int
    remarks: tuple[str, ...]

    @property
    def reference(self) -> dict[str, str]:
        """The reference level of each factor."""
        return {name: known[0] for name, known in self.levels.items()}


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
    varying = itertools.chain(formula.terms, *(random.terms for random in formula.random))
    levels = {
        name: _levels(complete[name], name, reference.get(name))
        for name in dict.fromkeys(itertools.chain.from_iterable(varying))
        if name in reference or not complete[name].dtype.is_numeric()
    }
    x, names = design_matrix(complete, formula.terms, levels)
    y = complete[formula.outcome].cast(pl.Float64).to_numpy()
    dropped = table.height - complete.height
    return Matrices(y, x, names, levels, complete, dropped, _remarks(table, complete, levels))


def _remarks(table: pl.DataFrame, complete: pl.DataFrame, levels: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """How many rows were left out, and where: a loss that differs by group is a finding of its own."""
    dropped = table.height - complete.height
    if not dropped:
        return ()
    told: list[str] = []
    for name, known in levels.items():
        if len(known) > _MANY_LEVELS:
            continue
        before, after = (dict(rows[name].cast(pl.String).value_counts().iter_rows()) for rows in (table, complete))
        lost = [f"{level} {before[level] - after[level]} of {before[level]}" for level in known]
        told.append(f"{name}: {', '.join(lost)}")
    return (f"{dropped} rows with a missing value are left out ({'; '.join(told) or 'of ' + str(table.height)})",)


def independent(x: NDArray[np.float64]) -> list[int]:
    """The columns that are no sums of columns before them, as R keeps them.

    Args:
        x: A design matrix, shape (n, p).
    """
    products = x.T @ x
    sizes = np.sqrt(np.diag(products))
    # Far from singular, the cross-products alone tell; they square what a careful look must see.
    if (sizes > 0).all():
        least = np.linalg.eigvalsh(products / np.outer(sizes, sizes))[:1].min(initial=1.0)
        if least > _FAR_FROM_SINGULAR:
            return list(range(int(x.shape[1])))
    return _independent_with_care(x)


def orthonormal(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Orthonormal columns that span the same, and the matrix that leads to them: `x @ turn`, shape (p, p).

    Cross-products of such columns are the identity: nothing is lost where a design holds large numbers (years) or
    columns that nearly agree.

    Args:
        x: Independent columns, shape (n, p).
    """
    columns, turn = x, np.eye(int(x.shape[1]))
    # Twice is enough: what the first pass leaves of correlation is small.
    for _ in range(2):
        products = columns.T @ columns
        scale = 1 / np.sqrt(np.diag(products))
        scaled = products * np.outer(scale, scale)
        if np.linalg.eigvalsh(scaled)[0] > _FAR_FROM_SINGULAR:
            step = scale[:, None] * np.linalg.inv(np.linalg.cholesky(scaled)).T
            columns, turn = columns @ step, turn @ step
        else:
            columns, triangle = np.linalg.qr(columns * scale)
            turn = turn @ (scale[:, None] * np.linalg.inv(triangle))
    return columns.astype(np.float64), turn.astype(np.float64)


def _independent_with_care(x: NDArray[np.float64]) -> list[int]:
    n, p = (int(size) for size in x.shape)
    kept: list[int] = []
    basis = np.empty((n, min(n, p)), order="F")
    for k in range(p):
        column = x[:, k]
        known = basis[:, : len(kept)]
        rest = column - known @ (known.T @ column)
        rest -= known @ (known.T @ rest)
        size = float(np.linalg.norm(rest))
        if len(kept) < n and size > _RANK_TOLERANCE * max(float(np.linalg.norm(column)), 1e-300):
            basis[:, len(kept)] = rest / size
            kept.append(k)
    return kept


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
    if dtype.is_numeric() or isinstance(dtype, (pl.Boolean, pl.Null)):
        return
    told = f"is {dtype}"
    if isinstance(dtype, pl.String):
        stray = table[name].cast(pl.Float64, strict=False).is_null() & table[name].is_not_null()
        row = stray.arg_max() or 0
        told = f"holds {table[name][row]!r} in row {row + 1}"
    raise InputError(f"{what} {name!r} {told}, no number", where="data", mend="Give a column of numbers")


def _floats(table: pl.DataFrame) -> list[str]:
    return [name for name, dtype in table.schema.items() if dtype.is_float()]


def _levels(column: pl.Series, name: str, reference: str | None) -> tuple[str, ...]:
    present = set(column.unique().cast(pl.String).to_list())
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


def design_matrix(
    table: pl.DataFrame, terms: Sequence[Term], levels: Mapping[str, tuple[str, ...]]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Columns for terms, and their names.

    Args:
        table: Rows without missing values.
        terms: What to lay out.
        levels: The levels of the columns that are factors; others are numbers.

    Returns:
        A matrix of shape (n, columns) and the columns' names.
    """
    named = tuple(dict.fromkeys(itertools.chain.from_iterable(terms)))
    coded = {name: _coded(table[name], name, levels.get(name)) for name in named}
    chosen: list[list[tuple[str, NDArray[np.float64]]]] = []
    for term in terms:
        parts = [coded[name][name in levels and _has_margin(term, name, terms) :] for name in term]
        # The first factor's levels change fastest, as in R.
        chosen += [list(reversed(combination)) for combination in itertools.product(*reversed(parts))]
    x = np.ones((table.height, len(chosen)), order="F")
    for k, factors in enumerate(chosen):
        for _, values in factors:
            x[:, k] *= values
    return x, tuple(":".join(name for name, _ in factors) or INTERCEPT for factors in chosen)


def level_codes(column: pl.Series) -> tuple[NDArray[np.int64], int]:
    """Numbers from 0 for the values of a column, in no order, and how many there are."""
    if not column.dtype.is_numeric():
        column = column.cast(pl.String).cast(pl.Categorical).to_physical()
    present, codes = np.unique(column.to_numpy(), return_inverse=True)
    return codes, len(present)


def _has_margin(term: Term, name: str, terms: Sequence[Term]) -> bool:
    """Whether the term without this factor is in the model, so that its first level would be told twice."""
    without = frozenset(term) - {name}
    return any(frozenset(other) == without for other in terms)


def _coded(column: pl.Series, name: str, levels: tuple[str, ...] | None) -> list[tuple[str, NDArray[np.float64]]]:
    if levels is None:
        return [(name, column.cast(pl.Float64).to_numpy())]
    codes = column.cast(pl.String).cast(pl.Enum(levels)).to_physical().to_numpy()
    return [(f"{name}{level}", (codes == k).astype(np.float64)) for k, level in enumerate(levels)]
