"""Dealing labels evenly over the classes of two classifications at once.

Items are edges between a class of the left classification and one of the right; labels are colours. A proper
colouring of a bipartite multigraph with as many colours as its largest degree always exists (König 1916), so classes
cut into chunks of as many items as there are labels meet each label once a chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

Key = tuple[object, ...]


def deal(left: Sequence[object], right: Sequence[Key], labels: int, rng: np.random.Generator) -> list[int]:
    """Give each item one of the labels 0 to labels - 1.

    Args:
        left: One key an item. Every label meets every class equally often, to within one.
        right: One key an item, its classes from coarse to fine. A class whose size is a multiple of the number of
            labels meets each equally often, others to within two: what finer classes leave over by whole rounds of
            labels is pooled in the coarser one.
        labels: How many labels.
        rng: Shuffles which label is which and which item gets it.

    Returns:
        One label an item.
    """
    ends = list(
        zip(_chunks([(key,) for key in left], labels, pool=False), _chunks(right, labels, pool=True), strict=True)
    )
    at: tuple[dict[int, list[int | None]], ...] = ({}, {})
    for u, v in ends:
        at[0].setdefault(u, [None] * labels)
        at[1].setdefault(v, [None] * labels)
    colours = [0] * len(ends)
    for item in rng.permutation(len(ends)).tolist():
        _colour(item, ends, colours, at)
    names: list[int] = rng.permutation(labels).tolist()
    return [names[colour] for colour in colours]


def _colour(
    item: int, ends: list[tuple[int, int]], colours: list[int], at: tuple[dict[int, list[int | None]], ...]
) -> None:
    """Colour one edge; where its ends share no free colour, exchange two colours along a path first."""
    u, v = ends[item]
    free_u = [colour for colour, edge in enumerate(at[0][u]) if edge is None]
    free_v = [colour for colour, edge in enumerate(at[1][v]) if edge is None]
    common = [colour for colour in free_u if colour in free_v]
    if not common:
        _exchange(v, free_u[0], free_v[0], ends, colours, at)
        common = [free_u[0]]
    colours[item] = common[0]
    at[0][u][common[0]] = item
    at[1][v][common[0]] = item


def _exchange(
    vertex: int,
    wanted: int,
    free: int,
    ends: list[tuple[int, int]],
    colours: list[int],
    at: tuple[dict[int, list[int | None]], ...],
) -> None:
    """Free the wanted colour at a right vertex: swap it with the free one along the path that starts there."""
    path: list[int] = []
    side, colour = 1, wanted
    edge = at[side][vertex][colour]
    while edge is not None:
        path.append(edge)
        side = 1 - side
        vertex = ends[edge][side]
        colour = free if colour == wanted else wanted
        edge = at[side][vertex][colour]
    for edge in path:
        for end, vertices in zip(ends[edge], at, strict=True):
            if vertices[end][colours[edge]] == edge:
                vertices[end][colours[edge]] = None
    for edge in path:
        colours[edge] = free if colours[edge] == wanted else wanted
        for end, vertices in zip(ends[edge], at, strict=True):
            vertices[end][colours[edge]] = edge


def _chunks(keys: Sequence[Key], size: int, *, pool: bool) -> list[int]:
    """A chunk number an item: chunks of `size` items of the finest class, leftovers apart or pooled in coarser ones."""
    chunk = [0] * len(keys)
    made = 0
    depth = max(len(key) for key in keys)
    waiting: dict[Key, list[int]] = {}
    for item, key in enumerate(keys):
        waiting.setdefault(key, []).append(item)
    for level in range(depth, -1 if pool else depth - 1, -1):
        pooled: dict[Key, list[int]] = {}
        for key, items in waiting.items():
            pooled.setdefault(key[:level], []).extend(items)
        waiting = {}
        for key, items in pooled.items():
            full = len(items) - len(items) % size
            for place, item in enumerate(items[:full]):
                chunk[item] = made + place // size
            made += full // size
            if items[full:]:
                waiting[key] = items[full:]
    for number, items in enumerate(waiting.values(), start=made):
        for item in items:
            chunk[item] = number
    return chunk
