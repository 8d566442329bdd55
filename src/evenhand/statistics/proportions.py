"""Shares and whether they differ between groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 9_999


def wilson_interval(count: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval of a share (Wilson 1927), by scipy.

    Args:
        count: Successes.
        n: Trials.
        level: Coverage.

    Returns:
        Lower and upper end, or None without trials.
    """
    from scipy.stats import binomtest

    if n == 0:
        return None
    interval = binomtest(count, n).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


def equal_shares_p(
    counts: Sequence[int], totals: Sequence[int], *, rng: np.random.Generator
) -> tuple[float, str] | None:
    """Whether groups have the same share.

    Two groups are compared by Fisher's exact test. More are compared by Pearson's chi-squared statistic, its p value
    from 9,999 random permutations of the outcomes over the groups, since counts are often too small for its limit.

    Args:
        counts: Successes by group.
        totals: Trials by group; groups without trials are left out.
        rng: Draws the permutations.

    Returns:
        The p value and the test's name; None where there is nothing to compare (one group, no success or nothing else).
    """
    kept = [(count, total) for count, total in zip(counts, totals, strict=True) if total]
    successes, trials = np.array(kept, dtype=np.int64).reshape(-1, 2).T
    if len(kept) < 2 or successes.sum() in {0, trials.sum()}:
        return None
    if len(kept) == 2:
        from scipy.stats import fisher_exact

        return float(fisher_exact(np.stack([successes, trials - successes])).pvalue), "Fisher's exact test"
    # Outcomes dealt at random over the groups are hypergeometric counts; no need to shuffle them one by one.
    dealt = rng.multivariate_hypergeometric(trials, int(successes.sum()), size=RESAMPLES)
    as_far = _spread(dealt, trials) >= _spread(successes[None, :], trials) * (1 - 1e-12)
    return float((1 + as_far.sum()) / (1 + RESAMPLES)), f"chi-squared test, {RESAMPLES:,} permutations"


def _spread(successes: NDArray[np.int64], trials: NDArray[np.int64]) -> NDArray[np.float64]:
    """Pearson's statistic up to a factor that permutations leave alone."""
    expected = trials * (successes.sum(axis=1, keepdims=True) / trials.sum())
    return ((successes - expected) ** 2 / trials).sum(axis=1)
