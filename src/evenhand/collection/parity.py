"""Equal settings: what was asked of a provider, what was really sent, and where the two part.

A provider layer may drop, rename or replace a parameter without a word. So every call's wire request is held
against what was asked, and its usage against what the settings promised; what differs is named in short fixed
phrases that can be counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAMES = {
    "temperature": "temperature",
    "top_p": "top_p",
    "topp": "top_p",
    "max_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "maxoutputtokens": "max_tokens",
    "maxtokens": "max_tokens",
    "seed": "seed",
    "random_seed": "seed",
    "reasoning_effort": "reasoning",
    "reasoning": "reasoning",
    "thinking": "reasoning",
    "thinking_config": "reasoning",
    "thinkingconfig": "reasoning",
    "thinking_budget": "reasoning",
    "tool_choice": "tool_choice",
    "toolchoice": "tool_choice",
    "tool_config": "tool_choice",
    "toolconfig": "tool_choice",
    "response_format": "grammar",
    "response_schema": "grammar",
    "responseschema": "grammar",
    "grammar": "grammar",
    "guided_regex": "grammar",
    "structured_outputs": "grammar",
}
_HOLDERS = ("extra_body", "config", "generationconfig", "generation_config", "inferenceconfig", "text", "parameters")
_COMPARED = ("temperature", "top_p", "max_tokens", "seed")

FORCED = "forced"
NO_CALL = "no tool call in the reply"
BELOW = "input tokens per character under 75% of the pre-flight's median"
ABOVE = "input tokens per character over 125% of the pre-flight's median"


def sent_settings(request: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The sampling settings in a wire request, under one name each; None where the request is not known."""
    return None if request is None else dict(_settings(request))


def _settings(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in body.items():
        lowered = key.lower()
        if value is not None and lowered in _NAMES:
            yield _NAMES[lowered], value
        elif lowered in _HOLDERS and isinstance(value, dict):
            yield from _settings(value)  # pyright: ignore[reportUnknownArgumentType]
        elif lowered == "format" and isinstance(value, dict):
            yield "grammar", value


def deviations(
    asked: Mapping[str, Any],
    sent: Mapping[str, Any] | None,
    *,
    refused: Mapping[str, Any],
    usage: Mapping[str, Any] | None,
    reasoned: bool,
    degraded: bool,
) -> list[str]:
    """Where a call parted from what was asked for.

    Args:
        asked: The settings asked for.
        sent: The settings in the wire request; None where the provider does not show it.
        refused: Parameters that the provider refused at the pre-flight, with what was put in their place.
        usage: Tokens as counted by the provider.
        reasoned: Whether the reply holds a reasoning trace.
        degraded: Whether the provider layer says that the forced tool choice was not applied.
    """
    found = [_refusal(name, value) for name, value in sorted(refused.items())]
    if sent is not None:
        found += _unequal(asked, sent)
    found += _reasoning(asked, usage or {}, reasoned=reasoned)
    if degraded or (asked.get("tool_choice") == FORCED and sent is not None and not _forced(sent.get("tool_choice"))):
        found.append("tool choice not forced")
    return list(dict.fromkeys(found))


def _refusal(name: str, value: Any) -> str:
    return f"{name} refused by the provider, {'left out' if value is None else f'{value} sent instead'}"


def _unequal(asked: Mapping[str, Any], sent: Mapping[str, Any]) -> Iterator[str]:
    for name in _COMPARED:
        if name not in asked:
            continue
        if name not in sent:
            yield f"{name} not sent"
        elif sent[name] != asked[name]:
            yield f"{name} sent with another value"
    if asked.get("grammar") and "grammar" not in sent:
        yield "grammar not sent"


def _reasoning(asked: Mapping[str, Any], usage: Mapping[str, Any], *, reasoned: bool) -> Iterator[str]:
    used = reasoned or bool(usage.get("reasoning_tokens"))
    effort = asked.get("reasoning_effort")
    if asked.get("reasoning") == "off":
        if used:
            yield "reasoning used although asked to be off"
        if effort not in {None, "none"}:
            yield f"reasoning effort {effort}, not off"
    elif (effort not in {None, "none"} or asked.get("reasoning_tokens")) and not used:
        yield "reasoning asked for, none used"


def _forced(choice: Any) -> bool:
    """Whether a wire tool choice makes the model call: everything but automatic and none does."""
    if choice is None:
        return False
    return not re.search(r"\b(auto|none)\b", str(choice), re.IGNORECASE)
