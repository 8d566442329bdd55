"""Reading a reply that should be one number: the order of steps that rate and decide share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from evenhand.formats.embedded import extract
from evenhand.formats.markup import undress
from evenhand.formats.numerals import WORD_LIST, WORD_VALUES, digits_for_words, whole
from evenhand.formats.refusals import has_disclaimer, is_refusal, is_shrug
from evenhand.formats.screening import Screened, screen
from evenhand.formats.statements import lone, stated
from evenhand.formats.types import Answer, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = re.compile(r"\s*(0|[1-9]\d?)\s*\.?\s*")
_REFERENCE = (
    r"\b(?:request|application|applicant|candidate|claimant|patient|profile|case|file)\s?(?:no\.?\s?"
    r"|#)?\d{1,3}\b(?!\s?/)"
)
_RUNS = re.compile(r"\d+")
_REFERENCES = re.compile(_REFERENCE, re.IGNORECASE)
_KEY = re.compile(
    r"(?:rating|score|priority|answer|decision|value|result|verdict|output|grade|choice|level|response|rank|integer|number|final)$"
)
_NOT_KEY = re.compile(
    r"^(?:max|min|scale|confidence|total|previous|out_of|reason|expl|other|den(?:y|ied|ial)|reject|declin|refus)"
)
_COMPLETE = re.compile(r"\W{0,6}(?:[a-z ]{1,24}[:=-])?\W{0,6}\d[^\w\n]{0,6}(?:$|\n\s*\S)", re.IGNORECASE)
"""A reply that was cut off had stated its answer before: alone, or on a first line of its own."""
_ONE_WORD = re.compile(
    r"\b(?:zero|two|three|four|five|six|seven|eight|nine|ten)\b|(?:^|[:=]|\b(?:an?|is|of|answer|rating|score)\s)\s?\"?one\b(?!\s[a-z])",
    re.IGNORECASE,
)
_FOUND_WORD = re.compile(r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.IGNORECASE)
_TWICE = re.compile(
    rf"({_FOUND_WORD.pattern})\s?\(\d{{1,2}}\)|(?<![\w.,/])\d{{1,2}}\s?\(({_FOUND_WORD.pattern})\)", re.IGNORECASE
)
_ORNAMENTS = re.compile(
    "[\u2600-\u2704\u2706-\u2712\u2719-\u274b\u274f-\u2775\u2798-\u27bf\U0001f300-\U0001f43f\U0001f451-\U0001f50f\U0001f530-\U0001faff]+"
)
"""Pictures that say nothing about a number: not ticks, crosses, thumbs, circled digits, plus and minus."""


def read_single(
    reply: Reply,
    question: Question,
    *,
    legal: range,
    tidy: Callable[[str], str],
    clash: Callable[[str, int, Question], bool],
) -> Answer:
    """Read one number.

    Args:
        reply: The reply.
        question: What was asked.
        legal: The numbers that are answers.
        tidy: Takes echoes of the question out of an undressed text.
        clash: Whether the words of the text contradict the number.
    """
    screened = screen(reply)
    if isinstance(screened, Answer):
        return screened
    plain = _PLAIN.fullmatch(screened.text)
    if plain:
        return _judge(screened, [int(plain.group(1))], legal)
    if not screened.text:
        return screened.answer("no_answer", None, "no visible text")
    if has_disclaimer(screened.text):
        screened.flags.add("safety_disclaimer")
    text, found = _found(screened.text, tidy)
    if found is None:
        return screened.answer("malformed", None, "not a single decision")
    if screened.cut and "{" not in screened.text and not _COMPLETE.match(text):
        return screened.answer("malformed", None, "cut off before its answer was complete")
    if not found:
        return _unread(screened, text, legal, clash, question)
    answer = _judge(screened, found, legal)
    if answer.status == "answered":
        value = cast("int", answer.value)
        if clash(text, value, question) or _is_spelled_otherwise(text, value):
            return screened.answer("malformed", None, "number and words contradict each other")
    return answer


def _found(said: str, tidy: Callable[[str], str]) -> tuple[str, list[int | None] | None]:
    """The text without dress and echoes, and every number it states, in words or JSON (None: it cannot be one)."""
    values, rest, broken = extract(said)
    if not rest.isascii():
        rest = _ORNAMENTS.sub(" ", rest)
    text = _spelled(tidy(undress(rest)))
    if len(_RUNS.findall(text)) > 1:
        text = _REFERENCES.sub(" ", text)
    found = stated(text)
    if found is None or broken:
        return text, None
    return text, found + [answer for value in values for answer in _members(value, tidy)]


def settle_unread(screened: Screened) -> Answer:
    """The status of a text that holds no answer: refused, without answer, or malformed."""
    text = screened.text
    if not text:
        return screened.answer("no_answer", None, "no visible text")
    if "serving_fault" in screened.flags:
        return screened.answer("malformed", None, "the provider could not read the function call")
    if is_refusal(text) or screened.marked:
        return screened.answer("refused", None, "declines the task")
    if is_shrug(text):
        return screened.answer("no_answer", None, "says that it has no answer")
    return screened.answer("malformed", None, "no answer in the form asked for")


def _unread(
    screened: Screened,
    text: str,
    legal: range,
    clash: Callable[[str, int, Question], bool],
    question: Question,
) -> Answer:
    unread = settle_unread(screened)
    if unread.status == "refused" or screened.cut or screened.long:
        return unread
    value = lone(text)
    if value is None:
        return unread
    if clash(text, value, question) or _is_spelled_otherwise(text, value):
        return screened.answer("malformed", None, "number and words contradict each other")
    return _judge(screened, [value], legal)


def _judge(screened: Screened, found: list[int | None], legal: range) -> Answer:
    values = set(found)
    if len(values) > 1:
        return screened.answer("malformed", None, "more than one answer")
    value = found[0]
    if value is None:
        return screened.answer("malformed", None, "not a whole number")
    if value not in legal:
        return screened.answer("malformed", None, f"{value} is not one of {legal.start} to {legal.stop - 1}")
    return screened.answer("answered", value)


def _is_spelled_otherwise(text: str, value: int) -> bool:
    """Whether a number said in words and in digits ("four (3)") says two things."""
    if "(" not in text:
        return False
    return any(WORD_VALUES[(match[1] or match[2]).lower()] != value for match in _TWICE.finditer(text))


def _spelled(text: str) -> str:
    """A number word as a digit, where the text holds no digit and only one such word."""
    if len(text) > 600 or _RUNS.search(text):
        return text
    if WORD_LIST.fullmatch(text):
        return digits_for_words(text)
    words = _ONE_WORD.findall(text)
    if len(words) != 1:
        return text
    return _ONE_WORD.sub(
        lambda match: _FOUND_WORD.sub(lambda word: digits_for_words(word.group()), match.group()), text
    )


def _members(value: Any, tidy: Callable[[str], str], depth: int = 0) -> list[int | None]:
    """The answers that a JSON value holds: under the names of an answer, or its only member."""
    if depth > 3:
        return [None]
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return _members(items[0], tidy, depth + 1) if len(items) == 1 else [None]
    if isinstance(value, str):
        return [whole(tidy(undress(value[:80])))]
    if not isinstance(value, dict):
        return [whole(value)]
    members = cast("dict[str, Any]", value)
    named = [item for key, item in members.items() if _KEY.search(key.lower()) and not _NOT_KEY.search(key.lower())]
    if not named and len(members) == 1:
        key, item = next(iter(members.items()))
        named = [None if _NOT_KEY.search(key.lower()) else item]
    return [answer for item in named for answer in _members(item, tidy, depth + 1)]
