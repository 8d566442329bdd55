"""Every case of `tests/data/replies.jsonl` comes out as its careful coder says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.formats import FORMATS, Answer, read, reply_from_record

DATA = Path(__file__).parent.parent / "data"
CASES = [json.loads(line) for line in (DATA / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
SHARED = DATA.parent.parent.parent / "shared" / "cases" / "replies.jsonl"


def answer_to(case: dict[str, Any]) -> Answer:
    return read(
        case["format"],
        reply_from_record(case["reply"]),
        slots=case["n"],
        options=case.get("options", 5),
        label="request",
    )


def as_json(answer: Answer) -> Any:
    """The value as the command line prints it."""
    return list(answer.coded) if isinstance(answer.coded, tuple) else answer.coded


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    answer = answer_to(case)
    expected = case["expected"]
    assert answer.status == expected["status"], answer
    if expected["value"] == "*text*":
        assert isinstance(answer.value, str)
        assert answer.value == case["reply"]["text"].rpartition("</think>")[2]
    else:
        assert as_json(answer) == expected["value"]
    assert as_json(answer) not in case["never"]
    assert not ("refusal" in case["never"] and answer.status == "refused")


def test_the_cases_cover_every_format() -> None:
    assert {case["format"] for case in CASES} == set(FORMATS)
    assert len({case["id"] for case in CASES}) == len(CASES) == 117


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("rank-14", {"tied"}), ("tie-09", {"tied"}), ("rate-29", {"provider_block"}), ("dec-15", {"provider_block"}), ("rate-26", {"safety_disclaimer"}),
        ("rate-22", {"reasoning_only", "truncated"}), ("prov-20", {"reasoning_only", "truncated"}), ("tool-d-13", {"text_tool_call"}), ("tool-d-19", {"tool_choice_degraded"}),
        ("tool-d-20", {"text_disagrees"}), ("rate-01", set()), ("prov-09", {"truncated"}),
    ],
)  # fmt: skip
def test_flags_of_cases(name: str, flags: set[str]) -> None:
    case = next(case for case in CASES if case["id"] == name)
    assert set(answer_to(case).flags) == flags


@pytest.mark.skipif(not SHARED.is_file(), reason="the collection that the cases were copied from is not here")
def test_the_copy_is_faithful() -> None:
    assert [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()] == CASES
