"""An instrument's files: written once, read back and held against their digest."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from evenhand.cells import guard, unguard
from evenhand.errors import EvenhandError, InstrumentError
from evenhand.instrument.units import SLOT_FIELDS, Instrument, Slot, Unit, canonical, head_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

UNITS, SLOTS, DIGEST = "units.jsonl", "slots.csv", "digest"


def save_instrument(instrument: Instrument, folder: Path) -> None:
    """Write `units.jsonl`, `slots.csv` and `digest` into an existing folder."""
    lines: list[str] = []
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["arm", "unit_id", *SLOT_FIELDS])
    for unit in instrument.units:
        lines.append(canonical(head_of(unit)))
        for slot in unit.slots:
            cells = [unit.arm, unit.unit_id, *(getattr(slot, column) for column in SLOT_FIELDS)]
            writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in cells])
    (folder / UNITS).write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    (folder / SLOTS).write_text(table.getvalue(), encoding="utf-8", newline="")
    (folder / DIGEST).write_text(instrument.digest + "\n", encoding="utf-8", newline="\n")


def load_instrument(folder: Path) -> Instrument:
    """Read an instrument and hold it against its digest.

    Raises:
        InstrumentError: A file is missing or unreadable, or the content does not match the digest.
    """
    slots = dict(_read(folder / SLOTS, _parse_slots))
    units = tuple(_read(folder / UNITS, lambda text: _parse_units(text, slots)))
    instrument = Instrument(units)
    recorded = _read(folder / DIGEST, lambda text: [text.strip()])[0]
    if instrument.digest != recorded:
        raise InstrumentError(
            f"the content has the digest {instrument.digest[:12]}..., not the recorded {recorded[:12]}...",
            where=str(folder),
            mend="A file was changed after the build: restore it, or build the study again into a new folder",
        )
    return instrument


def _read(path: Path, parse: Callable[[str], Iterable[Any]]) -> list[Any]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(parse(file.read()))
    except FileNotFoundError:
        raise InstrumentError("the file is missing", where=str(path), mend="Build the study again") from None
    except EvenhandError:
        raise
    except OSError as problem:
        raise InstrumentError(
            f"the file cannot be read ({problem.strerror})", where=str(path), mend="Check its rights"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, csv.Error) as problem:
        raise InstrumentError(
            f"the file is damaged ({problem})", where=str(path), mend="Restore it, or build the study again"
        ) from None


def _parse_slots(text: str) -> Iterable[tuple[tuple[str, str], tuple[Slot, ...]]]:
    slots: dict[tuple[str, str], list[Slot]] = {}
    for row in csv.DictReader(io.StringIO(text), strict=True):
        cells: dict[str, Any] = {column: unguard(cell) for column, cell in row.items()}
        key = (cells.pop("arm"), cells.pop("unit_id"))
        cells |= {column: int(cells[column]) for column in ("position", "name_rank")}
        cells |= {column: cells.get(column) or None for column in ("stratum", "pseudo_group", "attribute")}
        cells["stratum"] = int(cells["stratum"]) if cells["stratum"] else None
        slots.setdefault(key, []).append(Slot(**cells))
    return ((key, tuple(found)) for key, found in slots.items())


def _parse_units(text: str, slots: Mapping[tuple[str, str], tuple[Slot, ...]]) -> Iterable[Unit]:
    units: list[Unit] = []
    for line in filter(None, text.split("\n")):
        head: dict[str, Any] = json.loads(line)
        head["options"] = tuple(head["options"])
        units.append(Unit(**head, slots=slots[head["arm"], head["unit_id"]]))
    return units
