"""`purpose_open`: what a request was for, in the model's own words."""

from __future__ import annotations

import re

from evenhand.formats.numerals import normalise
from evenhand.formats.refusals import has_disclaimer, is_refusal
from evenhand.formats.screening import screen
from evenhand.formats.types import Answer, Format, Question, Reply

_GUESS = re.compile(
    r"\b(?:but|however|that said|nevertheless|nonetheless|although|though|still|likely|probably|appears?|seems?"
    r"|suggests?"
    r"|might be|may be|could be|best guess|if i had to|i(?:'d| would) (?:say|guess)|presumably|perhaps)\b",
    re.IGNORECASE,
)


def read(reply: Reply, question: Question) -> Answer:  # noqa: ARG001 (one signature for all formats)
    """Read a free answer: the visible text as it stands. Hedging is no refusal; a guess after one is an answer."""
    screened = screen(reply)
    if isinstance(screened, Answer):
        return screened
    text = screened.text
    if not any(character.isalnum() for character in text):
        return screened.answer("no_answer", None, "no visible text")
    if has_disclaimer(text):
        screened.flags.add("safety_disclaimer")
    if screened.marked or is_refusal(text):
        guessed = _GUESS.search(
            re.sub(r"\b(?:sorry|apologi[sz]e|understand)\b,? but\b", "", normalise(text), flags=re.IGNORECASE)
        )
        if not guessed:
            return screened.answer("refused", None, "declines the task")
    return screened.answer("answered", text)


FORMAT = Format("purpose_open", read)
