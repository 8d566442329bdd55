"""Which variances the data can tell at all.

After the fixed effects are taken out, each parameter of a random term adds a known matrix to the outcome's covariance:
Z Z' for a variance, Z_i Z_j' + Z_j Z_i' for a covariance, the identity for the residual. A parameter whose matrix is
nought, or a sum of the others', is not identified: the criterion is flat in it. The matrices' inner products tell, and
they are sums over cross-products.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from evenhand.statistics.mixed.products import Products, RandomBlock

_REDUNDANT = 1e-8
SPANNED = "the fixed effects already span it"


@dataclass(frozen=True, slots=True)
class Identification:
    """What the data cannot tell.

    Attributes:
        left_out: Random terms that say nothing of their own, and why.
        unsettled: Terms of several effects of whose parameters only some are told.
    """

    left_out: dict[int, str]
    unsettled: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A variance, or a covariance, of one random term; effects are numbered within it."""

    term: int
    one: int
    other: int

    @property
    def orders(self) -> tuple[tuple[int, int], ...]:
        pair, turned = (self.one, self.other), (self.other, self.one)
        return (pair,) if self.one == self.other else (pair, turned)


def identify(products: Products, blocks: Sequence[RandomBlock]) -> Identification:
    """Look at each parameter in turn: first of terms with several effects, then of the others as written.

    Args:
        products: Cross-products with orthonormal fixed columns.
        blocks: The random terms.
    """
    left_out = {i: SPANNED for i in range(len(blocks)) if _spanned(products, i)}
    order = sorted((i for i in range(len(blocks)) if i not in left_out), key=lambda i: -blocks[i].width)
    kept: list[_Parameter] = []
    unsettled: list[int] = []
    known = np.array([[float(products.n - len(products.xy))]])
    for i in order:
        for one in range(blocks[i].width):
            for other in range(one + 1):
                parameter = _Parameter(i, one, other)
                grown = _bordered(products, blocks, kept, known, parameter)
                twins = _told_by(grown)
                if twins is None:
                    kept.append(parameter)
                    known = grown
                elif blocks[i].width > 1:
                    unsettled.append(i)
                else:
                    labels = ["the residual", *(blocks[p.term].label for p in kept)]
                    left_out[i] = (
                        f"the data cannot tell it from {' and '.join(dict.fromkeys(labels[k] for k in twins))}"
                    )
    return Identification(left_out, tuple(dict.fromkeys(unsettled)))


def _spanned(products: Products, i: int) -> bool:
    """Whether every column of a term is a sum of fixed columns."""
    own = float(products.zz[i, i].diagonal().sum())
    return own - float((products.zx[i] ** 2).sum()) <= _REDUNDANT * products.n


def _told_by(inner: NDArray[np.float64]) -> list[int] | None:
    """The matrices of which the last is a sum; None where it is one of its own.

    Args:
        inner: Inner products, shape (k + 1, k + 1).
    """
    sizes = np.sqrt(np.maximum(np.diag(inner), 0.0))
    if sizes[-1] <= _REDUNDANT * sizes[0]:
        return []
    sizes = np.maximum(sizes, np.finfo(np.float64).tiny)
    scaled = inner / np.outer(sizes, sizes)
    weights = np.linalg.lstsq(scaled[:-1, :-1], scaled[:-1, -1], rcond=None)[0]
    if 1 - scaled[-1, :-1] @ weights > _REDUNDANT:
        return None
    return [int(k) for k in np.flatnonzero(np.abs(weights) > 1e-6)]


def _bordered(
    products: Products,
    blocks: Sequence[RandomBlock],
    kept: Sequence[_Parameter],
    known: NDArray[np.float64],
    new: _Parameter,
) -> NDArray[np.float64]:
    """Inner products of the residual, of the parameters kept so far, and of a new one."""
    size = len(known) + 1
    grown = np.empty((size, size))
    grown[:-1, :-1] = known
    grown[0, -1] = sum(_with_residual(products, blocks, new.term, *pair) for pair in new.orders)
    for place, parameter in enumerate([*kept, new], start=1):
        grown[place, -1] = sum(
            _product(products, blocks, (parameter.term, *pair), (new.term, *further))
            for pair in parameter.orders
            for further in new.orders
        )
    grown[-1] = grown[:, -1]
    return grown


def _with_residual(products: Products, blocks: Sequence[RandomBlock], i: int, one: int, other: int) -> float:
    """tr(P Z_one Z_other'), P taking out the fixed columns."""
    k = blocks[i].width
    own = products.zz[i, i][one::k, other::k].diagonal().sum()
    return float(own - (products.zx[i][one::k] * products.zx[i][other::k]).sum())


def _product(
    products: Products, blocks: Sequence[RandomBlock], left: tuple[int, int, int], right: tuple[int, int, int]
) -> float:
    """tr(P A B' P C D') for effects A, B of one term and C, D of another: the sum over (B'PC) * (A'PD)."""
    (t, a, b), (u, c, d) = left, right
    k, m = blocks[t].width, blocks[u].width
    cross = products.zz[t, u] if t <= u else products.zz[u, t].T.tocsr()
    if k == m == 1:
        x, y = products.zx[t], products.zx[u]
        squares = float(np.dot(cross.data, cross.data))
        return squares - 2 * float((x * (cross @ y)).sum()) + float(((x.T @ x) * (y.T @ y)).sum())
    bc, ad = cross[b::k, c::m], cross[a::k, d::m]
    xa, xb = products.zx[t][a::k], products.zx[t][b::k]
    xc, xd = products.zx[u][c::m], products.zx[u][d::m]
    total = bc.multiply(ad).sum() - (xa * (bc @ xd)).sum() - (xb * (ad @ xc)).sum()
    return float(total + ((xb.T @ xa) * (xc.T @ xd)).sum())
