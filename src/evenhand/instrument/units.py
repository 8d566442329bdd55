"""Units, their slots, and the frozen list of them that a study puts to models."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from evenhand import formats
from evenhand.design.balance import POOLED, Check, check_composition
from evenhand.design.designs import DESIGNS
from evenhand.design.stimuli import disassemble
from evenhand.errors import InstrumentError
from evenhand.packs.pack import NAME_SLOT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evenhand.formats import Answer, Reply


@dataclass(frozen=True, slots=True)
class Slot:
    """One applicant's place in a unit, with everything the audit knows about the applicant.

    A probe of a bundle has one slot that stands for no applicant: its texts are empty and its stimulus is the request.

    Attributes:
        position: From 1.
        stimulus_id: Which text under which name.
        category: The scenario's category.
        scenario_id: Which scenario.
        framing: Which framing; empty where the pack has none.
        name: The full name.
        name_rank: The name's place in its race x gender cell, from 1.
        race: What the name signals.
        gender: What the name signals.
        stratum: The profile's quality, 1 the strongest; None in packs without strata.
        pseudo_group: The letter in race's place in a placebo.
        attribute: The irrelevant detail shown, `kind: item`.
    """

    position: int
    stimulus_id: str
    category: str
    scenario_id: str
    framing: str
    name: str
    name_rank: int
    race: str
    gender: str
    stratum: int | None = None
    pseudo_group: str | None = None
    attribute: str | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """One prompt to be put to a model.

    Attributes:
        arm: The arm it belongs to.
        unit_id: Its identifier within the arm, as in the released codebook.
        tag: `primary` or `extension:<why>`.
        domain: The pack's name.
        format: How the answer is asked for.
        wording: Which phrasing of the instruction.
        bundle_type: The design.
        mode: transparent, disguised or None.
        focal_axis: The design's focal axis or None.
        label: What a slot is called in the prompt.
        prompt: The text a model reads.
        slots: In order of position, from 1.
        options: Of a choice: the canonical options in the order they are shown, A first; else empty.
        source: Of a probe: the key of the unit whose request it shows; else empty.
        reasoning: `on` for a unit that is asked with reasoning enabled, of the models named for it; else empty.
    """

    arm: str
    unit_id: str
    tag: str
    domain: str
    format: str
    wording: str
    bundle_type: str
    mode: str | None
    focal_axis: str | None
    label: str
    prompt: str
    slots: tuple[Slot, ...]
    options: tuple[str, ...] = ()
    source: str = ""
    reasoning: str = ""

    @property
    def key(self) -> str:
        """`{arm}/{unit_id}`, unique in a study."""
        return f"{self.arm}/{self.unit_id}"

    @property
    def sample(self) -> tuple[str, ...]:
        """What an analysis joins: domain, format, wording and design; a probe or rerun stands by its arm."""
        if self.source or self.reasoning:
            return (self.arm,)
        return (self.domain, self.format, self.wording, self.bundle_type)

    def read(self, reply: Reply) -> Answer:
        """Read a reply to this unit."""
        options = len(self.options) or formats.OPTIONS
        return formats.read(self.format, reply, slots=len(self.slots), label=self.label, options=options)

    def contents(self) -> tuple[str, ...]:
        """The slots' texts with the name replaced by `{name}`, in order of position."""
        texts = disassemble(self.prompt, len(self.slots), label=self.label)
        return tuple(text.replace(slot.name, NAME_SLOT) for text, slot in zip(texts, self.slots, strict=True))


_HEAD_FIELDS = tuple(field.name for field in fields(Unit) if field.name != "slots")
SLOT_FIELDS = tuple(field.name for field in fields(Slot))
_LATER = frozenset({"source", "reasoning", "stratum", "pseudo_group", "attribute"})
"""Fields that came later: where they are empty the canonical content has none, so that older digests stand."""


