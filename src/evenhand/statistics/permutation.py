"""Permutation tests: sign flips of paired differences, and group labels shuffled within blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import cells_of, numbers_of, require_count, require_generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 9_999
_ROUNDING = 1e-12
_WHERE = "permutation"
_EXACT_PAIRS = 16
"""Up to so many differences every sign pattern is counted."""


@dataclass(frozen=True, slots=True)
class Permuted:
    """A permutation test.

    Attributes:
        statistic: Mean difference.
        p_value: Two-sided; never 0 where patterns were drawn (Phipson and Smyth 2010). None where nothing can vary.
        resamples: Patterns counted or drawn.
        exact: Whether all patterns were counted.
        note: What a reader must know; empty where there is nothing.
    """

    statistic: float
    p_value: float | None
    resamples: int
    exact: bool
    note: str = ""


def sign_flip(differences: Sequence[float], *, rng: np.random.Generator, resamples: int = RESAMPLES) -> Permuted:
    """Whether paired differences are symmetric about zero.

    Args:
        differences: One a pair, finite.
        rng: Draws the patterns where there are too many to count.
        resamples: How many to draw.

    Raises:
        InputError: No differences, one that is not finite, no generator, or no resamples.
    """
    require_generator(rng, _WHERE)
    require_count(resamples, "resamples", where=_WHERE)
    d = numbers_of(differences, "differences", where=_WHERE)
    _require(d.size > 0 and bool(np.isfinite(d).all()), "differences")
    moving = d[d != 0]
    if not moving.size:
        return Permuted(0.0, None, 0, True, "no pair differs")
    unit = _unit(moving)
    moving = moving / unit
    observed = float((d / unit).mean())
    if moving.size <= _EXACT_PAIRS:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=int(moving.size))))
        sums = signs @ moving
    else:
        sums = np.concatenate(
            [
                (1 - 2.0 * rng.integers(2, size=(count, moving.size))) @ moving
                for count in _chunks(resamples, moving.size)
            ]
        )
    size = float(np.abs(moving).sum() / d.size)
    p = _share(observed, sums / d.size, size, exact=moving.size <= _EXACT_PAIRS)
    return Permuted(observed * unit, p, len(sums), moving.size <= _EXACT_PAIRS)


def within_blocks(
    values: Sequence[float],
    group: Sequence[bool],
    blocks: Sequence[object],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Permuted:
    """Whether two groups have the same mean, their labels shuffled within blocks alone.

    Args:
        values: One an observation, finite.
        group: Whether it is of the first group.
        blocks: What it may be exchanged within (a bundle, a profile).
        rng: Draws the shuffles.
        resamples: How many.

    Raises:
        InputError: Unequal lengths, a group without observations, a value that is not finite, a group or block that
            is missing, no generator, or no resamples.
    """
    require_generator(rng, _WHERE)
    require_count(resamples, "resamples", where=_WHERE)
    y, truths = (numbers_of(given, what, where=_WHERE) for given, what in ((values, "values"), (group, "groups")))
    labels = cells_of(blocks, "blocks", where=_WHERE)
    _require(y.size == truths.size == len(labels) and bool(np.isfinite(y).all()), "values, groups and blocks")
    _require(bool(np.isin(truths, (0, 1)).all()) and None not in labels, "groups and blocks")
    g = truths == 1
    _require(bool(g.any() and not g.all()), "groups")
    names = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    block: NDArray[np.int64] = np.array([names[label] for label in labels])
    unit = _unit(y)
    y = y / unit
    statistic = float(y[g].mean() - y[~g].mean()) * unit
    # What all have in common would cost digits.
    y = y - y.mean()
    observed = float(y[g].mean() - y[~g].mean())
    order = np.argsort(block, kind="stable")
    y, g, block = y[order], g[order], block[order]
    mixed = [b for b in range(len(names)) if g[block == b].any() and not g[block == b].all()]
    if not any(np.ptp(y[block == b]) for b in mixed):
        return Permuted(statistic, None, 0, False, "no block holds both groups and differing values")
    shuffle = _drawn_counts if np.unique(y).size == 2 else _shuffled
    found = shuffle(y, g, block, resamples, rng)
    size = float(np.abs(y[g]).mean() + np.abs(y[~g]).mean())
    return Permuted(statistic, _share(observed, found, size, exact=False), resamples, False)


def _shuffled(
    y: NDArray[np.float64], g: NDArray[np.bool_], block: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Differences of means of shuffles; blocks are numbered and sorted."""
    n = int(g.sum())
    weights: NDArray[np.float64] = np.where(g, 1 / n, -1 / (g.size - n))
    pieces = np.split(np.arange(y.size), np.flatnonzero(np.diff(block)) + 1)
    found: list[NDArray[np.float64]] = []
    for count in _chunks(resamples, max(rows.size for rows in pieces)):
        dealt: NDArray[np.float64] = np.zeros(count)
        for rows in pieces:
            dealt += rng.permuted(np.broadcast_to(y[rows], (count, rows.size)), axis=1) @ weights[rows]
        found.append(dealt)
    return np.concatenate(found)


def _drawn_counts(
    y: NDArray[np.float64], g: NDArray[np.bool_], block: NDArray[np.int64], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The same for outcomes of two values: how many of the larger fall to the group in a block is hypergeometric."""
    low, high = float(y.min()), float(y.max())
    large = np.bincount(block, y == high).astype(np.int64)
    small = np.bincount(block).astype(np.int64) - large
    drawn = np.bincount(block, g).astype(np.int64)
    counts = rng.hypergeometric(large, small, drawn, size=(resamples, large.size)).sum(axis=1)
    n, others = int(g.sum()), int(g.size - g.sum())
    return (high - low) * (counts / n - (int(large.sum()) - counts) / others)


def _unit(values: NDArray[np.float64]) -> float:
    """A power of two about as large as the largest value: in its unit no sum overflows, and no digit is lost."""
    return float(np.exp2(max(int(np.frexp(np.abs(values).max())[1]) - 1, -1022)))


def _share(observed: float, drawn: NDArray[np.float64], size: float, *, exact: bool) -> float:
    """The share of patterns as extreme as the one observed; `size` is what no mean can exceed."""
    # Sums in another order differ in the last bits; such patterns are as extreme.
    extreme = int((np.abs(drawn) >= abs(observed) - _ROUNDING * size).sum())
    return extreme / drawn.size if exact else (extreme + 1) / (drawn.size + 1)


def _chunks(total: int, width: int) -> list[int]:
    at_once = max(1, 4_000_000 // width)
    return [at_once] * (total // at_once) + ([total % at_once] if total % at_once else [])


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InputError(
            f"the {what} cannot be permuted", where=_WHERE, mend="Give finite values, two groups, equal lengths"
        )
