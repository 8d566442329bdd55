"""Correction of p values within a family; a p value that is missing stays missing, and is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import numbers_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Method = Literal["bh", "holm"]


@dataclass(frozen=True, slots=True)
class Corrected:
    """Corrected p values.

    Attributes:
        values: In the order given; None where the p value was missing.
        tested: How many p values the family has.
        missing: How many were missing, and so are not part of it.
    """

    values: tuple[float | None, ...]
    tested: int
    missing: int


def correct(p_values: Sequence[float | None], *, method: Method = "bh") -> Corrected:
    """Correct the p values of one family.

    Args:
        p_values: One a test; None or NaN where a test could not be made.
        method: `bh` for the false discovery rate (Benjamini and Hochberg 1995), `holm` for the family-wise error rate
            (Holm 1979).

    Raises:
        InputError: A p value outside 0 to 1 or that is no number, or an unknown method.
    """
    if method not in {"bh", "holm"}:
        raise InputError(f"unknown method {method!r}", where="multiplicity", mend="Use bh or holm")
    given = numbers_of(p_values, "p values", where="multiplicity")
    known = np.flatnonzero(~np.isnan(given))
    p = given[known]
    if ((p < 0) | (p > 1)).any():
        raise InputError(
            "a p value is outside 0 to 1", where="multiplicity", mend="Give p values, or None where missing"
        )
    found: list[float | None] = [None] * len(given)
    for i, value in zip(known.tolist(), _bh(p) if method == "bh" else _holm(p), strict=True):
        found[i] = float(value)
    return Corrected(tuple(found), len(known), len(given) - len(known))


def _bh(p: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * (p.size / np.arange(p.size, 0, -1)))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def _holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
