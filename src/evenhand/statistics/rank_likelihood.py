"""The likelihood of rankings under the rank-ordered logit, and its maximum.

A ranking is a chain of choices: who stands first is chosen among all, who stands second among the rest. A place that
several share is a group. Groups are read from the last place up, all rankings at once, so that a choice needs only
the weight and the mean of what stands below it; nothing is computed ranking by ranking. Weights are kept as logarithms
and covariances as sums of squares, so that neither overflows nor cancels.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Ties = Literal["exact", "efron", "breslow"]

_ITERATIONS = 100
_FLAT = 1e-14
_STALLS = 4


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of one size that have equally many items below them; at most one a ranking.

    Attributes:
        whose: The rankings they belong to, r of them.
        items: Their items, shape (size, r).
        read: Whether their place counts; if not, they only stand below others.
    """

    whose: NDArray[np.int64] | slice
    items: NDArray[np.int64]
    read: bool


@dataclass(frozen=True, slots=True)
class Orders:
    """Rankings, laid out for the likelihood.

    Attributes:
        groups: The groups, the lowest first, without single items at the very end.
        last: The last item of each ranking, shape (rankings,).
        alone: Whether it is such a single item, shape (rankings,).
        ties: How shared places count.
    """

    groups: tuple[Groups, ...]
    last: NDArray[np.int64]
    alone: NDArray[np.bool_]
    ties: Ties


def lay_out_orders(
    starts: NDArray[np.int64], heads: NDArray[np.bool_], *, ties: Ties, top: int | None = None
) -> Orders:
    """Lay out rankings.

    Args:
        starts: Where each ranking starts among the items, which are sorted by ranking and place, shape (rankings,).
        heads: Whether an item has another place than the one before it, shape (n,); true where a ranking starts.
        ties: How shared places count.
        top: The last place that is read.
    """
    n, rankings = len(heads), len(starts)
    first, size, place, below = groups_of(starts, heads)
    read = np.ones(len(first), np.bool_) if top is None else place <= top
    if ties == "exact":
        # In whatever order the last ones stand, some order it is.
        read &= (below > 0) | (size == 1)
    if not read.all():
        # What is not read has no order, so that any order will do: item by item.
        counts = np.repeat(read, size)
        first, size, _, below = groups_of(starts, heads | ~counts)
        read = counts[first]
    whose = np.repeat(np.arange(rankings), np.diff(np.searchsorted(first, starts), append=len(first)))
    ends = (below == 0) & (size == 1)
    alone = np.zeros(rankings, np.bool_)
    alone[whose[ends]] = True
    key = (below * (int(size.max()) + 1) + size) * 2 + read
    key[ends] = -1
    groups: list[Groups] = []
    for value in np.flatnonzero(np.bincount(key + 1)[1:]).tolist():
        chosen = np.flatnonzero(key == value)
        items = first[chosen] + np.arange(int(size[chosen[0]]))[:, None]
        groups.append(Groups(slice(None) if len(chosen) == rankings else whose[chosen], items, bool(value % 2)))
    return Orders(tuple(groups), np.append(starts[1:], n) - 1, alone, ties)


