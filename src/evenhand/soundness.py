"""What must hold of an instrument's texts, beside the balance of its factors."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand.design.cells import exact_counts
from evenhand.design.designs import DESIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.instrument import Instrument, Unit


def find_faults(instrument: Instrument) -> list[str]:
    """Everything that is wrong with prompts and bundles, in words.

    Every arm compares something, prompts are unique within an arm and a pool, no bundle repeats a name, and the texts
    of a matched bundle are identical but for name and detail. (A pack's lengths are held when it is loaded.)
    """
    bundles = (fault for unit in instrument.units for fault in _bundle_faults(unit))
    return [*_empty_arms(instrument), *_repeated_prompts(instrument), *bundles]


def _empty_arms(instrument: Instrument) -> Iterator[str]:
    rows = instrument.rows()
    for arm, contrasts in instrument.contrasts().items():
        if not any(len({row[contrast] for row in rows[arm]} - {None}) > 1 for contrast in contrasts):
            yield f"arm {arm}: it compares nothing, since no two levels of {' or '.join(contrasts)} are in it"


def _repeated_prompts(instrument: Instrument) -> Iterator[str]:
    times = Counter((unit.sample, unit.prompt) for unit in instrument.units)
    for unit in instrument.units:
        key = (unit.sample, unit.prompt)
        if times[key] > 1:
            yield f"{unit.key}: {times[key]} units of the arm, or of arms that are joined, have this prompt"
            times[key] = 0


def _bundle_faults(unit: Unit) -> Iterator[str]:
    if len(unit.slots) == 1:
        return
    for name, times in Counter(slot.name for slot in unit.slots).items():
        if times > 1:
            yield f"{unit.key}: {name} applies {times} times in one bundle"
    if DESIGNS[unit.bundle_type].matched:
        contents = zip(unit.contents(), unit.slots, strict=True)
        texts = {text.rpartition("\n")[0] if slot.attribute else text for text, slot in contents}
        if len(texts) > 1:
            yield f"{unit.key}: the texts of a matched bundle differ in more than name and detail"


def exactness_notes(instrument: Instrument) -> list[str]:
    """Which disguised cells are balanced to within one only, and at which numbers they would be exact."""
    disguised = {unit.arm for unit in instrument.units if not unit.source and DESIGNS[unit.bundle_type].stratified}
    bundles = Counter(unit.arm for unit in instrument.units)
    notes: dict[tuple[int, int, int], list[str]] = {}
    for arm, rows in instrument.rows().items():
        if arm in disguised:
            races, strata, profiles, names = (
                len({row[c] for row in rows}) for c in ("race", "stratum", "profile", "name")
            )
            exact = exact_counts(races=races, profiles=profiles // strata, names=names // races)
            if bundles[arm] % exact[0]:
                notes.setdefault((bundles[arm], *exact), []).append(arm)
    return [
        f"{', '.join(arms)}: at {count} bundles groups are balanced to within one; the use of names and pairs with "
        f"profiles are exact in multiples of {pairs}, names and race x gender with profiles in multiples of {triples}"
        for (count, pairs, triples), arms in notes.items()
    ]


def word_counts(instrument: Instrument) -> list[dict[str, Any]]:
    """Words of the texts that are shown, without the name, by domain: fewest, median and most."""
    found: dict[str, list[int]] = {}
    for (domain, _, _), text in instrument.texts().items():
        found.setdefault(domain, []).append(len(text.split()) - 1)
    return [
        {
            "domain": domain,
            "texts": len(counts),
            "least": counts[0],
            "median": counts[len(counts) // 2],
            "most": counts[-1],
        }
        for domain, counts in ((domain, sorted(counts)) for domain, counts in found.items())
    ]
