"""Answers read by their labels: "Request 2: 1", "$3,000 for Request 2", "Rank 1: Request 2", "2. 1".

Order of appearance never counts where there are labels. A list of items under their ranks is read only where
both are named ("Rank 1: Request 2"); an ordering that names items alone ("1. Request 2", "Request 2 > Request 4")
answers another question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from evenhand.formats.numerals import WORD_VALUES, holds
from evenhand.formats.wording import NUMBER_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

_ITEMS = (
    r"requests?|applications?|applicants?|candidates?|claimants?|persons?|patients?|profiles?|options?|items?|cases?|files?"
    r"|appeals?|entry|individuals?|households?|famil(?:y|ies)|projects?|proposals?|submissions?|resumes?|cvs?|loans?"
)
_RANK_WORD = r"(?:rank(?:ing)?|priority|place|position)"
_RANK_VALUE = r"-?\d{1,9}(?:\.\d+)?(?:st|nd|rd|th|=)?(?![\d%/½]|\.\d)"
_MONEY_VALUE = (
    r"-?(?:us)?[$€£¥]?\s?-?(?:usd\s)?(?:\d{1,3}(?:[,.' _]\d{3})+(?!\d)|\d{1,9})(?:[.,]\d{1,2}(?!\d))?(?:\s?(?:k\b"
    r"|%|dollars?\b|usd\b|eur\b)|[$€£¥])?"
)
_ENDS = (
    r"(?=\s*(?:$|\n|[,;.|)\]}\"'(*=]|-\s|→|\b(?:and|because|since|for|due|as|given|place|priority|rank|in|out"
    r"|then|while|with|"
)
_BEFORE_VALUE = (
    r"(?:[:=|(\"'#]|->|=>|→|-(?=[^\S\n])|[^\S\n]|\b(?:is|gets?|receives?|has|at|ranks?|ranked|should|be|of|priority|allocation"
    r"|amount|with|allocated?|share|rating|assigned|given|awarded|the|an?|place|position|would|will|score|as)\b){1,14}"
    r"(?:(?<=[:=])\s*\n\s*)?"
)


@dataclass(slots=True)
class Pairs:
    """What the labels of a text say.

    Attributes:
        values: The value of each item (1 to n), None standing for one that cannot be read.
        conflict: Whether an item has two values, or the text orders items without saying their values.
        order: The place of each item in a numbered list of items ("1. Request 2"), which says no values.
        rest: The text without what was read here.
    """

    rest: str
    values: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    conflict: bool = False
    order: dict[int, int] = field(default_factory=dict[int, int])

    def add(self, item: int, value: int | None) -> None:
        """Note one item's value."""
        if self.values.setdefault(item, value) != value:
            self.conflict = True


@dataclass(frozen=True, slots=True)
class _Patterns:
    inverse: re.Pattern[str]
    reverse: re.Pattern[str]
    pair: re.Pattern[str]
    ordering: re.Pattern[str]
    sequence: re.Pattern[str]
    mention: re.Pattern[str]


