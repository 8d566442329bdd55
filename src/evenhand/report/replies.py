"""Prompts and replies for the page, small enough to be carried in it.

Prompts of an audit share most of their lines, so that a page holds each line once and a prompt as a list of lines. Of a
large run not every reply fits: those that were not answered come first, the rest evenly from every arm and respondent.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST_ROWS, MOST_BYTES = 5_000, 3_000_000
LONGEST = 20_000
"""Characters of a reply that the page holds; the command shows all."""


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
        rows: One a reply: model, arm, unit, groups, status, reply, reading, and the prompt as numbers of lines.
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
        most_bytes: What they may take as JSON, with the lines.
    """
    by_place: dict[tuple[str, str, bool], list[Shown]] = defaultdict(list)
    total = 0
    for shown in replies:
        total += 1
        by_place[shown.arm, shown.model, shown.status == "answered"].append(shown)
    numbers: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    size = 0
    for shown in _in_turn([by_place[key] for key in sorted(by_place, key=lambda key: (key[2], key))]):
        if len(rows) == most_rows:
            break
        fresh = [line for line in dict.fromkeys(shown.prompt.split("\n")) if line not in numbers]
        row = {
            "model": shown.model,
            "arm": shown.arm,
            "unit": shown.unit,
            "groups": list(shown.groups),
            "status": shown.status,
            "reply": shown.reply[:LONGEST],
            "cut": max(0, len(shown.reply) - LONGEST),
            "reading": shown.reading,
        }
        size += len(json.dumps(row)) + sum(len(json.dumps(line)) for line in fresh) + 6 * shown.prompt.count("\n")
        if size > most_bytes:
            break
        for line in fresh:
            numbers[line] = len(numbers)
        rows.append(row | {"prompt": [numbers[line] for line in shown.prompt.split("\n")]})
    return ReplyBook(list(numbers), rows, total)


def _in_turn(places: Sequence[list[Shown]]) -> Iterator[Shown]:
    """What was not answered, place after place; then one of every place in turn."""
    answered: list[Iterator[Shown]] = []
    for place in places:
        if place and place[0].status != "answered":
            yield from place
        elif place:
            answered.append(iter(place))
    while answered:
        left: list[Iterator[Shown]] = []
        for place in answered:
            shown = next(place, None)
            if shown is not None:
                left.append(place)
                yield shown
        answered = left
