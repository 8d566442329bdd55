"""Answers for several applications held by JSON: a list, or an object keyed by application."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from evenhand.formats.embedded import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.formats.types import Question

_DEEPEST = 3
_LONGEST_KEY = 100
_KEY = re.compile(r"\D{0,60}?(\d{1,2})\D{0,60}")
_ORDER_KEY = re.compile(
    r"order|best|worst|top\b|top_|sorted|winner|first|ranked|prioriti[sz]ed|place|position|podium|queue|sequence",
    re.IGNORECASE,
)
_PLACE_KEY = re.compile(
    r"(?:at|in|with|has|having)[\s_-]*(?:rank|priority|place|position)|(?:rank|priority)[\s_#-]*\d+[\s_-]*[a-z]|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
"""A key that names a place, so that its value names an item: "application_at_rank_1", "rank_1_application", "1st"."""
_RANK_KEY = re.compile(r"\s*(?:the\s)?(?:rank|priority)[\s_#-]*\d+\s*", re.IGNORECASE)
_ITEM_NAME = re.compile(
    r"(?:request|application|applicant|candidate|claimant|person|patient|profile|option|item|case|file|appeal|id|index|number|no|#"
    r"|individual|label|name|submission)s?(?:[\s_]?(?:id|index|number|no|#|label|name))?",
    re.IGNORECASE,
)
_VALUE_NAME = re.compile(
    r"(?:\w+_)?(?:rank(?:ing)?|priority(?:_rank)?|amount(?:_\w+)?|allocation|allocated|dollars?|usd|share|award|grant|value|score|funding|funds)(?:_\w+)?",
    re.IGNORECASE,
)
_SPARE_KEY = re.compile(
    r"(?:total|sum|reason|expl|note|comment|rationale|justif|thought|analysis|confidence|currency|summary)\w*",
    re.IGNORECASE,
)


def list_of(values: dict[int, int | None], slots: int) -> tuple[int, ...] | None:
    """The values of items 1 to `slots` in that order, where there are exactly those and all can be read."""
    if len(values) != slots:
        return None
    found = [values.get(item) for item in range(1, slots + 1)]
    whole = [value for value in found if value is not None]
    return tuple(whole) if len(whole) == slots else None


def value_from(
    value: Any, question: Question, whole: Callable[[Any], int | None], depth: int = 0, *, tool: bool = False
) -> tuple[int, ...] | None:
    """The answer that a JSON value holds.

    Args:
        value: The value.
        question: What was asked.
        whole: Reads one number.
        depth: How deep this value lies.
        tool: Whether it is the arguments of a tool, whose names we gave: there `rank_1` is an item's rank.

    Returns:
        One number a slot; an empty tuple where the value is no attempt at an answer (a citation, a note); None
        where it is one that cannot be taken.
    """
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return _from_list(cast("list[Any]", value), question, whole, depth, tool=tool)
    if isinstance(value, dict):
        return _from_object(cast("dict[str, Any]", value), question, whole, depth, tool=tool)
    if isinstance(value, str) and depth:
        return _from_text(value, question, whole, depth, tool=tool)
    return None


def _from_text(
    text: str, question: Question, whole: Callable[[Any], int | None], depth: int, *, tool: bool
) -> tuple[int, ...] | None:
    """A list inside a string ("3,1,4,2", "[3,1,4,2]"): decoded once."""
    said = text.strip()
    if len(said) > 2_000:
        return None
    if said[:1] in {"[", "{"}:
        try:
            return value_from(decode(said), question, whole, depth + 1, tool=tool)
        except ValueError:
            return None
    if re.fullmatch(r"[\d\s.]+(?:,[\d\s.]+)+", said):
        return _complete([whole(part.strip()) for part in said.split(",")], question)
    return None


def _from_list(
    items: list[Any], question: Question, whole: Callable[[Any], int | None], depth: int, *, tool: bool
) -> tuple[int, ...] | None:
    if len(items) > 4 * question.slots:
        return None
    if items and all(isinstance(item, dict) for item in items):
        return _from_rows(cast("list[dict[str, Any]]", items), question, whole)
    if len(items) == 1:
        return value_from(items[0], question, whole, depth + 1, tool=tool)
    return _complete([whole(item) for item in items], question)


def _from_rows(
    rows: list[dict[str, Any]], question: Question, whole: Callable[[Any], int | None]
) -> tuple[int, ...] | None:
    """Rows that each name an item and its value, or rows that hold the value alone."""
    values: dict[int, int | None] = {}
    for place, row in enumerate(rows, 1):
        if _is_large(row, question):
            return None
        named = [key for key in row if _ITEM_NAME.fullmatch(key.strip())]
        valued = [key for key in row if _VALUE_NAME.fullmatch(key.strip()) and key not in named]
        if len(valued) != 1 or len(named) > 1:
            return None
        item = _item(row[named[0]]) if named else place
        if item is None or item in values:
            return None
        values[item] = whole(row[valued[0]])
    return list_of(values, question.slots)


def _item(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    match = _KEY.fullmatch(value) if isinstance(value, str) else None
    return int(match.group(1)) if match else None


def _from_object(
    members: dict[str, Any], question: Question, whole: Callable[[Any], int | None], depth: int, *, tool: bool
) -> tuple[int, ...] | None:
    if _is_large(members, question):
        return None
    kept = {key: value for key, value in members.items() if not _is_spare(key)}
    if not kept:
        return None if members and not depth and tool else ()
    if len(kept) == 1 and question.slots > 1:
        key, value = next(iter(kept.items()))
        lists_items = isinstance(value, list) and _ITEM_NAME.fullmatch(key.strip()) is not None
        return (
            None if lists_items or _ORDER_KEY.search(key) else value_from(value, question, whole, depth + 1, tool=tool)
        )
    values: dict[int, int | None] = {}
    prefixes: set[str] = set()
    for key, value in kept.items():
        item, prefix = _item_named(key, tool=tool)
        if item is None or item in values:
            return None
        prefixes.add(prefix)
        values[item] = _inner(value, whole)
    return list_of(values, question.slots) if len(prefixes) == 1 else None


@lru_cache(maxsize=2_048)
def _is_spare(key: str) -> bool:
    """Whether a key names something beside the answer (the same few keys come in every reply)."""
    return _SPARE_KEY.fullmatch(key.strip()) is not None


@lru_cache(maxsize=2_048)
def _item_named(key: str, *, tool: bool) -> tuple[int | None, str]:
    """The number of the item whose value stands under a key, None where it names none; and what leads up to it."""
    match = _KEY.fullmatch(key)
    if not match or _ORDER_KEY.search(key) or _PLACE_KEY.search(key) or (_RANK_KEY.fullmatch(key) and not tool):
        return None, ""
    return int(match.group(1)), key[: match.start(1)].strip().lower()


def _is_large(members: dict[str, Any], question: Question) -> bool:
    """Whether an object is too large to be an answer."""
    return len(members) > 8 * question.slots or any(len(key) > _LONGEST_KEY for key in members)


def _inner(value: Any, whole: Callable[[Any], int | None]) -> int | None:
    """An item's value, or the value of the one member that names it ({"rank": 3, "reason": ...})."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if len(members) > 20:
            return None
        valued = [key for key in members if _VALUE_NAME.fullmatch(key.strip()[:_LONGEST_KEY])]
        return whole(members[valued[0]]) if len(valued) == 1 else None
    return whole(value)


def _complete(numbers: list[int | None], question: Question) -> tuple[int, ...] | None:
    whole = tuple(number for number in numbers if number is not None)
    return whole if len(whole) == len(numbers) == question.slots else None
