"""The least criterion: search, polish, boundary, certificate.

Step 3 of 4. Theta is not bounded at zero: zero is a saddle that traps bounded searches. The criterion is even in the
columns of each factor, so that the search is free, and the boundary is looked at afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from evenhand.statistics.mixed.criterion import Criterion, Evaluation

ESCAPES = 8
POLISHES = 8
LARGEST_THETA = 1e4
"""A term whose SD is so many residual SDs leaves no residual."""

_GUESSES = 4
_FOLLOWED = 12
_GRADIENT = 1e-3
_DECREMENT = 1e-8
_NEARBY = 1e-7
"""What a Newton step gains at most where second derivatives stay as they are, to four digits."""
_LOSS = 1e-7
"""What of the criterion is no matter: a hundred-thousandth of what moves an interval."""
_NEAR_ZERO = 0.05
_DIFFERENCE = 1e-3
_ONE_SIDED = 3e-5
"""Steps of second derivatives, two-sided and one-sided, in sizes of the parameter."""
_SHARES = (1.0, 0.3, 0.1, 0.03, 0.01)
_FLAT = 1e-8
_FLAT_CURVATURE = 1e-6
"""The criterion's rise for a change of a parameter by its own size, below which it is flat."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """Where the criterion is least.

    Attributes:
        theta: Entries of the relative factors, shape (t,).
        at: The criterion there.
        hessian: Second derivatives of -2 log likelihood in (theta, sigma), shape (t + 1, t + 1).
        spread_gradient: The gradient of the coefficients' covariance over sigma^2 in theta, shape (t, p, p).
        ranks: By term, the rank of its covariance.
        trouble: Why this is no minimum; empty where it is one.
        flat: Terms whose parameters the data do not tell apart.
    """

    theta: NDArray[np.float64]
    at: Evaluation
    hessian: NDArray[np.float64]
    spread_gradient: NDArray[np.float64]
    ranks: tuple[int, ...]
    trouble: str = ""
    flat: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class WarmStart:
    """Where a search on similar data begins.

    Attributes:
        theta: Entries of the relative factors, shape (t,).
        curvature: Second derivatives of the profiled criterion there, shape (t, t).
    """

    theta: NDArray[np.float64]
    curvature: NDArray[np.float64]

    def fits(self, size: int) -> bool:
        """Whether this is a start for so many parameters."""
        shapes = self.theta.shape == (size,) and self.curvature.shape == (size, size)
        return shapes and bool(np.isfinite(self.theta).all() and np.isfinite(self.curvature).all())


def minimise(criterion: Criterion, start: WarmStart | None = None) -> Optimum:
    """Find the minimum and certify it.

    Args:
        criterion: What is least.
        start: Where to begin; by default a few cheap steps from relative SDs of 1.
    """
    if not criterion.parameters:
        return _least_squares(criterion)
    if start is None:
        guess = _first_guess(criterion)
        theta = _descend(criterion, guess.theta, guess.curvature)
    else:
        theta = _follow(criterion, start)
    trouble = ""
    for _ in range(ESCAPES):
        if np.abs(theta).max() > LARGEST_THETA:
            trouble = "the effects leave no residual to speak of, less than a ten-thousandth of their own spread"
            break
        theta, ranks = _to_boundary(criterion, theta)
        # A fit to similar data was certified; half the evaluations tell these second derivatives to four digits.
        optimum = _polish(criterion, theta, ranks, one_sided=start is not None)
        escaped = _off_boundary(criterion, optimum)
        if escaped is None:
            return optimum
        theta = _descend(criterion, escaped, None)
    return _failed(criterion, theta, trouble or "the search found no minimum")


def profiled_hessian(hessian: NDArray[np.float64]) -> NDArray[np.float64]:
    """Second derivatives in theta where sigma follows its best value."""
    inner: NDArray[np.float64] = hessian[:-1, :-1] - np.outer(hessian[:-1, -1], hessian[-1, :-1]) / hessian[-1, -1]
    return inner


def _first_guess(criterion: Criterion) -> WarmStart:
    """A few cheap steps from relative SDs of 1, and how the criterion should curve there.

    Each step multiplies a variance by the root of y'P V_k P y / tr(P V_k), as minorise-maximise does (Zhou, Hu, Zhou
    and Lange 2019). The expected second derivative in a variance is tr(P V_k P V_k), near weight^2 / levels.
    """
    factors = [np.eye(k) for k in criterion.widths]
    at = criterion.evaluate(criterion.pack(factors))
    for _ in range(_GUESSES):
        for place, (slope, weight) in enumerate(zip(at.slopes, at.weights, strict=True)):
            share = np.clip(1 - np.diag(slope) / np.maximum(np.diag(weight), 1e-300), 1e-4, 1e4)
            factors[place] = np.diag(np.maximum(np.diag(factors[place]) * share**0.25, 0.01))
        at = criterion.evaluate(criterion.pack(factors))
    curvature: list[NDArray[np.float64]] = []
    for factor, weight, levels in zip(factors, at.weights, criterion.sizes, strict=True):
        w, sd = np.diag(weight), np.diag(factor)
        curvature.append((2 * np.outer(w, w * sd**2) * (1 + np.eye(len(w))) / levels)[np.tril_indices(len(w))])
    theta = criterion.pack(factors)
    return WarmStart(theta, np.diag(np.concatenate(curvature)))


def _follow(criterion: Criterion, start: WarmStart) -> NDArray[np.float64]:
    """Newton's steps with the curvature of a fit to similar data, which cost no second derivatives; else a search."""
    theta, at = start.theta, criterion.evaluate(start.theta)
    for _ in range(_FOLLOWED):
        step, decrement = _newton_step(start.curvature, at.gradient)
        if decrement < _NEARBY:
            return theta
        moved, at = _try_step(criterion, theta, at, step)
        if moved is theta:
            break
        theta = moved
    return _descend(criterion, theta, start.curvature)


