"""Numbers in text: other scripts' digits and punctuation, number words, and single numbers in context."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_LAST_DIGITS = 0x20000
"""Digits of all scripts lie below: what follows are ideographs and private use."""


@lru_cache(maxsize=1)
def _character_table() -> dict[int, str]:
    """What each character becomes before numbers are looked for.

    Digits of every script become 0 to 9 (not superscripts, fractions or circled numbers: those are no digits),
    full-width forms and other scripts' separators their ASCII twins, spaces of any width a space; characters
    without width vanish. Compatibility normalisation is not used: it turns "3½" into "31⁄2".
    """
    table = {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)}
    table |= {code: str(unicodedata.decimal(chr(code))) for code in range(0x80, _LAST_DIGITS) if chr(code).isdecimal()}
    twins = {
        ",": "、،﹐﹑︐︑", ";": "؛﹔", ".": "。．｡﹒", "'": "’‘ʼ′٬＇", '"': "“”„«»‟″", ":": "：∶﹕꞉",
        "-": "−‐‑‒–—―﹣⁃", "/": "⁄∕／", "%": "٪﹪", "=": "＝﹦", ">": "›≻＞»", "|": "｜│┃¦",
        "[": "【〔「『［", "]": "】〕」』］", "→": "➔➜➡⇒⟶⟹➞🡒", " ": "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004"
        "\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", "\n": "\u2028\u2029\u0085\v\f\r", "•": "‣▪●◦·∙◆",
    }  # fmt: skip
    for twin, characters in twins.items():
        table |= {ord(character): twin for character in characters}
    vanishing = "\u00ad\u034f\u061c\u180e\ufeff\u2060\u2061\u2062\u2063\u2064\ufe0e\ufe0f\u20e3"
    table |= {ord(character): "" for character in vanishing}
    table |= {code: "" for span in ((0x200B, 0x2010), (0x202A, 0x202F), (0x2066, 0x206A)) for code in range(*span)}
    table[0x066B] = "."  # the Arabic decimal separator
    return table


_LETTERLESS = re.compile(r"[\d\s,.;:|$()\[\]+=*&'/>-]*")
_GUILLEMETS = re.compile("«([^«»\n]{1,200})»")
_COLUMNS = re.compile(r"(?<=[\w.)])\t+(?=[\w$(#-])")

_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_IDEOGRAMS = "〇一二三四五六七八九十"
WORD_VALUES = {word: number for number, word in enumerate(_WORDS)} | {
    character: number for number, character in enumerate(_IDEOGRAMS)
}
_WORD = rf"(?:{'|'.join(_WORDS)})"
WORD_LIST = re.compile(
    rf"[\s(\[]*(?:{_WORD}|[{_IDEOGRAMS}])(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+)(?:{_WORD}|[{_IDEOGRAMS}])){{0,15}}[\s.)\]]*",
    re.IGNORECASE,
)
_WORD_TOKEN = re.compile(rf"\b{_WORD}\b|[{_IDEOGRAMS}]", re.IGNORECASE)


def normalise(text: str) -> str:
    """The text with plain digits, separators, spaces and line ends; everything else as it was."""
    if "\t" in text:
        text = _COLUMNS.sub("|", text).replace("\t", " ")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii():
        return text
    if "«" in text:  # a closing mark alone may be an arrow
        text = _GUILLEMETS.sub(r'"\1"', text)
    return text.translate(_character_table())


def holds(text: str, cues: tuple[str, ...]) -> bool:
    """Whether a text holds any of some words (lower case): a cheap look before a costly pattern."""
    lower = text.lower()
    for cue in cues:  # noqa: SIM110 (a loop is twice as fast as any() here)
        if cue in lower:
            return True
    return False


def is_wordy(text: str) -> bool:
    """Whether a text holds letters."""
    return not _LETTERLESS.fullmatch(text)


def digits_for_words(text: str) -> str:
    """Number words (zero to twelve) and ideograms as digits."""
    return _WORD_TOKEN.sub(lambda match: str(WORD_VALUES[match.group().lower()]), text)


class Number(NamedTuple):
    """One number in a text (a named tuple: there are many, and they must be cheap).

    Attributes:
        start: Where it starts.
        end: Where it ends.
        value: The whole number it says, or None where it says another kind of number (negative, decimal,
            range, fraction, percentage, amount with letters attached).
    """

    start: int
    end: int
    value: int | None


_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_WHOLE = re.compile(r"(0|[1-9]\d{0,8})(?:\.0{1,6})?")
_BEFORE = re.compile(
    r"(?:\b(?:between|at least|at most|up to|(?:more|less|fewer|greater|higher|lower|better|worse|other|rather) than"
    r"|above|below|over|under|about|around|approximately|approx\.?|roughly|nearly|almost|either"
    r"|(?:minimum|maximum) of)\s+(?:an?\s+)?|\d\s*(?:-|to|or|and|through)\s*(?:an?\s+)?"
    r"|(?<![=-])>\s?|[<~≈≠≤≥±+$€£¥#^]\s?|!=\s?)$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[ ]*(?:[-/,;:+&~]|to|or|and|through|till|versus|out of|of|\.\.+|…)[ ]*"
    r"(?:(?:an?|or|maybe|perhaps|possibly|even) ){0,3}\d"
    r"|-?(?:ish|plus|something)\b|\s(?:or|and)\s(?:so|thereabouts|higher|lower|more|less|above|below|up|better|worse)\b"
    r"|\s?(?:%|percent\b|\+|and a half\b|point\b|out of\b|/(?!/))",
    re.IGNORECASE,
)
_NEXT = frozenset(" \n.,;:!?)]}\"'|-=*•→…")
_ATTACHED = frozenset("-.,/")


def numbers(text: str, *, most: int = 300) -> list[Number] | None:
    """Every number of a text in order, or None where there are more than `most`.

    A number that is part of a word ("GPT-5" holds one, "B2" none) is left out; one that a sign, a range or a
    unit makes into something else has no value.
    """
    found: list[Number] = []
    for match in _NUMBER.finditer(text):
        start, end = match.span()
        before = text[start - 1] if start else " "
        if before.isalnum() or before == "_":
            continue
        if len(found) == most:
            return None
        found.append(Number(start, end, _value(text, match.group(), start, end, before)))
    return found


def _value(text: str, number: str, start: int, end: int, before: str) -> int | None:
    after = text[end] if end < len(text) else " "
    if before in _ATTACHED or after not in _NEXT:
        return None
    whole = _WHOLE.fullmatch(number)
    if not whole or (start and _BEFORE.search(text, max(0, start - 24), start)) or _AFTER.match(text, end):
        return None
    return int(whole.group(1))


def whole(value: object) -> int | None:
    """A number that JSON holds, where it is whole: an integer, a float without fraction, or such a string."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**9 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 10**9 else None
    if isinstance(value, str) and len(value) < 40:
        match = _WHOLE.fullmatch(normalise(value).strip())
        return int(match.group(1)) if match else None
    return None
