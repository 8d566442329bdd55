"""Noise floors: what chance alone makes of a score that is built from sizes.

P1 averages absolute differences, and P3 and P4 average ranges: all three are moved by sampling alone, also where there
is no difference to find. A floor is the mean score over draws in which there is none, everything else as observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.analysis.contrasts import CELLS, DEMOGRAPHIC, group_differences
from evenhand.analysis.pillars import (
    BUNDLE_TASKS,
    MATCHED,
    Differences,
    cross_context_consistency,
    cross_task_consistency,
    demographic_bias,
)
from evenhand.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from evenhand.analysis.denominators import Denominators
    from evenhand.analysis.observations import Exchangeable, Stratum

DRAWS = 200
FLOORS = ("p1_floor", "p3_floor", "p4_floor")


def noise_floors(
    strata: Mapping[tuple[str, str], Stratum],
    points: Differences,
    replicates: Differences,
    denominators: Denominators,
    *,
    model: str,
    seed: int,
) -> dict[str, float]:
    """The floors of one model.

    P1: groups trade places within bundle configurations, and stimuli within templates on Rate. P3: the bootstrap
    draws of each task are moved to an estimate common to the tasks. P4: those of each mode to a common magnitude.

    Args:
        strata: The model's outcomes.
        points: Its differences; not a number where they do not count.
        replicates: Bootstrap draws of the same.
        denominators: What differences are divided by.
        model: Its name, which keys the stream.
        seed: Seed of the permutations.

    Returns:
        By column: the mean over draws; not a number where the score cannot be computed.
    """
    scores = (
        demographic_bias(_without_groups(strata, points, denominators, model=model, seed=seed), denominators),
        cross_task_consistency(_alike_in_tasks(points, replicates, denominators), denominators),
        cross_context_consistency(_alike_in_modes(points, replicates), denominators),
    )
    return {name: _mean(found) for name, found in zip(FLOORS, scores, strict=True)}


def permuted_sums(
    found: Exchangeable, *, draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Sums and numbers of outcomes by cell, after items have traded places within their blocks.

    Returns:
        Two arrays of shape (draws, 40).
    """
    # Sums of whole numbers are exact in single precision up to 2**24.
    place = (found.cells[:, None] == np.arange(CELLS)).astype(np.float32)
    totals = found.totals.astype(np.float32)
    movable = list(_members(found.blocks))
    if not movable:
        sums, counts = (np.tile(column @ place, (draws, 1)) for column in totals.T)
        return sums, counts
    source = np.tile(np.arange(len(found.cells)), (draws, 1))
    for members in movable:
        shuffled = rng.permuted(np.broadcast_to(members, (draws, *members.shape)), axis=2)
        source[:, members.ravel()] = shuffled.reshape(draws, -1)
    sums, counts = (column.take(source) @ place for column in totals.T)
    return sums, counts


def _members(blocks: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """The items of blocks of one size at a time, shape (blocks, size); of blocks with one item none."""
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    sizes = np.diff(starts, append=len(blocks))
    for size in sorted(set(sizes.tolist()) - {1}):
        yield starts[sizes == size][:, None] + np.arange(size)


def _without_groups(
    strata: Mapping[tuple[str, str], Stratum],
    points: Differences,
    denominators: Denominators,
    *,
    model: str,
    seed: int,
) -> Differences:
    pools: dict[tuple[str, str], NDArray[np.float64]] = {}
    for pool, stratum in strata.items():
        counted = points.pools[pool][:, DEMOGRAPHIC]
        if not denominators.pools[pool] > 0 or not np.isfinite(counted).any():
            continue
        rng = generator("floor", seed, model, *pool)
        sums, counts = permuted_sums(stratum.exchangeable, draws=DRAWS, rng=rng)
        drawn = group_differences(sums, counts, first=DEMOGRAPHIC.stop)
        pools[pool] = np.where(np.isfinite(counted), drawn, np.nan)
    return Differences(pools=pools, tasks={})


def _alike_in_tasks(points: Differences, replicates: Differences, denominators: Denominators) -> Differences:
    scales = {task: denominators.tasks[task] for task in points.tasks if denominators.tasks[task] > 0}
    if not scales:
        return Differences(pools={}, tasks={})
    d = np.stack([points.tasks[task] / scale for task, scale in scales.items()])
    seen = np.isfinite(d)
    common = np.where(seen, d, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    return Differences(
        pools={},
        tasks={
            task: replicates.tasks[task][:DRAWS] - points.tasks[task] + common * scale for task, scale in scales.items()
        },
    )


def _alike_in_modes(points: Differences, replicates: Differences) -> Differences:
    pools: dict[tuple[str, str], NDArray[np.float64]] = {}
    for axis, contrasts in MATCHED:
        for task in BUNDLE_TASKS:
            modes = [(f"{axis}_{mode}", task) for mode in ("transparent", "disguised")]
            if not set(modes) <= points.pools.keys():
                continue
            common = np.mean([np.abs(points.pools[mode][:, contrasts]) for mode in modes], axis=0)
            for mode in modes:
                point = points.pools[mode][:, contrasts]
                drawn = replicates.pools[mode][:DRAWS].copy()
                drawn[:, contrasts] += np.copysign(common, point) - point
                pools[mode] = drawn
    return Differences(pools=pools, tasks={})


def _mean(scores: NDArray[np.float64]) -> float:
    finite = scores[np.isfinite(scores)]
    return float(finite.mean()) if finite.size else float("nan")
