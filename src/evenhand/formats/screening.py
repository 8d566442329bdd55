"""What is decided before a reply is read: errors, blocks, and which of its text was meant to be seen."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast
from unicodedata import category

from evenhand.formats.reasoning import strip
from evenhand.formats.records import MOST_BLOCKS
from evenhand.formats.types import Answer, Reply, Status, Value

LONGEST = 16_000
"""Characters of text looked at, some 4,000 tokens: longer text is read at its two ends."""

_UNREADABLE = "□"  # stands for an end without white space, which is no decision but is not nothing

_ERROR_TEXT = re.compile(
    r"\s*(?:error(?: code)?\s*:|error(?: code)?\s*[45]\d\d\b|(?:an? )?(?:internal server error|bad gateway"
    r"|gateway time-?out|service (?:temporarily )?unavailable|too many requests"
    r"|(?:upstream |gateway )?request (?:timed out|time-?out)"
    r"|upstream (?:connect )?error|connection (?:error|reset|refused|aborted|timed out)|rate limit (?:exceeded|reached)"
    r"|quota exceeded|context length exceeded|(?:the )?(?:server|engine|model) is (?:currently )?overloaded)\b"
    r"(?=\s*(?:$|[^\w\s])|\s(?:occurred|while|for|from|after|response|error|please)\b)"
    r"|[45]\d\d (?:bad|internal|service|gateway|too|payment|unauthori|forbidden|not found)"
    r"|<(?:!doctype )?html\b|(?:http|status)(?:/\d\.\d| status| code)?:?\s*[45]\d\d\b"
    r"|\{\s*['\"](?:error|detail)['\"]|(?:\w+\.)?(?:api|rate_?limit|timeout|bad_?request|internal_?server)\w*error\b)",
    re.IGNORECASE,
)
_BLANK = string.whitespace + "".join(
    chr(code) for code in range(0x80, 0x10000) if chr(code).isspace() or category(chr(code)) == "Cf"
)
"""What shows nothing: white space, marks of direction and joining."""
_DIGITS = frozenset("0123456789")
_PLACEHOLDERS = frozenset({"(no content)", "[no content]", "(no response)", "(empty)", "no content"})
_SERVING_FAULTS = (
    "i seem to have had trouble calling a function",
    "i attempted to call a function but produced",
    "malformed function call",
)
_BLOCKED = re.compile(r"\s*blocked:\s*\S+", re.IGNORECASE)
_BLOCKING_STOPS = frozenset({"refusal", "content_filter", "safety", "blocked", "prohibited_content", "recitation"})


@dataclass(slots=True)
class Screened:
    """The text meant to be seen, and what was noticed on the way.

    Attributes:
        text: The text without reasoning; empty where there is none.
        flags: Marks so far.
        marked: Whether the provider marked a block of text as a refusal without saying so anywhere else.
        cut: Whether the reply was cut off by its token limit.
        long: Whether the text is longer than is read in full.
    """

    text: str
    flags: set[str]
    marked: bool = False
    cut: bool = False
    long: bool = False

    def answer(self, status: Status, value: Value = None, reason: str = "") -> Answer:
        """An answer that carries the flags."""
        return Answer(status, value, reason, tuple(sorted(self.flags)) if self.flags else ())


def screen(reply: Reply) -> Screened | Answer:
    """Settle what needs no reading, stop reason first, and find the visible text.

    Returns:
        An answer where the reply is an error or was blocked, else what is left to read.
    """
    stop = reply.stop_reason
    if reply.error:
        return Answer("error", None, "the provider reported an error")
    if stop == "content_filter" or _is_block(reply.stop_details):
        return Answer("refused", None, "stopped by the provider's filter", ("provider_block",))
    if stop == "model_length":
        return Answer("error", None, "the prompt or reply exceeded the model's context")
    seen, marked, reasoned = _visible(reply)
    screened = Screened("", set(), marked, cut=stop == "max_tokens")
    if screened.cut:
        screened.flags.add("truncated")
    if reply.metadata and isinstance(reply.metadata, Mapping) and reply.metadata.get("tool_choice_degraded"):  # pyright: ignore[reportUnnecessaryIsInstance]
        screened.flags.add("tool_choice_degraded")
    if len(seen) > LONGEST:
        seen = _after_trace(seen)
        screened.long = len(seen) > LONGEST
        seen = _ends(seen) if screened.long else seen
    text = strip(seen).strip()
    if text and not (text[0].isascii() and text[-1].isascii()):
        text = text.strip(_BLANK)
    if text[:1] not in _DIGITS or text[3:4] == " ":  # "502 Bad Gateway"
        message = _message(text)
        if message:
            return message
        if len(text) < 20 and text.lower() in _PLACEHOLDERS:
            text = ""
    if not text and (reasoned or seen.strip()):
        screened.flags.add("reasoning_only")
    if stop == "unknown" and text[:60].lower().lstrip().startswith(_SERVING_FAULTS):
        screened.flags.add("serving_fault")
    screened.text = text
    return screened


def _message(text: str) -> Answer | None:
    """What a text says that a provider or a server wrote, not the model."""
    if _BLOCKED.match(text):
        return Answer("refused", None, "blocked by the provider", ("provider_block",))
    return Answer("error", None, "the text is an error message") if _ERROR_TEXT.match(text) else None


def _is_block(details: Any) -> bool:
    if not details:
        return False
    if isinstance(details, Mapping):
        found = cast("Mapping[str, Any]", details)
        kind, category = found.get("type"), found.get("category")
        return (isinstance(kind, str) and kind.lower() in _BLOCKING_STOPS) or (kind is None and bool(category))
    kind = getattr(details, "type", details)
    return isinstance(kind, str) and kind.lower() in _BLOCKING_STOPS


def _visible(reply: Reply) -> tuple[str, bool, bool]:
    """The visible text, whether a block is marked as a refusal, whether there is reasoning apart from it."""
    text = reply.text if isinstance(reply.text, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
    reasoned = bool(reply.reasoning)
    if not reply.content:
        return text, False, reasoned
    pieces: list[str] = []
    marked = False
    for block in _blocks(reply.content):
        kind, piece = block.get("type"), block.get("text")
        if not isinstance(kind, str):
            continue
        if kind in {"reasoning", "thinking", "redacted_thinking"}:
            reasoned = True
        elif kind in {"text", "output_text"} and isinstance(piece, str):
            pieces.append(piece)
            marked = marked or block.get("refusal") is True
        elif kind == "refusal":
            marked = True
            said = block.get("refusal")
            pieces.append(said if isinstance(said, str) else "")
    if not text.strip():
        text = "\n".join(piece for piece in pieces if piece)
    return text, marked, reasoned


def _blocks(content: Any) -> Iterable[Mapping[str, Any]]:
    if not isinstance(content, list | tuple):
        return
    for block in islice(cast("Iterable[Any]", content), MOST_BLOCKS):
        if isinstance(block, Mapping):
            yield cast("Mapping[str, Any]", block)


def _after_trace(text: str) -> str:
    """A long text from its last common closing tag on, so that a long trace does not hide a short answer."""
    return text[max(0, *(text.rfind(tag) for tag in ("</think>", "</thinking>", "[/THINK]", "</reasoning>"))) :]


def _ends(text: str) -> str:
    """Both ends of a long text, cut at white space so that no number is cut in two."""
    half = LONGEST // 2
    head, tail = text[:half], text[-half:]
    shorter = head.rsplit(None, 1)
    head = shorter[0] if len(shorter) == 2 else _UNREADABLE
    rest = tail.split(None, 1)
    tail = rest[1] if len(rest) == 2 else _UNREADABLE
    return f"{head}\n\n{tail}"
