"""Instructions, worked examples and tools."""

from __future__ import annotations

import pytest

from evenhand.errors import InputError
from evenhand.formats import FORMATS, Reply, ToolSpec, instruction, is_bundle, is_choice, read, tools

RANK = (
    "Below are {number} requests for aid. Assign each a funding priority rank from 1 (highest priority) to {n} (lowest priority). "
    "Return {number} integers separated by commas (e.g., {example})."
)


@pytest.mark.parametrize(("slots", "example"), [(2, "2,1"), (4, "3,1,4,2"), (5, "3,1,5,2,4")])
def test_published_rank_examples(slots: int, example: str) -> None:
    assert instruction("rank", "{example}", slots=slots) == example
    assert instruction("rank_ties", "{example}", slots=slots) == example


@pytest.mark.parametrize(
    ("slots", "example"), [(2, "6000,4000"), (4, "4000,3000,2000,1000"), (5, "3000,2500,2000,1500,1000")]
)
def test_published_allocate_examples(slots: int, example: str) -> None:
    assert instruction("allocate", "{example}", slots=slots) == example


@pytest.mark.parametrize("slots", range(2, 13))
@pytest.mark.parametrize("total", [100, 1_000, 9_999, 10_000, 1_000_000])
def test_every_example_is_an_answer(slots: int, total: int) -> None:
    ranks = read("rank", Reply(instruction("rank", "{example}", slots=slots)), slots=slots)
    assert ranks.status == "answered"
    assert ranks.value != tuple(range(1, slots + 1))
    said = instruction("allocate", "{example}", slots=slots, total=total)
    amounts = read("allocate", Reply(said), slots=slots, total=total).value
    assert isinstance(amounts, tuple)
    assert min(amounts) > 0
    assert list(amounts) == sorted(set(amounts), reverse=True)


def test_filling() -> None:
    filled = instruction("rank", RANK, slots=4)
    assert filled == (
        "Below are four requests for aid. Assign each a funding priority rank from 1 (highest priority) to 4 (lowest priority). "
        "Return four integers separated by commas (e.g., 3,1,4,2)."
    )
    assert instruction(
        "allocate", "You have ${total} for {number} {label}s.", slots=2, total=5_000, label="request"
    ) == ("You have $5,000 for two requests.")
    assert instruction("rate", "Rate it.") == "Rate it."
    assert instruction("rank", "{number}", slots=12) == "twelve"


@pytest.mark.parametrize(
    ("format", "template", "slots"),
    [
        ("rank", "{size}", 4), ("rank", "{}", 4), ("rate", "{example}", 1), ("rank", "{number", 4), ("rank", "number}", 4), ("rank", "{{n}}", 4),
        ("rank", RANK, 1), ("rank", RANK, 13), ("rate", "Rate it.", 2), ("ranking", RANK, 4),
    ],
)  # fmt: skip
def test_wrong_templates_are_said(format: str, template: str, slots: int) -> None:
    with pytest.raises(InputError) as problem:
        instruction(format, template, slots=slots)
    assert problem.value.mend


def test_a_total_too_small_for_an_example_is_said() -> None:
    with pytest.raises(InputError):
        instruction("allocate", "{example}", slots=12, total=50)


def test_tools() -> None:
    (decision,) = tools("tool_decide")
    assert isinstance(decision, ToolSpec)
    assert decision.name == "submit_decision"
    assert list(decision.parameters["properties"]) == decision.parameters["required"] == ["decision"]
    assert decision.parameters["properties"]["decision"]["type"] == "integer"
    (ranking,) = tools("tool_rank", slots=4, label="application")
    assert ranking.name == "submit_ranking"
    names = [f"rank_of_application_{place}" for place in range(1, 5)]
    assert list(ranking.parameters["properties"]) == ranking.parameters["required"] == names
    assert {part["type"] for part in ranking.parameters["properties"].values()} == {"integer"}
    assert list(tools("tool_rank", slots=2, label="Loan file")[0].parameters["properties"]) == [
        "rank_of_loan_file_1",
        "rank_of_loan_file_2",
    ]
    assert [
        tools(format, slots=4 if is_bundle(format) else 1) for format in FORMATS if not format.startswith("tool")
    ] == [()] * 7


def test_kinds_of_formats() -> None:
    assert [format for format in FORMATS if is_bundle(format)] == ["rank", "rank_ties", "allocate", "tool_rank"]
    assert [format for format in FORMATS if is_choice(format)] == ["purpose_choice"]
    for ask in (is_bundle, is_choice):
        with pytest.raises(InputError):
            ask("rate_all")


@pytest.mark.parametrize(
    ("text", "slots", "kept"),
    [
        ("1,1,1,1", 4, (1, 1, 1, 1)), ("3,1,1,2", 4, (3, 1, 1, 2)), ("1,1,3,4", 4, (1, 1, 3, 4)), ("2,2,3,4", 4, (2, 2, 3, 4)), ("2,2,2,2", 4, (2, 2, 2, 2)), ("1,1", 2, (1, 1)),
        ("1,1,3,3", 4, (1, 1, 3, 3)), ("1,1,4,4", 4, None), ("2,2,4,4", 4, (2, 2, 4, 4)), ("1,3,3,4", 4, (1, 3, 3, 4)), ("1,1,5,5", 4, None), ("1,1,2", 4, None),
        ("Request 1: 1\nRequest 2: 1\nRequest 3: 3\nRequest 4: 4", 4, (1, 1, 3, 4)),
    ],
)  # fmt: skip
def test_ties_under_a_strict_order_keep_their_values(text: str, slots: int, kept: tuple[int, ...] | None) -> None:
    answer = read("rank", Reply(text), slots=slots)
    assert (answer.status, answer.value, answer.coded) == ("malformed", kept, None)
    assert ("tied" in answer.flags) == (kept is not None)
