"""The cluster bootstrap: clusters drawn with replacement, told by how often each is drawn.

A statistic made of sums over clusters needs no resampled data: its sums in all replicates are one matrix
product of these counts with the sums of each cluster. Any other statistic is given the counts as weights of rows.

`scipy.stats.bootstrap` draws single rows, and hides what it drew: it knows no clusters, and two families of
estimates cannot be compared over the same resamples. So the draws are our own, and so is the BCa interval, with
clusters for rows.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.errors import InputError
from evenhand.statistics.clustered import FOR_THESE_ONLY, lay_out
from evenhand.statistics.draws import ROUNDING, BootstrapDraws, cells_of, require_count, require_generator
from evenhand.statistics.matrices import orthonormal
from evenhand.tables import as_polars, counted, from_cells, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

REPLICATES = 2_000

_DRAWS_AT_ONCE = 1 << 15
"""Draws held at a time. Their counts then stay in the processor's cache."""
_SINGULAR = 1e-10
"""A resample keeps less than this of some direction of the whole design only where it lacks a group."""


def cluster_bootstrap(
    statistic: Callable[[NDArray[np.float64]], Any],
    clusters: Any,
    *,
    replicates: int = REPLICATES,
    rng: np.random.Generator,
    names: Sequence[str] | None = None,
) -> BootstrapDraws:
    """Resample clusters, and hand the statistic how often each row's cluster was drawn.

    Args:
        statistic: From weights of rows, shape (n,), whole numbers, to k estimates or one; all weights are 1 for the
            sample itself. It is called once, once a replicate and once a cluster.
        clusters: The cluster of each row, n of them.
        replicates: How many times to draw as many clusters as there are.
        rng: Where the draws come from. The same seed and clusters give the same resamples.
        names: Of the estimates; by default 1, 2 and so on.

    Raises:
        InputError: A single cluster, missing labels or labels of several kinds, fewer than two replicates, a statistic
            that gives no numbers or not always as many, estimates that are not finite in the sample or in nearly all
            resamples, or another number of names than of estimates.
    """
    codes, labels = _codes(clusters)
    _require_resamples(len(labels), replicates, rng)
    sizes: set[int] = set()

    def estimates(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        # Where a resample lacks a group, a mean is 0/0; such replicates are counted.
        with np.errstate(invalid="ignore", divide="ignore"):
            found = _estimates(statistic, weights)
        sizes.add(len(found))
        if len(sizes) > 1:
            raise _no_statistic(f"gives {' and '.join(str(size) for size in sorted(sizes))} estimates in turn")
        return found

    whole = estimates(np.ones(len(codes)))
    resamples = _Resamples(labels, replicates, rng)
    drawn = [estimates(counts.astype(np.float64)[codes]) for block in resamples for counts in block]
    without = np.array([estimates((codes != one).astype(np.float64)) for one in range(len(labels))])
    chosen = tuple(names) if names is not None else tuple(str(k + 1) for k in range(len(whole)))
    return _gather(chosen, whole, np.array(drawn), without, resamples.digest(), ())


def least_squares_draws(
    data: Any,
    formula: str,
    *,
    cluster: str,
    replicates: int = REPLICATES,
    rng: np.random.Generator,
    reference: Mapping[str, str] | None = None,
) -> BootstrapDraws:
    """The coefficients of least squares in resamples of clusters, from the cross-products of each cluster.

    The same as `cluster_bootstrap` of a weighted fit, without touching rows again.

    Args:
        data: A polars or pandas frame.
        formula: `outcome ~ terms`, no random terms.
        cluster: The column of clusters.
        replicates: How many times to draw as many clusters as there are.
        rng: Where the draws come from.
        reference: The reference level of factors.

    Raises:
        InputError: As `fit_clustered` and `cluster_bootstrap` do.
    """
    laid = lay_out(data, formula, cluster=cluster, reference=reference)
    _require_resamples(len(laid.pieces), replicates, rng)
    # In an orthonormal basis of the design, cross-products are near the identity and lose no digits; and what moves
    # the coefficients is only what the whole sample does not explain.
    basis, back = orthonormal(laid.x)
    fitted = basis.T @ laid.y
    residuals = laid.y - basis @ fitted
    p = len(fitted)
    products = np.array([(basis[rows].T @ basis[rows]).ravel() for rows in laid.pieces])
    pulls = np.array([basis[rows].T @ residuals[rows] for rows in laid.pieces])
    resamples = _Resamples(laid.labels, replicates, rng)
    moves = [_moves((drawn @ products).reshape(-1, p, p), drawn @ pulls) for drawn in resamples.wide()]
    without = _moves(np.eye(p) - products.reshape(-1, p, p), -pulls)
    estimate = back @ fitted
    # No outcome of this size can move a coefficient further; far below it there is rounding alone.
    size = float(np.linalg.norm(laid.y)) * np.linalg.norm(back, axis=1)
    drawn, left = (
        estimate + np.where(np.abs(moved) <= ROUNDING * size, 0.0, moved)
        for moved in (np.concatenate(moves) @ back.T, without @ back.T)
    )
    lost = (f"not identified: {', '.join(shown(name) for name in laid.lost)}",) if laid.lost else ()
    remarks = (FOR_THESE_ONLY, *laid.remarks, *lost)
    return _gather(laid.coef_names, estimate, drawn, left, resamples.digest(), remarks)


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


class _Resamples:
    """Blocks of counts, and once they are drawn a digest of them with the clusters' labels."""

    def __init__(self, labels: Sequence[str], replicates: int, rng: np.random.Generator) -> None:
        self._hash = hashlib.blake2b("\0".join(labels).encode(), digest_size=16)
        self._blocks = _resampled_counts(len(labels), replicates=replicates, rng=rng)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        for block in self._blocks:
            self._hash.update(block.data)
            yield block

    def wide(self) -> Iterator[NDArray[np.float64]]:
        """The blocks in double precision."""
        return (block.astype(np.float64) for block in self)

    def digest(self) -> str:
        return self._hash.hexdigest()


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


def _moves(products: NDArray[np.float64], pulls: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far resamples move the coefficients, shape (m, p); NaN where they do not identify them.

    Args:
        products: Cross-products of the design, shape (m, p, p).
        pulls: Those of the design and the residuals, shape (m, p).
    """
    lacking = np.linalg.eigvalsh(products)[:, 0] < _SINGULAR
    safe = np.where(lacking[:, None, None], np.eye(products.shape[1]), products)
    return np.where(lacking[:, None], np.nan, np.linalg.solve(safe, pulls[:, :, None])[:, :, 0])


def _gather(
    names: tuple[str, ...],
    estimate: NDArray[np.float64],
    drawn: NDArray[np.float64],
    without: NDArray[np.float64],
    digest: str,
    remarks: tuple[str, ...],
) -> BootstrapDraws:
    kept = np.asarray(np.isfinite(drawn).all(axis=1), dtype=np.bool_)
    found = {
        f"{counted(len(names), 'name')} for {counted(len(estimate), 'estimate')}": len(names) != len(estimate),
        "the estimates are not finite in the sample itself": not np.isfinite(estimate).all(),
        f"the estimates are finite in {kept.sum()} of {counted(len(kept), 'resample')}": kept.sum() < 2,
    }
    fault = next((what for what, wrong in found.items() if wrong), None)
    if fault is not None:
        raise InputError(fault, where="bootstrap", mend="Give one name an estimate, and groups in several clusters")
    return BootstrapDraws(names, estimate, drawn[kept], kept, without, digest, remarks)


def _codes(clusters: Any) -> tuple[NDArray[np.int64], list[str]]:
    """Clusters by number, and their labels in that order."""
    if isinstance(clusters, pl.Series):
        labels = as_polars(clusters.to_frame("clusters"), ("clusters",)).to_series()
    else:
        labels = from_cells(cells_of(clusters, "clusters", where="bootstrap"), "clusters")
    if labels.is_null().any() or (labels.dtype.is_float() and labels.is_nan().any()):
        raise InputError("rows without a cluster", where="bootstrap", mend="Leave such rows out first")
    codes = labels.rank("dense").to_numpy().astype(np.int64) - 1
    return codes, [str(label) for label in labels.unique().sort().to_list()]


def _estimates(statistic: Callable[[NDArray[np.float64]], Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a statistic gives, shape (k,)."""
    try:
        found = np.atleast_1d(np.asarray(statistic(weights), dtype=np.float64))
    except (TypeError, ValueError) as problem:
        raise _no_statistic(f"fails on {len(weights)} weights ({shown(problem)})") from problem
    if found.ndim > 1 or not found.size:
        raise _no_statistic(f"gives an array of shape {found.shape}")
    return found


def _no_statistic(fault: str) -> InputError:
    mend = "Give a function of one weight a row that returns a number, or always as many"
    return InputError(f"the statistic {fault}", where="bootstrap", mend=mend)


def _require_resamples(clusters: int, replicates: int, rng: object) -> None:
    require_generator(rng, "bootstrap")
    require_count(replicates, "replicates", where="bootstrap")
    if clusters < 2 or replicates < 2:
        raise InputError(
            f"{counted(replicates, 'resample')} of {counted(clusters, 'cluster')} "
            f"{'has' if replicates == 1 else 'have'} no spread",
            where="bootstrap",
            mend="Give two clusters or more, and two replicates or more",
        )
