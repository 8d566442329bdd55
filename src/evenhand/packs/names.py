"""A pack's names: the people under whom its profiles appear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import PackError
from evenhand.records import label_fault, parse_count, read_csv

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
        PackError: The file is missing or unreadable, lacks a column, repeats an identifier or a name, or a cell is
            empty or would break a prompt or a row (line breaks, braces, outer spaces).
    """
    rows = read_csv(path, COLUMNS, PackError, missing="Add names.csv to the pack")
    names = tuple(_name(row, where=f"{path} line {line}") for line, row in rows)
    _require_unique([name.name_id for name in names], "name_id", path)
    _require_unique([name.full for name in names], "name", path)
    return names


def _name(row: dict[str, str], *, where: str) -> Name:
    for column in COLUMNS:
        if fault := label_fault(row[column]):
            raise PackError(f"{column} {row[column]!r} {fault}", where=where, mend="Write it plainly in one line")
    rank = parse_count(row["name_rank"])
    if rank is None:
        raise PackError(
            f"name_rank is {row['name_rank'][:20]!r}", where=where, mend="Number a cell's names from 1 in name_rank"
        )
    return Name(
        name_id=row["name_id"],
        full=f"{row['first']} {row['last']}",
        race=row["race"],
        gender=row["gender"],
        rank=rank,
    )


def _require_unique(values: list[str], what: str, path: Path) -> None:
    repeated = sorted({value for value in values if values.count(value) > 1})
    if repeated:
        raise PackError(f"{what} {repeated[0]!r} occurs twice", where=str(path), mend="Keep one row a name")
