"""How a simulated respondent reads a prompt: only the text, as a model would.

It finds what is asked in the instruction, the applicants under their labels, the names it knows, and what it
knows of the text without the name.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from evenhand.packs import load_pack, shipped_packs
from evenhand.packs.pack import NAME_SLOT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.packs import Name

Asked = Literal["rate", "decide", "rank", "rank_ties", "allocate", "nothing"]

_FIRST_LABEL = re.compile(r"^(\w[\w -]{0,40}) 1:\n", re.MULTILINE)
_TOTAL = re.compile(r"\$([\d,]+)")
_SCALE = re.compile(r"(?:of|from|between) (\d+)\b.*?\b(?:to|and) (\d+)\b")
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Applicant:
    """What a respondent makes of one applicant's text.

    Attributes:
        content: The text with the known name taken out: what the applicant's noise hangs on.
        utility: Content utility, SD 1 over a pack.
        name: The name found, or None.
        framing: The framing level, where the text is known; else empty.
    """

    content: str
    utility: float
    name: Name | None
    framing: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as understood: what is asked, of whom."""

    asked: Asked
    applicants: tuple[Applicant, ...]
    total: int = 10_000
    scale: tuple[int, int] = (1, 5)


def read_prompt(prompt: str) -> Reading:
    """Understand a prompt.

    Args:
        prompt: All text that a model would see.

    Returns:
        The reading; `asked` is "nothing" where the instruction is not understood.
    """
    instruction, _, rest = prompt.partition("\n\n")
    asked = _what_is_asked(instruction)
    total = _TOTAL.search(instruction)
    scale = _SCALE.search(instruction)
    return Reading(
        asked=asked,
        applicants=tuple(_applicant(text) for text in _split(rest)),
        total=int(total.group(1).replace(",", "") or 0) if total else 10_000,
        scale=(int(scale.group(1)), int(scale.group(2))) if scale and asked == "rate" else (1, 5),
    )


def _what_is_asked(instruction: str) -> Asked:
    text = instruction.lower()
    if "$" in text and re.search(r"\b(?:allocate|distribute|divide)\b", text):
        return "allocate"
    if re.search(r"\brank", text):
        return "rank_ties" if "equal ranks" in text else "rank"
    if re.search(r"\b1 for yes\b", text):
        return "decide"
    if re.search(r"\b(?:rate|score|priority level)\b", text):
        return "rate"
    return "nothing"


def _split(body: str) -> list[str]:
    """The applicants' texts: labelled `Request 1:`, `Request 2:`, ... in bundles, else the whole body."""
    first = _FIRST_LABEL.search(body)
    if first is None:
        return [body]
    texts: list[str] = []
    rest = body[first.end() :]
    number = 2
    while True:
        text, found, rest = rest.partition(f"\n\n{first.group(1)} {number}:\n")
        texts.append(text.strip())
        if not found:
            return texts
        number += 1


@lru_cache(maxsize=8192)
def _applicant(text: str) -> Applicant:
    name = _find_name(text)
    content = text.replace(name.full, NAME_SLOT) if name else text
    utility, framing = _known_contents().get(content, (None, ""))
    if utility is None:
        utility = normal("content", content)
    return Applicant(content=content, utility=utility, name=name, framing=framing)


def _find_name(text: str) -> Name | None:
    """The longest known name that occurs in the text."""
    found = [name for full, name in _known_names().items() if full in text]
    return max(found, key=lambda name: len(name.full), default=None)


@cache
def _known_names() -> Mapping[str, Name]:
    return {name.full: name for pack in shipped_packs() for name in load_pack(pack).names}


@cache
def _known_contents() -> Mapping[str, tuple[float, str]]:
    """Content utility and framing of every shipped profile, standardised to SD 1 over each pack.

    A scenario keeps its utility under every framing: framings differ by what is planted.
    """
    known: dict[str, tuple[float, str]] = {}
    for pack in (load_pack(name) for name in shipped_packs()):
        profiles = pack.profiles()
        draws = [normal("scenario", pack.name, profile.scenario_id) for profile in profiles]
        mean = sum(draws) / len(draws)
        sd = (sum((draw - mean) ** 2 for draw in draws) / len(draws)) ** 0.5
        known |= {
            profile.text: ((draw - mean) / sd, profile.framing) for profile, draw in zip(profiles, draws, strict=True)
        }
    return known


def uniform(*key: str | int) -> float:
    """A number in (0, 1) that depends on the key alone."""
    text = "\x1f".join(map(str, key)).encode("utf-8", "surrogatepass")
    return (int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") + 0.5) / 2**64


def normal(*key: str | int) -> float:
    """A standard normal draw that depends on the key alone."""
    return _NORMAL.inv_cdf(min(max(uniform(*key), 1e-15), 1 - 1e-15))
