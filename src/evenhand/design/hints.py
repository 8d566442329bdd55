"""A lint of texts: nothing but the name may hint at race or gender.

The words lie in `hints.toml`. The lint is deliberately strict: a text that says the same without the word is
always to be had, and a hint that slips through would be confounded with nothing a statistic could find.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import PackError
from evenhand.records import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# A third person who is plainly somebody else: a pronoun after one of these is not the applicant's.
_SOMEBODY_ELSE = re.compile(
    r"\b(?:my|our|an?|the|their|his|her)\s+(?:[a-z-]+\s+){0,2}?(?:mother|mom|father|dad|parent|sister|brother"
    r"|sibling|son|daughter|child|kid|baby|aunt|uncle|cousin|grandmother|grandma|grandfather|grandpa|niece|nephew|friend|neighbou?r|roommate"
    r"|landlord|landlady|boss|manager|supervisor|owner|doctor|surgeon|nurse|specialist|therapist"
    r"|teacher|professor|adviser|advisor|counsel(?:l)?or|lawyer|driver|coworker|colleague|officer|judge|dog|cat)s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Hint:
    """One word that gives an applicant away, with where it stands and what to do."""

    where: str
    word: str
    kind: str
    mend: str

    def __str__(self) -> str:
        return f"{self.where}: {self.word!r} is a {self.kind}; {self.mend}."


def find_hints(texts: Mapping[tuple[str, str, str], str]) -> tuple[Hint, ...]:
    """Every word that gives an applicant away, once a scenario.

    Args:
        texts: Texts without their names, by domain, scenario and framing.

    Returns:
        Hints in the order of the texts; each says under which framings its word stands.
    """
    found: dict[tuple[str, str, str, str, str], list[str]] = {}
    for (domain, scenario, framing), text in texts.items():
        for word, kind, mend in dict.fromkeys(hints_in(text)):
            found.setdefault((domain, scenario, word, kind, mend), []).append(framing)
    return tuple(
        Hint(f"pack {domain}, scenario {scenario}, framing {', '.join(framings)}", word, kind, mend)
        for (domain, scenario, word, kind, mend), framings in found.items()
    )


def hints_in(text: str) -> Iterator[tuple[str, str, str]]:
    """The words of a text that hint at race or gender, as (word, kind, mend), in reading order by kind."""
    text = unicodedata.normalize("NFKC", text).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for kind, mend, pattern, third_person in _kinds():
        for match in pattern.finditer(text):
            if not (third_person and _means_somebody_else(text, match.start())):
                yield match.group(), kind, mend


def _means_somebody_else(text: str, start: int) -> bool:
    """Whether a third person was named in the pronoun's sentence, or the one before it."""
    sentences = re.split(r"(?<=[.!?])\s+", text[:start])
    return bool(_SOMEBODY_ELSE.search(" ".join(sentences[-2:])))


@cache
def _kinds() -> tuple[tuple[str, str, re.Pattern[str], bool], ...]:
    entries = read_toml(Path(__file__).with_name("hints.toml"), PackError)["kinds"]
    return tuple(
        (
            entry["kind"],
            entry["mend"],
            re.compile(rf"(?<![\w'-])(?:{'|'.join(entry['words'])})(?!\w|'\w)", re.IGNORECASE),
            entry.get("third_person", False),
        )
        for entry in entries
    )
