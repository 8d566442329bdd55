"""Arrangements of disguised bundles: group, stratum, profile and gender over the places of each bundle.

Three mutually orthogonal squares give each block of bundles: the first square's letters are groups, the second's
strata, and half of the third's letters are one gender, so that every pair of these and of positions is met equally
often. Letters, rows and columns are shuffled anew for each square, since a repeated square would repeat its errors.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from evenhand.design.squares import orthogonal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

MOST_COMBINATIONS = 300_000
TRIES = 400
FOLDS = 2000
_QUALITY = 100
"""How much more a difference of quality between groups weighs than one place too many."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a bundle, all as indices from 0: which group, stratum, profile of the stratum, and gender."""

    group: int
    stratum: int
    profile: int
    gender: int


Row = tuple[Place, ...]


def arrange(count: int, *, order: int, profiles: int, genders: bool, rng: np.random.Generator) -> list[Row]:
    """Arrange bundles.

    A square's bundles share one profile a stratum, so that each profile meets every group, position and gender equally
    often in it. Squares come in rounds that use every profile once; each second round repeats the profiles of the
    round before with the genders exchanged between groups and strata, in another square. Where bundles are left over,
    the genders of the last square are dealt anew together with theirs.

    Args:
        count: How many bundles; what is left over by whole squares is placed by a search.
        order: Groups, strata and places of a bundle; even where there are genders.
        profiles: Profiles a stratum.
        genders: Whether genders are varied; without them all are 0.
        rng: Source of all shuffles.

    Returns:
        One row a bundle, each with every group and every stratum once and each gender in half of its places. Pairs of
        group, stratum, position, gender and profile are exact at multiples of `order * profiles` bundles; group x
        gender x profile, at order 4, at twice that.

    Raises:
        DesignError: No such orthogonal squares of this order are built here.
    """
    whole, rest = divmod(count, order)
    rounds = -(-(whole + rest) // profiles)
    # One order of the profiles a stratum for each two rounds.
    sets = [[rng.permutation(profiles).tolist() for _ in range(order)] for _ in range(-(-rounds // 2))]
    squares: list[list[Row]] = []
    for number in range(whole):
        second = genders and number // profiles % 2 == 1
        square = _fold(squares[number - profiles], rng) if second else _draw(order, rng, genders=genders)
        squares.append([_with_profiles(row, sets, number, profiles) for row in square])
    rows = [row for square in squares for row in square]
    if not rest:
        return rows

    def place() -> list[Row]:
        placed = enumerate(_place(rest, order, rng), start=whole)
        return [_with_profiles(row, sets, number, profiles) for number, row in placed]

    if not genders:
        return rows + place()
    last = squares[-1] if squares else []
    return rows[: len(rows) - len(last)] + _finish(last, place, rng)


def _draw(order: int, rng: np.random.Generator, *, genders: bool) -> list[Row]:
    squares = orthogonal(order, 3 if genders else 2)
    groups, strata, thirds = (rng.permutation(order) for _ in range(3))
    rows, columns = rng.permutation(order).tolist(), rng.permutation(order).tolist()
    return [
        tuple(
            Place(
                int(groups[squares[0][row][column]]),
                int(strata[squares[1][row][column]]),
                0,
                int(genders and thirds[squares[-1][row][column]] < order // 2),
            )
            for column in columns
        )
        for row in rows
    ]


def _fold(partner: list[Row], rng: np.random.Generator) -> list[Row]:
    """Another square in which each group has the other gender at each stratum; at larger orders just another square."""
    genders = {(place.group, place.stratum): place.gender for row in partner for place in row}
    square = _draw(len(partner), rng, genders=True)
    # At order 4 some of the draws do; at order 8 hardly any.
    for _ in range(FOLDS):
        if all(place.gender != genders[place.group, place.stratum] for row in square for place in row):
            break
        square = _draw(len(partner), rng, genders=True)
    return square


def _with_profiles(row: Row, sets: list[list[list[int]]], number: int, profiles: int) -> Row:
    """A row with the profiles whose turn it is in the square of this number."""
    orders = sets[number // profiles // 2]
    return tuple(replace(place, profile=orders[place.stratum][number % profiles]) for place in row)


def _place(count: int, order: int, rng: np.random.Generator) -> list[Row]:
    """Fewer bundles than a square holds: pairs met as seldom twice, and quality as equal over groups, as can be."""
    candidates = _candidates(order) if order <= 4 else _sample(order, rng)
    groups, strata, positions = candidates[..., 0], candidates[..., 1], np.arange(order)
    met = np.zeros((3, order, order))
    quality = np.zeros(order)
    rows: list[Row] = []
    for number in range(1, count + 1):
        again = met[0][groups, strata] + met[1][groups, positions] + met[2][strata, positions]
        costs = 2.0 * again.sum(axis=1)
        if number % 2 == 0:
            # A group that had the weaker strata so far gets the stronger: only an even number can be level.
            level = np.zeros((len(candidates), order))
            np.put_along_axis(level, groups, strata - (order - 1) / 2, axis=1)
            costs += _QUALITY * ((quality + level) ** 2).sum(axis=1)
        best = int(rng.choice(np.flatnonzero(costs == costs.min())))
        met[0][groups[best], strata[best]] += 1
        met[1][groups[best], positions] += 1
        met[2][strata[best], positions] += 1
        quality[groups[best]] += strata[best] - (order - 1) / 2
        rows.append(tuple(Place(int(group), int(stratum), 0, 0) for group, stratum in candidates[best]))
    return rows


@cache
def _candidates(order: int) -> NDArray[np.int64]:
    """Every way to put groups and strata in one bundle's places, shape (ways, order, 2)."""
    every = list(itertools.permutations(range(order)))
    return np.array([np.array([groups, strata]).T for groups in every for strata in every])


def _sample(order: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Some of those ways, where they are many."""
    return np.array([np.array([rng.permutation(order), rng.permutation(order)]).T for _ in range(2000)])


def _finish(last: list[Row], place: Callable[[], list[Row]], rng: np.random.Generator) -> list[Row]:
    """The last square and the bundles left over, placed again until their genders come out as even as numbers allow."""
    found: list[tuple[int, list[Row]]] = []
    for _ in range(TRIES):
        excess, rows = _balance_genders([*last, *place()], rng)
        found.append((excess, rows))
        if not excess:
            break
    return min(found, key=lambda pair: pair[0])[1]


def _balance_genders(rows: list[Row], rng: np.random.Generator) -> tuple[int, list[Row]]:
    """Give bundles their genders together, so that groups, strata, positions and profiles have equally many.

    Returns:
        By how much the squared differences exceed what odd classes force, and the bundles.
    """
    order = len(rows[0])
    patterns = [
        np.isin(np.arange(order), ones).astype(np.int64) for ones in itertools.combinations(range(order), order // 2)
    ]
    keys = sorted({key for row in rows for place in enumerate(row) for key in _classes(*place)})
    index = {key: k for k, key in enumerate(keys)}
    # How far each pattern of each row tips each class towards one gender, shape (rows, patterns, classes).
    tips = np.zeros((len(rows), len(patterns), len(keys)), dtype=np.int16)
    for r, row in enumerate(rows):
        for position, place in enumerate(row):
            for key in _classes(position, place):
                for p, pattern in enumerate(patterns):
                    tips[r, p, index[key]] += 1 if pattern[position] else -1
    choices = _combinations(len(patterns), len(rows), rng)
    total = sum((tips[r][choices[:, r]] for r in range(len(rows))), start=np.zeros((1, len(keys)), dtype=np.int16))
    costs = (total.astype(np.int64) ** 2).sum(axis=1)
    chosen = choices[int(rng.choice(np.flatnonzero(costs == costs.min())))]
    odd = np.abs(tips).max(axis=1).sum(axis=0) % 2
    return int(costs.min() - odd.sum()), [
        tuple(replace(place, gender=int(patterns[int(pattern)][position])) for position, place in enumerate(row))
        for row, pattern in zip(rows, chosen.tolist(), strict=True)
    ]


def _classes(position: int, place: Place) -> Iterator[tuple[str, int, int]]:
    yield "group", place.group, 0
    yield "stratum", place.stratum, 0
    yield "position", position, 0
    yield "profile", place.stratum, place.profile


def _combinations(patterns: int, rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which pattern each row takes, shape (combinations, rows): all, or a sample where they are many."""
    if patterns**rows <= MOST_COMBINATIONS:
        return np.indices((patterns,) * rows).reshape(rows, -1).T
    return rng.integers(patterns, size=(MOST_COMBINATIONS // 10, rows))
