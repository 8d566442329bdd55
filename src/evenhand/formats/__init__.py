"""Formats: how an answer is asked for, and how a reply is read as a careful human coder would.

One module per format, one interface (`Format`): its example, its tools if any, its reading of a reply. A
reply is screened first (errors, blocks, reasoning), then read; an unambiguous answer is taken as it stands,
anything else is a status of its own. No reply makes a reader raise.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from string import ascii_lowercase
from typing import TYPE_CHECKING

from evenhand.errors import InputError
from evenhand.formats.records import reply_from_record
from evenhand.formats.types import Answer, Format, Question, Reply, Status, ToolCall, ToolSpec, Value
from evenhand.formats.wording import LARGEST, NUMBER_WORDS, fill

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FORMATS",
    "OPTIONS",
    "Answer",
    "Reply",
    "Status",
    "ToolCall",
    "ToolSpec",
    "Value",
    "instruction",
    "is_bundle",
    "is_choice",
    "is_probe",
    "read",
    "reply_from_record",
    "tools",
]

FORMATS = (
    "rate",
    "decide",
    "rank",
    "rank_ties",
    "allocate",
    "tool_decide",
    "tool_rank",
    "purpose_choice",
    "purpose_open",
)
"""The names of the formats, each a module here that is imported when it is first asked for."""


OPTIONS = 5
"""How many options a choice offers where nothing else is said."""


def read(
    format: str,
    reply: Reply,
    *,
    slots: int = 1,
    options: int = OPTIONS,
    total: int = 10_000,
    label: str = "application",
    scale: tuple[int, int] = (1, 5),
) -> Answer:
    """Read a reply.

    Args:
        format: One of `FORMATS`.
        reply: The reply, in our own words.
        slots: How many applications were shown: 1 for rate, decide and tool_decide, 2 to 12 for bundles;
            of no consequence to the two purpose formats.
        options: How many options a choice offered, 2 to 26.
        total: What an allocation must sum to.
        label: What the pack calls an application; names the arguments of tool_rank.
        scale: The lowest and highest rating.

    Raises:
        InputError: Wrong use (an unknown format, impossible slots); never because of the reply.
    """
    return _format(format).read(reply, _question(format, slots, options, total, label, scale))


@lru_cache(maxsize=256)
def _question(format: str, slots: int, options: int, total: int, label: str, scale: tuple[int, int]) -> Question:
    """What was asked, checked once for all replies to it."""
    _check_slots(_format(format), slots)
    if not 2 <= options <= 26 or total < 1 or not 0 <= scale[0] < scale[1]:
        raise InputError(
            f"impossible question (options {options}, total {total}, scale {scale})",
            where=format,
            mend="Use 2 to 26 options, a positive total and a rising scale",
        )
    return Question(slots, options, total, label, scale)


def instruction(
    format: str,
    template: str,
    *,
    slots: int = 1,
    total: int = 10_000,
    label: str = "application",
    options: Sequence[str] = (),
) -> str:
    """Fill a pack's wording.

    Args:
        format: One of `FORMATS`.
        template: The wording, with any of `{number}` (four), `{n}` (4), `{example}` (the worked example, where
            the format has one), `{total}` (10,000), `{label}` (application) and `{options}` ((a) ..., (b) ...).
        slots: How many applications are shown.
        total: What an allocation must sum to.
        label: What the pack calls an application.
        options: What a choice offers, in the order shown.

    Raises:
        InputError: An unknown format or placeholder, or impossible slots.
    """
    chosen = _format(format)
    _check_slots(chosen, slots)
    values = {"n": str(slots), "total": f"{total:,}", "label": label}
    if options:
        lettered = zip(ascii_lowercase, options, strict=False)
        values["options"] = ", ".join(f"({letter}) {option}" for letter, option in lettered)
    if slots <= LARGEST:
        values["number"] = NUMBER_WORDS[slots - 1]
    if chosen.example and "{example}" in template:
        values["example"] = chosen.example(slots, total)
    return fill(template, values, where=format)


def tools(format: str, *, slots: int = 1, label: str = "application") -> tuple[ToolSpec, ...]:
    """The functions a format offers to the model; empty for formats answered in text.

    Raises:
        InputError: An unknown format, or impossible slots.
    """
    chosen = _format(format)
    _check_slots(chosen, slots)
    return chosen.tools(Question(slots=slots, label=label)) if chosen.tools else ()


def is_bundle(format: str) -> bool:
    """Whether a format asks about several applications at once."""
    return _format(format).bundle


def is_choice(format: str) -> bool:
    """Whether a format offers lettered options."""
    return _format(format).choice


def is_probe(format: str) -> bool:
    """Whether a format asks what another unit's request was for."""
    return format.startswith("purpose_")


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise InputError(f"unknown format {name!r}", where="formats", mend=f"Use one of {', '.join(FORMATS)}")
    return _load(name)


@lru_cache(maxsize=len(FORMATS))
def _load(name: str) -> Format:
    return import_module(f"evenhand.formats.{name}").FORMAT


def _check_slots(chosen: Format, slots: int) -> None:
    if chosen.bundle:
        possible, mend = 2 <= slots <= LARGEST, f"Use 2 to {LARGEST}"
    else:
        possible, mend = slots == 1 or (chosen.name.startswith("purpose") and slots > 0), "Use 1"
    if not possible:
        raise InputError(f"{slots} slots are impossible", where=chosen.name, mend=mend)
