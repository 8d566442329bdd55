"""Runs of numbers in a text: "3, 1, 4 and 2", one a line, "4,000; 3,000", "4000+3000+2000+1000=10000".

A run is a maximal row of numbers with nothing but separators between them. Which rows are answers is decided
by where they stand: alone on their line or lines, after a label, or in a sentence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

MOST_ATOMS = 400

Joint = Literal["list", "space", "line", "group", "either", "plus", "equals"]
Place = Literal["own", "labelled", "prose"]

_ATOM = re.compile(
    r"(?P<digits>\d+)(?P<fraction>\.\d+)?"
    r"(?P<suffix>(?:st|nd|rd|th|k)\b|%|=(?=\s*(?:[,;|\n]|$)))?(?P<unit>\s?(?:dollars?|usd|points?|pts)\b|\$(?!\d))?"
    r"(?P<note>\s?\((?:tie|tied)\))?(?:(?<!\d%)\s?\(\d{1,3}(?:\.\d{1,2})?\s?%\))?",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"(?P<tie>(?<![\d\s])=|(?<=[,;:]\s)=|\bT-?)?(?P<sign>(?<![\w)\]])[-+])?(?P<money>(?:US)?\$\s?|\bUSD\s?)?(?P<inner>-)?$",
    re.IGNORECASE,
)
_BARE_BEFORE = frozenset(", \n;:([|")
_MONEY_ENDS = frozenset("$dD")
_GAPS: dict[str, Joint] = {
    ",": "either", ", ": "list", ";": "list", "; ": "list", " ": "space", "\n": "line", ",\n": "list", " and ": "list",
    ", and ": "list", "'": "group", "_": "group", "+": "plus", " + ": "plus", "=": "equals", " = ": "equals",
}  # fmt: skip
_LIST_GAP = re.compile(r"[\"']?\s*(?:[,;|]\s*(?:and\b|&)?|&|\band\b)\s*[\"']?", re.IGNORECASE)
_LINE_GAP = re.compile(r"[.\"']?[^\S\n]*\n\s*[\"']?")
_EDGE = " \t\"'()[]{}|.:=*"
_OPEN_LEFT = re.compile(r"(?:[,;/&+>~≈<$€£¥#]\s*|\S-|\d\s?-\s?|\band\s*)$")
_OPEN_RIGHT = re.compile(
    r"\s*(?:[,;/&+]\s*(?:and\s+)?(?:\S*\d|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b|\?|…|\.\.\.|etc)"
    r"|\(?\b(?:or|to)\s+(?:\S*\d|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b)"
    r"|[/%<>+½¼¾⅓⅔€£¥]|->|→|and\s+\S*\d|\.\.\.|…|each\b|\([^)\n]{0,20}\beach\b)",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(?:\be\.?g\.?|\bfor example|\bfor instance|\bexample|\bsuch as|\bformat|\blike)\W{0,3}$", re.IGNORECASE
)
_LABELLED = re.compile(
    r"(?::|=|\b(?:is|are|as follows|be|answer|return|give|assign|allocate|distribute))\s*[\"'(\[{]*\s*$", re.IGNORECASE
)


class Atom(NamedTuple):
    """One number of a run (a named tuple: there are many, and they must be cheap).

    Attributes:
        start: Where it starts.
        end: Where it ends.
        digits: Its digits before any fraction.
        fraction: The fraction with its point, or empty.
        suffix: st, nd, rd, th, k, % or = where one is attached.
        money: Where it is marked as dollars: "before", "after", or empty.
        negative: Whether it has a sign.
        tied: Whether it is marked as tied ("1=", "T1", "1 (tie)").
    """

    start: int
    end: int
    digits: str
    fraction: str
    suffix: str
    money: str
    negative: bool
    tied: bool

    @property
    def whole(self) -> int | None:
        """The whole number it says as a rank (3, 3.0, 3rd), or None."""
        if (
            self.money
            or self.negative
            or self.suffix in {"k", "%"}
            or self.fraction.strip(".0")
            or len(self.digits) > 9
        ):
            return None
        return None if len(self.digits) > 1 and self.digits[0] == "0" else int(self.digits)


@dataclass(frozen=True, slots=True)
class Run:
    """A row of numbers: its atoms, the joints between them (one fewer), and where it stands."""

    atoms: tuple[Atom, ...]
    joints: tuple[Joint, ...]
    place: Place
    open: bool

    @property
    def start(self) -> int:
        """Where it starts."""
        return self.atoms[0].start


def runs(text: str) -> list[Run] | None:
    """The runs of an undressed text in order, each of two numbers or more, or None where there are too many numbers."""
    found: list[Run] = []
    atoms: list[Atom] = []
    joints: list[Joint] = []
    for count, match in enumerate(_ATOM.finditer(text)):
        if count == MOST_ATOMS:
            return None
        atom = _atom(text, match)
        if atom is None:
            continue
        joint = _joint(text, atoms[-1], atom) if atoms else None
        if joint is None and atoms:
            found += _close(text, atoms, joints)
            atoms, joints = [], []
        elif joint is not None:
            joints.append(joint)
        atoms.append(atom)
    return found + _close(text, atoms, joints) if atoms else found


def at_lines(run: Run, text: str) -> list[Run]:
    """A run cut at its line ends; lines of a single number are left out."""
    return _cut(text, list(run.atoms), list(run.joints))


def _cut(text: str, atoms: list[Atom], joints: list[Joint]) -> list[Run]:
    parts: list[Run] = []
    first = 0
    for place, joint in enumerate((*joints, "line")):
        if joint == "line":
            parts += _close(text, atoms[first : place + 1], joints[first:place])
            first = place + 1
    return parts


def is_example(text: str, run: Run) -> bool:
    """Whether a run repeats the worked example of the instruction."""
    return _EXAMPLE.search(text, max(0, run.start - 40), run.start) is not None


def _atom(text: str, match: re.Match[str]) -> Atom | None:
    """The number that starts here with what is attached to it, or None where it is part of a word."""
    digits, fraction, suffix, unit, note = match.groups()
    start, end = match.span()
    before = text[start - 1] if start else "\n"
    tie = sign = False
    money = "after" if unit else ""
    if before == "$" and (start < 2 or text[start - 2] in _BARE_BEFORE):  # the usual head, found without a search
        start, money = start - 1, "before"
    elif before not in _BARE_BEFORE or (before == " " and text[start - 2 : start - 1] in _MONEY_ENDS):
        head = _HEAD.search(text, max(0, start - 8), start)
        if head and head.start() < start:
            tie, sign = bool(head["tie"]), bool(head["sign"] or head["inner"])
            money = "before" if head["money"] else money
            start = head.start()
            before = text[start - 1] if start else "\n"
        if before.isalnum() or (before == "_" and not text[start - 2 : start - 1].isdigit()):
            return None
    suffix = suffix.lower() if suffix else ""
    return Atom(start, end, digits, fraction or "", suffix, money, sign, tie or bool(note) or suffix == "=")


def _joint(text: str, before: Atom, after: Atom) -> Joint | None:
    gap = text[before.end : after.start]
    if len(gap) > 30:
        return None
    joint = _GAPS.get(gap)
    if joint is None:
        if _LIST_GAP.fullmatch(gap):
            return "list"
        if _LINE_GAP.fullmatch(gap):
            return "line"
        return "space" if gap and not gap.strip(" ") else None
    groups = (
        len(after.digits) == 3
        and len(before.digits) <= 3
        and not (after.money == "before" or before.fraction or before.suffix)
    )
    if joint == "either":
        return "either" if groups else "list"
    if joint == "space" and groups:
        return "either"
    return None if joint == "group" and not groups else joint


def _close(text: str, atoms: list[Atom], joints: list[Joint]) -> list[Run]:
    """The run that ends here, where it has two numbers; white space joins numbers only on lines of their own."""
    if len(atoms) < 2:
        return []
    left = text[text.rfind("\n", 0, atoms[0].start) + 1 : atoms[0].start][-80:]
    line_end = text.find("\n", atoms[-1].end)
    right = text[atoms[-1].end : line_end if line_end >= 0 else len(text)][:80]
    is_open = _OPEN_LEFT.search(left) is not None or _OPEN_RIGHT.match(right) is not None
    place: Place = "prose"
    closed_right = not right.strip(_EDGE + ",;") or right.lstrip(" .,;)]}\"'").startswith(("(", "-", "where"))
    if closed_right and not left.strip(_EDGE):
        place = "own"
    elif closed_right and _LABELLED.search(left):
        place = "labelled"
    if place != "own" and "line" in joints:
        return _cut(text, atoms, joints)
    if place == "prose" and "space" in joints:
        return []
    return [Run(tuple(atoms), tuple(joints), place, is_open)]
