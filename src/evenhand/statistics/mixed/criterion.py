"""The profiled criterion of a mixed model and its gradient (Bates, Maechler, Bolker and Walker 2015, section 3).

Step 2 of 4. The outcome has covariance sigma^2 V with V = I + sum of Z L L' Z' over the random terms, where L, lower
triangular, is the relative factor of a term: theta holds its entries. Given theta, the coefficients and sigma are known
in closed form, so that -2 log (restricted) likelihood is a function of theta alone:

    log|V| + log|X'V^-1 X| + (n - p) (1 + log(2 pi r^2 / (n - p))),    r^2 = y'V^-1 (y - X beta).

Terms are eliminated one after the other: first the largest, whose cross-product is block-diagonal, then every term in
which all before it are nested (its cross-product stays block-diagonal); what is left is solved as one dense system.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.statistics.mixed.products import Products


_WORTH_ELIMINATING = 200
"""A smaller term costs less among the dense ones."""
_LARGEST_KNOT = 32
_PRECISION = 1e-14


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The criterion at one theta.

    Attributes:
        value: The criterion.
        gradient: By theta, shape (t,).
        log_gradient: The gradient of the log determinants alone, shape (t,).
        square_gradient: The gradient of r^2, shape (t,).
        square: r^2.
        df: What r^2 is divided by for sigma^2: n - p, or n for full likelihood.
        beta: Coefficients, shape (p,).
        spread: Their covariance over sigma^2, shape (p, p).
        slopes: By term, the gradient of the criterion in the term's covariance L L', shape (k, k).
        weights: By term, the part of `slopes` that comes from the log determinants, shape (k, k).
        rounding: By how much rounding may move the value.
    """

    value: float
    gradient: NDArray[np.float64]
    log_gradient: NDArray[np.float64]
    square_gradient: NDArray[np.float64]
    square: float
    df: int
    beta: NDArray[np.float64]
    spread: NDArray[np.float64]
    slopes: tuple[NDArray[np.float64], ...]
    weights: tuple[NDArray[np.float64], ...]
    rounding: float


@dataclass(slots=True)
class _Eliminated:
    """A term on its way through the elimination; arrays have one entry a level.

    Attributes:
        own: Z'V^-1 Z, shape (q, k, k).
        rest: Z'V^-1 R for the columns R that are not eliminated, shape (q, k, m + 1), the outcome last.
        links: By later term, Z'V^-1 Z_later at the level's parent there, shape (q, k, k_later).
    """

    own: NDArray[np.float64]
    rest: NDArray[np.float64]
    links: dict[int, NDArray[np.float64]]


