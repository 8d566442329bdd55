"""From Inspect's model output to our own `Reply`, which knows no provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.formats.types import Reply, ToolCall

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput


def reply_of(output: ModelOutput) -> Reply:
    """What a model output says, in our words.

    Args:
        output: As Inspect hands it over; one without choices gives an empty reply.
    """
    if not output.choices:
        return Reply(stop_reason="unknown", error=output.error, metadata=dict(output.metadata or {}))
    choice = output.choices[0]
    message = choice.message
    blocks: tuple[dict[str, Any], ...] = ()
    if not isinstance(message.content, str):
        blocks = tuple(block.model_dump(mode="json", exclude_none=True) for block in message.content)
    return Reply(
        text=message.text,
        stop_reason=choice.stop_reason,
        content=blocks,
        reasoning="\n".join(block["reasoning"] for block in blocks if block.get("type") == "reasoning"),
        tool_calls=tuple(
            ToolCall(call.function, call.arguments, call.parse_error) for call in message.tool_calls or ()
        ),
        error=output.error,
        stop_details=choice.stop_details.model_dump(mode="json") if choice.stop_details else None,
        metadata=dict(output.metadata or {}),
    )
