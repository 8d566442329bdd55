"""The released FairFund-Bench materials as a run (Lukk 2026): its stimuli and bundles under appendix A's wordings."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand import formats
from evenhand.design.bundles import DESIGNS
from evenhand.design.stimuli import assemble
from evenhand.errors import InputError
from evenhand.instrument import Instrument, Slot, Unit
from evenhand.packs import load_pack
from evenhand.plan import Arm, Plan

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.packs import Pack

STIMULI, BUNDLES = "stimuli.csv", "bundles.csv"
_STIMULUS_COLUMNS = (
    "stimulus_id", "category", "scenario_id", "framing", "race", "gender", "name_rank", "full_name", "text",
)  # fmt: skip
_BUNDLE_COLUMNS = ("task", "unit_id", "position", "stimulus_id", "bundle_type")


def import_fairfund(folder: Path) -> tuple[Plan, Instrument]:
    """Read the released materials.

    Args:
        folder: Holds `stimuli.csv` and `bundles.csv` in the released columns.

    Returns:
        A plan named `fairfund-released` and the instrument, one arm a task and bundle type.

    Raises:
        InputError: A file or column is missing, or a row does not fit the others, with file and line.
    """
    pack = load_pack("aid")
    stimuli = _stimuli(folder / STIMULI, pack)
    members: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    path = folder / BUNDLES
    for line, row in _rows(path, _BUNDLE_COLUMNS):
        where = f"{path} line {line}"
        _check_bundle_row(row, stimuli, where)
        key = (row["task"], row["bundle_type"], row["unit_id"])
        members.setdefault(key, []).append(row | {"line": str(line)})
    units = tuple(
        _unit(task, bundle_type, unit_id, rows, stimuli, pack, path)
        for (task, bundle_type, unit_id), rows in sorted(members.items(), key=_released_order)
    )
    _require_unique(units, path)
    arms = list(dict.fromkeys((unit.arm, unit.format, unit.bundle_type) for unit in units))
    plan = Plan(
        name="fairfund-released",
        imported="fairfund",
        arms=tuple(Arm(name=arm, pack=pack.name, format=task, design=design) for arm, task, design in arms),
    )
    return plan, Instrument(units)


def _released_order(item: tuple[tuple[str, str, str], Any]) -> tuple[int, int, str]:
    task, bundle_type, unit_id = item[0]
    return (("rate", "rank", "allocate").index(task), list(DESIGNS).index(bundle_type), unit_id)


def _stimuli(path: Path, pack: Pack) -> dict[str, dict[str, str]]:
    stimuli: dict[str, dict[str, str]] = {}
    levels = {
        "race": pack.groups.race,
        "gender": pack.groups.gender,
        "framing": pack.framings,
        "category": tuple(category.name for category in pack.categories),
    }
    for line, row in _rows(path, _STIMULUS_COLUMNS):
        where = f"{path} line {line}"
        for column, known in levels.items():
            if row[column] not in known:
                raise InputError(
                    f"unknown {column} {row[column]!r}", where=where, mend=f"Use one of {', '.join(known)}"
                )
        if not row["name_rank"].isdecimal():
            raise InputError(f"name_rank is {row['name_rank']!r}", where=where, mend="Give a whole number")
        if row["stimulus_id"] in stimuli:
            raise InputError(f"{row['stimulus_id']!r} occurs twice", where=where, mend="Keep one row a stimulus")
        stimuli[row["stimulus_id"]] = row
    return stimuli


def _check_bundle_row(row: dict[str, str], stimuli: dict[str, dict[str, str]], where: str) -> None:
    if row["task"] not in ("rate", "rank", "allocate"):
        raise InputError(f"unknown task {row['task']!r}", where=where, mend="Use rate, rank or allocate")
    if row["bundle_type"] not in DESIGNS:
        raise InputError(
            f"unknown bundle_type {row['bundle_type']!r}",
            where=where,
            mend=f"Use one of {', '.join(DESIGNS)}",
        )
    if row["stimulus_id"] not in stimuli:
        raise InputError(
            f"unknown stimulus {row['stimulus_id']!r}",
            where=where,
            mend=f"Add it to {STIMULI} or correct the id",
        )
    if not row["position"].isdecimal():
        raise InputError(f"position is {row['position']!r}", where=where, mend="Give a whole number from 1")
    if (row["task"] == "rate") != (row["bundle_type"] == "rate"):
        raise InputError(
            f"the task {row['task']} does not go with the bundle_type {row['bundle_type']}",
            where=where,
            mend="Rate units hold one stimulus each and have the bundle_type rate",
        )


def _unit(
    task: str,
    bundle_type: str,
    unit_id: str,
    rows: list[dict[str, str]],
    stimuli: dict[str, dict[str, str]],
    pack: Pack,
    path: Path,
) -> Unit:
    rows = sorted(rows, key=lambda row: int(row["position"]))
    positions = [int(row["position"]) for row in rows]
    if positions != list(range(1, len(rows) + 1)) or (task == "rate") != (len(rows) == 1):
        raise InputError(
            f"the unit {unit_id!r} has the positions {positions}",
            where=f"{path} line {rows[0]['line']}",
            mend="Number a bundle's positions 1, 2, 3, ... without gaps; a Rate unit has one",
        )
    members = [stimuli[row["stimulus_id"]] for row in rows]
    design = DESIGNS[bundle_type]
    instruction = formats.instruction(task, pack.wordings[task]["base"], slots=len(rows))
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
        prompt=assemble(instruction, tuple(member["text"] for member in members), label=pack.slot_label),
        slots=tuple(
            Slot(
                position=position,
                stimulus_id=member["stimulus_id"],
                category=member["category"],
                scenario_id=member["scenario_id"],
                framing=member["framing"],
                name=member["full_name"],
                name_rank=int(member["name_rank"]),
                race=member["race"],
                gender=member["gender"],
            )
            for position, member in zip(positions, members, strict=True)
        ),
    )


def _rows(path: Path, columns: tuple[str, ...]) -> list[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
    except FileNotFoundError:
        raise InputError(
            "the file is missing", where=str(path), mend=f"Give the folder that holds {STIMULI} and {BUNDLES}"
        ) from None
    except OSError as problem:
        raise InputError(f"cannot be read ({problem.strerror})", where=str(path), mend="Check its rights") from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"not a UTF-8 CSV file ({problem})", where=str(path), mend="Restore the file") from None
    if not rows:
        raise InputError("the file has no rows", where=str(path), mend="Restore the file")
    missing = [column for column in columns if column not in rows[0][1]]
    if missing:
        raise InputError(
            f"missing column {', '.join(missing)}",
            where=str(path),
            mend=f"The columns are {', '.join(columns)}",
        )
    for line, row in rows:
        empty = [column for column in columns if not row[column]]
        if empty:
            raise InputError(
                f"empty {', '.join(empty)}", where=f"{path} line {line}", mend="Fill every cell of the row"
            )
    return rows


def _require_unique(units: tuple[Unit, ...], path: Path) -> None:
    repeated = [key for key, times in Counter(unit.key for unit in units).items() if times > 1]
    if repeated:
        raise InputError(f"the unit {repeated[0]!r} occurs twice", where=str(path), mend="Keep each unit_id once")
