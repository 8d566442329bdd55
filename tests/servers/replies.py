"""The bodies of an OpenAI-compatible server."""

from __future__ import annotations

import time
import uuid
from typing import Any


def prompt_of(request: dict[str, Any]) -> str:
    """The text of the last message of a request to chat completions or responses."""
    messages = request.get("messages") or request.get("input") or [{"content": ""}]
    if isinstance(messages, str):
        return messages
    content = messages[-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def usage_of(request: dict[str, Any], said: str, **details: int) -> dict[str, Any]:
    """Four characters a token."""
    read = len(prompt_of(request)) // 4 + sum(len(str(tool)) // 4 for tool in request.get("tools") or ())
    written = max(1, len(said) // 4)
    usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if details:
        usage["completion_tokens_details"] = details
    return usage


def completion(request: dict[str, Any], said: str | None, **changes: Any) -> dict[str, Any]:
    """A chat completion; `message`, `finish_reason`, `usage` and top-level keys can be changed."""
    message = {"role": "assistant", "content": said, "refusal": None, **changes.pop("message", {})}
    finish = changes.pop("finish_reason", "tool_calls" if message.get("tool_calls") else "stop")
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": "faulty-1",
        "system_fingerprint": "fp_test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": usage_of(request, said or ""),
        **changes,
    }


def tool_call(request: dict[str, Any], arguments: Any, name: str | None = None) -> dict[str, Any]:
    """The message of a call to the function that the request forces, or the first it offers."""
    choice = request.get("tool_choice")
    forced = choice["function"]["name"] if isinstance(choice, dict) else request["tools"][0]["function"]["name"]
    function = {"name": name or forced, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def error(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """An error as OpenAI words it."""
    return {"error": {"message": message, "type": f"error_{status}", "param": None, "code": code}}
