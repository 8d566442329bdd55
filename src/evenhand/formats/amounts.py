"""Amounts of money in a run of numbers: which commas group thousands and which part the list.

"4,000,3,000,2,000,1,000" can be cut in many ways, but only one gives four amounts that sum to 10,000. A run is
read where exactly one cut gives the number of amounts asked for and their total; nothing is rounded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evenhand.formats.listing import Atom, Run

_MOST = 48
_AMOUNT = re.compile(
    r"(?:us)?\$?\s?(\d{1,3}(?:[,' _]\d{3})+|\d{1,9})(\.0{1,2})?\s?(k\b)?(?:\s?(?:dollars?|usd|points?|pts)|\$)?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(
    r"(?:us)?\$?\s?(\d{1,6})(?:\.(\d{1,3}))?\s?k(?:\s?(?:dollars?|usd|points?|pts)|\$)?", re.IGNORECASE
)


def amount(text: str) -> int | None:
    """The whole amount that a text is ("$4,000", "4 000", "4000.00", "4.5k"), or None."""
    said = text.strip()
    match = _THOUSANDS.fullmatch(said)
    if match:
        return _thousands(match.group(1), match.group(2) or "")
    match = _AMOUNT.fullmatch(said)
    if not match:
        return None
    digits = re.sub(r"[,' _]", "", match.group(1))
    return int(digits) if digits == "0" or digits[0] != "0" else None


def readings(run: Run, slots: int, total: int) -> list[tuple[int, ...]]:
    """The ways to cut a run into `slots` amounts that sum to `total`, at most two of them."""
    atoms, joints = run.atoms, run.joints
    if "equals" in joints:
        place = joints.index("equals")
        if _shown(atoms[place + 1 :], joints[place + 1 :]) != total:
            return []
        atoms, joints = atoms[: place + 1], joints[:place]
    if len(atoms) > _MOST:
        return []
    if len(atoms) == slots and {"either", "group"}.isdisjoint(joints):  # only one way to cut
        amounts = [value for place in range(slots) for _, value in _amounts_from(atoms, (), place)]
        return [tuple(amounts)] if len(amounts) == slots and sum(amounts) == total else []
    # states[i]: what may have been read before atom i, as (count, sum) -> readings
    states: list[dict[tuple[int, int], list[tuple[int, ...]]]] = [{} for _ in range(len(atoms) + 1)]
    states[0][0, 0] = [()]
    for first in range(len(atoms)):
        if first and joints[first - 1] == "group":
            continue
        for last, value in _amounts_from(atoms, joints, first):
            if last + 1 < len(atoms) and joints[last] == "group":
                continue
            for (count, subtotal), ways in states[first].items():
                if count < slots and subtotal + value <= total:
                    entry = states[last + 1].setdefault((count + 1, subtotal + value), [])
                    entry += [(*way, value) for way in ways][: 2 - len(entry)]
    return states[-1].get((slots, total), [])


def fewest(run: Run) -> int:
    """How many amounts a run holds where every separator that can group thousands does."""
    return 1 + sum(joint not in {"either", "group"} for joint in run.joints)


def _amounts_from(atoms: tuple[Atom, ...], joints: tuple[str, ...], first: int) -> list[tuple[int, int]]:
    """The amounts that start at an atom, as (last atom, value)."""
    found: list[tuple[int, int]] = []
    head = atoms[first]
    if (len(head.digits) > 1 and head.digits[0] == "0") or head.negative or head.tied or len(head.digits) > 9:
        return []
    digits, last = head.digits, first
    while True:
        value = _value(atoms[last], digits, last == first)
        if value is not None:
            found.append((last, value))
        grows = last < len(joints) and joints[last] in {"either", "group"} and len(digits) < 9 and digits != "0"
        if not grows or atoms[last].suffix or atoms[last].fraction:
            return found
        last += 1
        digits += atoms[last].digits


def _value(atom: Atom, digits: str, alone: bool) -> int | None:
    if atom.suffix == "k" and alone:
        return _thousands(digits, atom.fraction[1:])
    cents = atom.fraction[1:]
    if atom.suffix or cents.strip("0") or len(cents) > 2:
        return None
    return int(digits)


def _thousands(units: str, fraction: str) -> int | None:
    if len(fraction) > 3 or len(units) > 6 or (len(units) > 1 and units[0] == "0"):
        return None
    return int(units) * 1_000 + int((fraction + "000")[:3])


def _shown(atoms: tuple[Atom, ...], joints: tuple[str, ...]) -> int | None:
    """The one amount after the equals sign of a sum."""
    if any(joint not in {"either", "group"} for joint in joints) or any(atom.suffix or atom.negative for atom in atoms):
        return None
    if atoms[-1].fraction.strip(".0"):
        return None
    return int("".join(atom.digits for atom in atoms)[:12])
