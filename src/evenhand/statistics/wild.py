"""The wild cluster bootstrap: a p value that holds with few clusters (Cameron, Gelbach and Miller 2008).

The null is imposed, weights are drawn by cluster, and the statistic is that of CR1 errors. Nothing is refitted: the
statistic of every replicate is a sum over clusters of numbers that are computed once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.clustered import lay_out
from evenhand.statistics.draws import require_count, require_generator
from evenhand.statistics.matrices import orthonormal
from evenhand.tables import some

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

REPLICATES = 9_999
FEW_CLUSTERS = 12
"""Below so many clusters two-point weights have too few patterns, and Webb's (2023) six points are drawn instead."""

_WEBB = np.sqrt([1.5, 1.0, 0.5])
_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class WildTest:
    """A test of one coefficient.

    Attributes:
        statistic: The coefficient over its CR1 standard error; None where that is zero.
        p_value: Two-sided; None where there is no statistic.
        replicates: Patterns of weights drawn, or counted.
        exact: Whether all patterns of two-point weights were counted.
        note: What a reader must know; empty where there is nothing.
    """

    statistic: float | None
    p_value: float | None
    replicates: int
    exact: bool
    note: str = ""


def wild_cluster_test(
    data: Any,
    formula: str,
    *,
    cluster: str,
    term: str,
    rng: np.random.Generator,
    reference: Mapping[str, str] | None = None,
    replicates: int = REPLICATES,
) -> WildTest:
    """Test that one coefficient is zero.

    Args:
        data: A polars or pandas frame.
        formula: `outcome ~ terms`.
        cluster: The column of clusters.
        term: The coefficient's name, as `fit_clustered` gives it.
        rng: Draws the weights.
        reference: The reference level of factors.
        replicates: How many patterns to draw; where so many clusters that two-point weights are drawn have no more
            patterns than that and one, all are counted.

    Raises:
        InputError: As `fit_clustered` does, a coefficient that is not there, no generator, or no replicates.
    """
    require_generator(rng, "wild")
    require_count(replicates, "replicates", where="wild")
    laid = lay_out(data, formula, cluster=cluster, reference=reference)
    if term not in laid.coef_names:
        raise InputError(f"there is no coefficient {term!r}", where="wild", mend=f"Name one of {some(laid.coef_names)}")
    k = laid.coef_names.index(term)
    others = np.delete(laid.x, k, axis=1)
    restricted = laid.y - others @ np.linalg.lstsq(others, laid.y, rcond=None)[0] if others.shape[1] else laid.y
    x, turn = orthonormal(laid.x)
    weights = x @ turn[k]
    own = np.array([weights[rows] @ restricted[rows] for rows in laid.pieces])
    shift = np.array([x[rows].T @ weights[rows] for rows in laid.pieces])
    pull = np.array([x[rows].T @ restricted[rows] for rows in laid.pieces])
    observed = _statistics(np.ones((1, len(own))), own, shift, pull)[0]
    if not np.isfinite(observed):
        return WildTest(None, None, 0, False, "the standard error is zero: the outcome does not vary within clusters")
    patterns, exact = _patterns(len(own), replicates, rng)
    extreme = total = 0
    step = max(1, _AT_ONCE // len(own))
    for start in range(0, len(patterns), step):
        found = np.abs(_statistics(patterns[start : start + step], own, shift, pull))
        extreme += int((found >= abs(observed) * (1 - 1e-10)).sum())
        total += len(found)
    factor = float(np.sqrt(laid.correction))
    p = extreme / total if exact else (extreme + 1) / (total + 1)
    return WildTest(float(observed) / factor, p, total, exact)


def _statistics(
    patterns: NDArray[np.float64], own: NDArray[np.float64], shift: NDArray[np.float64], pull: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The coefficient over its error without the CR1 factor, for each pattern of weights, shape (patterns,).

    Args:
        patterns: Weights by cluster, shape (patterns, clusters).
        own: What each cluster's residuals add to the coefficient, shape (clusters,).
        shift: How the fit moves each cluster's score, shape (clusters, p).
        pull: Each cluster's cross-product of regressors and residuals, shape (clusters, p).
    """
    estimates = patterns @ own
    scores = patterns * own - (patterns @ pull) @ shift.T
    errors = np.sqrt((scores**2).sum(axis=1))
    size = np.abs(own).sum()
    # Errors of nought but rounding are no errors.
    return np.divide(estimates, errors, out=np.full(len(patterns), np.inf), where=errors > 1e-12 * max(size, 1e-300))


def _patterns(clusters: int, replicates: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], bool]:
    if clusters >= FEW_CLUSTERS and 2**clusters <= replicates + 1:
        return np.array(list(itertools.product((1.0, -1.0), repeat=clusters))), True
    if clusters >= FEW_CLUSTERS:
        return rng.choice(np.array([1.0, -1.0]), size=(replicates, clusters)), False
    return rng.choice(np.concatenate([_WEBB, -_WEBB]), size=(replicates, clusters)), False
