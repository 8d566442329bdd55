"""What a pack holds, as plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic.dataclasses import dataclass as checked

from evenhand.records import CLOSED, DISTINCT, Label, at_least

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.packs.names import Name

NAME_SLOT = "{name}"
MANIFEST, NAMES = "pack.toml", "names.csv"

Levels = Annotated[tuple[Label, ...], at_least(2), DISTINCT]


@checked(frozen=True, slots=True, config=CLOSED)
class Groups:
    """The demographic levels that names signal; the first level of each is its reference. A table of `pack.toml`."""

    race: Levels
    gender: Levels


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of need or document.

    Attributes:
        name: What it is called in every row.
        templates: The file of its scenarios, relative to the pack's folder.
        target_words: The length its texts are held to, in words between white space.
    """

    name: str
    templates: str
    target_words: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """One story or document.

    Attributes:
        scenario_id: Unique in the pack.
        category: The category it belongs to.
        label: A word for people.
        texts: The text by framing, with `{name}` in it; under the framing "" where the pack has no framings.
        stratum: Quality, 1 the strongest; None in a pack without strata.
    """

    scenario_id: str
    category: str
    label: str
    texts: Mapping[str, str]
    stratum: int | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """A decision-irrelevant detail.

    Attributes:
        kind: What it is about (hobby, neighborhood).
        item: What it says.
        line: The line that is set below a text.
        number: Its place among its kind, from 1.
    """

    kind: str
    item: str
    line: str
    number: int

    @property
    def detail_id(self) -> str:
        """Short, unique in the pack; part of stimulus identifiers."""
        return f"{self.kind}{self.number}"


@dataclass(frozen=True, slots=True)
class Details:
    """The details of one kind, matched with each other."""

    items: tuple[Detail, ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """Content with its name left open: a scenario under one framing (75 in the aid pack, 12 in the hiring pack).

    Attributes:
        profile_id: `{scenario_id}__{framing}`, or the scenario's id where there are no framings.
        category: The category.
        scenario_id: The scenario.
        framing: The framing, or empty.
        text: With `{name}` in it.
        stratum: The scenario's.
    """

    profile_id: str
    category: str
    scenario_id: str
    framing: str
    text: str
    stratum: int | None = None

    def render(self, full_name: str) -> str:
        """The text with a name set in."""
        return self.text.replace(NAME_SLOT, full_name)


@dataclass(frozen=True, slots=True)
class Pack:
    """A domain: its profiles, names and wordings.

    Attributes:
        name: The pack's short name, part of arm names.
        version: Changes when results stop being comparable.
        folder: Where it was read from.
        slot_label: What an applicant's place is called in a bundle ("Request 1:").
        groups: Demographic levels.
        framings: Framing levels in ladder order; empty where texts have none.
        categories: The categories in file order.
        scenarios: All scenarios, category by category.
        names: All names in file order.
        wordings: format -> wording -> template with {number}, {n}, {example}, {total}, {options}.
        details: Decision-irrelevant details by kind.
        purposes: What a purpose probe offers, by canonical name, in the canonical order.
        tolerance: How many words a rendering may be off its category's target.
    """

    name: str
    title: str
    version: str
    license: str
    citation: str
    folder: Path
    slot_label: str
    groups: Groups
    framings: tuple[str, ...]
    categories: tuple[Category, ...]
    scenarios: tuple[Scenario, ...]
    names: tuple[Name, ...]
    wordings: Mapping[str, Mapping[str, str]]
    tolerance: int
    details: Mapping[str, Details]
    purposes: Mapping[str, str]

    @property
    def files(self) -> tuple[str, ...]:
        """The files that make it, relative to its folder; a readme and a license may lie beside them."""
        return tuple(dict.fromkeys((MANIFEST, NAMES, *(category.templates for category in self.categories))))

    def profiles(self) -> tuple[Profile, ...]:
        """Every scenario under every framing, in ladder order."""
        return tuple(
            Profile(
                profile_id=f"{scenario.scenario_id}__{framing}" if framing else scenario.scenario_id,
                category=scenario.category,
                scenario_id=scenario.scenario_id,
                framing=framing,
                text=text,
                stratum=scenario.stratum,
            )
            for scenario in self.scenarios
            for framing, text in scenario.texts.items()
        )

    def cell(self, race: str, gender: str) -> tuple[Name, ...]:
        """The names of one race x gender cell, by rank."""
        return tuple(
            sorted(
                (name for name in self.names if name.race == race and name.gender == gender),
                key=lambda name: name.rank,
            )
        )

    def scenarios_of(self, category: str) -> tuple[Scenario, ...]:
        """The scenarios of one category, in file order."""
        return tuple(scenario for scenario in self.scenarios if scenario.category == category)
