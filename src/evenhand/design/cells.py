"""The four bundle cells of "The Audit Decides the Verdict" (section 2): a contrast or none, one profile or several.

Every bundle holds as many applications as the pack has races. New studies default to 120 bundles a cell: in the two
demographic cells names then meet profiles equally often, and in the disguised one all pairs of race, gender, profile,
stratum and position are exact. (How often a name stands in each place is even to within a few.)
"""

from __future__ import annotations

import itertools
from collections import Counter
from math import lcm
from typing import TYPE_CHECKING

from evenhand.design.arranging import arrange
from evenhand.design.bundles import Bundle, Design, Drawing, require
from evenhand.design.dealing import deal
from evenhand.design.squares import latin
from evenhand.design.stimuli import Stimulus
from evenhand.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from evenhand.design.arranging import Row
    from evenhand.packs import Name, Pack, Profile

COUNT = 120
PART = 40
"""Names are dealt evenly within every so many bundles, so that the first 40, which the wording arms take, are even."""


def _demographic_matched(drawing: Drawing) -> Iterator[Bundle]:
    """(i) One profile under one name of each race, all of one gender: the transparent minimal pair."""
    pack, rng = drawing.pack, drawing.rng
    races, profiles = pack.groups.race, pack.profiles()
    orders, genders = _latin_orders(drawing), _genders_by_square(drawing)
    windows = [(i // len(profiles),) for i in range(drawing.count)]
    chosen = deal(genders, windows, len(profiles), rng)
    slots = [
        (profiles[chosen[i]], races[letter], pack.groups.gender[genders[i]])
        for i in range(drawing.count)
        for letter in orders[i]
    ]
    names = _deal_names(slots, pack, rng)
    for number, stimuli in enumerate(_by_bundle(slots, names, len(races)), start=1):
        yield _bundle("demographic_matched", number, stimuli)


def _irrelevant_matched(drawing: Drawing) -> Iterator[Bundle]:
    """(ii) One profile under names of one race x gender cell, each with another detail of one kind."""
    pack, rng, count = drawing.pack, drawing.rng, drawing.count
    size, profiles, cells = len(pack.groups.race), pack.profiles(), _cells(pack)
    names_a_cell = min(len(pack.cell(*cell)) for cell in cells)
    require(names_a_cell >= size, "irrelevant_matched", f"{size} names or more in each race x gender cell")
    kinds = list(pack.details)
    require(bool(kinds), "irrelevant_matched", "[details] in the pack")
    for kind in kinds:
        require(
            len(pack.details[kind].items) >= 2 * size, "irrelevant_matched", f"{2 * size} details of the kind {kind}"
        )
    chosen = _rounds(len(profiles), count, rng)
    cell_of = deal(chosen, [(i // len(cells),) for i in range(count)], len(cells), rng)
    kind_of = deal(chosen, [(cell,) for cell in cell_of], len(kinds), rng)
    details = _draw_details(
        list(zip(chosen, kind_of, strict=True)), [len(pack.details[k].items) for k in kinds], size, rng
    )
    items = [(i, kind_of[i], detail) for i in range(count) for detail in details[i]]
    places = deal([(kind, detail) for _, kind, detail in items], [(i,) for i, _, _ in items], size, rng)
    placed = {(item[0], place): item[2] for item, place in zip(items, places, strict=True)}
    names = _deal_within_bundles(cell_of, size, pack, rng)
    for i in range(count):
        kind = kinds[kind_of[i]]
        stimuli = tuple(
            Stimulus(profiles[chosen[i]], names[i][place], pack.details[kind].items[placed[i, place]])
            for place in range(size)
        )
        yield _bundle("irrelevant_matched", i + 1, stimuli)


def _demographic_disguised(drawing: Drawing) -> Iterator[Bundle]:
    """(iii) Each race once and one profile of each stratum, two women and two men a bundle."""
    pack = drawing.pack
    require(len(pack.groups.race) in {4, 8, 16}, "demographic_disguised", "4 races (or 8 or 16)")
    require(len(pack.groups.gender) == 2, "demographic_disguised", "two genders")
    strata, rows = _disguise(drawing, "demographic_disguised", genders=True)
    slots = [
        (strata[place.stratum][place.profile], pack.groups.race[place.group], pack.groups.gender[place.gender])
        for row in rows
        for place in row
    ]
    names = _deal_names(slots, pack, drawing.rng)
    for number, stimuli in enumerate(_by_bundle(slots, names, len(strata)), start=1):
        yield _bundle("demographic_disguised", number, stimuli)


def _placebo_disguised(drawing: Drawing) -> Iterator[Bundle]:
    """(iv) The same co-variation under names of one cell, pseudo-groups in race's place, rotated over the names."""
    pack, rng = drawing.pack, drawing.rng
    size, cells = len(pack.groups.race), _cells(pack)
    names_a_cell = min(len(pack.cell(*cell)) for cell in cells)
    require(names_a_cell >= size, "placebo_disguised", f"{size} names or more in each race x gender cell")
    strata, rows = _disguise(drawing, "placebo_disguised", genders=False)
    cell_of = _rounds(len(cells), drawing.count, rng)
    turns: dict[int, list[list[int]]] = {cell: [] for cell in range(len(cells))}
    for number, (row, cell) in enumerate(zip(rows, cell_of, strict=True), start=1):
        names = pack.cell(*cells[cell])
        if not turns[cell]:
            turns[cell] = _shuffled_latin(len(names), rng)
        order = turns[cell].pop()
        stimuli = tuple(
            Stimulus(
                strata[place.stratum][place.profile],
                names[order[place.group]],
                pseudo_group=chr(ord("A") + place.group),
            )
            for place in row
        )
        yield _bundle("placebo_disguised", number, stimuli)


def exact_counts(*, races: int, profiles: int, names: int) -> tuple[int, int]:
    """How many bundles a disguised cell is exactly balanced at, in multiples.

    Args:
        races: Races, and so places of a bundle.
        profiles: Profiles a stratum.
        names: Names of each race.

    Returns:
        Where every pair of race, gender, profile, stratum and position is met equally often and each name is used
        equally often (60 with 4 races, 3 profiles and 10 names), and where each profile also meets each race x gender
        cell and each name equally often (120).
    """
    # Squares come in rounds of one square a profile, and two rounds exchange the genders.
    pairs = lcm(races * profiles, names)
    return pairs, lcm(pairs, 2 * races * profiles, profiles * names)


def _disguise(drawing: Drawing, design: str, *, genders: bool) -> tuple[list[list[Profile]], list[Row]]:
    """The profiles by stratum, and the arrangement of a disguised cell."""
    size = len(drawing.pack.groups.race)
    strata = _strata(drawing.pack, size, design)
    profiles = {len(found) for found in strata}
    require(len(profiles) == 1, design, "as many profiles in each stratum")
    return strata, arrange(drawing.count, order=size, profiles=profiles.pop(), genders=genders, rng=drawing.rng)


def _strata(pack: Pack, size: int, design: str) -> list[list[Profile]]:
    found: dict[int, list[Profile]] = {}
    for profile in pack.profiles():
        if profile.stratum is not None:
            found.setdefault(profile.stratum, []).append(profile)
    if not found:
        raise DesignError(
            f"{design} takes one profile of each quality stratum, and the pack's profiles have none",
            mend="Give each profile a `stratum` from 1 (strongest) on; for AgentFairBench import with --strata FILE",
        )
    require(len(found) == size, design, f"{size} strata, one for each race (the pack has {len(found)})")
    return [found[stratum] for stratum in sorted(found)]


def _latin_orders(drawing: Drawing) -> list[list[int]]:
    """The order of races of each bundle: rows of Latin squares whose letters, rows and columns are shuffled anew."""
    size = len(drawing.pack.groups.race)
    orders: list[list[int]] = []
    while len(orders) < drawing.count:
        orders += _shuffled_latin(size, drawing.rng)
    return orders[: drawing.count]


def _shuffled_latin(order: int, rng: np.random.Generator) -> list[list[int]]:
    square, letters = latin(order), rng.permutation(order)
    columns = rng.permutation(order).tolist()
    return [[int(letters[square[row][column]]) for column in columns] for row in rng.permutation(order).tolist()]


def _genders_by_square(drawing: Drawing) -> list[int]:
    """One gender a square, genders in turn; the squares that do not come out even alternate row by row."""
    genders, size = len(drawing.pack.groups.gender), len(drawing.pack.groups.race)
    even = drawing.count // (size * genders) * size * genders
    return [(i // size if i < even else i) % genders for i in range(drawing.count)]


def _rounds(labels: int, count: int, rng: np.random.Generator) -> list[int]:
    """Labels in rounds, each round all of them in an order of its own."""
    found: list[int] = []
    while len(found) < count:
        found += rng.permutation(labels).tolist()
    return found[:count]


def _draw_details(
    configurations: Sequence[tuple[int, int]], items: Sequence[int], size: int, rng: np.random.Generator
) -> list[list[int]]:
    """Which details each bundle shows, the least shown first.

    Bundles of one profile and kind use up all of the kind's before any again.
    """
    waiting: dict[tuple[int, int], list[int]] = {}
    shown: Counter[tuple[int, int]] = Counter()
    drawn: list[list[int]] = []
    for configuration in configurations:
        kind = configuration[1]
        left = waiting.setdefault(configuration, [])
        if len(left) < size:
            shuffled: list[int] = rng.permutation(items[kind]).tolist()
            fresh = [item for item in shuffled if item not in left]
            left += sorted(fresh, key=lambda item: shown[kind, item])
        drawn.append(left[:size])
        shown.update((kind, item) for item in left[:size])
        del left[:size]
    return drawn


def _deal_within_bundles(
    cell_of: Sequence[int], size: int, pack: Pack, rng: np.random.Generator
) -> dict[int, list[Name]]:
    """Names of each bundle's cell by place, each name in each place equally often and none twice in a bundle."""
    names: dict[int, list[Name]] = {}
    for number, cell in enumerate(_cells(pack)):
        people = pack.cell(*cell)
        bundles = [i for i, found in enumerate(cell_of) if found == number]
        if not bundles:
            continue
        slots = [(i, place) for i in bundles for place in range(size)]
        dealt = deal([i for i, _ in slots], [(place,) for _, place in slots], len(people), rng)
        for (i, _), label in zip(slots, dealt, strict=True):
            names.setdefault(i, []).append(people[label])
    return names


def _deal_names(slots: Sequence[tuple[Profile, str, str]], pack: Pack, rng: np.random.Generator) -> list[Name]:
    """A name of each slot's race and gender, equally often with each profile, in each place, in each part of a cell."""
    size = len(pack.groups.race)
    names: dict[int, Name] = {}
    for race, gender in _cells(pack):
        people = pack.cell(race, gender)
        items = [i for i, slot in enumerate(slots) if slot[1:] == (race, gender)]
        if not items:
            continue
        left = [slots[i][0].profile_id for i in items]
        right = [(i // size // PART, i % size) for i in items]
        names |= {i: people[label] for i, label in zip(items, deal(left, right, len(people), rng), strict=True)}
    return [names[i] for i in range(len(slots))]


def _by_bundle(
    slots: Sequence[tuple[Profile, str, str]], names: Sequence[Name], size: int
) -> Iterator[tuple[Stimulus, ...]]:
    stimuli = [Stimulus(profile, name) for (profile, _, _), name in zip(slots, names, strict=True)]
    return (tuple(stimuli[i : i + size]) for i in range(0, len(stimuli), size))


def _cells(pack: Pack) -> list[tuple[str, str]]:
    return list(itertools.product(pack.groups.race, pack.groups.gender))


def _bundle(design: str, number: int, stimuli: tuple[Stimulus, ...]) -> Bundle:
    return Bundle(f"{design}__{number:03d}", stimuli)


DESIGNS = (
    Design("demographic_matched", "transparent", "race", ("race",), _demographic_matched, COUNT, matched=True),
    Design("irrelevant_matched", "transparent", "attribute", ("attribute",), _irrelevant_matched, COUNT, matched=True),
    Design(
        "demographic_disguised", "disguised", "race", ("race", "gender"), _demographic_disguised, COUNT, stratified=True
    ),
    Design(
        "placebo_disguised", "disguised", "pseudo_group", ("pseudo_group",), _placebo_disguised, COUNT, stratified=True
    ),
)
