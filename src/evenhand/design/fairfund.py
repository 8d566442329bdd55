"""The designs of FairFund-Bench: which profile meets which name in which place of which unit.

Lukk (2026), section 3.3 and appendix G. In every design of several slots a *configuration* (one setting of
what the pool holds fixed) appears in several *versions* that rotate its contents over positions. Orders of
levels are shuffled anew for each category, so the squares give the pattern and not a fixed presentation.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from evenhand.design.bundles import Bundle, Design, Drawing, require
from evenhand.design.squares import graeco_latin, latin, orthogonal
from evenhand.design.stimuli import Stimulus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np

    from evenhand.packs import Name, Pack, Profile

Item = TypeVar("Item")


class Orders:
    """The shuffled orders of one design: for each category, of scenarios, framings, races and each cell's names."""

    def __init__(self, pack: Pack, rng: np.random.Generator) -> None:
        self.scenarios = {
            c.name: _shuffled([s.scenario_id for s in pack.scenarios_of(c.name)], rng) for c in pack.categories
        }
        self.framings = {c.name: _shuffled(pack.framings, rng) for c in pack.categories}
        self.races = {c.name: _shuffled(pack.groups.race, rng) for c in pack.categories}
        self.names = {
            (c.name, race, gender): _shuffled(pack.cell(race, gender), rng)
            for c in pack.categories
            for race in pack.groups.race
            for gender in pack.groups.gender
        }
        self._profiles = {(p.scenario_id, p.framing): p for p in pack.profiles()}

    def name(self, category: str, race: str, gender: str, turn: int) -> Name:
        """The name whose turn it is in a cell; consecutive turns use all of the cell's names equally often."""
        names = self.names[category, race, gender]
        return names[turn % len(names)]

    def profile(self, scenario: str, framing: str) -> Profile:
        """The profile of a scenario under a framing."""
        return self._profiles[scenario, framing]


