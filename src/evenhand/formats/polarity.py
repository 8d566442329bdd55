"""Words for yes and no, as far as they stand beside the code of a decision or speak of it in the first person."""

from __future__ import annotations

import re

from evenhand.formats.numerals import normalise

_YES = (
    r"(?:yes|grant(?:ed|ing)?|approv(?:e[ds]?|al|ing)|accept(?:ed|ing)?|short-?list(?:ed|ing)?|escalat(?:e[ds]?|ing)|admit(?:ted)?"
    r"|fund(?:ed)?|advanc(?:e[ds]?|ing)|hire[ds]?|interview|award(?:ed)?|endorse[ds]?|proceed)"
)
_NO = (
    r"(?:no|den(?:y|ied|ies|ial|ying)|reject(?:ed|ing|ion)?|declin(?:e[ds]?|ing)|refus(?:e[ds]?|al)|dismiss(?:ed)?|withhold"
    r"|turn(?:ed|ing)? (?:this |it |that |them )?(?:\w+ )?down)"
)
_NOT = (
    r"(?:not|never|don't|won't|cannot|can't|wouldn't|shouldn't|isn't|declin\w+ to|refus\w+ to"
    r"|(?:no|any|a) (?:good )?(?:reason|grounds?|cause|basis) (?:to|for))"
)
_WORD = (
    rf"(?:(?P<not>\b(?:(?:do|does|did|is|was|be|should|will|would|to)\s)?{_NOT}\s(?:be\s|say\s)?(?:to\s)?)?"
    rf"\b(?:(?P<yes>{_YES})|(?P<no>{_NO}))\b)"
)

_AFTER = re.compile(
    rf"[\s:=(\-,.\"'\[\]|)→#/]{{0,6}}"
    r"(?:i (?:would |will )?|(?:(?:this |that |which )?mean(?:s|ing)|i\.?e\.?,?|for|to) )?"
    rf"(?:that )?(?:(?:the|this|it) (?:\w+ )?(?:is|was|should be|will be|must be|has been) (?:to be )?)?{_WORD}",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"{_WORD}(?:\s(?:it|this|them|this \w{{1,20}}|the \w{{1,20}}))?[\s:=(\-,.\"'\[|→]{{0,6}}$", re.IGNORECASE
)
_STANCE = re.compile(
    rf"\b(?:i|we)(?:'d|'ll| would| will| must| have to| choose to| decide to| recommend(?: to)?"
    rf"| suggest)?\s(?:\w+ly\s)?{_WORD}"
    r"(?![^.;\n]{0,30}\b(?:if|unless|had|were)\b)"
    rf"|\b(?:should|will|must) (?P<not2>not )?be (?:(?P<yes2>{_YES})|(?P<no2>{_NO}))\b"
    rf"|\brecommend(?:ation)?:? (?:is )?(?:to )?(?:(?P<yes3>{_YES})|(?P<no3>{_NO}))\b",
    re.IGNORECASE,
)


def _direction(match: re.Match[str]) -> int | None:
    groups = match.groupdict()
    says_yes = any(groups.get(name) for name in ("yes", "yes2", "yes3"))
    if groups.get("not") or groups.get("not2"):
        return 0 if says_yes else None
    return 1 if says_yes else 0


def beside(text: str, start: int, end: int) -> set[int]:
    """What the words right before and right after a code say: 1, 0, both or neither."""
    found = (_AFTER.match(text, end, end + 60), _BEFORE.search(text, max(0, start - 50), start) if start else None)
    return {direction for match in found if match and (direction := _direction(match)) is not None}


def stance(text: str) -> int | None:
    """What a text in the first person says it decides: 1, 0, or None where it says neither or both."""
    said = {
        direction for match in _STANCE.finditer(normalise(text[:4_000])) if (direction := _direction(match)) is not None
    }
    return said.pop() if len(said) == 1 else None
