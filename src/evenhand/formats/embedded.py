"""JSON inside a text: objects, and lists that hold more than numbers."""

from __future__ import annotations

import json
import re
from typing import Any

_ATTEMPTS = 12
_OBJECT = re.compile(r"\{")
_VALUE = re.compile(r"\{|\[\s*[\[{\"]")


class RepeatedKeyError(ValueError):
    """An object that names a key twice says two things."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise RepeatedKeyError
    return members


def _constant(name: str) -> Any:
    raise ValueError(name)


DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_constant)
"""A decoder that takes no key twice, no NaN, no Infinity."""


def extract(text: str, *, lists: bool = False) -> tuple[list[Any], str, bool]:
    """Take the JSON values out of a text.

    Args:
        text: The text.
        lists: Whether lists are taken too, where they hold more than numbers; else objects alone.

    Returns:
        The values in order; the text without them; and whether there is JSON that cannot be trusted (a key
        twice, or braces that do not close).
    """
    if "{" not in text and "[" not in text:
        return [], text, False
    values: list[Any] = []
    rest: list[str] = []
    position, attempts = 0, 0
    for match in (_VALUE if lists else _OBJECT).finditer(text):
        if match.start() < position:
            continue
        attempts += 1
        if attempts > _ATTEMPTS:
            break
        try:
            value, end = DECODER.raw_decode(text, match.start())
        except RepeatedKeyError:
            return [], text, True
        except (ValueError, RecursionError):
            continue
        values.append(value)
        rest.append(text[position : match.start()])
        position = end
    rest.append(text[position:])
    remainder = "\n".join(rest)
    return values, remainder, remainder.count("{") != remainder.count("}")


def decode(text: str) -> Any:
    """The JSON value that a text is, whole.

    Raises:
        ValueError: It is none.
    """
    try:
        return DECODER.decode(text)
    except RecursionError as problem:
        raise ValueError("nested too deeply") from problem
