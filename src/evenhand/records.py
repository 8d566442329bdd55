"""Reading TOML and CSV into typed records, so that every fault is one message naming its file and place."""

from __future__ import annotations

import csv
import tomllib
import unicodedata
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from evenhand.files import unreadable

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable
    from pathlib import Path

    from evenhand.errors import EvenhandError

CLOSED = ConfigDict(extra="forbid", allow_inf_nan=False)
"""How every record is configured: no unknown keys, no infinities. Scalars are strict, for TOML has types of its own."""

Record = TypeVar("Record")
Items = TypeVar("Items", bound="Collection[Hashable]")


def label_fault(text: str) -> str:
    """What keeps a text from standing in one line of a prompt and one cell of a table; empty where nothing does."""
    if not text.strip():
        return "is empty"
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in text):
        return "holds a line break or another control character"
    if text != text.strip():
        return "starts or ends with a space"
    if "{" in text or "}" in text:
        return "holds a brace"
    return ""


def _as_label(text: str) -> str:
    if fault := label_fault(text):
        raise ValueError(fault)
    return text


def _distinct(items: Items) -> Items:
    repeated = next((item for item in items if sum(item == other for other in items) > 1), None)
    if repeated is not None:
        raise ValueError(f"holds {repeated!r} twice")
    return items


def at_least(number: int) -> AfterValidator:
    """The least length of a collection, held after its items are: a faulty item is not also called a missing one."""

    def check(items: Items) -> Items:
        if len(items) < number:
            raise ValueError(f"needs at least {number} item{'s' if number > 1 else ''}")
        return items

    return AfterValidator(check)


DISTINCT = AfterValidator(_distinct)

Text = Annotated[str, Field(strict=True, min_length=1)]
Label = Annotated[str, Field(strict=True), AfterValidator(_as_label)]
Identifier = Annotated[str, Field(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Flag = Annotated[bool, Field(strict=True)]
Real = Annotated[float, Field(strict=True)]
Whole = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
"""An integer that TOML promises to carry: 64 bits, signed."""


def read_toml(path: Path, error: type[EvenhandError]) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: The file, UTF-8.
        error: The class to raise where it cannot be read.

    Raises:
        EvenhandError: Of the class given: missing or unreadable file, not UTF-8, or not TOML (with line and column).
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise error("no such file", where=str(path), mend="Check the path") from None
    except UnicodeDecodeError as problem:
        raise error(f"not a TOML file ({problem})", where=str(path), mend="Save it as UTF-8") from None
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem, error) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise error(f"not a TOML file ({problem})", where=str(path), mend="Mend that line") from None
    except RecursionError:
        raise error("its tables or arrays are nested too deep", where=str(path), mend="Nest them less") from None
    except ValueError:
        # Python's own limit, whose message advises on Python.
        raise error("an integer has thousands of digits", where=str(path), mend="Write a smaller number") from None


def read_csv(
    path: Path, columns: tuple[str, ...], error: type[EvenhandError], *, missing: str
) -> list[tuple[int, dict[str, str]]]:
    """Read a CSV file. Every cell stays text: a person called Null, NA or True stays a person.

    Args:
        path: The file, UTF-8 with or without a byte order mark.
        columns: Those that must be there, with something in every cell; others may be.
        error: The class to raise where it cannot be read.
        missing: The mend where the file is missing.

    Returns:
        Each row with the number of the line on which it ends.

    Raises:
        EvenhandError: Of the class given: missing file, not UTF-8 or not CSV, a missing column, no rows, an empty
            cell, or a row with more cells than the header.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader: csv.DictReader[str] = csv.DictReader(file, strict=True)
            rows = [(reader.line_num, row) for row in reader]
    except FileNotFoundError:
        raise error("the file is missing", where=str(path), mend=missing) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise error(f"not a UTF-8 CSV file ({problem})", where=str(path), mend="Save it again as CSV UTF-8") from None
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem, error) from None
    if not rows:
        raise error("the file has no rows", where=str(path), mend=f"The columns are {', '.join(columns)}")
    lacking = [column for column in columns if column not in rows[0][1]]
    if lacking:
        raise error(
            f"missing column {', '.join(lacking)}", where=str(path), mend=f"The columns are {', '.join(columns)}"
        )
    for line, row in rows:
        if None in row:
            raise error("more cells than columns", where=f"{path} line {line}", mend="Quote cells that hold commas")
        empty = [column for column in columns if not (row[column] or "").strip()]
        if empty:
            raise error(f"empty {', '.join(empty)}", where=f"{path} line {line}", mend="Fill every cell of the row")
    return rows


def parse_count(cell: str) -> int | None:
    """A whole number from 1, or None; nine digits are more than any table of people needs."""
    return int(cell) or None if cell.isdecimal() and len(cell) <= 9 else None


def as_record(kind: type[Record], data: object, *, where: str, error: type[EvenhandError]) -> Record:
    """Check data against a record type.

    Args:
        kind: A dataclass whose annotations say what is allowed.
        data: What was read.
        where: The file (and place in it), for the message.
        error: The class to raise.

    Raises:
        EvenhandError: Of the class given, listing up to five faults with their place.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as problem:
        faults = [
            f"{'.'.join(str(step) for step in fault['loc']) or 'file'}: {_say(fault)}" for fault in problem.errors()
        ]
        more = f" (and {len(faults) - 5} more)" if len(faults) > 5 else ""
        raise error("; ".join(faults[:5]) + more, where=where, mend="Mend these keys") from None


def _say(fault: Any) -> str:
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
        return "is not a known key"
    said = str(fault["msg"]).removeprefix("Value error, ")
    return f"{said[:1].lower()}{said[1:]}"