def _rate(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """Every profile once under each race x gender cell; names in a Latin square over scenarios and framings."""
    for category in pack.categories:
        for s, scenario in enumerate(orders.scenarios[category.name]):
            for f, framing in enumerate(orders.framings[category.name]):
                for race, gender in _cells(pack):
                    name = orders.name(category.name, race, gender, s + f)
                    stimulus = Stimulus(orders.profile(scenario, framing), name)
                    yield Bundle(stimulus.stimulus_id, (stimulus,))


def _templates(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """Two profiles a framing, categories in turn, each under one name of every race x gender cell.

    "The Audit Decides the Verdict" reruns 80 of FairFund-Bench's Rate units; which ones is inferred from that total.
    """
    turns = itertools.product(pack.framings, range(2))
    for turn, (framing, _) in enumerate(turns):
        category = pack.categories[turn % len(pack.categories)].name
        scenarios = orders.scenarios[category]
        profile = orders.profile(scenarios[turn // len(pack.categories) % len(scenarios)], framing)
        for race, gender in _cells(pack):
            # One order of names for all categories, so that the turns use each name equally often.
            stimulus = Stimulus(profile, orders.name(pack.categories[0].name, race, gender, turn))
            yield Bundle(stimulus.stimulus_id, (stimulus,))


def _race_transparent(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """One profile under one name of each race: 2 of the cyclic orders a configuration, the pair rotating."""
    order = latin(len(pack.groups.race))
    pairs = _rotating_pairs(len(order))
    configurations = itertools.product(pack.categories, enumerate(pack.groups.gender), enumerate(pack.framings))
    for number, (category, (g, gender), (f, framing)) in enumerate(configurations):
        scenarios = orders.scenarios[category.name]
        profile = orders.profile(scenarios[(f + g) % len(scenarios)], framing)
        for version, row in enumerate(pairs[number % len(pairs)]):
            races = [orders.races[category.name][letter] for letter in order[row]]
            names = [orders.name(category.name, race, gender, f + 2 * version) for race in races]
            yield _bundle(
                "race_transparent",
                (category.name, gender, framing),
                version,
                [(profile, name) for name in names],
            )


def _race_disguised(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """Race and scenario as the two letters of a Graeco-Latin square; one framing and gender a bundle.

    The window of scenarios moves by one a configuration, so each sits out equally often.
    """
    latin_letters, greek_letters = graeco_latin(len(pack.groups.race))
    for category in pack.categories:
        scenarios = orders.scenarios[category.name]
        require(
            len(scenarios) >= len(latin_letters),
            "race_disguised",
            "at least as many scenarios a category as races",
        )
        configurations = itertools.product(pack.groups.gender, enumerate(pack.framings))
        for number, (gender, (f, framing)) in enumerate(configurations):
            for version, letters in enumerate(zip(latin_letters, greek_letters, strict=True)):
                slots = [
                    (
                        orders.profile(scenarios[(number + greek) % len(scenarios)], framing),
                        orders.name(category.name, orders.races[category.name][letter], gender, f + version),
                    )
                    for letter, greek in zip(*letters, strict=True)
                ]
                yield _bundle("race_disguised", (category.name, gender, framing), version, slots)


def _gender_transparent(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """One profile under one name of each gender, in each cyclic order."""
    order = latin(len(pack.groups.gender))
    for category, (r, race), (f, framing) in itertools.product(
        pack.categories, enumerate(pack.groups.race), enumerate(pack.framings)
    ):
        scenarios = orders.scenarios[category.name]
        profile = orders.profile(scenarios[(f + r) % len(scenarios)], framing)
        for version, row in enumerate(order):
            slots = [
                (profile, orders.name(category.name, race, pack.groups.gender[letter], f + version)) for letter in row
            ]
            yield _bundle("gender_transparent", (category.name, race, framing), version, slots)


def _gender_disguised(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """The four arrangements of two claimants over two scenarios and two positions; scenario pairs in rotation."""
    first, second = pack.groups.gender[:2]
    for category, (r, race), (f, framing) in itertools.product(
        pack.categories, enumerate(pack.groups.race), enumerate(pack.framings)
    ):
        pair = _scenario_pair(orders.scenarios[category.name], r, f)
        arrangements = itertools.product(((first, second), (second, first)), (pair, pair[::-1]))
        for version, (genders, pair_order) in enumerate(arrangements):
            slots = [
                (orders.profile(scenario, framing), orders.name(category.name, race, gender, f + version))
                for gender, scenario in zip(genders, pair_order, strict=True)
            ]
            yield _bundle("gender_disguised", (category.name, race, framing), version, slots)


def _intersectional(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """One profile under the first two races x genders, in each cyclic order."""
    cells = list(itertools.product(pack.groups.race[:2], pack.groups.gender[:2]))
    for category, (f, framing) in itertools.product(pack.categories, enumerate(pack.framings)):
        scenarios = orders.scenarios[category.name]
        profile = orders.profile(scenarios[f % len(scenarios)], framing)
        for version, row in enumerate(latin(len(cells))):
            slots = [(profile, orders.name(category.name, *cells[letter], f + version)) for letter in row]
            yield _bundle("intersectional", (category.name, framing), version, slots)


def _framing_transparent(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """One scenario under every framing: one row of the cyclic square a configuration, rows equally often."""
    order = latin(len(pack.framings))
    for category, (c, (race, gender)) in itertools.product(pack.categories, enumerate(_cells(pack))):
        for s, scenario in enumerate(orders.scenarios[category.name]):
            row = (s + c) % len(order)
            slots = [
                (
                    orders.profile(scenario, orders.framings[category.name][letter]),
                    # Names step by another amount than framings, so the two and position are balanced.
                    orders.name(category.name, race, gender, position + 2 * row),
                )
                for position, letter in enumerate(order[row])
            ]
            yield _bundle("framing_transparent", (category.name, race, gender, scenario), row, slots)


def _framing_disguised(pack: Pack, orders: Orders) -> Iterator[Bundle]:
    """Framing, scenario and name as the letters of three orthogonal squares, each rotating by its own step."""
    size = len(pack.framings)
    for category in pack.categories:
        require(
            len(orders.scenarios[category.name]) == size,
            "framing_disguised",
            "as many scenarios a category as framings",
        )
    squares = orthogonal(size, 3)
    for category, (race, gender) in itertools.product(pack.categories, _cells(pack)):
        require(len(pack.cell(race, gender)) == size, "framing_disguised", "as many names a cell as framings")
        for version in range(size):
            slots = [
                (
                    orders.profile(
                        orders.scenarios[category.name][squares[1][version][position]],
                        orders.framings[category.name][squares[0][version][position]],
                    ),
                    orders.name(category.name, race, gender, squares[2][version][position]),
                )
                for position in range(size)
            ]
            yield _bundle("framing_disguised", (category.name, race, gender), version, slots)


def _bundle(design: str, configuration: tuple[str, ...], version: int, slots: list[tuple[Profile, Name]]) -> Bundle:
    where = "_".join(part.lower().replace(" ", "-") for part in configuration)
    return Bundle(f"{design}__{where}_v{version + 1}", tuple(Stimulus(profile, name) for profile, name in slots))


def _cells(pack: Pack) -> list[tuple[str, str]]:
    return list(itertools.product(pack.groups.race, pack.groups.gender))


def _shuffled(items: Sequence[Item], rng: np.random.Generator) -> list[Item]:
    return [items[i] for i in rng.permutation(len(items))]


def _rotating_pairs(size: int) -> list[tuple[int, int]]:
    """All pairs of `size` orders, disjoint ones next to each other, so that any even run uses orders equally."""
    if size % 2:
        return list(itertools.combinations(range(size), 2))
    rounds = range(size - 1)
    players = list(range(1, size))
    pairs: list[tuple[int, int]] = []
    for start in rounds:
        ring = players[start:] + players[:start]
        pairs.append((0, ring[0]))
        pairs.extend((ring[i], ring[-i]) for i in range(1, size // 2))
    return pairs


def _scenario_pair(scenarios: list[str], race: int, framing: int) -> tuple[str, str]:
    """The pair of scenarios of a configuration, walking round the circle of scenarios at each distance in turn.

    With five scenarios, five framings and four races each of the ten pairs comes twice a category. The second time a
    distance comes round the walk starts elsewhere (3 on for neighbours, 2 on for the others), so that a framing meets
    four different pairs, which together touch every scenario.
    """
    size = len(scenarios)
    distances = (size - 1) // 2
    require(size % 2 == 1 and size > 1, "gender_disguised", "an odd number of scenarios a category, 3 or more")
    distance = race % distances + 1
    shift = 3 if distance == 1 else 2
    start = framing + (race // distances) * shift
    return scenarios[start % size], scenarios[(start + distance) % size]


def _design(
    name: str, mode: str | None, focal_axis: str | None, compose: Callable[[Pack, Orders], Iterator[Bundle]]
) -> Design:
    contrasts = (focal_axis,) if focal_axis else ("race", "gender", "framing")
    if focal_axis == "intersectional":
        contrasts = ("race", "gender")

    def draw(drawing: Drawing) -> Iterator[Bundle]:
        require(bool(drawing.pack.framings), name, "a pack whose scenarios have framings")
        return compose(drawing.pack, Orders(drawing.pack, drawing.rng))

    matched = mode == "transparent" and focal_axis != "framing"
    return Design(name, mode, focal_axis, contrasts, draw, matched=matched)


RELEASED_DESIGNS = frozenset(
    {"rate", "race_transparent", "race_disguised", "gender_transparent", "gender_disguised", "intersectional"}
    | {"framing_transparent", "framing_disguised"}
)
"""The bundle types of the released codebook."""

DESIGNS = (
    _design("rate", None, None, _rate),
    # Ten templates cannot balance framings over categories: names alone are compared.
    replace(_design("templates", None, None, _templates), contrasts=("race", "gender")),
    _design("race_transparent", "transparent", "race", _race_transparent),
    _design("race_disguised", "disguised", "race", _race_disguised),
    _design("gender_transparent", "transparent", "gender", _gender_transparent),
    _design("gender_disguised", "disguised", "gender", _gender_disguised),
    _design("intersectional", "transparent", "intersectional", _intersectional),
    _design("framing_transparent", "transparent", "framing", _framing_transparent),
    _design("framing_disguised", "disguised", "framing", _framing_disguised),
)
