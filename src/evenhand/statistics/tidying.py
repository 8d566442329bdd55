"""From what an estimator found, as arrays, to tidy rows: one a coefficient, missing numbers None."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

_KINDS = {"term": pl.String, "method": pl.String, "note": pl.String, "n": pl.Int64}


def rows_of(terms: Sequence[str], numbers: Mapping[str, NDArray[np.float64]], **told: object) -> list[dict[str, Any]]:
    """One row a term.

    Args:
        terms: Their names, p of them.
        numbers: By column, shape (p,); NaN is missing.
        **told: What stands in every row.
    """
    names = ("term", *numbers)
    columns: list[list[float]] = [found.tolist() for found in numbers.values()]
    rows: list[dict[str, Any]] = []
    for term, *values in zip(terms, *columns, strict=True):
        known = (None if isinstance(value, float) and math.isnan(value) else value for value in values)
        rows.append(dict(zip(names, (term, *known), strict=True)) | told)
    return rows


def table_of(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The same as a table, whose columns have their types whatever is missing."""
    names = list(rows[0]) if rows else []
    return pl.DataFrame(rows, schema={name: _KINDS.get(name, pl.Float64) for name in names})
