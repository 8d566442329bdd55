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
from evenhand.tables import as_polars, counted, meant, shown, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.statistics.formulas import Formula, Term

INTERCEPT = "(Intercept)"
_RANK_TOLERANCE = 1e-9
_FAR_FROM_SINGULAR = 1e-6
_MANY_LEVELS = 12
_LARGEST = 1e35
"""The size of a column up to which neither fourth powers of coefficients nor their inverses overflow."""
_EXACT = 2**53
"""The largest integer up to which floating point numbers tell all of them apart."""


@dataclass(frozen=True, slots=True)
class Matrices:
    """A model in numbers.

    Attributes:
        y: The outcome, shape (n,).
        x: The design matrix of the fixed terms, shape (n, p).
        coef_names: Names of its columns.
        levels: The levels of each factor in the formula, the reference first.
        table: The rows that are complete, in their order.
        remarks: How many rows were left out because a value is missing, by level of the factors.
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    coef_names: tuple[str, ...]
    levels: Mapping[str, tuple[str, ...]]
    table: pl.DataFrame
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
        InputError: Data that are no frame, a column that is not there or holds no numbers, texts or times, an outcome
            that is no number, infinite values or sizes that overflow, a factor with one level, an unknown reference
            level, coefficients of one name, or no complete row.
    """
    table = as_polars(data, [*formula.columns, *(name for name in also if name not in formula.columns)])
    varying = dict.fromkeys(
        itertools.chain.from_iterable((*formula.terms, *itertools.chain(*(part.terms for part in formula.random))))
    )
    reference = _checked_reference(reference or {}, formula, tuple(varying))
    _require_values(table)
    _require_number(table, formula.outcome, "the outcome")
    complete = _complete(table)
    if complete.is_empty():
        raise InputError("no row is complete", where="data", mend="Give rows with a value in every column named")
    for name in _floats(complete):
        if not np.isfinite(complete[name].to_numpy()).all():
            raise InputError(f"{shown(name)} holds an infinite value", where="data", mend="Leave such rows out")
    levels = {
        name: _levels(complete[name], name, reference.get(name))
        for name in varying
        if name in reference or not _is_number(complete[name].dtype)
    }
    x, names = design_matrix(complete, formula.terms, levels)
    y = _numbers(complete[formula.outcome])
    plain = [name for name in varying if name not in levels]
    _require_sizes([formula.outcome, *plain, *names], [y, *(_numbers(complete[name]) for name in plain), *x.T])
    return Matrices(y, x, names, levels, complete, _remarks(table, complete, levels))


def _checked_reference(reference: Mapping[str, str], formula: Formula, varying: Sequence[str]) -> Mapping[str, str]:
    if not hasattr(reference, "items"):
        what = f"{reference!r} names no levels by factor"
        raise InputError(what, where="reference", mend="Give a mapping such as {'race': 'white'}")
    for name in reference:
        if name in varying:
            continue
        what = f"{name!r} is not in the formula"
        if name in formula.columns:
            what = f"{name!r} is the outcome or a group alone, and has no reference level"
        mend = f"Name one of {some(varying)}" if varying else "The formula has no factor: leave it out"
        raise InputError(what, where="reference", mend=mend)
    return reference


def _require_values(table: pl.DataFrame) -> None:
    if table.is_empty():
        raise InputError("there is no row", where="data", mend="Give a table with rows")
    for column in table:
        missing = column.null_count()
        if column.dtype.is_float():
            missing = int(np.isnan(column.to_numpy()).sum())
        if missing == table.height:
            raise InputError(
                f"no row is complete: there is no value in {shown(column.name)}",
                where="data",
                mend="Give values, or leave the column out",
            )


def _complete(table: pl.DataFrame) -> pl.DataFrame:
    """The rows in which nothing is missing."""
    if any(column.null_count() for column in table):
        table = table.drop_nulls()
    wanting = [np.isnan(table[name].to_numpy()) for name in _floats(table)]
    missing = np.logical_or.reduce(wanting) if wanting else np.zeros(0, dtype=np.bool_)
    return table.filter(~missing) if missing.any() else table


def _require_sizes(names: Sequence[str], columns: Sequence[NDArray[np.float64]]) -> None:
    """Refuse what would overflow once it is squared."""
    for name, column in zip(names, columns, strict=True):
        size = float(np.abs(column).max())
        if size and not 1 / _LARGEST < size < _LARGEST:
            what = f"{shown(name)} is of the size of {size:.0e}"
            raise InputError(what, where="data", mend="Give it in another unit")


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
        lost = [f"{shown(level)} {before[level] - after[level]} of {before[level]}" for level in known]
        told.append(f"{shown(name)}: {', '.join(lost)}")
    where = "; ".join(told) or f"of {table.height}"
    return (f"{counted(dropped, 'row')} with a missing value {'is' if dropped == 1 else 'are'} left out ({where})",)


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


