"""Tables: Markdown rows, or lines of comma- or tab-separated values under a header that names the columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.formats.members import list_of

if TYPE_CHECKING:
    from evenhand.formats.bundles import Kind
    from evenhand.formats.types import Question

_RULE = re.compile(r"[\s|:=+-]+")
_ITEM_HEADER = re.compile(
    r"\W*(?:request|application|applicant|candidate|claimant|person|patient|profile|option|item|case|file|appeal|#|no\.?|id|index|number|label)s?"
    r"(?:\s(?:id|number|no\.?|#|label))?\W*|#",
    re.IGNORECASE,
)
_VALUE_HEADER = re.compile(
    r"(?:\w+\s){0,2}(?:rank(?:ing)?|priority(?: rank)?|amount|allocation|allocated|dollars?|usd|share|award|grant"
    r"|funds|funding)"
    r"(?:\s?\([^)]{0,30}\)|\s\w+)?",
    re.IGNORECASE,
)
_ITEM_CELL = re.compile(r"[a-z\s_#]{0,30}?(\d{1,2})\s*(?:[-:(][^\d]*)?", re.IGNORECASE)
_TOTAL_CELL = re.compile(r"\W*(?:total|sum)\W*", re.IGNORECASE)


def read_tables(text: str, question: Question, kind: Kind) -> tuple[list[tuple[int, ...]], str, str]:
    """Take the tables out of a text.

    Returns:
        The answers found; the text without tables; what is wrong, or empty.
    """
    lines = text.split("\n")
    if len(lines) < 2:
        return [], text, ""
    found: list[tuple[int, ...]] = []
    rest: list[str] = []
    place = 0
    while place < len(lines):
        rows, end = _table(lines, place)
        if len(rows) < 2:
            rest.append(lines[place])
            place += 1
            continue
        answer = _across(rows, question, kind) or _down(rows, question, kind)
        if isinstance(answer, str):
            return [], text, answer
        if answer:
            found.append(answer)
        else:
            rest += lines[place:end]
        place = end
    return found, "\n".join(rest), ""


def _table(lines: list[str], start: int) -> tuple[list[list[str]], int]:
    """The rows of the table that starts at a line: cells without rules, and the line after it."""
    first = lines[start]
    mark = "|" if "|" in first else "," if "," in first and _is_header(first) else ""
    if not mark:
        return [], start + 1
    rows: list[list[str]] = []
    place = start
    while place < len(lines) and mark in lines[place]:
        line = lines[place]
        if mark != "|" or not _RULE.fullmatch(line):
            rows.append([cell.strip() for cell in line.strip().strip(mark).split(mark)])
        place += 1
    return rows, place


def _is_header(line: str) -> bool:
    cells = [cell.strip() for cell in line.split(",")]
    return any(_ITEM_HEADER.fullmatch(cell) for cell in cells) and any(_VALUE_HEADER.fullmatch(cell) for cell in cells)


def _down(rows: list[list[str]], question: Question, kind: Kind) -> tuple[int, ...] | str | None:
    """A table with a column of items and one of values, told apart by its header alone."""
    header = rows[0]
    valued = [place for place, cell in enumerate(header) if _VALUE_HEADER.fullmatch(cell)]
    named = [place for place, cell in enumerate(header) if _ITEM_HEADER.fullmatch(cell)]
    if len(valued) != 1 or not named:
        return None
    item_column, value_column = named[0], valued[0]
    values: dict[int, int | None] = {}
    for row in rows[1:]:
        if len(row) != len(header):
            return "a table with ragged rows"
        if _TOTAL_CELL.fullmatch(row[item_column]) or _TOTAL_CELL.fullmatch(row[0]):
            continue
        match = _ITEM_CELL.fullmatch(row[item_column])
        item = int(match.group(1)) if match else 0
        if not item or item in values:
            return "a table whose rows cannot be told apart"
        values[item] = kind.number(row[value_column])
    return list_of(values, question.slots) or "a table that is not an answer"


def _across(rows: list[list[str]], question: Question, kind: Kind) -> tuple[int, ...] | None:
    """A table with one column an item and one row of values."""
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):
        return None
    values: dict[int, int | None] = {}
    for head, cell in zip(*rows, strict=True):
        match = _ITEM_CELL.fullmatch(head)
        if match and re.search(r"[a-z]", head, re.IGNORECASE):
            values[int(match.group(1))] = kind.number(cell)
    return list_of(values, question.slots)
