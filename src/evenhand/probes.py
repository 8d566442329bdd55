"""Probes: what a model says that another arm's request was for, asked in a fresh session.

The prompt shows the request word for word, never the answer to it. Under `purpose_choice` lettered options follow,
whose order is rotated, the rotations dealt evenly over all probes of a study together.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from evenhand import formats
from evenhand.errors import StudyError
from evenhand.instrument import Slot, Unit
from evenhand.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.packs import Pack
    from evenhand.plan import Arm

Drawn = TypeVar("Drawn")


def make_probes(arm: Arm, pack: Pack, units: Sequence[Unit], *, seed: int) -> tuple[Unit, ...]:
    """Probes of units drawn from another arm; all arms that probe it draw in one order, so that a rerun repeats them.

    The options are in their canonical order until `deal_rotations` gives each probe its own.

    Args:
        arm: The probes' arm; `count` is how many, by default all.
        pack: Holds the question and its options.
        units: The units of the arm that is asked about.
        seed: The study's.

    Raises:
        StudyError: More probes than units, or a pack without options.
    """
    where = f"arm {arm.name}"
    count = arm.count or len(units)
    if count > len(units):
        raise StudyError(f"{count} probes of {len(units)} units", where=where, mend="Lower count")
    choice = formats.is_choice(arm.format)
    if choice and len(pack.purposes) < 2:
        raise StudyError(f"the pack {pack.name!r} offers no purposes", where=where, mend="Add [purposes] to the pack")
    drawn = sorted(_order(units, seed, arm)[:count])
    return tuple(_probe(arm, pack, unit) for unit in first_of([units[i] for i in drawn], arm))


def _order(units: Sequence[Unit], seed: int, arm: Arm) -> list[int]:
    """The order in which units are drawn: shuffled, the race x gender cells of those that hold one in turn."""
    rng = generator("probes", seed, arm.probes, *([arm.draw] if arm.draw else []))
    cells: dict[tuple[str, ...], list[int]] = {}
    shuffled: list[int] = rng.permutation(len(units)).tolist()
    for i in shuffled:
        held = {(slot.race, slot.gender) for slot in units[i].slots}
        cells.setdefault(held.pop() if len(held) == 1 else (), []).append(i)
    turns = itertools.zip_longest(*cells.values())
    return [i for turn in turns for i in turn if i is not None]


def first_of(units: Sequence[Drawn], arm: Arm) -> Sequence[Drawn]:
    """The first of an arm's units, where it takes only those.

    Raises:
        StudyError: There are not so many.
    """
    if arm.first is not None and arm.first > len(units):
        raise StudyError(f"the first {arm.first} of {len(units)} units", where=f"arm {arm.name}", mend="Lower first")
    return units[: arm.first]


def _probe(arm: Arm, pack: Pack, source: Unit) -> Unit:
    options = tuple(pack.purposes) if formats.is_choice(arm.format) else ()
    return Unit(
        arm=arm.name,
        unit_id=source.unit_id,
        tag=arm.tag,
        domain=source.domain,
        format=arm.format,
        wording=arm.wording,
        bundle_type=source.bundle_type,
        mode=source.mode,
        focal_axis=None,
        label=source.label,
        prompt=_prompt(source.prompt, _question(arm.format, arm.wording, pack, options)),
        slots=(_slot(source),),
        options=options,
        source=source.key,
        reasoning=arm.reasoning,
    )


def _slot(source: Unit) -> Slot:
    """The one slot of a probe: the applicant of a single, or nobody for a bundle; its stimulus is the request."""
    if len(source.slots) == 1:
        return replace(source.slots[0], stimulus_id=source.key)
    texts = dict.fromkeys(("category", "scenario_id", "framing", "name", "race", "gender"), "")
    return Slot(position=1, stimulus_id=source.key, name_rank=0, **texts)


def _question(format: str, wording: str, pack: Pack, options: Sequence[str]) -> str:
    shown = [pack.purposes[option] for option in options]
    return formats.instruction(format, pack.wordings[format][wording], options=shown)


def _prompt(request: str, question: str) -> str:
    return f"<request>\n{request}\n</request>\n\n{question}"


def request_of(prompt: str) -> str:
    """The request that a probe's prompt shows."""
    return prompt.partition("<request>\n")[2].rpartition("\n</request>\n\n")[0]


def deal_rotations(units: Sequence[Unit], *, packs: Mapping[str, Pack]) -> Iterator[Unit]:
    """Rotate the options of every choice among the units; all others pass as they are.

    Rotations are used equally often over all probes together, reruns with reasoning counted or not. Probes of one
    request share a rotation, so that a rerun differs in nothing else.
    """
    times = Counter(unit.source for unit in units if unit.options)
    used: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    rotation: dict[str, int] = {}
    for unit in units:
        if unit.options and unit.source not in rotation:
            # The least used so far, then the least used with reruns; among those the one whose turn it would be.
            turn = len(rotation) % len(unit.options)
            order = [(turn + k) % len(unit.options) for k in range(len(unit.options))]
            rotation[unit.source] = min(order, key=lambda k: (used[k], asked[k]))
            used[rotation[unit.source]] += 1
            asked[rotation[unit.source]] += times[unit.source]
    for unit in units:
        if not unit.options:
            yield unit
            continue
        by = rotation[unit.source]
        options = unit.options[by:] + unit.options[:by]
        question = _question(unit.format, unit.wording, packs[unit.domain], options)
        yield replace(unit, options=options, prompt=_prompt(request_of(unit.prompt), question))
