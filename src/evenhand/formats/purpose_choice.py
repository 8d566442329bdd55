"""`purpose_choice`: what a request was for, as the letter of one of several options in rotated order.

A letter is read where the text commits to it. The article "A" and the pronoun "I" are words, not letters; a
letter beyond the options offered is no answer, and neither is an option's text without its letter.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from evenhand.formats.embedded import extract
from evenhand.formats.markup import undress
from evenhand.formats.refusals import has_disclaimer
from evenhand.formats.screening import Screened, screen
from evenhand.formats.singles import settle_unread
from evenhand.formats.types import Answer, Format, Question, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTION = r"(?:option|choice|answer|letter|alternative)\s+"
_LETTER = r"[\[(\"'{]{0,3}(?P<letter>[A-Za-z])(?:[\])}\"']{1,3}|(?![\w'’]))"
_NOT_WORD = r"(?<![^\W_])(?<!['’])"
_AFTER = (
    r"(?P<after>\s*(?:$|\n|[,;:!)\](=|]|[-.](?!\w)|\b(?:because|since|as|given|for|based|due|which|with|that|it"
    r"|is|would|seems|appears)\b))"
)
_LINK = r"(?:\s*(?::|=|->|→|-\s|\bis\b|\bwould be\b|\bwas\b|\bto be\b|\bmust be\b))"
_NOUN = (
    r"(?:answer|choice|option|letter|purpose|selection|response|pick|guess|verdict|decision|conclusion|fit|match"
    r"|final|result|interpretation|study|aim|goal|intent(?:ion)?|objective|réponse|respuesta|antwort|risposta|resposta"
    r"|ответ|答案|回答|答え)"
)
_COMMIT = re.compile(
    rf"(?:\b{_NOUN}(?:\s(?:of|for|to)\s[^.:\n]{{0,60}}?|\s(?:here|choice|answer|letter))?{_LINK}"
    r"|\b(?:choose|chose|choosing|pick|select|go with|going with|went with|say|opt for|lean towards?|answer|guess"
    r"|believe|think|suspect"
    r"|conclude|it(?:'s| is)|that(?:'s| is)|(?:seems|appears|looks) (?:to be|like)|most likely|likely|probably"
    r"|closest to|points? to(?:wards?)?|suggests?|indicates?|favou?rs?|supports?|settled? on|clearly"
    r"|definitely|certainly|surely|obviously|therefore|so|hence|thus|actually|rather|wait)\b)"
    rf"[,:]?\s*(?:that\s)?(?:it\sis\s|it's\s|i(?:'d| would| will|'ll)?\s(?:say|go with|choose|pick|select"
    rf"|answer)\s|is\s|most likely\s|probably\s)?"
    rf"(?:the\s)?(?:{_OPTION})?{_NOT_WORD}{_LETTER}{_AFTER}",
    re.IGNORECASE,
)
_HEAD = re.compile(
    rf"\W*(?:{_OPTION})?{_LETTER}(?P<after>\s*(?:$|\n|[.):,;=|]|-\s|\b(?:because|since|as|given)\b|(?:is|would\sbe)\s(?:the\s|my\s)?(?:most|best|correct|right|likely|answer|choice|guess|pick))|\s+(?!(?:is|was|would|seems|appears|could|might|may|can|has|and|or)\b)[^\n]{{0,200}}$)",
    re.IGNORECASE,
)
_LAST = re.compile(
    rf"(?:^|\n|[:=]|[.!?;,]\s(?:but\s|so\s|maybe\s)?|(?<!\ball )(?<!thing )\bbut\s)\W*(?:{_OPTION})?{_LETTER}\W*$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\bnot\b|n't\b|\bnever\b|\brather than\b|\binstead of\b|\bneither\b|\bnor\b)[^.,;:\n]{0,30}$", re.IGNORECASE
)
_SEVERAL = re.compile(
    rf"{_NOT_WORD}[(\[\"']?(?P<first>[A-Za-z])[)\]\"']?[ (]{{0,2}}"
    r"(?:(?:[,;/&+>|-]|\b(?:and/or|or|and|then)\b)\s?(?:(?:or|and|possibly|maybe|perhaps|also|then|option)\s){0,2}"
    r"[(\[\"']?(?P<second>A(?! [a-z])|[B-HJ-Z]|[a-z](?=[)\]]))(?![\w'’])|[ ]?(?P<third>[A-HJ-Z])\W*$)"
)
"""Two letters side by side: neither was chosen."""
_AND = r"[)\]]?\s?(?:[,/|]|\b(?:or|and)\b)\s?(?:(?:or|and)\s)?[(\[]?"
_OFFERED = re.compile(
    rf"(?<![\w'])[(\[]?A{_AND}B(?:{_AND}[C-Z](?!\w)){{1,24}}[)\]]?|(?<![\w'])[(\[]?A\s?(?:-|to|through)\s?[C-Z](?!\w)[)\]]?"
)
"""An echo of the letters offered: "A, B, C, D or E", "A-E"."""
_MARKER = re.compile(r"(?:^|\n|[,;|]\s?)[^\w\n]{0,6}([A-Z])\s?[):.=-](?=\s)")
_OPTION_A = re.compile(r"\b(?:option|letter)\s$", re.IGNORECASE)
_FAVOURED = re.compile(
    rf"{_NOT_WORD}(?:{_OPTION})?{_LETTER}\s(?:is|seems|appears|looks|fits|would be|matches)\s(?:to be\s)?(?:the\s"
    rf"|my\s)?"
    r"(?:most|best|correct|right|likely|likeliest|answer|closest|better)\b(?!\sun)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[\s*(\[\"'`]*([A-Za-z])[\s*)\]\"'`.:]*")
_KEY = re.compile(r"(?:answer|choice|option|letter|purpose|selection|response|result)$")


def read(reply: Reply, question: Question) -> Answer:
    """Read a letter, upper case."""
    screened = screen(reply)
    if isinstance(screened, Answer):
        return screened
    plain = _PLAIN.fullmatch(screened.text)
    if plain:
        return _judge(screened, plain.group(1).upper(), question)
    if not screened.text:
        return screened.answer("no_answer", None, "no visible text")
    if has_disclaimer(screened.text):
        screened.flags.add("safety_disclaimer")
    values, rest, broken = extract(screened.text)
    text = _OFFERED.sub(" ", undress(rest)).strip()
    letters = [letter for value in values for letter in _members(value)] + list(_letters(text, screened))
    if broken or any(letter == "" for letter in letters):
        return screened.answer("malformed", None, "not a single letter")
    if not letters:
        return settle_unread(screened)
    if len(set(letters)) > 1:
        return screened.answer("malformed", None, "more than one letter")
    return _judge(screened, letters[0], question)


def _judge(screened: Screened, letter: str, question: Question) -> Answer:
    if ord(letter) - ord("A") >= question.options:
        return screened.answer("malformed", None, f"{letter} is not one of the {question.options} options")
    return screened.answer("answered", letter)


def _letters(text: str, screened: Screened) -> Iterator[str]:
    """The letters a text commits to, an empty string standing for several at once."""
    head = _HEAD.match(text)
    whole = head is not None and _is_letter(head, text) and not _opens_listing(text, head)
    if head and whole:
        yield head["letter"].upper()
    last = _LAST.search(text, max(0, len(text) - 60))
    if last and _is_letter(last, text):
        yield last["letter"].upper()
    for match in chain(_COMMIT.finditer(text), _FAVOURED.finditer(text)):
        if _is_letter(match, text) and not _NEGATED.search(
            text, max(0, match.start("letter") - 50), match.start("letter")
        ):
            yield match["letter"].upper()
            if _is_one_of_several(text, match.start("letter")):
                yield ""
    if head and whole and _is_one_of_several(text, head.start("letter")):
        yield ""
    if screened.cut and len(text) > 12 and "\n" not in text:
        yield ""


def _opens_listing(text: str, head: re.Match[str]) -> bool:
    """Whether the letter at the head is the first of the options repeated: "A) ... B) ..."."""
    following = _MARKER.search(text, head.end("letter"))
    return following is not None and ord(following[1]) == ord(head["letter"].upper()) + 1


def _is_one_of_several(text: str, place: int) -> bool:
    return any(
        place in {match.start("first"), match.start("second"), match.start("third")}
        and match["first"].upper() != (match["second"] or match["third"]).upper()
        for match in _SEVERAL.finditer(text, max(0, place - 12), place + 24)
    )


def _is_letter(match: re.Match[str], text: str) -> bool:
    """Whether a lone letter is a label: not the article, not the pronoun, and lower case only under a label."""
    letter, start, end = match["letter"], match.start("letter"), match.end("letter")
    if _OPTION_A.search(text, max(0, start - 10), start):
        return True
    marked = (end < len(text) and text[end] in ")]}\"'.:") or (start > 0 and text[start - 1] in "([{\"'")
    following = text[end : end + 30].lstrip(" ")
    if letter in "Aa" and following[:1].isalpha() and text[end : end + 1] == " ":
        return (
            re.match(r"(?:because|since|as|given|is|based|due|seems|appears)\b", following) is not None
            and letter == "A"
        )
    if letter in "Ii":
        return marked or not following
    return letter.isupper() or marked or not following[:1].isalpha()


def _members(value: Any) -> Iterator[str]:
    """The letters under the names of an answer in a JSON object, or of its only member."""
    if not isinstance(value, dict):
        return
    members = cast("dict[str, Any]", value)
    named = [item for key, item in members.items() if _KEY.search(key.lower())] or (
        list(members.values()) if len(members) == 1 else []
    )
    for item in named:
        match = _HEAD.match(item[:200]) if isinstance(item, str) else None
        yield match["letter"].upper() if match and isinstance(item, str) and _is_letter(match, item) else ""


FORMAT = Format("purpose_choice", read, choice=True)
