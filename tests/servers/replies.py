"""The bodies of an OpenAI-compatible server."""

from __future__ import annotations

import json
import time
import uuid
from typing import Any


def prompt_of(request: dict[str, Any]) -> str:
    """The text of the last user message of a request to chat completions or responses."""
    messages = request.get("messages") or request.get("input") or [{"content": ""}]
    if isinstance(messages, str):
        return messages
    content = next((each for each in reversed(messages) if each.get("role") == "user"), messages[-1]).get("content")
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def usage_of(request: dict[str, Any], said: str, **details: int) -> dict[str, Any]:
    """Four characters a token."""
    read = len(prompt_of(request)) // 4 + sum(len(str(tool)) // 4 for tool in request.get("tools") or ())
    written = max(1, len(said) // 4)
    usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if details:
        usage["completion_tokens_details"] = details
    return usage


def reply_to(request: dict[str, Any], said: Any, **changes: Any) -> dict[str, Any]:
    """What is said, as a completion; a mapping is the arguments of a tool call where there are tools."""
    if not isinstance(said, dict):
        return completion(request, said, **changes)
    if not request.get("tools"):
        return completion(request, json.dumps(said), **changes)
    message = tool_call(request, json.dumps(said)) | changes.pop("message", {})
    return completion(request, None, message=message, **changes)


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
        "usage": usage_of(request, said if isinstance(said, str) else ""),
        **changes,
    }


def tool_call(request: dict[str, Any], arguments: Any, name: str | None = None) -> dict[str, Any]:
    """The message of a call to the function that the request forces, or the first it offers."""
    choice = request.get("tool_choice")
    tool = choice if isinstance(choice, dict) else request["tools"][0]
    forced = tool.get("function", tool)["name"]
    function = {"name": name or forced, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


def error(status: int, message: str, code: str | None = None) -> dict[str, Any]:
    """An error as OpenAI words it."""
    return {"error": {"message": message, "type": f"error_{status}", "param": None, "code": code}}


def holds_answer(body: bytes) -> bool:
    """Whether a body is a completion with something in it that a client can read."""
    try:
        message = json.loads(body)["choices"][0]["message"]
    except (ValueError, LookupError, TypeError):
        return False
    calls = message.get("tool_calls") or ()
    return bool(message.get("content")) or any(isinstance(call["function"]["arguments"], str) for call in calls)


def answer_in_form(request: dict[str, Any]) -> str:
    """An answer that every format of FairFund-Bench reads."""
    prompt = prompt_of(request)
    words = {"two": 2, "three": 3, "four": 4, "five": 5}
    slots = next((n for word, n in words.items() if prompt.startswith(f"Below are {word} ")), 1)
    if slots == 1:
        return str(1 + sum(map(ord, prompt)) % 5)
    if "You have $10,000" in prompt:
        return ", ".join(str(10_000 // slots + (10_000 % slots if i == 0 else 0)) for i in range(slots))
    return ", ".join(str(i) for i in range(1, slots + 1))
