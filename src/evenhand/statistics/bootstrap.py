"""The cluster bootstrap as counts: how often each cluster is drawn in each replicate.

A statistic made of sums over clusters needs no resampled data: its sums in all replicates are one matrix
product of these counts with the sums of each cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_DRAWS_AT_ONCE = 1 << 15
"""Draws held at a time. Their counts then stay in the processor's cache."""


def resampled_sums(totals: NDArray[np.float64], *, replicates: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Sums over clusters drawn with replacement.

    Args:
        totals: Shape (clusters, columns): each cluster's total in each column.
        replicates: How many times to draw as many clusters as there are.
        rng: Where the draws come from.

    Returns:
        Shape (replicates, columns). Whole numbers come out exact up to 2**24, others to single precision.
    """
    single = totals.astype(np.float32)
    sums = np.empty((replicates, totals.shape[1]), dtype=np.float32)
    start = 0
    for counts in _resampled_counts(len(totals), replicates=replicates, rng=rng):
        np.matmul(counts, single, out=sums[start : start + len(counts)])
        start += len(counts)
    return sums


def _resampled_counts(clusters: int, *, replicates: int, rng: np.random.Generator) -> Iterator[NDArray[np.float32]]:
    """Multinomial counts in blocks of shape (some replicates, clusters); each row sums to `clusters`."""
    rows = max(1, _DRAWS_AT_ONCE // max(clusters, 1))
    dtype = np.uint16 if clusters <= 1 << 16 else np.int64
    first = np.arange(rows)[:, None] * clusters
    for start in range(0, replicates, rows):
        size = min(rows, replicates - start)
        draws = rng.integers(0, clusters, size=(size, clusters), dtype=dtype)
        flat = np.add(draws, first[:size]).ravel()
        yield np.bincount(flat, minlength=size * clusters).reshape(size, clusters).astype(np.float32)
