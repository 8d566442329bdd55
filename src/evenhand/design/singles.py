"""Designs of one application at a time: every profile under every name, even subsets of that, and one uneven one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from evenhand.design.bundles import Bundle, Design, Drawing, require
from evenhand.design.dealing import deal
from evenhand.design.stimuli import Stimulus

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evenhand.packs import Name, Pack, Profile

CONTRASTS = ("race", "gender")


def _crossed(drawing: Drawing) -> Iterator[Bundle]:
    """Every profile under every name."""
    return _singles(itertools.product(drawing.pack.profiles(), drawing.pack.names))


def _quota(drawing: Drawing) -> Iterator[Bundle]:
    """Every profile under the same number of names of each race and gender, all names of a cell used equally often.

    Where a race's number is odd one gender gets one name more; which race that befalls goes round the profiles.
    """
    pack = drawing.pack
    profiles, races = pack.profiles(), pack.groups.race
    require(len(pack.groups.gender) == 2, "quota", "two genders")
    each, rest = divmod(drawing.count, len(profiles))
    require(
        rest == 0 and each % 2 == 0 and each >= len(races),
        "quota",
        f"an even number of units, {len(races)} or more, for each of {len(profiles)} profiles",
    )
    quotas = [each // len(races) + (r < each % len(races)) for r in range(len(races))]
    extra = _turns([r for r, quota in enumerate(quotas) if quota % 2], len(profiles), drawing)
    slots: list[tuple[Profile, str, str]] = []
    for p, profile in enumerate(profiles):
        for r, race in enumerate(races):
            women = quotas[r] // 2 + (r in extra[p])
            for gender, number in zip(pack.groups.gender, (women, quotas[r] - women), strict=True):
                slots += [(profile, race, gender)] * number
    yield from _singles(_named(slots, drawing))


def _turns(odd: list[int], profiles: int, drawing: Drawing) -> list[set[int]]:
    """For each profile the half of the odd races that get one woman more, each race equally often."""
    halves = list(itertools.combinations(odd, len(odd) // 2))
    order: list[int] = drawing.rng.permutation(len(halves)).tolist()
    return [set(halves[order[p % len(halves)]]) for p in range(profiles)]


def _named(slots: list[tuple[Profile, str, str]], drawing: Drawing) -> Iterator[tuple[Profile, Name]]:
    """Give each slot a name of its race and gender: each equally often, and none twice to a profile."""
    names: dict[int, Name] = {}
    for race, gender in itertools.product(drawing.pack.groups.race, drawing.pack.groups.gender):
        cell = drawing.pack.cell(race, gender)
        items = [i for i, slot in enumerate(slots) if slot[1:] == (race, gender)]
        if not items:
            continue
        most = max(sum(slots[i][0] == profile for i in items) for profile in drawing.pack.profiles())
        require(most <= len(cell), "quota", f"{most} names in each race x gender cell")
        dealt = deal([slots[i][0].profile_id for i in items], [()] * len(items), len(cell), drawing.rng)
        names |= {i: cell[label] for i, label in zip(items, dealt, strict=True)}
    return ((profile, names[i]) for i, (profile, _, _) in enumerate(slots))


def _modular(drawing: Drawing) -> Iterator[Bundle]:
    """The frozen schedule of the wording arm in "The Audit Decides the Verdict": profile i mod 12, name i mod 40.

    Names are listed race by race in turn, so the common factor of profiles, names and races ties each profile to one
    race: the arm's apparent contrast is one of applications. Kept as it was published, for what it teaches.
    """
    pack = drawing.pack
    profiles, races = pack.profiles(), pack.groups.race
    by_race = [list(_alternating(pack, race)) for race in races]
    require(len({len(names) for names in by_race}) == 1, "modular", "as many names of each race")
    names = [by_race[i % len(races)][i // len(races)] for i in range(len(pack.names))]
    return _singles((profiles[i % len(profiles)], names[i % len(names)]) for i in range(drawing.count))


def _alternating(pack: Pack, race: str) -> Iterator[Name]:
    """The names of a race, genders in turn."""
    return itertools.chain.from_iterable(zip(*(pack.cell(race, gender) for gender in pack.groups.gender), strict=True))


def _singles(pairs: Iterable[tuple[Profile, Name]]) -> Iterator[Bundle]:
    for profile, name in pairs:
        stimulus = Stimulus(profile, name)
        yield Bundle(stimulus.stimulus_id, (stimulus,))


DESIGNS = (
    Design("crossed", None, None, CONTRASTS, _crossed),
    Design("quota", None, None, CONTRASTS, _quota, count=120),
    Design("modular", None, None, CONTRASTS, _modular, count=120),
)