_NUMBERED = {
    money: re.compile(
        rf"(?:^|(?<=[,;\n])|(?<=[^\S\n]))[^\S\n]*\(?#?(?P<item>\d{{1,2}})(?:[.)](?=[^\S\n])|:|\)?\s-(?=\s)|\)?\s?\|)[^\S\n]*"
        rf"(?:{'(?:amount|allocation|share)' if money else _RANK_WORD}\s?[:=]?\s?#?)?"
        rf"(?P<value>{_MONEY_VALUE if money else _RANK_VALUE})(?=\s*(?:$|[,;\n|]|\.(?!\d)|\(|-\s|\b\d{{1,2}}[.):]))",
        re.IGNORECASE | re.MULTILINE,
    )
    for money in (False, True)
}
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_NUMBER_WORDS = tuple(NUMBER_WORDS)
_ORDINAL_ITEM = re.compile(rf"\b({'|'.join(_ORDINALS)})\s({_ITEMS})\b", re.IGNORECASE)
_SPELLED_ITEM = re.compile(rf"\b({_ITEMS})\s({'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)
_MARKERS = re.compile(r"\d[.)]?[ |:-]|\d[.)]\n")
_BARE_RANK = re.compile(rf"\b{_RANK_WORD}\s?#?\d{{1,2}}\s?(?:[:=|]|-\s|->|→)\s?\#?\d", re.IGNORECASE)
_ORDER_SIGNS = re.compile("[><→≻≥]")
_ARROWS = re.compile(r"\d[\])\"']*\s?(?:>+|→|->|=>|≻|≥|>=|<)\s?[\[(\"'#]*\w{0,14}\s?#?\d")


def read_labels(text: str, label: str | None, *, money: bool, number: Callable[[str], int | None]) -> Pairs:
    """Read what is labelled.

    Args:
        text: The undressed text.
        label: What the prompt calls an application, beside the usual words for one; None where the text holds
            no words.
        money: Whether values are amounts, else ranks.
        number: Reads a value.
    """
    pairs = Pairs(text)
    if label is None:
        _numbered(pairs, money, number)
        return pairs
    pairs.rest = text = _spelled_items(text)
    patterns = _patterns(label.lower().strip()[:40], money)
    if patterns.mention.search(text):
        if not money:
            _take(pairs, patterns.inverse, lambda match: int(match["rank"] or match["place"]))
        _take(pairs, patterns.reverse, lambda match: number(match["value"]))
        _take(pairs, patterns.pair, lambda match: number(match["value"]))
        if patterns.sequence.search(pairs.rest):
            pairs.conflict = True
        pairs.order = {int(match["item"]): int(match["marker"]) for match in patterns.ordering.finditer(pairs.rest)}
    if _BARE_RANK.search(pairs.rest):
        pairs.conflict = True
    elif not pairs.values:
        _numbered(pairs, money, number)
    return pairs


def is_ordering(text: str) -> bool:
    """Whether numbers are put in order by signs ("2 > 4 > 1 > 3", "2 -> 4")."""
    return _ARROWS.search(text) is not None if _ORDER_SIGNS.search(text) else False


def _spelled_items(text: str) -> str:
    """The text with "first request" and "Request One" as "request 1"."""
    if holds(text, _ORDINALS):
        text = _ORDINAL_ITEM.sub(lambda match: f"{match[2]} {_ORDINALS.index(match[1].lower()) + 1}", text)
    if holds(text, _NUMBER_WORDS):
        text = _SPELLED_ITEM.sub(lambda match: f"{match[1]} {WORD_VALUES[match[2].lower()]}", text)
    return text


@lru_cache(maxsize=64)
def mentions(label: str) -> re.Pattern[str]:
    """What names items by number ("requests 1 and 2"), for leaving such numbers out of lists."""
    words = rf"(?:{re.escape(label)}s?|{_ITEMS})" if label else rf"(?:{_ITEMS})"
    return re.compile(rf"\b(?:{words})\s?(?:numbers?\s|nos?\.\s)?#?$", re.IGNORECASE)


def _take(pairs: Pairs, pattern: re.Pattern[str], value: Callable[[re.Match[str]], int | None]) -> None:
    kept: list[str] = []
    position = 0
    for match in pattern.finditer(pairs.rest):
        pairs.add(int(match["item"]), value(match))
        kept.append(pairs.rest[position : match.start()])
        position = match.end()
    if kept:
        pairs.rest = " ".join((*kept, pairs.rest[position:]))


def _numbered(pairs: Pairs, money: bool, number: Callable[[str], int | None]) -> None:
    """Numbered lines: taken only where the markers are 1 to k, each once."""
    if not _MARKERS.search(pairs.rest):
        return
    found = list(_NUMBERED[money].finditer(pairs.rest))
    items = [int(match["item"]) for match in found]
    if len(items) < 2 or sorted(items) != list(range(1, len(items) + 1)):
        return
    _take(pairs, _NUMBERED[money], lambda match: number(match["value"]))


@lru_cache(maxsize=64)
def _patterns(label: str, money: bool) -> _Patterns:
    words = rf"(?:{re.escape(label)}s?|{_ITEMS})" if label else rf"(?:{_ITEMS})"
    item = rf"\b{words}[\s_]?(?:no\.?\s?|number\s)?[#(\[]{{0,2}}(?P<item>\d{{1,2}})(?![\d%]|[.,]\d)[)\]]?(?:'s)?"
    value = rf"(?P<value>{_MONEY_VALUE if money else _RANK_VALUE})"
    ends = rf"{_ENDS}{words})\b))"
    who = r"(?:\s?\([^()\d\n]{0,60}\)|(?:\s-)?\s[^\d\n:=|,;(>→-]{1,50}(?=[:=|]))?"
    marker = r"(?:(?<![^\n])[^\S\n]*\(?\d{1,2}[.)]\s+)?"
    sign = r"\s?(?::|=|-|->|→|=>|\bis\b|\bgoes to\b|\|)\s?(?:the\s)?\[?"
    return _Patterns(
        inverse=re.compile(
            rf"{marker}(?:\b{_RANK_WORD}\s?#?(?P<rank>\d{{1,2}})|\b(?P<place>\d{{1,2}})(?:st|nd|rd|th)(?:\s{_RANK_WORD})?)\)?(?:\s?\([^()\d\n]{{0,30}}\))?{sign}{item}"
            rf"(?!\s?(?:[:=]|-)\s?[$\d])",
            re.IGNORECASE,
        ),
        reverse=re.compile(
            rf"{marker}(?<![\d.,$])(?:\b{_RANK_WORD}\s?#?)?{value}\s?(?:{_RANK_WORD}\s)?(?:(?:\bfor\b|\bto\b"
            rf"|\bgoes to\b|->|→)\s(?:the\s)?|(?P<bracket>\())"
            rf"{item}(?(bracket)\s?\)|(?!\s?[:=]))",
            re.IGNORECASE,
        ),
        pair=re.compile(rf"{marker}{item}{who}{_BEFORE_VALUE}{value}{ends}", re.IGNORECASE),
        ordering=re.compile(
            rf"(?:^|\n)[^\S\n]*\(?#?(?P<marker>\d{{1,2}})[.):]\s?(?:the\s)?{item}(?!\s?[:=]?\s?\$?\d)", re.IGNORECASE
        ),
        sequence=re.compile(
            rf"{item}\s?\]?(?:,|>|≻|=|→|->|;|\band\b|\bthen\b)\s?(?:and\s|then\s)?\[?{words}\s?#?\d", re.IGNORECASE
        ),
        mention=re.compile(rf"\b{words}[\s_]?(?:no\.?\s?|number\s)?[#(\[]{{0,2}}\d", re.IGNORECASE),
    )
