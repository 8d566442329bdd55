"""What a grammar lets through is an answer: in its three spellings, for every format that has one."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.formats import FORMATS, Reply, is_bundle, read
from evenhand.formats.grammars import MOST, gbnf, regex, schema

QUESTIONS = [
    ("rate", {}),
    ("rate", {"scale": (0, 10)}),
    ("rate", {"scale": (1, 100)}),
    ("decide", {}),
    *(("rank", {"slots": slots}) for slots in (2, 3, 4, 5, 6)),
    *(("rank_ties", {"slots": slots}) for slots in (2, 3, 4)),
    ("allocate", {"slots": 3, "total": 9}),
    ("allocate", {"slots": 2, "total": 40}),
    *(("purpose_choice", {"options": options}) for options in (2, 5, 26)),
]
"""Questions whose languages are small enough to say whole."""

WITHOUT = {"tool_decide", "tool_rank", "purpose_open"}
DUMPS = ({}, {"separators": (",", ":")}, {"indent": 2})


@cache
def sentences(grammar: str) -> set[str]:
    """Every sentence of a GBNF grammar of the kind written here: names, literals, `[a-b]`, `{m,n}` and `|`."""
    rules = dict(line.split(" ::= ") for line in grammar.splitlines())

    def said(name: str) -> set[str]:
        return {
            "".join(parts)
            for choice in rules[name].split(" | ")
            for parts in product(*(tokens(token) for token in choice.split(" ")))
        }

    def tokens(token: str) -> set[str]:
        literal = re.fullmatch(r'"([^"\\]+)"', token)
        if literal:
            return {literal[1]}
        span = re.fullmatch(r"\[(.)-(.)\](?:\{(\d+),(\d+)\})?", token)
        if not span:
            return said(token)
        characters = [chr(code) for code in range(ord(span[1]), ord(span[2]) + 1)]
        lengths = range(int(span[3]), int(span[4]) + 1) if span[3] else [1]
        return {"".join(word) for length in lengths for word in product(characters, repeat=length)}

    return said("root")


def instances(shape: dict) -> list:
    """Every JSON value of a schema of the kind written here."""
    if shape["type"] == "object":
        assert shape["additionalProperties"] is False
        assert shape["required"] == list(shape["properties"])
        members = [instances(member) for member in shape["properties"].values()]
        return [dict(zip(shape["required"], values, strict=True)) for values in product(*members)]
    if "enum" in shape:
        return shape["enum"]
    return list(range(shape["minimum"], shape["maximum"] + 1))


def meant(format: str, said: str):
    """What a sentence says, told without the readers."""
    if is_bundle(format):
        return tuple(int(part) for part in said.split(","))
    return said if format == "purpose_choice" else int(said)


def spelled(format: str, instance: dict) -> str:
    """The sentence that says what a JSON object says."""
    return ",".join(str(value) for value in instance.values())


@pytest.mark.parametrize(("format", "asked"), QUESTIONS)
def test_every_sentence_is_read_as_the_answer_it_is(format, asked):
    said = sentences(gbnf(format, **asked))
    assert len(said) > 1
    for sentence in said:
        answer = read(format, Reply(text=sentence), **asked)
        value = meant(format, sentence)
        if format == "allocate" and sum(value) != asked["total"]:
            assert (answer.status, answer.coded) == ("malformed", None)
        else:
            assert (answer.status, answer.value, sentence) == ("answered", value, sentence)


@pytest.mark.parametrize(("format", "asked"), QUESTIONS)
def test_every_json_object_is_read_as_the_answer_it_is(format, asked):
    for instance in instances(schema(format, **asked)):
        value = meant(format, spelled(format, instance))
        for style in DUMPS:
            answer = read(format, Reply(text=json.dumps(instance, **style)), **asked)
            if format == "allocate" and sum(value) != asked["total"]:
                assert (answer.status, answer.coded) == ("malformed", None)
            else:
                assert (answer.status, answer.value, instance) == ("answered", value, instance)


@pytest.mark.parametrize(("format", "asked"), QUESTIONS)
def test_the_three_say_the_same(format, asked):
    said = sentences(gbnf(format, **asked))
    pattern = re.compile(regex(format, **asked))
    assert all(pattern.fullmatch(sentence) for sentence in said)
    told = {spelled(format, instance) for instance in instances(schema(format, **asked))}
    if format == "allocate":  # numbers of as many digits as the total has, and no more than it
        assert told == {sentence for sentence in said if max(meant(format, sentence)) <= asked["total"]}
    else:
        assert told == said


@given(data=st.data(), question=st.sampled_from(QUESTIONS))
def test_the_expression_says_nothing_else(data, question):
    format, asked = question
    sentence = data.draw(st.from_regex(regex(format, **asked), fullmatch=True, alphabet=st.characters(codec="ascii")))
    assert sentence in sentences(gbnf(format, **asked))


@given(data=st.data(), slots=st.integers(2, 12))
def test_ties_at_any_size(data, slots):
    sentence = data.draw(st.from_regex(regex("rank_ties", slots=slots), fullmatch=True))
    answer = read("rank_ties", Reply(text=sentence), slots=slots)
    assert (answer.status, answer.value) == ("answered", meant("rank_ties", sentence))


@given(data=st.data(), slots=st.integers(2, 12), total=st.integers(1, 2_000_000_000))
def test_an_allocation_that_sums_is_read_at_any_size(data, slots, total):
    cuts = sorted(data.draw(st.lists(st.integers(0, total), min_size=slots - 1, max_size=slots - 1)))
    amounts = [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]
    asked = {"slots": slots, "total": total}
    sentence = ",".join(map(str, amounts))
    shape = schema("allocate", **asked)
    fits = all(
        amount <= member["maximum"] for amount, member in zip(amounts, shape["properties"].values(), strict=True)
    )
    assert bool(re.fullmatch(regex("allocate", **asked), sentence)) == fits
    if fits:
        objects = json.dumps(dict(zip(shape["required"], amounts, strict=True)))
        for text in (sentence, objects):
            answer = read("allocate", Reply(text=text), **asked)
            assert (answer.status, answer.value) == ("answered", tuple(amounts))


@pytest.mark.parametrize("format", FORMATS)
def test_the_three_cover_the_same_formats(format):
    asked = {"slots": 4} if is_bundle(format) else {}
    made = [make(format, **asked) is None for make in (gbnf, regex, schema)]
    assert made == [format in WITHOUT] * 3


@pytest.mark.parametrize(("format", "asked"), [("rank", {"slots": 7}), ("rate", {"scale": (0, MOST)})])
def test_too_many_answers_to_spell_out_have_none(format, asked):
    assert [make(format, **asked) for make in (gbnf, regex, schema)] == [None] * 3


@pytest.mark.parametrize("make", [gbnf, regex, schema])
@pytest.mark.parametrize(
    ("format", "asked"),
    [("guess", {}), ("rank", {"slots": 1}), ("purpose_choice", {"options": 27}), ("rate", {"scale": (5, 1)})],
)
def test_wrong_use_is_refused_as_by_the_readers(make, format, asked):
    with pytest.raises(InputError):
        make(format, **asked)


@pytest.mark.parametrize(("format", "asked"), QUESTIONS)
def test_inspect_passes_the_schema_on_whole(format, asked):
    from inspect_ai.util import JSONSchema

    made = schema(format, **asked)
    assert JSONSchema.model_validate(made).model_dump(exclude_none=True) == made
