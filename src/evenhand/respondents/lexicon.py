"""What a simulated respondent knows: which names signal whom, and what the texts say.

A model brings such knowledge along; a simulated respondent is given it. The shipped packs are always known;
a run adds its own names and texts, so that effects planted in a respondent act on any pack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from evenhand.packs import load_pack, shipped_packs
from evenhand.packs.pack import NAME_SLOT
from evenhand.seeds import normal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


MOST_REMEMBERED = 8192


@dataclass(frozen=True, slots=True)
class Person:
    """What a name signals."""

    name: str
    race: str
    gender: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a text without its name says.

    Attributes:
        utility: How good a case it makes, SD 1 over its domain.
        framing: The framing level.
    """

    utility: float
    framing: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Names and texts that are known.

    Attributes:
        people: By full name.
        contents: By text, the name replaced by `{name}`.
    """

    people: Mapping[str, Person] = field(default_factory=dict[str, Person])
    contents: Mapping[str, Content] = field(default_factory=dict[str, Content])
    _found: dict[str, Person | None] = field(default_factory=dict[str, "Person | None"], compare=False, repr=False)

    def find_person(self, text: str) -> Person | None:
        """The longest known name that occurs in a text; texts come back in other bundles, so it is remembered."""
        if text not in self._found:
            if len(self._found) >= MOST_REMEMBERED:
                self._found.clear()
            found = [person for name, person in self.people.items() if name in text]
            self._found[text] = max(found, key=lambda person: len(person.name), default=None)
        return self._found[text]

    def joined(self, other: Lexicon) -> Lexicon:
        """What both know; where they differ, the other counts."""
        return Lexicon({**self.people, **other.people}, {**self.contents, **other.contents})


def shipped() -> Lexicon:
    """The names and profiles of every pack that comes with Evenhand."""
    return _shipped()


@cache
def _shipped() -> Lexicon:
    lexicon = Lexicon()
    for pack in (load_pack(name) for name in shipped_packs()):
        people = [Person(name.full, name.race, name.gender) for name in pack.names]
        texts = [(pack.name, profile.scenario_id, profile.framing, profile.text) for profile in pack.profiles()]
        lexicon = lexicon.joined(learn(people, texts))
    return lexicon


def learn(people: Iterable[Person], texts: Iterable[tuple[str, str, str, str]]) -> Lexicon:
    """A lexicon of names and texts.

    A scenario keeps its utility under every framing: framings differ by what is planted. Utilities are drawn by
    domain and scenario and brought to mean 0 and SD 1 over the texts of a domain.

    Args:
        people: Names and what they signal.
        texts: (domain, scenario, framing, text with the name replaced by `{name}`), each text once.
    """
    domains: dict[str, list[tuple[float, str, str]]] = {}
    for domain, scenario, framing, text in texts:
        domains.setdefault(domain, []).append((normal("scenario", domain, scenario), framing, text))
    contents: dict[str, Content] = {}
    for drawn in domains.values():
        mean = sum(draw for draw, _, _ in drawn) / len(drawn)
        sd = (sum((draw - mean) ** 2 for draw, _, _ in drawn) / len(drawn)) ** 0.5 or 1.0
        contents |= {text: Content((draw - mean) / sd, framing) for draw, framing, text in drawn}
    return Lexicon({person.name: person for person in people}, contents)


def without_name(text: str, name: str) -> str:
    """A text with a name replaced by `{name}`."""
    return text.replace(name, NAME_SLOT)
