"""How a simulated respondent reads a prompt: only the text, as a model would.

It finds what is asked in the instruction, the applicants under their labels, the names it knows, and what it
knows of the text without the name; a text it does not know gets a utility by its hash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evenhand.respondents.lexicon import without_name
from evenhand.seeds import normal

if TYPE_CHECKING:
    from evenhand.respondents.lexicon import Lexicon, Person

Asked = Literal["rate", "decide", "rank", "rank_ties", "allocate", "purpose_choice", "purpose_open", "nothing"]

_FIRST_LABEL = re.compile(r"^(\w[\w -]{0,40}) 1:\n", re.MULTILINE)
_REQUEST = re.compile(r"<request>\n(?P<request>.*)\n</request>\n\n(?P<question>[^\n]*)", re.DOTALL)
_OPTION = re.compile(r"\([a-z]\) ([^,()]+?)(?=, \(|\.)")
_TOTAL = re.compile(r"\$([\d,]+)")
_SCALE = re.compile(r"(?:of|from|between) (\d+)\b.*?\b(?:to|and) (\d+)\b")


@dataclass(frozen=True, slots=True)
class Applicant:
    """What a respondent makes of one applicant's text.

    Attributes:
        content: What the text says, the known name and details that bear on no decision taken out: what the
            applicant's noise hangs on.
        utility: Content utility, SD 1 over a pack.
        person: What the name found in it signals, or None.
        framing: The framing level, where the text is known; else empty.
    """

    content: str
    utility: float
    person: Person | None
    framing: str


@dataclass(frozen=True, slots=True)
class Reading:
    """A prompt as understood: what is asked, of whom."""

    asked: Asked
    applicants: tuple[Applicant, ...]
    total: int = 10_000
    scale: tuple[int, int] = (1, 5)
    options: tuple[str, ...] = ()

    @property
    def matched(self) -> bool:
        """Whether several applicants say the same."""
        return len(self.applicants) > 1 and len({applicant.content for applicant in self.applicants}) == 1


def read_prompt(prompt: str, lexicon: Lexicon) -> Reading:
    """Understand a prompt.

    Args:
        prompt: All text that a model would see.
        lexicon: The names and texts known.

    Returns:
        The reading; `asked` is "nothing" where the instruction is not understood. Of a question about an earlier
        request the applicants are that request's.
    """
    shown = _REQUEST.search(prompt)
    if shown:
        earlier = read_prompt(shown["request"], lexicon)
        options = tuple(option.strip() for option in _OPTION.findall(shown["question"]))
        return Reading("purpose_choice" if options else "purpose_open", earlier.applicants, options=options)
    instruction, _, rest = prompt.partition("\n\n")
    asked = _what_is_asked(instruction)
    total = _TOTAL.search(instruction)
    scale = _SCALE.search(instruction)
    return Reading(
        asked=asked,
        applicants=tuple(_applicant(text, lexicon) for text in _split(rest)),
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


def _applicant(text: str, lexicon: Lexicon) -> Applicant:
    person = lexicon.find_person(text)
    content = without_name(text, person.name) if person else text
    known = lexicon.contents.get(content)
    return Applicant(
        content=known.said if known else content,
        utility=known.utility if known else normal("content", content),
        person=person,
        framing=known.framing if known else "",
    )
