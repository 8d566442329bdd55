"""Replies from flat records: one JSON object a reply, as a log or a hand-written file holds them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from evenhand.formats.types import Reply, ToolCall

MOST_BLOCKS = 1_000
"""How many blocks or calls of one reply are looked at: a short decision has a few."""


def reply_from_record(record: Mapping[str, Any]) -> Reply:
    """Make a `Reply` of a flat record; odd shapes are taken as absent, and nothing raises.

    Args:
        record: `text`, `stop_reason`, `content`, `reasoning`, `tool_calls`, `error`, `stop_details`,
            `metadata`, and `wire_arguments` (the arguments as they came over the wire, kept in the metadata).
    """
    if not isinstance(record, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] (untrusted)
        return Reply()
    metadata = _mapping(record.get("metadata"))
    if "wire_arguments" in record:
        metadata["wire_arguments"] = record["wire_arguments"]
    text, content = record.get("text"), record.get("content")
    if not isinstance(text, str) and not isinstance(content, list | tuple):
        text, content = content, text  # some records put blocks in `text`, or text in `content`
    return Reply(
        text=_text(text),
        stop_reason=_text(record.get("stop_reason")) or "stop",
        content=tuple(_block(block) for block in _items(cast("object", content))),
        reasoning=_text(record.get("reasoning")),
        tool_calls=tuple(_call(call) for call in _items(record.get("tool_calls"))),
        error=_fault(record.get("error")),
        stop_details=record.get("stop_details"),
        metadata=metadata,
    )


def _call(record: Any) -> ToolCall:
    call = _mapping(record)
    function = call.get("function", call.get("name"))
    if isinstance(function, Mapping):  # the shape of the OpenAI wire
        call = {**call, **_mapping(cast("object", function))}
        function = call.get("name")
    return ToolCall(
        function=_text(function),
        arguments=call.get("arguments", {}),
        parse_error=_fault(call.get("parse_error")),
    )


def _block(value: object) -> dict[str, Any]:
    return {"type": "text", "text": value} if isinstance(value, str) else _mapping(value)


def _fault(value: object) -> str | None:
    if value is None or value is False or value == "":
        return None
    if isinstance(value, Mapping):
        value = cast("Mapping[Any, Any]", value).get("message")
    return value[:2_000] if isinstance(value, str) and value else "unreadable error"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    return {key: item for key, item in cast("Mapping[Any, Any]", value).items() if isinstance(key, str)}


def _items(value: object) -> list[Any]:
    if not isinstance(value, list | tuple):
        return []
    return list(islice(cast("list[Any]", value), MOST_BLOCKS))
