"""Permutation tests: sign flips of paired differences, and group labels shuffled within blocks."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 9_999
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
        InputError: No differences, or one that is not finite.
    """
    d = np.asarray(differences, dtype=np.float64)
    _require(d.size > 0 and bool(np.isfinite(d).all()), "differences")
    observed = float(d.mean())
    moving = d[d != 0]
    if not moving.size:
        return Permuted(observed, None, 0, True, "no pair differs")
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
    return _judge(observed, sums / d.size, exact=moving.size <= _EXACT_PAIRS)


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
        InputError: Unequal lengths, a group without observations, or a value that is not finite.
    """
    y, g = np.asarray(values, dtype=np.float64), np.asarray(group, dtype=bool)
    _require(y.size == g.size == len(blocks) and bool(np.isfinite(y).all()), "values, groups and blocks")
    _require(bool(g.any() and not g.all()), "groups")
    names = {block: i for i, block in enumerate(dict.fromkeys(blocks))}
    block = np.array([names[b] for b in blocks])
    observed = float(y[g].mean() - y[~g].mean())
    order = np.argsort(block, kind="stable")
    y, g, block = y[order], g[order], block[order]
    mixed = [b for b in range(len(names)) if g[block == b].any() and not g[block == b].all()]
    if not any(np.ptp(y[block == b]) for b in mixed):
        return Permuted(observed, None, 0, False, "no block holds both groups and differing values")
    found = np.empty(resamples)
    for draw in range(resamples):
        # Sorted by block first, a random key shuffles each block within itself.
        shuffled = y[np.lexsort((rng.random(y.size), block))]
        found[draw] = shuffled[g].mean() - shuffled[~g].mean()
    return _judge(observed, found, exact=False)


def _judge(observed: float, drawn: NDArray[np.float64], *, exact: bool) -> Permuted:
    # Sums in another order differ in the last bits; such patterns are as extreme as the one observed.
    extreme = int((np.abs(drawn) >= abs(observed) - 1e-12 * max(1.0, abs(observed))).sum())
    p = extreme / drawn.size if exact else (extreme + 1) / (drawn.size + 1)
    return Permuted(observed, float(p), int(drawn.size), exact)


def _chunks(total: int, width: int) -> list[int]:
    at_once = max(1, 4_000_000 // width)
    return [at_once] * (total // at_once) + ([total % at_once] if total % at_once else [])


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise InputError(
            f"the {what} cannot be permuted", where="permutation", mend="Give finite values, two groups, equal lengths"
        )
