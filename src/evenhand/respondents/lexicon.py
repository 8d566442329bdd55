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

    from evenhand.packs import Pack, Profile


MOST_REMEMBERED = 8192
WITHIN_STRATUM = 0.3
"""SD of the profiles of one stratum, strata being 1 apart."""


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
        said: What it says that bears on the decision: the text without an irrelevant detail.
    """

    utility: float
    framing: str
    said: str


@dataclass(frozen=True, slots=True)
class Written:
    """A text to learn.

    Attributes:
        domain: Its pack.
        scenario: Its scenario.
        framing: Its framing, or empty.
        text: As it stands in prompts, the name replaced by `{name}`.
        said: The text without an irrelevant detail.
        stratum: Its quality, 1 the strongest, where the pack has strata.
    """

    domain: str
    scenario: str
    framing: str
    text: str
    said: str
    stratum: int | None = None


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
        texts = [written for profile in pack.profiles() for written in _with_details(pack, profile)]
        lexicon = lexicon.joined(learn(people, texts))
    return lexicon


def _with_details(pack: Pack, profile: Profile) -> list[Written]:
    """A profile as it stands, and with each detail below it."""
    own = (pack.name, profile.scenario_id, profile.framing)
    lines = [f"\n{detail.line}" for details in pack.details.values() for detail in details.items]
    return [Written(*own, profile.text + line, profile.text, profile.stratum) for line in ("", *lines)]


def learn(people: Iterable[Person], texts: Iterable[Written]) -> Lexicon:
    """A lexicon of names and texts.

    A scenario keeps its utility under every framing: framings differ by what is planted. Utilities are drawn by
    domain and scenario, about the mean of the stratum where there are strata, and brought to mean 0 and SD 1 over what
    the texts of a domain say.

    Args:
        people: Names and what they signal.
        texts: Each text once.
    """
    domains: dict[str, list[tuple[float, Written]]] = {}
    for written in texts:
        domains.setdefault(written.domain, []).append((_draw(written), written))
    contents: dict[str, Content] = {}
    for drawn in domains.values():
        draws = list({written.said: draw for draw, written in drawn}.values())
        mean = sum(draws) / len(draws)
        sd = (sum((draw - mean) ** 2 for draw in draws) / len(draws)) ** 0.5 or 1.0
        contents |= {
            written.text: Content((draw - mean) / sd, written.framing, written.said) for draw, written in drawn
        }
    return Lexicon({person.name: person for person in people}, contents)


def _draw(written: Written) -> float:
    """How good a case a scenario makes, before standardising: strata apart, scenarios of one stratum close."""
    draw = normal("scenario", written.domain, written.scenario)
    return draw if written.stratum is None else WITHIN_STRATUM * draw - written.stratum


def without_name(text: str, name: str) -> str:
    """A text with a name replaced by `{name}`."""
    return text.replace(name, NAME_SLOT)
