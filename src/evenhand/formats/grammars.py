"""Grammars of answers: what a model may say at all, for servers that can hold it to a form.

Three spellings of one language: GBNF (llama.cpp), a regular expression (vLLM's guided decoding) and a JSON schema
(structured output). Whatever they allow, the reader of the format reads as answered. Two things they cannot do: they
cannot make the amounts of an allocation sum to the total, and a model that is held to one can no longer refuse.
Functions have schemas of their own (`formats.tools`), and free text has no form.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

from evenhand.formats import OPTIONS, read
from evenhand.formats.types import Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 720
"""Answers that are spelled out one by one: the rankings of six applications; larger bundles have no grammar."""

_LONGEST_AMOUNT = 9
"""Digits of an amount that the reader still takes."""


def gbnf(
    format: str,
    *,
    slots: int = 1,
    options: int = OPTIONS,
    total: int = 10_000,
    label: str = "application",
    scale: tuple[int, int] = (1, 5),
) -> str | None:
    """A grammar for llama.cpp, or None where the format has none at this size.

    The amounts of an allocation may miss their sum: a grammar cannot add.

    Args:
        format: One of `FORMATS`.
        slots: How many applications are shown.
        options: How many options a choice offers.
        total: What an allocation must sum to.
        label: What the pack calls an application.
        scale: The lowest and highest rating.

    Raises:
        InputError: Wrong use, as of `formats.read`.
    """
    form = _form(format, slots, options, total, label, scale)
    if form is None:
        return None
    part = " | ".join(f'"{word}"' for word in form.words)
    if form.digits:
        part = f'"0" | [1-9] [0-9]{{0,{form.digits - 1}}}'
    parts = ' "," '.join(["part"] * form.parts)
    return f"root ::= {parts}\npart ::= {part}\n"


def regex(
    format: str,
    *,
    slots: int = 1,
    options: int = OPTIONS,
    total: int = 10_000,
    label: str = "application",
    scale: tuple[int, int] = (1, 5),
) -> str | None:
    """A regular expression of the whole answer, in place of `gbnf` and with its arguments.

    Raises:
        InputError: Wrong use, as of `formats.read`.
    """
    form = _form(format, slots, options, total, label, scale)
    if form is None:
        return None
    part = "|".join(form.words)
    if form.digits:
        part = f"0|[1-9][0-9]{{0,{form.digits - 1}}}"
    return ",".join([f"({part})"] * form.parts)


def schema(
    format: str,
    *,
    slots: int = 1,
    options: int = OPTIONS,
    total: int = 10_000,
    label: str = "application",
    scale: tuple[int, int] = (1, 5),
) -> dict[str, Any] | None:
    """A JSON schema of an object that holds the answer, with the arguments of `gbnf`.

    It keeps to what strict structured output knows and Inspect passes on: no lengths of lists, no `uniqueItems`.
    Hence one member an application where each is free, and one string where the whole ranking is chosen.

    Raises:
        InputError: Wrong use, as of `formats.read`.
    """
    form = _form(format, slots, options, total, label, scale)
    if form is None:
        return None
    return {
        "type": "object",
        "properties": dict.fromkeys(form.names, form.member),
        "required": list(form.names),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class _Form:
    """One language of answers.

    Attributes:
        names: The members of its JSON object.
        member: The schema of each.
        words: What a part may be.
        digits: How long an amount may be, where parts are amounts and not words.
        parts: How many parts there are, with commas between them.
    """

    names: tuple[str, ...]
    member: dict[str, Any]
    words: tuple[str, ...] = ()
    digits: int = 0
    parts: int = 1


def _form(format: str, slots: int, options: int, total: int, label: str, scale: tuple[int, int]) -> _Form | None:
    read(format, Reply(), slots=slots, options=options, total=total, label=label, scale=scale)  # refuses wrong use
    make = _FORMS.get(format)
    return make(Question(slots, options, total, label, scale)) if make else None


def _numbers(name: str, legal: range) -> _Form | None:
    if len(legal) > MOST:
        return None
    return _Form((name,), {"type": "integer", "enum": list(legal)}, tuple(map(str, legal)))


def _ratings(question: Question) -> _Form | None:
    low, high = question.scale
    return _numbers("rating", range(low, high + 1))


def _decisions(question: Question) -> _Form | None:  # noqa: ARG001 (one signature for all)
    return _numbers("decision", range(2))


def _rankings(question: Question) -> _Form | None:
    orders = permutations(map(str, range(1, question.slots + 1)))
    words = tuple(",".join(order) for _, order in zip(range(MOST + 1), orders, strict=False))
    if len(words) > MOST:
        return None
    return _Form(("ranks",), {"type": "string", "enum": list(words)}, words)


def _tied_rankings(question: Question) -> _Form:
    ranks = range(1, question.slots + 1)
    names = tuple(f"rank_of_item_{place}" for place in ranks)
    return _Form(names, {"type": "integer", "enum": list(ranks)}, tuple(map(str, ranks)), parts=question.slots)


def _amounts(question: Question) -> _Form:
    digits = min(len(str(question.total)), _LONGEST_AMOUNT)
    most = min(question.total, 10**_LONGEST_AMOUNT - 1)
    names = tuple(f"amount_for_item_{place}" for place in range(1, question.slots + 1))
    return _Form(names, {"type": "integer", "minimum": 0, "maximum": most}, digits=digits, parts=question.slots)


def _letters(question: Question) -> _Form:
    letters = tuple(ascii_uppercase[: question.options])
    return _Form(("answer",), {"type": "string", "enum": list(letters)}, letters)


_FORMS: dict[str, Callable[[Question], _Form | None]] = {
    "rate": _ratings,
    "decide": _decisions,
    "rank": _rankings,
    "rank_ties": _tied_rankings,
    "allocate": _amounts,
    "purpose_choice": _letters,
}