def _descend(
    criterion: Criterion, theta: NDArray[np.float64], curvature: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Unbounded BFGS with the exact gradient."""
    from scipy.optimize import minimize

    def value_and_gradient(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        try:
            found = criterion.evaluate(point)
        except np.linalg.LinAlgError:
            return np.inf, np.zeros_like(point)
        return found.value, found.gradient

    options: dict[str, Any] = {"gtol": _GRADIENT, "maxiter": 500}
    if curvature is not None:
        values, vectors = np.linalg.eigh(curvature)
        safe = np.maximum(np.abs(values), 1e-3 * np.abs(values).max(initial=1.0))
        inverse = (vectors / safe) @ vectors.T
        options["hess_inv0"] = (inverse + inverse.T) / 2
    with np.errstate(all="ignore"):
        found = minimize(value_and_gradient, theta, jac=True, method="BFGS", options=cast("Any", options))
    return np.asarray(found.x, dtype=np.float64)


def _to_boundary(criterion: Criterion, theta: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Set directions to exactly zero that are near it and are no worse there; and the rank of each term."""
    factors = criterion.unpack(theta)
    at = criterion.evaluate(theta)
    best, loss = at.value, _LOSS + at.rounding
    ranks: list[int] = []
    for place, factor in enumerate(factors):
        values, vectors = np.linalg.eigh(factor @ factor.T)
        rank = len(factor)
        for k in range(len(factor)):
            if np.sqrt(max(values[k], 0.0)) > _NEAR_ZERO:
                break
            values[k] = 0.0
            trial = [*factors]
            trial[place] = semidefinite_factor((vectors * values) @ vectors.T)
            value = criterion.evaluate(criterion.pack(trial)).value
            if value > best + loss:
                break
            factors, best, rank = trial, min(best, value), rank - 1
        ranks.append(rank)
    return criterion.pack(factors), tuple(ranks)


def semidefinite_factor(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower triangular factor of a matrix that may be singular."""
    size = len(matrix)
    factor = np.zeros((size, size))
    tolerance = 1e-12 * max(float(np.diag(matrix).max()), 1e-300)
    for k in range(size):
        left = float(matrix[k, k] - factor[k, :k] @ factor[k, :k])
        if left > tolerance:
            factor[k, k] = np.sqrt(left)
            factor[k + 1 :, k] = (matrix[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / factor[k, k]
    return factor


def _polish(
    criterion: Criterion, theta: NDArray[np.float64], ranks: tuple[int, ...], *, one_sided: bool = False
) -> Optimum:
    """Newton steps with the Hessian from differences of the exact gradient, then the certificate."""
    at = criterion.evaluate(theta)
    trouble = "Newton's steps find no minimum"
    hessian, spread_gradient = _second_derivatives(criterion, theta, at, one_sided=one_sided)
    for _ in range(POLISHES):
        step, decrement = _newton_step(profiled_hessian(hessian), at.gradient)
        # What is at the boundary has no gradient; rounding shall not move it.
        step = np.where(theta == 0, 0.0, step)
        theta, at = _try_step(criterion, theta, at, step)
        # So small a step leaves the Hessian as it is.
        if decrement < _DECREMENT:
            trouble = ""
            break
        if not one_sided or decrement > _NEARBY:
            hessian, spread_gradient = _second_derivatives(criterion, theta, at, one_sided=one_sided)
    optimum = Optimum(theta, at, hessian, spread_gradient, ranks, trouble)
    flat = () if trouble else _flat_terms(criterion, optimum)
    return replace(optimum, flat=flat, trouble=trouble or "the criterion is flat" * bool(flat))


def _second_derivatives(
    criterion: Criterion, theta: NDArray[np.float64], at: Evaluation, *, one_sided: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The Hessian in (theta, sigma) at the best sigma, and the gradient of the coefficients' covariance in theta."""
    size, p = len(theta), len(at.beta)
    variance = at.square / at.df
    hessian = np.zeros((size + 1, size + 1))
    spread = np.empty((size, p, p))
    for k in range(size):
        reach = (_ONE_SIDED if one_sided else _DIFFERENCE) * max(abs(float(theta[k])), 0.1)
        shift = np.zeros(size)
        shift[k] = reach
        above, below = criterion.evaluate(theta + shift), at if one_sided else criterion.evaluate(theta - shift)
        width = reach if one_sided else 2 * reach
        logs = above.log_gradient - below.log_gradient
        squares = above.square_gradient - below.square_gradient
        hessian[:size, k] = (logs + squares / variance) / width
        spread[k] = (above.spread - below.spread) / width
    hessian[:size, :size] = (hessian[:size, :size] + hessian[:size, :size].T) / 2
    hessian[:size, size] = hessian[size, :size] = -2 * at.square_gradient / variance**1.5
    hessian[size, size] = 4 * at.df / variance
    return hessian, spread


def _newton_step(hessian: NDArray[np.float64], gradient: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """A step along directions that curve, each as if it curved upwards, and what it should gain."""
    values, vectors = np.linalg.eigh(hessian)
    curved = np.abs(values) > _FLAT * np.abs(values).max(initial=1e-300)
    along = vectors[:, curved].T @ gradient
    step = -vectors[:, curved] @ (along / np.abs(values[curved]))
    return step, float((along**2 / np.abs(values[curved])).sum()) / 2


def _try_step(
    criterion: Criterion, theta: NDArray[np.float64], at: Evaluation, step: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Evaluation]:
    """The step, halved until the criterion does not rise by more than rounding."""
    for _ in range(20):
        try:
            found = criterion.evaluate(theta + step)
        except np.linalg.LinAlgError:
            found = None
        if found is not None and found.value <= at.value + at.rounding:
            return theta + step, found
        step = step / 2
    return theta, at


def _flat_terms(criterion: Criterion, optimum: Optimum) -> tuple[int, ...]:
    """Terms of full rank in whose parameters the criterion is flat.

    A covariance of less than full rank has many factors, along which the criterion is flat and nothing is amiss.
    """
    full = [rank == width for rank, width in zip(optimum.ranks, criterion.widths, strict=True)]
    factors = criterion.unpack(optimum.theta)
    owners = np.concatenate([np.full(k * (k + 1) // 2, i) for i, k in enumerate(criterion.widths)])
    sizes = np.concatenate(
        [np.full(k * (k + 1) // 2, np.abs(f).max()) for k, f in zip(criterion.widths, factors, strict=True)]
    )
    within = np.flatnonzero(np.array(full, dtype=np.bool_)[owners])
    relative = profiled_hessian(optimum.hessian) * np.outer(sizes, sizes)
    values, vectors = np.linalg.eigh(relative[np.ix_(within, within)])
    found: set[int] = set()
    for value, vector in zip(values, vectors.T, strict=True):
        if abs(value) < _FLAT_CURVATURE:
            found |= {int(owners[within[k]]) for k in np.flatnonzero(np.abs(vector) > 0.1)}
    return tuple(sorted(found))


def _off_boundary(criterion: Criterion, optimum: Optimum) -> NDArray[np.float64] | None:
    """A point where the criterion is lower by more than matters; None where this is a minimum."""
    for point in _ways_out(criterion, optimum):
        try:
            value = criterion.evaluate(point).value
        except np.linalg.LinAlgError:
            continue
        if value < optimum.at.value - _LOSS - optimum.at.rounding:
            return point
    return None


def _ways_out(criterion: Criterion, optimum: Optimum) -> Iterator[NDArray[np.float64]]:
    """Points that lie downhill: off the boundary of a term, and along directions that curve downwards."""
    factors = criterion.unpack(optimum.theta)
    for i, (slope, weight) in enumerate(zip(optimum.at.slopes, optimum.at.weights, strict=True)):
        values, vectors = np.linalg.eigh(slope)
        downhill, way = float(values[0]), vectors[:, 0]
        curvature = float(way @ weight @ way) ** 2 / criterion.sizes[i]
        # At an inner minimum slopes are rounding, and nothing is to be gained.
        if downhill >= 0 or curvature <= 0 or downhill**2 / (2 * curvature) < _LOSS / 10:
            continue
        for share in _SHARES:
            moved = factors[i] @ factors[i].T - share * downhill / curvature * np.outer(way, way)
            yield criterion.pack([*factors[:i], semidefinite_factor(moved), *factors[i + 1 :]])
    values, vectors = np.linalg.eigh(profiled_hessian(optimum.hessian))
    reach = max(0.1, float(np.abs(optimum.theta).max()))
    for value, way in zip(values, vectors.T, strict=True):
        if -value * reach**2 > _LOSS:
            for share in _SHARES:
                yield optimum.theta + share * reach * way
                yield optimum.theta - share * reach * way


def _least_squares(criterion: Criterion) -> Optimum:
    """Without random terms nothing is searched for."""
    theta = np.empty(0)
    at = criterion.evaluate(theta)
    return Optimum(theta, at, *_second_derivatives(criterion, theta, at), ())


def _failed(criterion: Criterion, theta: NDArray[np.float64], trouble: str) -> Optimum:
    size, p = len(theta), criterion.p
    start = criterion.evaluate(np.zeros(size))
    nothing = np.full((size + 1, size + 1), np.nan), np.full((size, p, p), np.nan)
    return Optimum(theta, start, *nothing, criterion.widths, trouble)
