"""`allocate`: several applications, whole amounts in the order shown that sum to a total."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evenhand.formats.amounts import amount, fewest, readings
from evenhand.formats.bundles import Kind, read_bundle
from evenhand.formats.numerals import normalise, whole
from evenhand.formats.types import Answer, Format, Question, Reply
from evenhand.formats.wording import allocate_example

if TYPE_CHECKING:
    from evenhand.formats.listing import Run
    from evenhand.formats.screening import Screened

_TOTAL = re.compile(
    r"\b(?:total|sum)(?:s|ing|ling|led)?(?: (?:amount|allocated|allocation))?\s?(?::|=|\bis\b|\bof\b"
    r"|\bto\b)\s?\$?\s?(\d{1,3}(?:[, ]\d{3})+|\d{3,9})(?![\d,]*\d|\s[a-z])",
    re.IGNORECASE,
)


def read(reply: Reply, question: Question) -> Answer:
    """Read an allocation: nothing is rounded, converted, filled in or rescaled."""
    return read_bundle(reply, question, _AMOUNTS)


def _from_run(run: Run, question: Question) -> tuple[list[tuple[int, ...]], bool]:
    found = readings(run, question.slots, question.total)
    least, most = fewest(run), len(run.atoms)
    is_list = least >= 2 and (run.place != "prose" or least <= question.slots <= most)
    return found, is_list


def _whole(value: Any) -> int | None:
    return amount(normalise(value)) if isinstance(value, str) else whole(value)


def _judge(screened: Screened, amounts: tuple[int, ...], question: Question) -> Answer:
    if any(value < 0 for value in amounts):
        return screened.answer("malformed", None, "a negative amount")
    if sum(amounts) != question.total:
        return screened.answer("malformed", None, f"sums to {sum(amounts):,}, not to {question.total:,}")
    return screened.answer("answered", amounts)


def _contradicts(text: str, question: Question) -> bool:
    return any(int(re.sub(r"[, ]", "", said)) != question.total for said in _TOTAL.findall(text))


_AMOUNTS = Kind(money=True, number=amount, whole=_whole, from_run=_from_run, judge=_judge, contradicts=_contradicts)

FORMAT = Format("allocate", read, bundle=True, example=allocate_example)
