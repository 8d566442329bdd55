"""The released FairFund-Bench materials as a run (Lukk 2026): its stimuli and bundles under appendix A's wordings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evenhand import formats
from evenhand.design.designs import DESIGNS
from evenhand.design.stimuli import assemble
from evenhand.errors import InputError
from evenhand.instrument import Instrument, Slot, Unit
from evenhand.packs import load_pack
from evenhand.plan import Arm, Plan
from evenhand.records import label_fault, parse_count, read_csv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from evenhand.packs import Pack

STIMULI, BUNDLES = "stimuli.csv", "bundles.csv"
TASKS = ("rate", "rank", "allocate")
SIZES = {
    "rate": 1,
    "race_transparent": 4,
    "race_disguised": 4,
    "gender_transparent": 2,
    "gender_disguised": 2,
    "intersectional": 4,
    "framing_transparent": 5,
    "framing_disguised": 5,
}
"""The eight released bundle types, with the slots of each of their units (Lukk 2026, section 3.3)."""

_STIMULUS_COLUMNS = (
    "stimulus_id", "category", "scenario_id", "framing", "race", "gender", "name_rank", "full_name", "text",
)  # fmt: skip
_BUNDLE_COLUMNS = ("task", "unit_id", "position", "stimulus_id", "bundle_type")
_MISSING = f"Give the folder that holds {STIMULI} and {BUNDLES}"


@dataclass(frozen=True, slots=True)
class _Stimulus:
    """A released text, with the slot it fills wherever it stands (at position 0 here)."""

    slot: Slot
    text: str


@dataclass(frozen=True, slots=True)
class _Member:
    """One row of the bundles."""

    position: int
    stimulus: _Stimulus
    where: str


def import_fairfund(folder: Path) -> tuple[Plan, Instrument]:
    """Read the released materials.

    Args:
        folder: Holds `stimuli.csv` and `bundles.csv` in the released columns.

    Returns:
        A plan named `fairfund-released` and the instrument, one arm a task and bundle type.

    Raises:
        InputError: A file or column is missing, or a row does not fit the others or the designs, with file and line.
    """
    pack = load_pack("aid")
    stimuli = _read_stimuli(folder / STIMULI, pack)
    bundles = _read_bundles(folder / BUNDLES, stimuli)
    units = tuple(_unit(*key, members, pack) for key, members in sorted(bundles.items(), key=_released_order))
    arms = list(dict.fromkeys((unit.arm, unit.format, unit.bundle_type) for unit in units))
    plan = Plan(
        name="fairfund-released",
        imported="fairfund",
        arms=tuple(Arm(name=arm, pack=pack.name, format=task, design=design) for arm, task, design in arms),
    )
    return plan, Instrument(units)


def _released_order(item: tuple[tuple[str, str, str], object]) -> tuple[int, int, str]:
    task, bundle_type, unit_id = item[0]
    return (TASKS.index(task), list(SIZES).index(bundle_type), unit_id)


def _require_known(row: Mapping[str, str], levels: Mapping[str, Sequence[str]], where: str) -> None:
    for column, known in levels.items():
        if row[column] not in known:
            raise InputError(f"unknown {column} {row[column]!r}", where=where, mend=f"Use one of {', '.join(known)}")


def _require_label(row: Mapping[str, str], columns: Sequence[str], where: str) -> None:
    for column in columns:
        if fault := label_fault(row[column]):
            raise InputError(f"{column} {row[column]!r} {fault}", where=where, mend="Write it plainly in one line")


def _require_count(row: Mapping[str, str], column: str, where: str) -> int:
    count = parse_count(row[column])
    if count is None:
        raise InputError(f"{column} is {row[column][:20]!r}", where=where, mend="Give a whole number from 1")
    return count


def _read_stimuli(path: Path, pack: Pack) -> dict[str, _Stimulus]:
    stimuli: dict[str, _Stimulus] = {}
    people: dict[str, tuple[str, str, int]] = {}
    levels = {
        "race": pack.groups.race,
        "gender": pack.groups.gender,
        "framing": pack.framings,
        "category": tuple(category.name for category in pack.categories),
    }
    for line, row in read_csv(path, _STIMULUS_COLUMNS, InputError, missing=_MISSING):
        where = f"{path} line {line}"
        _require_known(row, levels, where)
        _require_label(row, ("stimulus_id", "scenario_id", "full_name"), where)
        name, stimulus_id = row["full_name"], row["stimulus_id"]
        person = (row["race"], row["gender"], _require_count(row, "name_rank", where))
        if people.setdefault(name, person) != person:
            raise InputError(
                f"{name!r} is {_describe(person)} here and {_describe(people[name])} above",
                where=where,
                mend="Give each full name one race, gender and name_rank",
            )
        if stimulus_id in stimuli:
            raise InputError(f"{stimulus_id!r} occurs twice", where=where, mend="Keep one row a stimulus")
        slot = Slot(
            position=0,
            stimulus_id=stimulus_id,
            category=row["category"],
            scenario_id=row["scenario_id"],
            framing=row["framing"],
            name=name,
            name_rank=person[2],
            race=person[0],
            gender=person[1],
        )
        stimuli[stimulus_id] = _Stimulus(slot, row["text"])
    return stimuli


def _describe(person: tuple[str, str, int]) -> str:
    return " ".join(str(part) for part in person)


def _read_bundles(path: Path, stimuli: dict[str, _Stimulus]) -> dict[tuple[str, str, str], list[_Member]]:
    bundles: dict[tuple[str, str, str], list[_Member]] = {}
    for line, row in read_csv(path, _BUNDLE_COLUMNS, InputError, missing=_MISSING):
        where = f"{path} line {line}"
        _require_known(row, {"task": TASKS, "bundle_type": tuple(SIZES)}, where)
        _require_label(row, ("unit_id",), where)
        if row["stimulus_id"] not in stimuli:
            raise InputError(
                f"unknown stimulus {row['stimulus_id']!r}",
                where=where,
                mend=f"Add it to {STIMULI} or correct the id",
            )
        if (row["task"] == "rate") != (row["bundle_type"] == "rate"):
            raise InputError(
                f"the task {row['task']} does not go with the bundle_type {row['bundle_type']}",
                where=where,
                mend="Rate units hold one stimulus each and have the bundle_type rate",
            )
        member = _Member(_require_count(row, "position", where), stimuli[row["stimulus_id"]], where)
        bundles.setdefault((row["task"], row["bundle_type"], row["unit_id"]), []).append(member)
    for (_, bundle_type, unit_id), members in bundles.items():
        members.sort(key=lambda member: member.position)
        _check_bundle(bundle_type, unit_id, members)
    return bundles


def _check_bundle(bundle_type: str, unit_id: str, members: list[_Member]) -> None:
    positions, size = [member.position for member in members], SIZES[bundle_type]
    if positions != list(range(1, size + 1)):
        raise InputError(
            f"the unit {unit_id!r} has the positions {', '.join(map(str, positions))}",
            where=members[0].where,
            mend=f"A unit of {bundle_type} has the positions {', '.join(map(str, range(1, size + 1)))}",
        )
    texts: set[str] = set()
    for member in members:
        if member.stimulus.text in texts:
            raise InputError(
                f"the unit {unit_id!r} shows one text twice ({member.stimulus.slot.stimulus_id})",
                where=member.where,
                mend="Give each slot of a unit a stimulus of its own",
            )
        texts.add(member.stimulus.text)


def _unit(task: str, bundle_type: str, unit_id: str, members: list[_Member], pack: Pack) -> Unit:
    design = DESIGNS[bundle_type]
    texts = tuple(member.stimulus.text for member in members)
    instruction = formats.instruction(task, pack.wordings[task]["base"], slots=len(texts))
    return Unit(
        arm=f"aid-{task}" if task == "rate" else f"aid-{task}-{bundle_type}",
        unit_id=unit_id,
        tag="primary",
        domain=pack.name,
        format=task,
        wording="base",
        bundle_type=bundle_type,
        mode=design.mode,
        focal_axis=design.focal_axis,
        label=pack.slot_label,
        prompt=assemble(instruction, texts, label=pack.slot_label),
        slots=tuple(replace(member.stimulus.slot, position=member.position) for member in members),
    )