def _require_number(table: pl.DataFrame, name: str, what: str) -> None:
    dtype = table[name].dtype
    if _is_number(dtype):
        return
    told = f"is {dtype}"
    if isinstance(dtype, pl.String):
        stray = table[name].cast(pl.Float64, strict=False).is_null() & table[name].is_not_null()
        row = stray.arg_max() or 0
        told = f"holds {table[name][row]!r} in row {row + 1}" if stray.any() else "is text"
    raise InputError(f"{what} {name!r} {told}, no number", where="data", mend="Give a column of numbers")


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or isinstance(dtype, pl.Boolean)


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """A column of numbers or truth values as floating point numbers."""
    ends: Any = (column.min(), column.max())
    if column.dtype.is_integer() and max(abs(end) for end in ends) > _EXACT:
        raise InputError(
            f"{shown(column.name)} holds integers that cannot be told apart as floating point numbers",
            where="data",
            mend="Subtract a constant",
        )
    return column.cast(pl.Float64).to_numpy()


def _floats(table: pl.DataFrame) -> list[str]:
    return [name for name, dtype in table.schema.items() if dtype.is_float()]


def _levels(column: pl.Series, name: str, reference: str | None) -> tuple[str, ...]:
    ordered: list[str] = column.unique().sort().cast(pl.String).to_list()
    # Numbers stand in their order, enumerated levels in that of their type.
    if not (column.dtype.is_numeric() or isinstance(column.dtype, pl.Enum)):
        ordered = sorted(ordered)
    if len(ordered) < 2:
        raise InputError(
            f"the factor {name!r} has one level, {ordered[0]!r}", where="data", mend="Leave it out of the formula"
        )
    if reference is None:
        return tuple(ordered)
    chosen = meant(column, str(reference))
    if len(chosen) != 1:
        raise InputError(
            f"{shown(name)} has no level {reference!r}", where="reference", mend=f"Use one of {some(ordered)}"
        )
    return (*chosen, *(level for level in ordered if level != chosen[0]))


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

    Raises:
        InputError: Two columns that would have one name, or integers too large for floating point numbers.
    """
    named = tuple(dict.fromkeys(itertools.chain.from_iterable(terms)))
    coded = {name: _coded(table[name], name, levels.get(name)) for name in named}
    chosen: list[list[tuple[str, NDArray[np.float64]]]] = []
    origins: dict[str, Term] = {}
    for term in terms:
        parts = [coded[name][name in levels and _has_margin(term, name, terms) :] for name in term]
        # The first factor's levels change fastest, as in R.
        combinations = [list(reversed(combination)) for combination in itertools.product(*reversed(parts))]
        for combination in combinations:
            _take_name(":".join(name for name, _ in combination) or INTERCEPT, term, origins)
        chosen += combinations
    x = np.ones((table.height, len(chosen)), order="F")
    for k, factors in enumerate(chosen):
        for _, values in factors:
            x[:, k] *= values
    return x, tuple(origins)


def _take_name(name: str, term: Term, origins: dict[str, Term]) -> None:
    """Note which term a coefficient is of; no two may have one name."""
    if name in origins:
        first, second = (":".join(written(column) for column in one) or "1" for one in (origins[name], term))
        raise InputError(
            f"two coefficients would be called {shown(name)}: of {first} and of {second}",
            where="formula",
            mend="Rename one of the columns",
        )
    origins[name] = term


def level_codes(column: pl.Series) -> tuple[NDArray[np.int64], int]:
    """Numbers from 0 for the values of a column, in no order, and how many there are."""
    if not column.dtype.is_numeric():
        column = column.cast(pl.String).cast(pl.Categorical).to_physical()
    present, codes = np.unique(column.to_numpy(), return_inverse=True)
    return codes, len(present)


def written(column: str) -> str:
    """A column's name as a formula writes it."""
    return column if column.isidentifier() else f"`{shown(column)}`"


def _has_margin(term: Term, name: str, terms: Sequence[Term]) -> bool:
    """Whether the term without this factor is in the model, so that its first level would be told twice."""
    without = frozenset(term) - {name}
    return any(frozenset(other) == without for other in terms)


def _coded(column: pl.Series, name: str, levels: tuple[str, ...] | None) -> list[tuple[str, NDArray[np.float64]]]:
    if levels is None:
        return [(name, _numbers(column))]
    codes = column.cast(pl.String).cast(pl.Enum(levels)).to_physical().to_numpy()
    return [(f"{name}{level}", (codes == k).astype(np.float64)) for k, level in enumerate(levels)]
