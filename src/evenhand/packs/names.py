"""A pack's names: the people under whom its profiles appear."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import PackError

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("name_id", "first", "last", "race", "gender", "name_rank")


@dataclass(frozen=True, slots=True)
class Name:
    """One name pair and the perception it was validated for.

    Attributes:
        name_id: Short identifier, unique in the pack; part of stimulus identifiers.
        full: First and last name, as a reader sees it.
        race: Perceived race, a level of the pack's `groups.race`.
        gender: Perceived gender, a level of the pack's `groups.gender`.
        rank: Place within its race x gender cell, from 1.
    """

    name_id: str
    full: str
    race: str
    gender: str
    rank: int


def read_names(path: Path) -> tuple[Name, ...]:
    """Read `names.csv`. Every cell is text: a person called Null, NA or True stays a person.

    Args:
        path: The file, UTF-8 with or without a byte order mark.

    Returns:
        The names in the file's order.

    Raises:
        PackError: The file is missing, lacks a column, or a row repeats an identifier or has an empty cell.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except FileNotFoundError:
        raise PackError("the pack has no names", where=str(path), mend="Add names.csv to the pack") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise PackError(f"not a UTF-8 CSV file ({error})", where=str(path), mend="Save it again as CSV UTF-8") from None
    missing = [column for column in COLUMNS if not rows or column not in rows[0]]
    if missing:
        raise PackError(
            f"missing column {', '.join(missing)}" if rows else "the file has no rows",
            where=str(path),
            mend=f"The columns are {', '.join(COLUMNS)}",
        )
    names = tuple(_name(row, where=f"{path} line {line}") for line, row in enumerate(rows, start=2))
    _require_unique([name.name_id for name in names], "name_id", path)
    _require_unique([name.full for name in names], "name", path)
    return names


def _name(row: dict[str, str | None], *, where: str) -> Name:
    cells = {column: (row[column] or "").strip() for column in COLUMNS}
    empty = [column for column, cell in cells.items() if not cell]
    if empty:
        raise PackError(f"empty {', '.join(empty)}", where=where, mend="Fill every cell of the row")
    if not cells["name_rank"].isdecimal() or int(cells["name_rank"]) < 1:
        raise PackError(
            f"name_rank is {cells['name_rank']!r}",
            where=where,
            mend="Number a cell's names from 1 in name_rank",
        )
    return Name(
        name_id=cells["name_id"],
        full=f"{cells['first']} {cells['last']}",
        race=cells["race"],
        gender=cells["gender"],
        rank=int(cells["name_rank"]),
    )


def _require_unique(values: list[str], what: str, path: Path) -> None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise PackError(f"{what} {repeated[0]!r} occurs twice", where=str(path), mend="Keep one row a name")
