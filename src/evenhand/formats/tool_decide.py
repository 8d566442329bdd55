"""`tool_decide`: one application, answered by calling `submit_decision` with one integer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.formats.calls import Tool, read_call
from evenhand.formats.numerals import whole
from evenhand.formats.types import Answer, Format, Question, Reply, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.formats.screening import Screened

FUNCTION = "submit_decision"
ARGUMENT = "decision"


def read(reply: Reply, question: Question) -> Answer:
    """Read a decision: 1 for yes, 0 for no."""
    return read_call(reply, question, _TOOL)


def tools(question: Question) -> tuple[ToolSpec, ...]:
    """The function offered."""
    return (
        ToolSpec(
            FUNCTION,
            f"Submit the decision on this {question.label}.",
            {
                "type": "object",
                "properties": {ARGUMENT: {"type": "integer", "description": "1 for yes or 0 for no"}},
                "required": [ARGUMENT],
                "additionalProperties": False,
            },
        ),
    )


def _value(arguments: Mapping[str, Any], question: Question) -> int | None:  # noqa: ARG001 (one signature for both)
    return whole(arguments.get(ARGUMENT))


def _judge(screened: Screened, value: int, question: Question) -> Answer:  # noqa: ARG001 (one signature for both)
    if value not in {0, 1}:
        return screened.answer("malformed", None, f"{value} is neither 1 nor 0")
    return screened.answer("answered", value)


_TOOL = Tool(FUNCTION, _value, _judge)

FORMAT = Format("tool_decide", read, tools=tools)