@dataclass(frozen=True)
class Instrument:
    """Units in the order of the study's arms. Not slotted, so that the digest is computed once."""

    units: tuple[Unit, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the canonical JSON of all units and slots, as 64 hex digits."""
        content = [head_of(unit) | {"slots": [fields_of(slot) for slot in unit.slots]} for unit in self.units]
        return hashlib.sha256(canonical(content).encode("utf-8", "surrogatepass")).hexdigest()

    @cached_property
    def by_key(self) -> Mapping[str, Unit]:
        """Units by `{arm}/{unit_id}`."""
        return {unit.key: unit for unit in self.units}

    def select(self, arms: Sequence[str]) -> Instrument:
        """The part of the instrument whose arms match any of the patterns (`aid-rank-*`).

        Raises:
            InstrumentError: No arm matches.
        """
        known = list(dict.fromkeys(unit.arm for unit in self.units))
        chosen = {arm for arm in known if any(fnmatchcase(arm, pattern) for pattern in arms)}
        if not chosen:
            raise InstrumentError(
                f"no arm matches {', '.join(arms)}", where="--arm", mend=f"The arms are {', '.join(known)}"
            )
        return Instrument(tuple(unit for unit in self.units if unit.arm in chosen))

    def accounting(self) -> list[dict[str, Any]]:
        """Units and slots by arm, in order of the arms."""
        units = Counter(unit.arm for unit in self.units)
        slots = Counter(unit.arm for unit in self.units for _ in unit.slots)
        tags = {unit.arm: unit.tag for unit in self.units}
        return [{"arm": arm, "tag": tags[arm], "units": units[arm], "slots": slots[arm]} for arm in units]

    def texts(self) -> dict[tuple[str, str, str], str]:
        """Every text that is shown, by domain, scenario and framing or detail, the name replaced by `{name}`."""
        return {
            (unit.domain, slot.scenario_id, slot.framing or slot.attribute or ""): text
            for unit in self.units
            if not unit.source
            for slot, text in zip(unit.slots, unit.contents(), strict=True)
        }

    def check(self) -> tuple[Check, ...]:
        """The composition of every arm and pool: is each contrast of its design free of every nuisance factor?

        A pool is what an analysis joins: arms of one domain, format, wording and design (the primary bundles and
        those of a precision extension).
        """
        return self._check([(arm,) for arm in self.contrasts()]) + self.check_pools()

    def check_pools(self) -> tuple[Check, ...]:
        """The composition of the pools alone."""
        return self._check(self._pools())

    def _check(self, samples: Sequence[tuple[str, ...]]) -> tuple[Check, ...]:
        contrasts, rows = self.contrasts(), self.rows()
        return tuple(
            check
            for arms in samples
            for check in check_composition(
                POOLED.join(arms),
                [row for arm in arms for row in rows[arm]],
                contrasts=contrasts[arms[0]],
                parts=len(arms),
            )
        )

    def contrasts(self) -> dict[str, tuple[str, ...]]:
        """The factors that each arm compares, probes apart."""
        designs = {unit.arm: DESIGNS[unit.bundle_type] for unit in self.units if not unit.source}
        return {arm: design.contrasts for arm, design in designs.items()}

    def _pools(self) -> list[tuple[str, ...]]:
        pools: dict[tuple[str, ...], dict[str, None]] = {}
        for unit in self.units:
            if not unit.source and not unit.reasoning:
                pools.setdefault(unit.sample, {})[unit.arm] = None
        return [tuple(arms) for arms in pools.values() if len(arms) > 1]

    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The slots of each arm as plain mappings, for composition checks."""
        rows: dict[str, list[dict[str, Any]]] = {}
        for unit in self.units:
            rows.setdefault(unit.arm, []).extend(_composition(slot, unit) for slot in unit.slots)
        return rows


def asked_of(units: Sequence[Unit], attempted: Collection[str]) -> list[Unit]:
    """The units that a respondent is asked: those with reasoning only where it was named for them.

    Args:
        units: The instrument's, or some of them.
        attempted: Keys of the units that the respondent was sent; it was named where one of them asks for reasoning.
    """
    named = any(unit.reasoning and unit.key in attempted for unit in units)
    return [unit for unit in units if named or not unit.reasoning]


def head_of(unit: Unit) -> dict[str, Any]:
    """A unit without its slots, as canonical content has it."""
    return {name: value for name in _HEAD_FIELDS if (value := getattr(unit, name)) or name not in _LATER}


def fields_of(slot: Slot) -> dict[str, Any]:
    """A slot as canonical content has it."""
    return {name: value for name in SLOT_FIELDS if (value := getattr(slot, name)) or name not in _LATER}


def _composition(slot: Slot, unit: Unit) -> dict[str, Any]:
    """A slot as composition checks see it; without framings a scenario is the whole profile, and is called so."""
    whole = not slot.framing
    named = {"profile": slot.scenario_id if whole else None, "scenario_id": None if whole else slot.scenario_id}
    return {name: getattr(slot, name) for name in SLOT_FIELDS} | named | {"unit_id": unit.key}


def canonical(content: object) -> str:
    """The one way in which content is written for a digest."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