def groups_of(
    starts: NDArray[np.int64], heads: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Each group's first item, size, place (1 = best) and how many items stand below it; as `lay_out_orders`."""
    first = np.flatnonzero(heads)
    size = np.diff(first, append=len(heads))
    held = np.diff(np.searchsorted(first, starts), append=len(first))
    place = first - np.repeat(starts, held) + 1
    below = np.repeat(np.append(starts[1:], len(heads)), held) - first - size
    return first, size, place, below


@dataclass(frozen=True, slots=True)
class Sample:
    """Rankings with their items' covariates.

    Attributes:
        orders: The rankings.
        x: Covariates of each block of groups, shapes (size, p, r).
        last: Those of single items at the very end, shape (p, rankings); zero where the last place is shared.
    """

    orders: Orders
    x: tuple[NDArray[np.float64], ...]
    last: NDArray[np.float64]


def take(orders: Orders, x: NDArray[np.float64], order: NDArray[np.int64] | None = None) -> Sample:
    """Put covariates of shape (p, n) in place; where `order` is given, item k is column `order[k]`."""

    def of(items: NDArray[np.int64]) -> NDArray[np.float64]:
        return x.take(items if order is None else order[items], axis=1)

    blocks = tuple(np.stack([of(row) for row in groups.items]) for groups in orders.groups)
    return Sample(orders, blocks, of(orders.last) * orders.alone)


@dataclass(frozen=True, slots=True)
class Value:
    """The log likelihood at some coefficients.

    Attributes:
        log_likelihood: Its value.
        gradient: Its gradient, shape (p,).
        information: Minus its Hessian, shape (p, p).
        scores: Its gradient by ranking, shape (p, rankings); without columns where not asked for.
    """

    log_likelihood: float
    gradient: NDArray[np.float64]
    information: NDArray[np.float64]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Group:
    """What is known of groups from the last place up.

    Attributes:
        eta: The items' linear predictors, shape (size, r).
        own: The logarithm of the group's weight, shape (r,).
        below: That of what stands below, shape (r,).
        total: That of both, shape (r,).
        share: The items' shares of the weight of the group and below, shape (size, r).
        rest: The share of what stands below, shape (r,).
        u: The items' covariates less the mean of what stands below, shape (size, p, r).
    """

    eta: NDArray[np.float64]
    own: NDArray[np.float64]
    below: NDArray[np.float64]
    total: NDArray[np.float64]
    share: NDArray[np.float64]
    rest: NDArray[np.float64]
    u: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Choice:
    """What groups add to the likelihood.

    Attributes:
        log_likelihood: Summed over rankings.
        slope: Its gradient by item, shape (size, r).
        bend: Minus its Hessian by item, times u, shape (size, p, r).
        passed_on: Its information about what stands below, shape (r,).
    """

    log_likelihood: float
    slope: NDArray[np.float64]
    bend: NDArray[np.float64]
    passed_on: NDArray[np.float64]


def evaluate(beta: NDArray[np.float64], sample: Sample, *, by_ranking: bool = False) -> Value:
    """The log likelihood, its gradient and its information.

    Args:
        beta: Coefficients, shape (p,).
        sample: The rankings.
        by_ranking: Whether to give the gradient by ranking as well.
    """
    groups, ties = sample.orders.groups, sample.orders.ties
    seen = _from_below(beta, sample)
    value, gradient = 0.0, np.zeros(len(beta))
    information = np.zeros((len(beta), len(beta)))
    scores = np.zeros_like(sample.last if by_ranking else sample.last[:, :0])
    carried = np.zeros(len(sample.orders.last))
    for block, group in zip(reversed(groups), reversed(seen), strict=True):
        above = carried[block.whose]
        if len(group.eta) == 1:
            choice = _single(group, above, block.read)
        elif ties == "exact":
            choice = _marginal(group, above)
        else:
            choice = _approximate(group, above, ties)
        carried[block.whose] = choice.passed_on
        for bend, slope, u in zip(choice.bend, choice.slope, group.u, strict=True):
            information += bend @ u.T
            if block.read:
                gradient += u @ slope
        if block.read:
            value += choice.log_likelihood
            if by_ranking:
                scores[:, block.whose] += _dot(choice.slope, group.u)
    return Value(value, gradient, (information + information.T) / 2, scores)


def _from_below(beta: NDArray[np.float64], sample: Sample) -> list[_Group]:
    weight = np.where(sample.orders.alone, beta @ sample.last, -np.inf)
    mean = sample.last.copy()
    seen: list[_Group] = []
    for block, x in zip(sample.orders.groups, sample.x, strict=True):
        eta = np.matmul(beta, x)
        below = weight[block.whose]
        u = x - (mean if isinstance(block.whose, slice) else mean.take(block.whose, axis=1))
        own = np.logaddexp.reduce(eta, axis=0) if len(eta) > 1 else eta[0]
        # One exponential gives both shares, and the sum of the weights.
        smaller = np.exp(-np.abs(own - below))
        greater = 1 / (1 + smaller)
        whole, rest = _either(own >= below, greater, smaller * greater)
        share = whole * np.exp(eta - own) if len(eta) > 1 else whole[None]
        total = np.maximum(own, below) + np.log1p(smaller)
        seen.append(_Group(eta, own, below, total, share, rest, u))
        if isinstance(block.whose, slice):
            # What is seen must not change with the next block.
            weight, mean = total.copy(), mean + _dot(share, u)
        else:
            weight[block.whose] = total
            mean[:, block.whose] += _dot(share, u)
    return seen


def _either(
    first: NDArray[np.bool_], a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both, in this order where `first`, else swapped."""
    return np.where(first, a, b), np.where(first, b, a)


def _dot(weights: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over a group's items, shape (p, r), of weights (size, r) and covariates (size, p, r)."""
    total = weights[0] * u[0]
    for k in range(1, len(u)):
        total += weights[k] * u[k]
    return total


def _single(group: _Group, carried: NDArray[np.float64], read: bool) -> _Choice:
    """One item: a plain choice, and what is passed on of the choices above."""
    left = (carried + read) * group.rest
    gain = float((group.eta[0] - group.total).sum())
    return _Choice(gain, group.rest[None], (left * group.share[0]) * group.u, left)


def _approximate(group: _Group, carried: NDArray[np.float64], ties: Ties) -> _Choice:
    """A shared place after Efron (1977) or Breslow (1974): choices of the group, each time less of it or all of it."""
    size = len(group.eta)
    left = 1 - np.arange(size) / size if ties == "efron" else np.ones(size)
    parts = group.own + np.log(left)[:, None]
    stages = np.logaddexp(group.below, parts)
    chosen = np.exp(parts - stages)
    whole = group.share.sum(axis=0)
    inside = np.exp(group.eta - group.own)
    linear = chosen.sum(axis=0) + carried * whole
    square = (chosen**2).sum(axis=0) + carried * whole**2
    bend = inside[:, None] * (linear * group.u - square * _dot(inside, group.u))
    passed_on = np.exp(group.below - stages).sum(axis=0) + carried * group.rest
    slope = 1 - chosen.sum(axis=0) * inside
    return _Choice(float(group.eta.sum() - stages.sum()), slope, bend, passed_on)


def _marginal(group: _Group, carried: NDArray[np.float64]) -> _Choice:
    """A shared place as the sum over all orders of those who share it.

    The sum over the orders of a set A is (sum over i in A of that of A without i) / (weight of A and of all below), so
    that 2^size sets are visited and not size! orders.
    """
    value, gradient, information = _over_orders(group.eta, group.below)
    share, u = group.share, group.u
    inner = _dot(share, u)
    bend = np.stack([_dot(information[i], u) + (carried * share[i]) * (u[i] - inner) for i in range(len(share))])
    passed_on = np.clip((1 + gradient).sum(axis=0), 0, None) + carried * group.rest
    return _Choice(float(group.eta.sum() + value.sum()), 1 + gradient, bend, passed_on)


def _over_orders(
    eta: NDArray[np.float64], below: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The logarithm of the sum over all orders, shape (r,), its gradient (size, r), minus its Hessian (size, size, r).

    Second derivatives are carried over the sum itself, since those are sums of what they were for smaller sets.
    """
    size, r = eta.shape
    sums = np.empty((1 << size, r))
    value = np.zeros((1 << size, r))
    slope = np.zeros((1 << size, size, r))
    second = np.zeros((1 << size, size, size, r))
    sums[0] = below
    every = range(size)
    for sets, without, members in _levels(size):
        sums[sets] = np.logaddexp(sums[without[:, 0]], eta[members[:, 0]])
        parts = value[without]
        both = np.logaddexp.reduce(parts, axis=1)
        value[sets] = both - sums[sets]
        mixed = np.exp(parts - both[:, None])
        pi = np.zeros((len(sets), size, r))
        pi[np.arange(len(sets))[:, None], members] = np.exp(eta[members] - sums[sets][:, None])
        before, bends = np.zeros_like(pi), np.zeros((len(sets), size, size, r))
        for k, sets_before in enumerate(without.T if len(members[0]) > 1 else ()):
            before += mixed[:, k, None] * slope[sets_before]
            bends += mixed[:, k, None, None] * second[sets_before]
        slope[sets] = before - pi
        crossed = pi[:, :, None] * (pi - before)[:, None]
        bends += crossed
        bends += crossed.transpose(0, 2, 1, 3)
        bends[:, every, every] -= pi
        second[sets] = bends
    return value[-1], slope[-1], slope[-1][:, None] * slope[-1] - second[-1]


@functools.cache
def _levels(size: int) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]], ...]:
    """Sets of items by their number: the sets as bits, each set without one of its members, and the members."""
    levels: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    for count in range(1, size + 1):
        members = np.array(list(itertools.combinations(range(size), count)))
        bits = np.left_shift(1, members)
        sets = bits.sum(axis=1)
        levels.append((sets, sets[:, None] - bits, members))
    return tuple(levels)


@dataclass(frozen=True, slots=True)
class Maximum:
    """Where the climb ended.

    Attributes:
        beta: The coefficients, shape (p,).
        start: The log likelihood where it began.
        end: Whether that is the maximum, a ridge that rises or is flat without end, or only where patience ended.
        last: The last step, or the direction of the ridge, shape (p,).
    """

    beta: NDArray[np.float64]
    start: float
    end: Literal["maximum", "ridge", "unfinished"]
    last: NDArray[np.float64]


def maximise(
    sample: Sample, start: NDArray[np.float64], *, reach: NDArray[np.float64], decrement: float = 1e-12
) -> Maximum:
    """Climb by Newton's steps; the log likelihood is concave, whatever the ties.

    Args:
        sample: The rankings.
        start: Where to begin, shape (p,).
        reach: The largest size of each covariate, shape (p,).
        decrement: The square of the last step, in standard errors, below which it is the last.
    """
    beta, here = start, evaluate(start, sample)
    begun = here.log_likelihood
    stalls = 0
    step = np.zeros_like(start)
    for _ in range(_ITERATIONS):
        values, vectors = np.linalg.eigh(here.information)
        if values[0] <= _FLAT * max(float(values[-1]), 1e-300):
            return Maximum(beta, begun, "ridge", vectors[:, 0])
        step = vectors @ ((vectors.T @ here.gradient) / values)
        square = float(here.gradient @ step)
        # So small a part of a standard error, and yet it moves an item's odds: near a maximum this goes by, on a ridge
        # that rises without end it stays.
        tiny = square < max(1e-6, decrement)
        stalls = stalls + 1 if tiny and float(np.max(np.abs(step) * reach)) > 0.1 else 0
        if stalls == _STALLS:
            return Maximum(beta, begun, "ridge", step)
        if stalls == 0 and square < decrement:
            return Maximum(beta + step, begun, "maximum", step)
        beta, here = _ahead(beta, step, here, sample)
    return Maximum(beta, begun, "unfinished", step)


def _ahead(
    beta: NDArray[np.float64], step: NDArray[np.float64], here: Value, sample: Sample
) -> tuple[NDArray[np.float64], Value]:
    slack = 1e-12 * (1 + abs(here.log_likelihood))
    reached = evaluate(beta + step, sample)
    for _ in range(30):
        if reached.log_likelihood >= here.log_likelihood - slack:
            break
        step = step / 2
        reached = evaluate(beta + step, sample)
    return beta + step, reached
