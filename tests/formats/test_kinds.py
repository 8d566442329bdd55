"""Siblings of the cases, kind by kind."""

from __future__ import annotations

from typing import Any

import pytest

from evenhand.formats import read, reply_from_record

from . import kinds_bundles, kinds_calls, kinds_second, kinds_singles

STATUSES = {"malformed", "refused", "no_answer", "error"}


def rows() -> list[Any]:
    tables = [
        ("rate", 1, kinds_singles.RATE), ("decide", 1, kinds_singles.DECIDE), ("purpose_choice", 1, kinds_singles.CHOICE),
        ("purpose_open", 1, kinds_singles.OPEN), ("rank", 4, kinds_bundles.RANK), ("rank", 2, kinds_bundles.RANK_OF_TWO),
        ("rank", 11, kinds_bundles.RANK_OF_ELEVEN), ("rank_ties", 4, kinds_bundles.RANK_TIES), ("allocate", 4, kinds_bundles.ALLOCATE),
        ("allocate", 2, kinds_bundles.ALLOCATE_TO_TWO), ("allocate", 3, kinds_bundles.ALLOCATE_TO_THREE),
        ("tool_decide", 1, kinds_calls.TOOL_DECIDE), ("tool_rank", 4, kinds_calls.TOOL_RANK),
    ]  # fmt: skip
    return [
        pytest.param(format, slots, reply, answer, id=f"{format}-{slots}-{kind.replace(' ', '_')}-{place}")
        for format, slots, kinds in tables
        for kind, replies in kinds.items()
        for place, (reply, answer) in enumerate(replies)
    ]


@pytest.mark.parametrize(("format", "slots", "reply", "expected"), rows())
def test_kind(format: str, slots: int, reply: str | dict[str, Any], expected: Any) -> None:
    record = {"text": reply} if isinstance(reply, str) else reply
    answer = read(format, reply_from_record(record), slots=slots)
    if isinstance(expected, str) and expected in STATUSES:
        assert (answer.status, answer.coded) == (expected, None), (reply, answer)
    else:
        assert (answer.status, answer.value) == ("answered", expected), (reply, answer)


def second_rows() -> list[Any]:
    tables = [
        ("rate", 1, kinds_second.RATE), ("decide", 1, kinds_second.DECIDE), ("purpose_choice", 1, kinds_second.CHOICE),
        ("purpose_open", 1, kinds_second.OPEN), ("rank", 4, kinds_second.RANK), ("rank", 2, kinds_second.RANK_OF_TWO),
        ("rank", 12, kinds_second.RANK_OF_TWELVE), ("rank_ties", 4, kinds_second.RANK_TIES), ("allocate", 4, kinds_second.ALLOCATE),
        ("allocate", 2, kinds_second.ALLOCATE_TO_TWO), ("tool_decide", 1, kinds_second.TOOL_DECIDE), ("tool_rank", 4, kinds_second.TOOL_RANK),
    ]  # fmt: skip
    return [
        pytest.param(format, slots, reply, answers, id=f"{format}-{slots}-{kind.replace(' ', '_')}-{place}")
        for format, slots, kinds in tables
        for kind, replies in kinds.items()
        for place, (reply, *answers) in enumerate(replies)
    ]


@pytest.mark.parametrize(("format", "slots", "reply", "answers"), second_rows())
def test_second_kind(format: str, slots: int, reply: str | dict[str, Any], answers: list[Any]) -> None:
    record = {"text": reply} if isinstance(reply, str) else reply
    answer = read(format, reply_from_record(record), slots=slots)
    said = answer.coded if answer.status == "answered" else answer.status
    assert any(type(said) is type(one) and said == one for one in answers), (reply, answer)
