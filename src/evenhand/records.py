"""Reading TOML into typed records, so that every wrong key is one message naming its file and place."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.errors import EvenhandError

Record = TypeVar("Record")


def read_toml(path: Path, error: type[EvenhandError]) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: The file, UTF-8.
        error: The class to raise where it cannot be read.

    Raises:
        EvenhandError: Of the class given: missing file, not UTF-8, or not TOML (with line and column).
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise error("no such file", where=str(path), mend="Check the path") from None
    except OSError as problem:
        raise error(
            f"cannot be read ({problem.strerror})", where=str(path), mend="Check the path and its rights"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise error(f"not a TOML file ({problem})", where=str(path), mend="Mend that line") from None


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
    return f"{str(fault['msg'])[:1].lower()}{str(fault['msg'])[1:]}"
