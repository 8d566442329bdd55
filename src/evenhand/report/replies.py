"""Prompts and replies for the page, small enough to be carried in it.

Prompts of an audit share most of their lines, so that a page holds each line once and a prompt as a list of lines. Of a
large run not every reply fits: those that were not answered come first and take three quarters of the room at most, and
both kinds come evenly from every arm and respondent.
"""

from __future__ import annotations

from collections import ChainMap, defaultdict
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from evenhand.report.embedding import embedded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_ROWS, MOST_BYTES = 5_000, 3_000_000
LONGEST = 20_000
"""Characters of a reply that the page holds; the command shows all."""
_MOST_UNANSWERED = 0.75
_SMALLEST = 200
"""Bytes that any reply takes."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A request and what came of it.

    Attributes:
        model: The respondent.
        arm: The arm.
        unit: The unit's id.
        groups: Race and gender of its slots, in order.
        status: answered, refused, malformed, no_answer, error.
        prompt: What was asked.
        reply: The raw reply; empty where there was none.
        reading: How it was read, in words.
    """

    model: str
    arm: str
    unit: str
    groups: tuple[str, ...]
    status: str
    prompt: str
    reply: str
    reading: str


@dataclass(frozen=True, slots=True)
class ReplyBook:
    """The replies that a page holds.

    Attributes:
        lines: Every line of a prompt, once.
        rows: One a reply: model, arm, unit, groups, status, reply, how many of its characters were cut, reading, and
            the prompt as numbers of lines.
        total: How many replies the run has.
    """

    lines: list[str]
    rows: list[dict[str, Any]]
    total: int


def collect_replies(replies: Iterable[Shown], *, most_rows: int = MOST_ROWS, most_bytes: int = MOST_BYTES) -> ReplyBook:
    """Choose replies and lay their prompts out in lines.

    Args:
        replies: All of a run.
        most_rows: Rows of the page.
        most_bytes: What they may take in the page, with the lines.
    """
    places: dict[tuple[bool, str, str], list[Shown]] = defaultdict(list)
    total = 0
    for shown in replies:
        total += 1
        places[shown.status == "answered", shown.arm, shown.model].append(shown)
    answered, others = (
        list(_in_turn([places[key] for key in sorted(places) if key[0] == kind])) for kind in (True, False)
    )
    shelf = _Shelf(most_rows, most_bytes)
    # What was not answered comes first, and leaves room for what was.
    shelf.fill(others, _MOST_UNANSWERED)
    shelf.fill(answered, 1.0)
    shelf.fill([shown for shown in others if shown not in shelf], 1.0)
    return ReplyBook(list(shelf.numbers), shelf.rows, total)


class _Shelf:
    """Replies as a page holds them, as long as there is room."""

    def __init__(self, most_rows: int, most_bytes: int) -> None:
        """Nothing is on it yet."""
        self.rows: list[dict[str, Any]] = []
        self.numbers: dict[str, int] = {}
        self._most_rows, self._most_bytes = most_rows, most_bytes
        self._bytes = 0
        self._held: set[int] = set()

    def __contains__(self, shown: Shown) -> bool:
        """Whether this very reply is on it."""
        return id(shown) in self._held

    def fill(self, replies: Iterable[Shown], share: float) -> None:
        """Take replies until a share of the rows or of the bytes is used; one that is too large is passed by."""
        rows, most = int(self._most_rows * share), self._most_bytes * share
        for shown in replies:
            if len(self.rows) >= rows or self._bytes + _SMALLEST > most:
                return
            self._take(shown, most)

    def _take(self, shown: Shown, most: float) -> None:
        lines = shown.prompt.split("\n")
        fresh: dict[str, int] = {}
        for line in lines:
            if line not in self.numbers:
                fresh.setdefault(line, len(self.numbers) + len(fresh))
        numbers = ChainMap(self.numbers, fresh)
        row = {
            "model": shown.model,
            "arm": shown.arm,
            "unit": shown.unit,
            "groups": list(shown.groups),
            "status": shown.status,
            "reply": shown.reply[:LONGEST],
            "cut": max(0, len(shown.reply) - LONGEST),
            "reading": shown.reading,
            "prompt": [numbers[line] for line in lines],
        }
        size = _size(row) + sum(map(_size, fresh))
        if self._bytes + size > most:
            return
        self._bytes += size
        self._held.add(id(shown))
        self.numbers |= fresh
        self.rows.append(row)


def _size(content: object) -> int:
    """What it takes in the page, with a comma."""
    return len(embedded(content).encode("utf-8", "backslashreplace")) + 1


def _in_turn(places: Sequence[list[Shown]]) -> Iterator[Shown]:
    """One reply of every place, then the next of each."""
    for turn in zip_longest(*places):
        yield from (shown for shown in turn if shown is not None)
