"""Rank correlations that allow for ties and for missing pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import numbers_of, require_generator
from evenhand.tables import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Kind = Literal["spearman", "kendall"]
RESAMPLES = 9_999
_LARGEST_WORK = 5_000
"""Pairs and cells of the table of levels up to which pairings are counted or drawn; beyond, limits are exact enough."""
_ALL_COUNTED = 7
"""Up to so many pairs every pairing is counted."""
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """A rank correlation.

    Attributes:
        estimate: Spearman's rho or Kendall's tau-b, -1 to 1; None where one side does not vary.
        p_value: Two-sided, of independence; None where there is no estimate, or pairings had to be drawn without a
            generator.
        n: Complete pairs.
        dropped: Pairs left out because a value is missing.
        method: Where the p value comes from; empty where there is none.
        note: What a reader must know; empty where there is nothing.
    """

    estimate: float | None
    p_value: float | None
    n: int
    dropped: int
    method: str = ""
    note: str = ""


def rank_correlation(
    x: Sequence[float | None],
    y: Sequence[float | None],
    *,
    kind: Kind = "spearman",
    rng: np.random.Generator | None = None,
) -> RankCorrelation:
    """How far two orders agree, and whether by more than chance.

    Missing pairs are left out first: ranks of what is left are not what is left of the ranks. The p value counts
    pairings of the values with their ties (Kendall 1945 for tau-b), all of 7 pairs or fewer, else 9,999 drawn at
    random. Without ties Kendall's tau has a known distribution, which is used; for large samples the limits are, with
    the variance that allows for ties.

    Args:
        x: One value a pair; None or NaN where missing.
        y: The other values, in the same order.
        kind: `spearman` or `kendall` (tau-b).
        rng: Draws the pairings.

    Raises:
        InputError: Unequal lengths, values that are no numbers, or an unknown kind.
    """
    if kind not in {"spearman", "kendall"}:
        raise InputError(f"unknown kind {kind!r}", where="rank correlation", mend="Use spearman or kendall")
    if rng is not None:
        require_generator(rng, "rank correlation")
    first, second = (numbers_of(values, "values", where="rank correlation") for values in (x, y))
    if first.shape != second.shape:
        raise InputError(
            f"{first.size} and {second.size} values", where="rank correlation", mend="Give one value a pair each"
        )
    whole = ~(np.isnan(first) | np.isnan(second))
    a, b = first[whole], second[whole]
    n, dropped = len(a), int((~whole).sum())
    gone = f"{counted(dropped, 'pair')} with a missing value {'is' if dropped == 1 else 'are'} left out" * (dropped > 0)
    constant = n < 2 or not (a != a[0]).any() or not (b != b[0]).any()
    if constant:
        why = "fewer than two pairs" if n < 2 else "one side does not vary"
        return RankCorrelation(None, None, n, dropped, note="; ".join(filter(None, (gone, why))))
    estimate, limit, tied = _by_scipy(a, b, kind)
    method = _method(a, b, kind, tied)
    if "pairings" not in method:
        return RankCorrelation(estimate, limit, n, dropped, method, gone)
    if rng is None and n > _ALL_COUNTED:
        why = "no p value: pairings are drawn at random, and no generator is given"
        return RankCorrelation(estimate, None, n, dropped, note="; ".join(filter(None, (gone, why))))
    return RankCorrelation(estimate, _by_pairings(a, b, kind, rng), n, dropped, method, gone)


def _by_scipy(a: NDArray[np.float64], b: NDArray[np.float64], kind: Kind) -> tuple[float, float, bool]:
    """Estimate, the p value of its known or limiting distribution, and whether there are ties."""
    from scipy.stats import kendalltau, spearmanr

    tied = min(len(np.unique(a)), len(np.unique(b))) < len(a)
    found: Any = spearmanr(a, b) if kind == "spearman" else kendalltau(a, b, variant="b")
    return float(found.statistic), float(found.pvalue), tied


def _method(a: NDArray[np.float64], b: NDArray[np.float64], kind: Kind, tied: bool) -> str:
    n = len(a)
    if n <= _ALL_COUNTED:
        return "all pairings"
    if kind == "kendall" and not tied:
        return "distribution of tau without ties"
    cells = len(np.unique(a)) * len(np.unique(b)) if kind == "kendall" else 0
    if n + cells <= _LARGEST_WORK:
        return f"{RESAMPLES:,} random pairings"
    return "limiting distribution" + (", variance with ties" if tied else "")


def _by_pairings(a: NDArray[np.float64], b: NDArray[np.float64], kind: Kind, rng: np.random.Generator | None) -> float:
    """The two-sided p value over pairings; a sum that goes with the coefficient stands for it."""
    from scipy.stats import permutation_test, rankdata

    if kind == "spearman":
        values, score = rankdata(a), _rank_products(rankdata(b))
    else:
        values, others = (np.unique(side, return_inverse=True)[1] for side in (a, b))
        score = _concordance(others)
    # Where pairings are drawn, pairs and cells together are at most the largest work.
    found: Any = permutation_test(
        (values,),
        score,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_AT_ONCE // _LARGEST_WORK,
        rng=rng,
    )
    return float(found.pvalue)


def _rank_products(other: NDArray[np.float64]) -> Any:
    centred = other - other.mean()

    def score(ranks: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        return np.moveaxis(ranks, axis, -1) @ centred

    return score


def _concordance(other: NDArray[np.intp]) -> Any:
    """Concordant less discordant pairs, from the table of levels: pairs need not be looked at one by one."""
    width = int(other.max()) + 1

    def score(codes: NDArray[np.intp], axis: int) -> NDArray[np.float64]:
        rows = np.atleast_2d(np.moveaxis(codes, axis, -1))
        height = int(rows.max()) + 1
        cells = np.arange(len(rows))[:, None] * (height * width) + rows * width + other
        tables = np.bincount(cells.ravel(), minlength=len(rows) * height * width).reshape(-1, height, width)
        above = tables.cumsum(axis=1) - tables
        before = above.cumsum(axis=2) - above
        after = above.sum(axis=2, keepdims=True) - before - above
        found = (tables * (before - after)).sum(axis=(1, 2)).astype(np.float64)
        return found.reshape(codes.shape[:-1])

    return score
