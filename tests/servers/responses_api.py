"""The Responses API: every completion, sound or broken, in its form."""

from __future__ import annotations

import json
import uuid
from typing import Any

REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}


def in_form(body: bytes) -> bytes:
    """A body of chat completions as the Responses API would give it; what is no completion stays."""
    try:
        said = json.loads(body)
    except ValueError:
        return body
    return json.dumps(response(said)).encode() if isinstance(said, dict) and "choices" in said else body


def response(said: dict[str, Any]) -> dict[str, Any]:
    """A completion as a response."""
    choice = said["choices"][0] if said["choices"] else {"message": {}, "finish_reason": "stop"}
    reason = REASONS.get(choice["finish_reason"])
    return {
        "id": said["id"].replace("chatcmpl-", "resp_"),
        "object": "response",
        "created_at": said["created"],
        "model": said["model"],
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "output": _items(choice["message"]),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(said["usage"]),
    }


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    blocks = (
        content if isinstance(content, list) else [{"type": "text", "text": content}] if content is not None else []
    )
    parts = [
        {"type": "output_text", "text": block["text"], "annotations": []} for block in blocks if block["type"] == "text"
    ]
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    said = {"type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant", "status": "completed"}
    calls = [
        {"type": "function_call", "id": f"fc_{call['id']}", "call_id": call["id"], "status": "completed"}
        | call["function"]
        for call in message.get("tool_calls") or ()
    ]
    return [*([said | {"content": parts}] if parts else []), *calls]


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    thought = usage.get("completion_tokens_details", {}).get("reasoning_tokens", 0)
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": usage["total_tokens"],
    }
