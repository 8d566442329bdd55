"""`rate`: one application, an integer on a scale (1 to 5)."""

from __future__ import annotations

import re
from functools import lru_cache

from evenhand.formats.singles import read_single
from evenhand.formats.types import Answer, Format, Question, Reply

_WORD_FOR = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_HIGH = re.compile(r"[^\w\n]{0,4}(?:the )?(?:highest|top|maximum|most urgent)\b", re.IGNORECASE)
_LOW = re.compile(r"[^\w\n]{0,4}(?:the )?(?:lowest|bottom|minimum|least urgent)\b", re.IGNORECASE)


def read(reply: Reply, question: Question) -> Answer:
    """Read a rating."""
    low, high = question.scale
    return read_single(
        reply, question, legal=range(low, high + 1), tidy=lambda text: _without_scale(text, low, high), clash=_clash
    )


def _without_scale(text: str, low: int, high: int) -> str:
    """The text without echoes of the scale: "out of 5" after a number, "from 1 (lowest) to 5 (highest)"."""
    outs, spans, extremes, heads = _scale_patterns(low, high)
    if "/" in text or "of" in text:
        text = heads.sub("", outs.sub(r"\1", text))
    if len(text) > 6 and str(high) in text:
        if str(low) in text:
            text = spans.sub(" ", text)
        text = extremes.sub(" ", text)
    return text


def _clash(text: str, value: int, question: Question) -> bool:
    """Whether the words right after the number put it at the other end of the scale."""
    low, high = question.scale
    if value not in {low, high}:
        return False
    place = text.find(str(value)) + len(str(value))
    opposite = _LOW if value == high else _HIGH
    return opposite.match(text, place) is not None


@lru_cache(maxsize=32)
def _scale_patterns(low: int, high: int) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Echoes of a scale: "4 out of 5", "1 to 5" or every step of it, what its ends mean, "out of 5:"."""
    word = rf"|{_WORD_FOR[high]}" if high < len(_WORD_FOR) else ""
    top = rf"(?:{high}(?:\.0+)?(?![.,/:]?\d){word})"
    outs = re.compile(
        rf"(?<![\d.,/])(\d+(?:\.\d+)?|\b(?:{'|'.join(_WORD_FOR)}))\s?[(\[]?\s?(?:/|out of(?: a (?:possible"
        rf"|maximum)(?: of)?)?|of)\s?{top}"
        rf"\b[)\]]?(?:\s?(?:stars?|points?)\b)?",
        re.IGNORECASE,
    )
    named = r"(?:\s?\([^()\d\n]{0,50}\)|\s?=\s?[^\d\n,;()-]{1,40}|\s(?:being|is|means|for) [^\d\n,;()-]{1,40})?"
    between = r"\s?(?:-|to|through|and|\.\.+|,|or)\s?"
    span = "|".join(
        rf"{first}{named}{between}{last}(?![\d.]*\d|\s?/){named}" for first, last in ((low, high), (high, low))
    )
    span += "|" + r"\s?[,/|]\s?(?:or\s|and\s)?".join(str(step) for step in range(low, high + 1))
    extreme = r"(?:the )?(?:highest|lowest|top|bottom|most|least|best|worst|maximum|minimum|greatest)"
    spans = re.compile(
        rf"[(\[]?(?<![\d.,/])\b(?:{span})[)\]]?(?:\s(?:scale|range)\b)?",
        re.IGNORECASE,
    )
    extremes = re.compile(
        rf"(?:\b(?:where|with|and)\s|\()(?:{low}|{high})\s?(?:=|is|being|means|indicates|represents|for|denotes|as)"
        rf"\s?{extreme}[^\d\n.;)]{{0,40}}\)?",
        re.IGNORECASE,
    )
    heads = re.compile(rf"(?<![\d.] )\(?\bout of {top}\)?\s?(?=[:=])", re.IGNORECASE)
    return outs, spans, extremes, heads


FORMAT = Format("rate", read)
