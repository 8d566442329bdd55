"""One number stated in a text: what rate and decide share.

A number counts as stated where the text commits to it: alone on a line, in a last sentence of its own, under a
label ("Rating: 4"), after a verb of committing ("I'd give this a 4"), at the head of the reply, boxed. Numbers
told in passing (a family of 3, [2], 1 in 4) are none. All statements must agree; a single number that nothing
competes with is taken in a short text, unless the text also refuses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evenhand.formats.numerals import Number, holds, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 600
"""Characters of a text in which a number that stands alone may be taken without a statement."""

_NOUN = (
    r"(?:rating|score|priority|answer|decision|verdict|result|output|response|value|integer|number|grade|level|assessment"
    r"|evaluation|choice|conclusion|judge?ment|recommendation|determination|code|final|overall|rate|return)"
)
_LABEL = rf"\b{_NOUN}s?(?:\s+(?:for|of|on|to|level|number|score|rating|value|here)\b[^.:=\d\n]{{0,40}})?"
_LINK = (
    r"(?::|=>|=|->|→|-\s|\||\bis\b|'s\b|\bwas\b|\bof\b|\b(?:would|will|should|must) be\b|\bremains\b|\bstands at\b"
    r"|\bat\b)"
)
_SOFT = (
    r"(?:\s*(?:an?|the|just|simply|clearly|therefore|thus|again|still|now|exactly|firmly|probably|solid|strong"
    r"|firm|,)\b,?)"
)
_OPEN = r"[\s\"'(\[{:=]*"
_VERB = (
    r"\b(?:giv(?:e|ing)|gave|rat(?:e|ed|ing)|scor(?:e|ed|ing)|assign(?:ed|ing)?|award(?:ing)?|grad(?:e|ed)|put|plac(?:e|ed)"
    r"|go(?:ing)? with|went with|choos(?:e|ing)|chose|pick|select(?:ed)?|say|return(?:ing)?|answer|respond with"
    r"|settle on"
    r"|decid(?:e|ed) on|decide|recommend|set|submit|enter|conclude|lower|raise|revise|change|adjust|correct"
    r"|reduce|increase|move|make|(?:this|it|request|application|case)\s+(?:\w+\s+)?"
    r"(?:warrants?|deserves?|merits?|earns?|gets?|receives?|rates?|scores?|ranks?))\b"
)
_THIS = (
    r"\b(?:it|this|that|this (?:one|request|application|case|applicant|profile|candidate|file|patient))(?:'s"
    r"|\s+(?:is|as|to be))\b"
)
_COMMITTED = re.compile(
    rf"(?:{_LABEL}['\"\s)\]}}(]*{_LINK}|{_VERB}[^.;!?\n\d]{{0,60}}|{_THIS}"
    rf"|\b(?:actually|wait|correction|rather|but|yet|sorry|i mean|scratch that|therefore|thus|hence|overall|so"
    rf"|finally|conclusion|summary|short)\b,?:?){_SOFT}{{0,3}}{_OPEN}$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|cannot|neither|nor|without|rather than|instead of|unlike|than|no)\b"
    r"|n't\b)[^.,;:!?→\n\d]{0,50}$",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"\b(?:an?|most|other|another|typical|average|routine|usual|normal|such)\s[^.;:,\n\d]{0,40}"
    r"\b(?:would|might|could|usually|typically|often|normally)\s[^.;:,\n\d]{0,20}$",
    re.IGNORECASE,
)
_NEGATING = ("no", "n't", "ne", "without", "instead", "unlike", "than")
_SUPPOSING = ("would", "might", "could", "usually", "typically", "often", "normally")
_ENDS = re.compile(
    r"[\s\"')\]}*.,;:!|]*(?:$|\n|(?<=[.!;,)|])|-(?=\s?\w)|#\s|//|\(|\b(?:because|since|as|given|due|based|for|on|considering|although|though"
    r"|but|here|overall|rather|from me|to (?=this|the|it)|stars?|points?|priority|rating|with|which|this|i)\b)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"\s*(?:-(?=\s?\w)|[:;,(|=→]|\.(?:\s|$)|\b(?:because|since|as|given|due|based|for|stars?|points?)\b"
    rf"|\bis\s(?:my|the|your)\s(?:final\s)?{_NOUN}\b)",
    re.IGNORECASE,
)
_SHARED = re.compile(r"[\s,]*for\b[^.;\n]{0,60}\d")
"""After a number: one of several, each for something of its own."""
_LISTED = re.compile(r"^[^\S\n]*\(?[2-9][.)]\s", re.MULTILINE)
_WEAK = re.compile(
    r"(?:\b(?:an?|of|is|as|at|be|with|rating|score|priority|answer|decision)(?:\s+[a-z]+){0,2}|[:=(])\s*$"
    r"|^\W*(?:(?:probably|perhaps|maybe|likely|definitely|clearly|leaning|solid|strong|firm)\W*)?$",
    re.IGNORECASE,
)
_AROUND = " .,:;!()[]{}\"'|=*"
_DIGITS = tuple("0123456789")


def stated(text: str) -> list[int | None] | None:
    """Every committed number of an undressed text, None standing for one that is not a whole number.

    Returns:
        None where there are too many numbers to be a decision.
    """
    found = numbers(text)
    if found is None:
        return None
    return [number.value for number in _statements(text, found)]


def lone(text: str) -> int | None:
    """The one number of a short text, where it can be nothing but the answer."""
    if len(text) > SHORT:
        return None
    found = numbers(text, most=2)
    if found is None or len(found) != 1 or found[0].value is None:
        return None
    number = found[0]
    if _is_negated(text[max(0, number.start - 60) : number.start]):
        return None
    before = text[max(0, number.start - 60) : number.start]
    ends = _ENDS.match(text, number.end)
    return number.value if ends and _WEAK.search(before) else None


def _statements(text: str, found: list[Number]) -> Iterator[Number]:
    previous = 0
    for number in found:
        left_edge = text.rfind("\n", previous, number.start) + 1 or previous
        right_edge = text.find("\n", number.end)
        right = text[number.end : right_edge if right_edge >= 0 else len(text)][:200]
        left = text[max(left_edge, number.start - 110) : number.start]
        opens_line = left_edge == 0 or text[left_edge - 1] == "\n"
        if _is_statement(text, number, left, right, opens_line):
            yield number
        previous = number.end


def _is_statement(text: str, number: Number, left: str, right: str, opens_line: bool) -> bool:
    bare_right = not right.strip(_AROUND)
    if opens_line and not left.strip(_AROUND):
        if bare_right:  # 1. alone on its line
            return True
        if not text[: number.start].strip(_AROUND + "\n") and _HEAD.match(right):  # 2. the head of the reply
            return not (right.startswith((".", ")")) and _LISTED.search(text, number.end))
    is_told = _is_negated(left) or (holds(left, _SUPPOSING) and _HYPOTHETICAL.search(left) is not None)
    if is_told or _SHARED.match(right):
        return False
    if left.endswith(("[[", "answer: {")):  # 3. marked, or boxed
        return True
    if bare_right and _closes(left):  # 4. a last sentence of its own
        return True
    return _ENDS.match(right) is not None and _COMMITTED.search(left) is not None  # 5. labelled or said


def _is_negated(left: str) -> bool:
    if not holds(left, _NEGATING):
        return False
    match = _NEGATED.search(left)
    return match is not None and not match.group().rstrip().endswith(" but")


def _closes(left: str) -> bool:
    said = left.rstrip(" \"'([{")
    return (
        said.endswith((".", "!", "?", "→"))
        or (said.endswith(",") and not said[:-1].endswith(_DIGITS))
        or (said.endswith((" -", ")")) and not said[:-1].rstrip().isdigit())
    )