class Criterion:
    """The criterion as a function of theta, for one set of cross-products."""

    def __init__(self, products: Products, widths: Sequence[int], *, reml: bool) -> None:
        """Order the terms and lay out what every evaluation begins with.

        Args:
            products: Cross-products.
            widths: Effects by term, k.
            reml: Restricted likelihood, or full.
        """
        self.widths = tuple(widths)
        self.parameters = sum(k * (k + 1) // 2 for k in widths)
        self.reml = reml
        self.p = len(products.xy)
        self.df = products.n - self.p if reml else products.n
        self._triangles = [np.tril_indices(k) for k in widths]
        self.chain, self._parents, self._knots = _nested_chain(products, widths)
        self.rest = [i for i in range(len(widths)) if i not in self.chain]
        self.sizes = [len(zy) // k for zy, k in zip(products.zy, widths, strict=True)]
        self._gather = {key: _gatherer(parents, self.sizes[key[1]]) for key, parents in self._parents.items()}
        self._start, self._corner = self._lay_out(products)
        self._last: tuple[NDArray[np.float64], Evaluation] | None = None

    def unpack(self, theta: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The relative factor of each term, lower triangular, shape (k, k)."""
        factors: list[NDArray[np.float64]] = []
        place = 0
        for k, triangle in zip(self.widths, self._triangles, strict=True):
            factor = np.zeros((k, k))
            size = len(triangle[0])
            factor[triangle] = theta[place : place + size]
            factors.append(factor)
            place += size
        return factors

    def pack(self, factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Theta of relative factors."""
        parts = [f[triangle] for f, triangle in zip(factors, self._triangles, strict=True)]
        return np.concatenate([np.empty(0), *parts])

    def evaluate(self, theta: NDArray[np.float64]) -> Evaluation:
        """The criterion and its gradient at theta; the last one is remembered.

        Raises:
            numpy.linalg.LinAlgError: Where theta is so large that the system is no longer positive definite.
        """
        if self._last is None or not np.array_equal(self._last[0], theta):
            self._last = theta.copy(), self._evaluate(theta)
        return self._last[1]

    def _evaluate(self, theta: NDArray[np.float64]) -> Evaluation:
        from scipy.linalg import solve_triangular

        factors = self.unpack(theta)
        terms, corner, log_det = self._eliminate(self._widened(factors))
        m = len(corner) - 1
        scale = self._scale(factors, m)
        mixed = m - self.p
        system = _both_sides(scale.T, corner[:m, :m])
        system[np.arange(mixed), np.arange(mixed)] += 1.0
        lower = np.linalg.cholesky(system).astype(np.float64)
        logs = 2 * np.log(np.diag(lower))
        right = scale * corner[:m, m] if scale.ndim == 1 else scale.T @ corner[:m, m]
        inverse = _inverse(lower)
        # By the factor, not by the inverse: what is left may be a hundred-thousandth of what is taken away.
        half = solve_triangular(lower, right, lower=True, check_finite=False)
        solved = solve_triangular(lower, half, lower=True, trans="T", check_finite=False)
        square = float(corner[m, m] - half @ half)
        if not square > 0:
            raise np.linalg.LinAlgError
        log_det += float(logs[:mixed].sum()) + (float(logs[mixed:].sum()) if self.reml else 0.0)
        value = log_det + self.df * (1 + np.log(2 * np.pi * square / self.df))
        spread = inverse[mixed:, mixed:]
        traced = _both_sides(scale, inverse)
        if not self.reml:
            alone = np.zeros_like(inverse)
            alone[:mixed, :mixed] = _inverse(lower[:mixed, :mixed])
            traced = _both_sides(scale, alone)
        back = scale * solved if scale.ndim == 1 else scale @ solved
        weights, squares = self._moments(terms, corner, traced, back)
        slopes = [w - self.df / square * s for w, s in zip(weights, squares, strict=True)]
        log_gradient = self.pack([2 * w @ f for w, f in zip(weights, factors, strict=True)])
        square_gradient = self.pack([-2 * s @ f for s, f in zip(squares, factors, strict=True)])
        gradient = log_gradient + self.df / square * square_gradient
        return Evaluation(
            float(value),
            gradient,
            log_gradient,
            square_gradient,
            square,
            self.df,
            solved[mixed:],
            spread,
            tuple(slopes),
            tuple(weights),
            _PRECISION * self.df * float(corner[m, m] / square) + _PRECISION * abs(float(value)),
        )

    def _widened(self, factors: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Factors where the levels of a term that hang together are eliminated as one."""
        return [
            np.eye(self._knots[i].width) * factor[0, 0] if i in self._knots else factor
            for i, factor in enumerate(factors)
        ]

    def _lay_out(self, products: Products) -> tuple[list[_Eliminated], NDArray[np.float64]]:
        widths, rest = self.widths, self.rest
        corner = _bordered(products, rest)
        start: list[_Eliminated] = []
        for i in self.chain:
            q, k = self.sizes[i], widths[i]
            parts = [_between(products, i, j) for j in rest]
            beside = np.column_stack([*parts, products.zx[i], products.zy[i]])
            if i in self._knots:
                start.append(self._knots[i].gathered(products.zz[i, i], beside))
                continue
            beside = beside.reshape(q, k, -1)
            links = {
                j: _blocks(_sparse_between(products, i, j), q, k, widths[j])
                for j in self.chain
                if (i, j) in self._parents
            }
            start.append(_Eliminated(_blocks(products.zz[i, i], q, k, k), beside, links))
        return start, corner

    def _eliminate(
        self, factors: Sequence[NDArray[np.float64]]
    ) -> tuple[list[_Eliminated], NDArray[np.float64], float]:
        """Take out the chain; what is returned belongs to V of the chain alone."""
        terms = [_Eliminated(t.own, t.rest, dict(t.links)) for t in self._start]
        corner, log_det = self._corner, 0.0
        for place, i in enumerate(self.chain):
            term = terms[place]
            root, log_size = _root(term.own, factors[i])
            log_det += log_size
            size = term.rest.shape[-1]
            rooted = _left(root.swapaxes(1, 2), term.rest).reshape(-1, size)
            corner = corner - rooted.T @ rooted
            inner = _left(root, root.swapaxes(1, 2))
            if place + 1 < len(self.chain):
                self._pass_on(terms, place, inner)
            for earlier in range(place):
                self._correct(terms, earlier, place, inner)
            shrink = np.eye(len(factors[i])) - _left(term.own, inner)
            terms[place] = _Eliminated(
                _left(shrink, term.own),
                _left(shrink, term.rest),
                {j: _left(shrink, link) for j, link in term.links.items()},
            )
        return terms, corner, log_det

    def _pass_on(self, terms: list[_Eliminated], place: int, inner: NDArray[np.float64]) -> None:
        """What eliminating a term takes from the later ones of the chain."""
        i, term = self.chain[place], terms[place]
        for later in range(place + 1, len(self.chain)):
            j = self.chain[later]
            link = term.links[j].swapaxes(1, 2)
            pulled = _left(link, inner)
            then = terms[later]
            sums = self._gather[i, j]
            then.own = then.own - _gathered(sums, _left(pulled, term.links[j]))
            then.rest = then.rest - _gathered(sums, _left(pulled, term.rest))
            for far, own in term.links.items():
                if far in then.links:
                    then.links[far] = then.links[far] - _gathered(sums, _left(pulled, own))

    def _correct(self, terms: list[_Eliminated], earlier: int, place: int, inner: NDArray[np.float64]) -> None:
        """What eliminating a term changes in an earlier one of the chain."""
        h, i = self.chain[earlier], self.chain[place]
        past, term = terms[earlier], terms[place]
        parents = self._parents[h, i]
        pulled = _left(past.links[i], inner[parents])
        past.own = past.own - _left(pulled, past.links[i].swapaxes(1, 2))
        past.rest = past.rest - _left(pulled, term.rest[parents])
        for far, link in term.links.items():
            past.links[far] = past.links[far] - _left(pulled, link[parents])

    def _scale(self, factors: Sequence[NDArray[np.float64]], m: int) -> NDArray[np.float64]:
        """The relative factors of the dense terms on a diagonal, ones for fixed columns.

        Shape (m, m), or (m,) for its diagonal where no term has several effects.
        """
        if all(self.widths[i] == 1 for i in self.rest):
            sizes = [*(self.sizes[i] for i in self.rest), self.p]
            return np.repeat([*(factors[i][0, 0] for i in self.rest), 1.0], sizes)
        scale = np.eye(m)
        place = 0
        for i in self.rest:
            q, k = self.sizes[i], self.widths[i]
            scale[place : place + q * k, place : place + q * k] = np.kron(np.eye(q), factors[i])
            place += q * k
        return scale

    def _moments(
        self,
        terms: Sequence[_Eliminated],
        corner: NDArray[np.float64],
        traced: NDArray[np.float64],
        solved: NDArray[np.float64],
    ) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
        """By term, sums over levels of Z'PZ and of Z'Py (Z'Py)', each of shape (k, k)."""
        m = len(corner) - 1
        weights: list[NDArray[np.float64]] = [np.empty(0)] * len(self.widths)
        squares = list(weights)
        for i, term in zip(self.chain, terms, strict=True):
            own, beside = term.own, term.rest
            if i in self._knots:
                # All levels have one variance, so that the sums over their own entries are enough.
                own = np.diagonal(own, axis1=1, axis2=2).reshape(-1, 1, 1)
                beside = beside.reshape(len(own), 1, -1)
            weights[i], squares[i] = _moments_of(own, beside, traced, solved)
        place = 0
        for i in self.rest:
            q, k = self.sizes[i], self.widths[i]
            rows = corner[place : place + q * k].reshape(q, k, m + 1)
            levels = np.arange(q)
            own = rows[:, :, place : place + q * k].reshape(q, k, q, k)[levels, :, levels, :]
            weights[i], squares[i] = _moments_of(own, rows, traced, solved)
            place += q * k
        return weights, squares


def _moments_of(
    own: NDArray[np.float64], rest: NDArray[np.float64], traced: NDArray[np.float64], solved: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    k, m = own.shape[1], len(traced)
    weight = own.sum(axis=0)
    for a, b in itertools.combinations_with_replacement(range(k), 2):
        one, other = rest[:, a], rest[:, b]
        reached = np.vdot((one.T @ other)[:m, :m], traced)
        weight[a, b] -= reached
        weight[b, a] = weight[a, b]
    left = rest[:, :, m] - rest[:, :, :m] @ solved
    return weight, left.T @ left


def _root(own: NDArray[np.float64], factor: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """By level a root R of L (I + L' N L)^-1 L' = R R', and the sum of the log determinants of I + L' N L."""
    if len(factor) == 1:
        inflated = 1.0 + factor[0, 0] ** 2 * own
        return factor[0, 0] / np.sqrt(inflated), float(np.log(inflated).sum())
    lower = np.linalg.cholesky(np.eye(len(factor)) + factor.T @ own @ factor)
    root = np.linalg.solve(lower, np.broadcast_to(factor.T, lower.shape)).swapaxes(1, 2)
    return root.astype(np.float64), 2 * float(np.log(np.diagonal(lower, axis1=1, axis2=2)).sum())


def _left(blocks: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Products by level of shapes (q, a, b) and (q, b, c)."""
    return blocks * rows if blocks.shape[1:] == (1, 1) else blocks @ rows


def _both_sides(scale: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """S M S' for a matrix S, or the diagonal of one."""
    return matrix * scale * scale[:, None] if scale.ndim == 1 else scale @ matrix @ scale.T


def _inverse(lower: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse of a matrix from its Cholesky factor."""
    from scipy.linalg.lapack import dpotri

    if not len(lower):
        return lower
    # What is above the diagonal of a Cholesky factor is nought, and stays so.
    found, _ = dpotri(lower, lower=1)
    whole: NDArray[np.float64] = (found + found.T).astype(np.float64)
    whole[np.diag_indices(len(whole))] /= 2
    return whole


@dataclass(frozen=True, slots=True)
class _Knots:
    """Levels of a term that hang together, as slots of a bundle do once the bundle's mean is taken out.

    Attributes:
        knot: The knot of each level, shape (q,).
        place: Its place there, shape (q,).
        count: Knots.
        width: Levels of the largest.
    """

    knot: NDArray[np.int64]
    place: NDArray[np.int64]
    count: int
    width: int

    def gathered(self, own: Any, beside: NDArray[np.float64]) -> _Eliminated:
        """Cross-products by knot; places that a knot does not fill are nought."""
        entries = own.tocoo()
        inner = np.zeros((self.count, self.width, self.width))
        inner[self.knot[entries.row], self.place[entries.row], self.place[entries.col]] = entries.data
        rest = np.zeros((self.count, self.width, beside.shape[1]))
        rest[self.knot, self.place] = beside
        return _Eliminated(inner, rest, {})


def _knots(own: Any) -> _Knots | None:
    """The knots of a term; None where they are too large to be eliminated one by one."""
    from scipy.sparse.csgraph import connected_components

    count, knot = connected_components(own, directed=False)
    sizes = np.bincount(knot)
    if sizes.max() > _LARGEST_KNOT:
        return None
    order = np.argsort(knot, kind="stable")
    place = np.empty(len(knot), dtype=np.int64)
    place[order] = np.arange(len(knot)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return _Knots(knot.astype(np.int64), place, int(count), int(sizes.max()))


def _nested_chain(
    products: Products, widths: Sequence[int]
) -> tuple[list[int], dict[tuple[int, int], Any], dict[int, _Knots]]:
    """The terms to eliminate in their order, by pair of them each level's parent, and the knots of one that has any."""
    sizes = [len(zy) for zy in products.zy]
    chain: list[int] = []
    parents: dict[tuple[int, int], Any] = {}
    for j in sorted(range(len(widths)), key=lambda i: -sizes[i]):
        if chain and sizes[j] < _WORTH_ELIMINATING:
            break
        entries = products.zz[j, j].tocoo()
        if (entries.row // widths[j] != entries.col // widths[j]).any():
            knots = _knots(products.zz[j, j]) if not chain and widths[j] == 1 else None
            if knots is not None:
                return [j], {}, {j: knots}
            continue
        found = {(i, j): _parents(products, i, j, widths) for i in chain}
        if all(above is not None for above in found.values()):
            chain.append(j)
            parents |= found
    return chain, parents, {}


def _parents(products: Products, i: int, j: int, widths: Sequence[int]) -> NDArray[np.int64] | None:
    """The level of term j in which each level of term i lies; None where one lies in several."""
    cross = _sparse_between(products, i, j).tocoo()
    own, other = cross.row // widths[i], cross.col // widths[j]
    parents = np.zeros(len(products.zy[i]) // widths[i], dtype=np.int64)
    parents[own] = other
    return parents if (parents[own] == other).all() else None


def _gatherer(parents: NDArray[np.int64], size: int) -> Any:
    """The matrix that sums over the children of each level, shape (size, children)."""
    from scipy.sparse import csr_array

    children = len(parents)
    return csr_array((np.ones(children), (parents, np.arange(children))), shape=(size, children))


def _gathered(sums: Any, blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    return (sums @ blocks.reshape(len(blocks), -1)).reshape(-1, *blocks.shape[1:])


def _blocks(cross: Any, q: int, k: int, across: int) -> NDArray[np.float64]:
    """The one block that each level has in a sparse cross-product, shape (q, k, across)."""
    found = np.zeros((q, k, across))
    entries = cross.tocoo()
    found[entries.row // k, entries.row % k, entries.col % across] = entries.data
    return found


def _sparse_between(products: Products, i: int, j: int) -> Any:
    return products.zz[i, j] if i <= j else products.zz[j, i].T


def _between(products: Products, i: int, j: int) -> NDArray[np.float64]:
    return _sparse_between(products, i, j).toarray()


def _bordered(products: Products, rest: Sequence[int]) -> NDArray[np.float64]:
    """Cross-products of all that is not eliminated: dense terms, fixed columns, outcome."""
    rows = [[*(_between(products, i, j) for j in rest), products.zx[i], products.zy[i][:, None]] for i in rest]
    fixed = [*(products.zx[j].T for j in rest), products.xx, products.xy[:, None]]
    last = [*(products.zy[j][None] for j in rest), products.xy[None], np.array([[products.yy]])]
    return np.block([*rows, fixed, last])
