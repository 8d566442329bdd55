"""What holds for every reply: readers never raise, are deterministic, and take time linear in its length."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.formats import FORMATS, Answer, Reply, ToolCall, is_bundle, read, reply_from_record

STATUSES = {"answered", "refused", "malformed", "no_answer", "error"}
MILLION = 1_000_000

characters = st.characters(exclude_categories=())  # lone surrogates too
fragments = st.sampled_from(
    [
        "1",
        "0",
        "4",
        "3,1,4,2",
        "4000,3000,2000,1000",
        "½",
        "²",
        "４",
        "،",
        "、",
        "<think>",
        "</think>",
        "<|channel|>final<|message|>",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "```",
        "**",
        "~~",
        "$",
        "\\boxed{",
        "rating:",
        "decision",
        "answer",
        "is",
        "I",
        "cannot",
        "rate",
        "Request",
        "1",
        ":",
        "-",
        "=",
        ">",
        "→",
        "or",
        "not",
        "/",
        "%",
        ",",
        ";",
        ".",
        "\n",
        "\t",
        "|",
        "A",
        "B",
        "(c)",
        "submit_decision",
        '{"rating":4}',
        '{"name":"submit_decision","arguments":{"decision":1}}',
        "<parameter=decision>",
        "total",
        "each",
        "k",
        "st",
        "four",
    ]
)
texts = st.one_of(
    st.text(characters), st.lists(st.one_of(fragments, st.text(characters, max_size=5)), max_size=30).map("".join),
    st.lists(fragments, max_size=30).map(" ".join),
)  # fmt: skip
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts)
names = st.one_of(
    texts, st.sampled_from(["decision", "ranks", "rank_1", "rank_of_application_1", "type", "text", "refusal"])
)
values = st.recursive(scalars, lambda inner: st.one_of(st.lists(inner), st.dictionaries(names, inner)), max_leaves=12)
functions = st.one_of(texts, st.sampled_from(["submit_decision", "submit_ranking", "submit_ranking<|x|>"]))
calls = st.builds(ToolCall, functions, values, st.one_of(st.none(), texts))
stops = st.one_of(
    texts, st.sampled_from(["stop", "max_tokens", "model_length", "tool_calls", "content_filter", "unknown"])
)
replies = st.builds(
    Reply,
    text=texts, stop_reason=stops, content=st.lists(st.dictionaries(names, values)).map(tuple), reasoning=texts,
    tool_calls=st.lists(calls, max_size=4).map(tuple), error=st.one_of(st.none(), texts), stop_details=values,
    metadata=st.dictionaries(names, values),
)  # fmt: skip
odd_replies = st.builds(
    Reply, text=values, stop_reason=values, content=values, reasoning=values, tool_calls=values, error=values,
    stop_details=values, metadata=values,
)  # fmt: skip


def slots_of(format: str) -> int:
    return 4 if is_bundle(format) else 1


def check(format: str, reply: Reply) -> Answer:
    slots = slots_of(format)
    answer = read(format, reply, slots=slots)
    assert answer == read(format, reply, slots=slots)
    assert answer.status in STATUSES
    assert (answer.coded is not None) == (answer.status == "answered")
    assert bool(answer.reason) == (answer.status != "answered")
    assert list(answer.flags) == sorted(set(answer.flags))
    if answer.status == "answered":
        check_value(format, answer.value)
    else:
        assert answer.value is None or (format == "rank" and "tied" in answer.flags)
    return answer


def check_value(format: str, value: Any) -> None:
    if format == "rate":
        assert value in range(1, 6)
    elif format in {"decide", "tool_decide"}:
        assert value in {0, 1}
        assert type(value) is int
    elif format == "purpose_choice":
        assert value in set("ABCDE")
    elif format == "purpose_open":
        assert value.strip() == value != ""
    elif format == "allocate":
        assert sum(value) == 10_000
        assert min(value) >= 0
        assert len(value) == 4
    else:
        assert len(value) == 4
        assert set(value) <= {1, 2, 3, 4}
        assert format != "rank" or len(set(value)) == 4


@given(text=texts)
@settings(max_examples=400, deadline=None)
def test_any_text(text: str) -> None:
    for format in FORMATS:
        check(format, Reply(text))


@given(reply=replies)
@settings(max_examples=100, deadline=None)
def test_any_reply(reply: Reply) -> None:
    for format in FORMATS:
        check(format, reply)


@given(reply=odd_replies)
@settings(max_examples=100, deadline=None)
def test_wrong_types(reply: Reply) -> None:
    for format in FORMATS:
        check(format, reply)


@given(
    record=st.one_of(
        values,
        st.dictionaries(st.sampled_from(["text", "content", "tool_calls", "error", "metadata", "stop_reason"]), values),
    )
)
@settings(max_examples=100, deadline=None)
def test_any_record(record: Any) -> None:
    check("tool_decide", reply_from_record(record))


@given(ranks=st.permutations([1, 2, 3, 4]))
def test_plain_and_labelled_ranks_agree(ranks: list[int]) -> None:
    expected = ("answered", tuple(ranks))
    said = [
        ",".join(map(str, ranks)), " ".join(map(str, ranks)), str(ranks), "\n".join(map(str, ranks)),
        "\n".join(f"{place}. {value}" for place, value in enumerate(ranks, 1)),
        "; ".join(f"Request {place}: {value}" for place, value in reversed(list(enumerate(ranks, 1)))),
        "\n".join(f"Rank {value}: Request {place}" for value, place in sorted(zip(ranks, range(1, 5), strict=True))),
    ]  # fmt: skip
    for text in said:
        answer = read("rank", Reply(text), slots=4)
        assert (answer.status, answer.value) == expected, text


@given(shares=st.lists(st.integers(0, 3_333), min_size=3, max_size=3))
def test_amounts_read_alike_with_and_without_separators(shares: list[int]) -> None:
    amounts = (*shares, 10_000 - sum(shares))
    for text in (
        ",".join(map(str, amounts)),
        ", ".join(f"${value:,}" for value in amounts),
        "\n".join(f"{value:,}" for value in amounts),
    ):
        answer = read("allocate", Reply(text), slots=4)
        assert (answer.status, answer.value) == ("answered", amounts), text


@given(text=texts, total=st.integers(1, 20_000))
@settings(max_examples=150, deadline=None)
def test_other_questions(text: str, total: int) -> None:
    allocated = read("allocate", Reply(text), slots=2, total=total)
    assert allocated.status != "answered" or sum(allocated.value) == total  # type: ignore[arg-type]
    chosen = read("purpose_choice", Reply(text), options=3)
    assert chosen.status != "answered" or chosen.value in {"A", "B", "C"}
    rated = read("rate", Reply(text), scale=(0, 10))
    assert rated.status != "answered" or rated.value in range(11)


HOSTILE = (
    "a", "1", "1,", "1 ", "<", "<think>", "</think>", "[", "{", "[[", '{"a":', '{"a":1}', "(", "\\boxed{", "$", "*", "_", "`", "```", "~~",
    "\n", "- 1\n", "1. 1\n", "Request 1: 1\n", "Request 1, ", "Request 1 is ", "Rank 1: Request 1\n", "| 1 | 2 |\n", "|", "| Request | Rank |\n",
    "give ", "I cannot ", "as an ai ", "not ", "rating: ", "1 to ", "1 (", "1 = a, 0 ", "1 out of ", "4,000,", "1,000 ", "1 and ", "９", "，", "１，",
    "½", "\u200b", "\ud800", "<a>1</a>", "<|channel|>final<|message|>", "analysis", "submit_decision(", "<tool_call>", "<parameter=decision>1",
    '{"name": "submit_decision", "arguments": {', "answer is A ", "A or ", "option ", "best to ", "four ", "1=", "1 > ", "-1 ", "\\text{", "total: 1",
)  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
def test_a_million_hostile_characters(format: str) -> None:
    worst = (0.0, "")
    for piece in HOSTILE:
        reply = Reply((piece * (MILLION // len(piece) + 1))[:MILLION])
        worst = max(worst, (seconds(format, reply), piece))
    assert worst[0] < 0.1, worst


@pytest.mark.parametrize("format", ["tool_decide", "tool_rank"])
@pytest.mark.parametrize("piece", ["1,", "[", '{"a":', " ", "a"])
def test_hostile_arguments(format: str, piece: str) -> None:
    text = piece * (MILLION // len(piece))
    function = "submit_decision" if format == "tool_decide" else "submit_ranking"
    for arguments in (
        text,
        {"decision": text},
        {"ranks": text},
        {text: 1},
        [text],
        {"ranks": [1] * MILLION},
        dict.fromkeys(map(str, range(200_000)), 1),
    ):
        assert seconds(format, Reply(tool_calls=(ToolCall(function, arguments),))) < 0.1


def test_many_blocks_and_calls() -> None:
    block = {"type": "text", "text": "1"}
    assert seconds("rate", Reply(content=(block,) * 200_000)) < 0.1
    assert seconds("tool_decide", Reply(tool_calls=(ToolCall("submit_decision", {"decision": 1}),) * 200_000)) < 0.1


def seconds(format: str, reply: Reply) -> float:
    """The better of two readings, in CPU time, so that a busy machine does not fail the test."""
    taken: list[float] = []
    for _ in range(2):
        start = time.process_time()
        read(format, reply, slots=slots_of(format))
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The need is plain. " * 400 + "\n\nRating: 4", 4), ("4\n\n" + "The need is plain. " * 400, 4), ("<think>" + "maybe 3, " * 60_000 + "</think>4", 4),
        ("word " * 100_000 + "\nRating: 4", 4), ("word " * 100_000 + "\nFinal answer: **4**", 4), ("Rating: 3\n" + "word " * 100_000 + "\nRating: 4", None),
        ("word " * 100_000 + "4 " + "word " * 100_000, None), ("4" * MILLION, None),
    ],
)  # fmt: skip
def test_a_long_reply_is_read_at_its_ends(text: str, expected: int | None) -> None:
    assert read("rate", Reply(text)).coded == expected


@pytest.mark.parametrize(
    ("format", "question"),
    [
        ("rating", {}), ("rate", {"slots": 2}), ("rate", {"slots": 0}), ("rank", {"slots": 1}), ("rank", {"slots": 13}), ("allocate", {"slots": 4, "total": 0}),
        ("purpose_choice", {"options": 1}), ("purpose_choice", {"options": 27}), ("rate", {"scale": (5, 1)}), ("tool_rank", {}), ("", {}),
    ],
)  # fmt: skip
def test_wrong_use_is_said(format: str, question: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read(format, Reply("4"), **question)
