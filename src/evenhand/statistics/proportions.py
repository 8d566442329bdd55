"""Shares and whether they differ between groups."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import numbers_of, require_count, require_generator, require_level
from evenhand.statistics.tails import normal_quantile
from evenhand.tables import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 9_999
_WHERE = "shares"


def wilson_interval(count: int, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval of a share (Wilson 1927).

    Args:
        count: Successes.
        n: Trials.
        level: Coverage.

    Returns:
        Lower and upper end, or None without trials.

    Raises:
        InputError: Counts that are no whole numbers, more successes than trials, or a level outside 0 to 1.
    """
    require_level(level, where=_WHERE)
    for value, what in ((count, "the count of successes"), (n, "the count of trials")):
        require_count(value, what, least=0, where=_WHERE)
    if count > n:
        raise InputError(f"{count} of {counted(int(n), 'trial')} succeeded", where=_WHERE, mend="Give no more than all")
    if n == 0:
        return None
    # Closed, where scipy tests the share too and takes a millisecond for each of a table's thousands of rows.
    z = normal_quantile((1 + level) / 2)
    share, room = count / n, z**2 / n
    middle = (share + room / 2) / (1 + room)
    reach = z * sqrt(share * (1 - share) / n + room / (4 * n)) / (1 + room)
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return (0.0 if count == 0 else low), (1.0 if count == n else high)


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

    Raises:
        InputError: Unequal lengths, or counts that are no whole numbers or more than the trials.
    """
    require_generator(rng, _WHERE)
    given = [numbers_of(values, "counts", where=_WHERE) for values in (counts, totals)]
    alike = len(given[0]) == len(given[1])
    whole = all(((values >= 0) & (values < 2**53)).all() and not (values % 1).any() for values in given)
    if not (alike and whole and (given[0] <= given[1]).all()):
        raise InputError(
            f"{len(given[0])} counts of successes and {len(given[1])} of trials that do not go together",
            where=_WHERE,
            mend="Give two whole numbers a group, no more successes than trials",
        )
    successes, trials = (values[given[1] > 0].astype(np.int64) for values in given)
    if len(trials) < 2 or successes.sum() in {0, trials.sum()}:
        return None
    if len(trials) == 2:
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
