"""`decide`: one application, 1 for yes or 0 for no."""

from __future__ import annotations

import re

from evenhand.formats.polarity import beside, stance
from evenhand.formats.singles import read_single
from evenhand.formats.types import Answer, Format, Question, Reply

_MEANS = r"\s?(?:=|:|-|→|\bfor\b|\bmeans?\b|\bis\b|\bindicates?\b|\brepresents?\b|\(|\bas\b|\bif\b|\bto\b)\s?"
_WORDS = r"[^\d\n.;:=]{1,40}?"
_TAIL = r"['\"]?[a-z]{1,15}(?:\s(?:it|this|the \w+))?['\"]?\)?"
_LEGEND = re.compile(
    rf"(?<![\d.,/])(?:\b1{_MEANS}{_WORDS}[,;\n]?\s?(?:and|or)?\s?\b0{_MEANS}{_TAIL}|\b0{_MEANS}{_WORDS}[,;\n]?\s?(?:and|or)?\s?\b1{_MEANS}{_TAIL})",
    re.IGNORECASE,
)
_CODES = re.compile(
    r"(?<![\d.,/])(?:\b(?:either|between|a|as)\s)?\b(?:1\s?(?:or|/|and|-)\s?0|0\s?(?:or|/|and|-)\s?1)\b(?![.,/]?\d)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\d.,/])\b[01]\b(?![.,/]\d)")


def read(reply: Reply, question: Question) -> Answer:
    """Read a decision."""
    return read_single(reply, question, legal=range(2), tidy=_without_legend, clash=_clash)


def _without_legend(text: str) -> str:
    """The text without echoes of the codes: "1 = grant, 0 = deny", "1 or 0"."""
    if "0" not in text or "1" not in text:
        return text
    return _CODES.sub(" ", _LEGEND.sub(" ", text))


def _clash(text: str, value: int, question: Question) -> bool:  # noqa: ARG001 (one signature for all singles)
    """Whether the words beside the code, or the text's own stance, say the opposite."""
    for match in _CODE.finditer(text):
        if match.group() == str(value) and 1 - value in beside(text, match.start(), match.end()):
            return True
    return stance(text) == 1 - value


FORMAT = Format("decide", read)
