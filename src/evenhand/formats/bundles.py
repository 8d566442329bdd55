"""Reading a reply that should be one number for each of several applications: what rank and allocate share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from evenhand.formats.embedded import extract
from evenhand.formats.labelled import is_ordering, mentions, read_labels
from evenhand.formats.listing import Run, at_lines, is_example, runs
from evenhand.formats.markup import undress
from evenhand.formats.members import list_of, value_from
from evenhand.formats.numerals import WORD_LIST, digits_for_words, holds, is_wordy
from evenhand.formats.refusals import has_disclaimer, is_refusal
from evenhand.formats.screening import Screened, screen
from evenhand.formats.singles import settle_unread
from evenhand.formats.tables import read_tables
from evenhand.formats.types import Answer, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = re.compile(r"(?:0|[1-9]\d{0,8})(?:, ?(?:0|[1-9]\d{0,8})){1,11}\.?")
_AMOUNT = r"\$?(?:[1-9]\d{0,2}(?:,\d{3}){1,2}|0|[1-9]\d{0,8})"
_SPACED = re.compile(rf"{_AMOUNT}(?:(?:, |; ?|\n){_AMOUNT}){{1,11}}\.?")
"""Amounts with commas inside them and wider separators between them: there is nothing to weigh."""
_SEPARATOR = re.compile(r", |; ?|\n")
_ORDERING = re.compile(
    r"\b(?:best|highest|most|top|strongest|greatest|largest|first|worst|lowest|least|bottom|weakest|smallest|last)"
    r"(?:[ -]?(?:priority|ranked|ranking|need|needy|deserving|urgent|urgency|qualified|amount|choice))?"
    r"(?:[ -]?(?:to|through|->|→|>|first\b)[ -]*(?:the )?(?:best|highest|most|top|strongest|greatest|largest|first"
    r"|worst|lowest|least|bottom|weakest|smallest|last)?\b)"
    r"|\b(?:in |by )?(?:descending|ascending|decreasing|increasing)\b|\bin order of (?:priority|need|merit|rank)"
    r"|\b(?:priority |rank(?:ing|ed)? |final |sorted |preferred )?order(?:ed|ing)?(?: of (?:priority|preference"
    r"|requests|applications))?\s?(?::|is\b)"
    r"|\bsorted\b|\b(?:ordered|arranged|prioriti[sz]ed|ranked) (?:by|list|order|requests|applications|applicants"
    r"|candidates)\b"
    r"|\b(?:requests|applications|applicants|candidates) (?:ranked|ordered|sorted|prioriti[sz]ed)\b|(?:^"
    r"|\n)\W*ranked\s?:|(?:^|\n)\W{0,3}(?:top|best|winners?)\s?:",
    re.IGNORECASE,
)
_ORDERING_CUES = (
    "est", "most", "top", "first", "last", "bottom", "order", "scending", "creasing", "sort", "arranged", "prioriti",
    "ranked", "winner",
)  # fmt: skip
_PRESENTED = re.compile(
    r"\b(?:in|following|matching|by|to) (?:the )?(?:same |original |given )?order (?:of (?:presentation"
    r"|appearance|the (?:requests|applications))|"
    r"(?:they |that they |in which they )?(?:\w+ )?(?:were )?(?:are )?(?:presented|shown|listed|given|received"
    r"|appear\w*))\s?:?"
    r"|\bin (?:presentation|listed|original|presented|the given) order\s?:?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """What rank and allocate differ in.

    Attributes:
        money: Whether the numbers are amounts.
        number: Reads one value from text.
        whole: Reads one value from JSON.
        from_run: The answers a run holds, and whether it must be one (so that holding none is a fault).
        judge: Turns the one answer found into an `Answer`.
    """

    money: bool
    number: Callable[[str], int | None]
    whole: Callable[[Any], int | None]
    from_run: Callable[[Run, Question], tuple[list[tuple[int, ...]], bool]]
    judge: Callable[[Screened, tuple[int, ...], Question], Answer]
    contradicts: Callable[[str, Question], bool] = lambda _text, _question: False


def read_bundle(reply: Reply, question: Question, kind: Kind) -> Answer:
    """Read one number for each slot."""
    screened = screen(reply)
    if isinstance(screened, Answer):
        return screened
    text = screened.text
    if not text:
        return screened.answer("no_answer", None, "no visible text")
    plain = None if screened.cut else _plain(text, question, kind)
    if plain:
        return kind.judge(screened, plain, question)
    if text.lower() != text.upper() and has_disclaimer(text):  # where there are letters
        screened.flags.add("safety_disclaimer")
    try:
        found = _candidates(screened, question, kind)
    except _UnreadableError as fault:
        unread = settle_unread(screened)
        return unread if unread.status == "refused" else screened.answer("malformed", None, str(fault))
    if not found:
        return settle_unread(screened)
    if len(set(found)) > 1:
        return screened.answer("malformed", None, "more than one answer")
    if screened.cut and not _is_complete(screened, found[0], question, kind):
        return screened.answer("malformed", None, "cut off before its answer was complete")
    return kind.judge(screened, found[0], question)


def _plain(text: str, question: Question, kind: Kind) -> tuple[int, ...] | None:
    """The numbers of a text that is nothing but a list with one reading: most replies are."""
    if _PLAIN.fullmatch(text):
        parts = text.rstrip(".").split(",")
        if len(parts) == question.slots and (not kind.money or all(_is_clear(part) for part in parts)):
            return tuple(int(part) for part in parts)
    if kind.money and _SPACED.fullmatch(text):
        amounts = [int(part.strip("$.").replace(",", "")) for part in _SEPARATOR.split(text)]
        if len(amounts) == question.slots and sum(amounts) == question.total:
            return tuple(amounts)
    return None


def _is_clear(part: str) -> bool:
    """Whether an element cannot be half of an amount with a thousands comma."""
    digits = part.strip(" .")
    return (len(digits) > 3 or len(part) > len(digits) or len(digits) < 3) and (digits == "0" or digits[0] != "0")


class _UnreadableError(Exception):
    """The text attempts an answer that cannot be taken; the message says why."""


def _candidates(screened: Screened, question: Question, kind: Kind) -> list[tuple[int, ...]]:
    """Every complete answer that the text gives: in JSON, in tables, under labels, in lists."""
    found, rest = _from_json(screened.text, question, kind)
    text = undress(rest, money=kind.money)
    wordy = is_wordy(text)
    if wordy and len(text) < 200 and WORD_LIST.fullmatch(text):
        text = digits_for_words(text)
    if wordy and kind.contradicts(text, question):
        raise _UnreadableError("a total that contradicts the answer")
    if "\n" in text and ("|" in text or wordy):
        tables, text, fault = read_tables(text, question, kind)
        if fault:
            raise _UnreadableError(fault)
        found += tables
    pairs = read_labels(text, question.label if wordy else None, money=kind.money, number=kind.number)
    if pairs.conflict:
        raise _UnreadableError("orders the applications, or says two things of one")
    complete = list_of(pairs.values, question.slots)
    found += [complete] if complete else []
    found += _listed(pairs.rest, question, kind, said=screened.text if wordy else "")
    if pairs.values and not complete and not _agrees(pairs.values, found):
        raise _UnreadableError("labels that do not cover the applications")
    is_ordered = any(item != place for item, place in pairs.order.items())
    if is_ordered and not kind.money and not _agrees(dict(pairs.order), found):
        raise _UnreadableError("an ordering of the applications, not their ranks")
    return found


def _from_json(text: str, question: Question, kind: Kind) -> tuple[list[tuple[int, ...]], str]:
    """The answers that JSON in a text gives, and the text without it."""
    values, rest, broken = extract(text, lists=True)
    if broken:
        raise _UnreadableError("JSON that cannot be trusted")
    found: list[tuple[int, ...]] = []
    for value in values:
        members = value_from(value, question, kind.whole)
        if members is None or (kind.money and _states_other_total(value, question, kind)):
            raise _UnreadableError("JSON that is no answer")
        found += [members] if members else []
    return found, rest


def _states_other_total(value: Any, question: Question, kind: Kind) -> bool:
    """Whether a JSON object names a total other than the one asked for."""
    if not isinstance(value, dict):
        return False
    totals = [item for key, item in cast("dict[str, Any]", value).items() if key.strip().lower() in {"total", "sum"}]
    return any(kind.whole(total) != question.total for total in totals)


def _agrees(labelled: dict[int, int | None], found: list[tuple[int, ...]]) -> bool:
    """Whether labels that do not cover every slot say the same as the full answers found."""
    return bool(found) and all(
        1 <= item <= len(answer) and answer[item - 1] == value for answer in found for item, value in labelled.items()
    )


def _listed(text: str, question: Question, kind: Kind, *, said: str) -> list[tuple[int, ...]]:
    """The answers given as plain lists; a refusal (`said`: the reply's words, if any) tells lists in passing."""
    if is_ordering(text):
        raise _UnreadableError("an ordering of the applications, not their ranks")
    all_runs = runs(text)
    if all_runs is None:
        raise _UnreadableError("too many numbers for a decision")
    found: list[tuple[int, ...]] = []
    named = mentions(question.label)
    for run in all_runs:
        if said and (is_example(text, run) or named.search(text, max(0, run.start - 30), run.start)):
            continue
        if run.place != "prose" or not is_refusal(said):
            found += _from_run(run, text, question, kind)
    if found and said and holds(text, _ORDERING_CUES) and _ORDERING.search(_PRESENTED.sub(" ", text)):
        raise _UnreadableError("an ordering of the applications, not values in the order shown")
    return found


def _from_run(run: Run, text: str, question: Question, kind: Kind) -> list[tuple[int, ...]]:
    """The answers that one list gives; none where it is told in passing."""
    answers, must = kind.from_run(run, question)
    if not answers and "line" in run.joints:
        answers = _line_by_line(run, text, question, kind)
    if run.open and (answers or must):
        raise _UnreadableError("a list with elements that are not whole numbers")
    if must and not answers:
        raise _UnreadableError(f"a list that is not {question.slots} whole numbers")
    return answers


def _line_by_line(run: Run, text: str, question: Question, kind: Kind) -> list[tuple[int, ...]]:
    """The answers of a run whose every line is a whole list of its own; none where one is not."""
    lines = [kind.from_run(part, question)[0] for part in at_lines(run, text)]
    whole = len(lines) == run.joints.count("line") + 1 and all(lines)
    return [answer for line in lines for answer in line] if whole else []


def _is_complete(screened: Screened, answer: tuple[int, ...], question: Question, kind: Kind) -> bool:
    """Whether a reply that was cut off had given its whole list: no digit more could have made another answer."""
    text = screened.text
    if not text[-1].isdigit() or kind.money:
        return True
    return answer[-1] * 10 > question.slots
