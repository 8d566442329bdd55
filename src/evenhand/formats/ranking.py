"""What makes a list a ranking."""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from evenhand.formats.bundles import Kind
from evenhand.formats.numerals import whole

if TYPE_CHECKING:
    from evenhand.formats.listing import Run
    from evenhand.formats.screening import Screened
    from evenhand.formats.types import Answer, Question

_RANK = re.compile(r"\s*(?:rank\s)?#?([1-9]\d?)(?:\.0+)?(?:st|nd|rd|th|=)?(?:\s?\((?:tie|tied)\))?\s*", re.IGNORECASE)


def rank(text: str) -> int | None:
    """The rank that a text is ("3", "3.0", "3rd", "1=")."""
    match = _RANK.fullmatch(text)
    return int(match.group(1)) if match else None


def judge_ranks(screened: Screened, ranks: tuple[int, ...], question: Question) -> Answer:
    """An answer of ranks from 1 to n, with the flag `tied` where two are equal."""
    if any(not 1 <= value <= question.slots for value in ranks):
        return screened.answer("malformed", None, f"a rank outside 1 to {question.slots}")
    if len(set(ranks)) < len(ranks):
        screened.flags.add("tied")
    return screened.answer("answered", ranks)


def is_tie(ranks: tuple[int, ...]) -> bool:
    """Whether ranks with ties say an order: dense (1,1,2), competition (1,1,3 or 2,2,3), or all equal."""
    counts = sorted(Counter(ranks).items())
    if len(counts) == 1:
        return True
    dense = [place for place, _ in enumerate(counts, 1)]
    low = list(accumulate(count for _, count in counts))
    high = [1, *(place + 1 for place in low[:-1])]
    return [value for value, _ in counts] in (dense, high, low)


def _from_run(run: Run, question: Question) -> tuple[list[tuple[int, ...]], bool]:
    marked = [atom.digits for atom in run.atoms if atom.tied]
    whole_ranks = tuple(value for atom in run.atoms if (value := atom.whole) is not None)
    fits = len(run.atoms) == question.slots
    if not fits:
        return [], run.place != "prose"
    contradicted = any([atom.digits for atom in run.atoms].count(digits) < 2 for digits in marked)
    if len(whole_ranks) < len(run.atoms) or contradicted or not {"plus", "equals", "group"}.isdisjoint(run.joints):
        return [], True
    return [whole_ranks], True


RANKS = Kind(money=False, number=rank, whole=whole, from_run=_from_run, judge=judge_ranks)
"""How ranks are read."""
