"""What commands share: options, exit codes, printing JSON and numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

INCOMPLETE = 3
"""Exit code of a command that was stopped or left something undone; the same command goes on."""

FAULT = 70
"""Exit code of a fault of our own (EX_SOFTWARE of sysexits.h)."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
out_option = click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="The run directory.")
run_argument = click.argument("folder", metavar="RUN", type=click.Path(path_type=Path))


def pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    """Options written as NAME=VALUE.

    Raises:
        InputError: One without a name, a sign or a value, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{text!r} is no pair", where=option, mend="Write it as NAME=VALUE")
        if name in found:
            raise InputError(f"{name!r} is given twice", where=option, mend="Give it once")
        found[name] = value
    return found


def sizes(texts: Sequence[str], option: str) -> dict[str, float]:
    """Options written as NAME=SIZE.

    Raises:
        InputError: As `pairs`; and one whose size is no number.
    """
    found: dict[str, float] = {}
    for name, text in pairs(texts, option).items():
        try:
            found[name] = float(text)
        except ValueError:
            raise InputError(f"{text!r} is no number", where=option, mend="Write it as rate=0.09") from None
    return found


def number(value: float | None, how: str = "+.3f") -> str:
    """A number as tables print it; a missing one says so."""
    return "none" if value is None else f"{value:{how}}"


def print_json(content: object) -> None:
    """Print a result as one line of JSON."""
    click.echo(json.dumps(content, ensure_ascii=False, allow_nan=False))
