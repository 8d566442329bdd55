"""Function calls: finding ours among those of a reply, and reading its arguments.

Arguments are read by exact names first. Beyond them stand only the strict readings of what servers do to
arguments: numbers as strings, an object encoded twice, one wrapper around it. A call that the provider layer
could not parse is never mended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from evenhand.formats.embedded import DECODER, RepeatedKeyError, decode
from evenhand.formats.polarity import stance
from evenhand.formats.refusals import has_disclaimer
from evenhand.formats.screening import Screened, screen
from evenhand.formats.singles import settle_unread
from evenhand.formats.textual_calls import textual_calls
from evenhand.formats.types import Answer, Question, Reply, ToolCall

MOST_CALLS = 50
LONGEST_ARGUMENTS = 20_000

_NAME = re.compile(r"\s*(?:functions?[.:]|default_api\.|tools?\.)?([\w.-]*?)(?::\d{1,3})?\s*")
_WRAPPERS = frozenset(
    {
        "arguments",
        "args",
        "parameters",
        "params",
        "input",
        "kwargs",
        "properties",
        "tool_input",
        "function_args",
        "data",
    }
)


@dataclass(frozen=True, slots=True)
class Tool:
    """What the two tool formats differ in.

    Attributes:
        function: The function's name.
        value: The answer that a mapping of arguments holds, or None.
        judge: Turns the one answer found into an `Answer`.
    """

    function: str
    value: Callable[[Mapping[str, Any], Question], Any]
    judge: Callable[[Screened, Any, Question], Answer]


def read_call(reply: Reply, question: Question, tool: Tool) -> Answer:
    """Read a reply that should be a function call."""
    screened = screen(reply)
    if isinstance(screened, Answer):
        return screened
    text = screened.text
    if text and has_disclaimer(text):
        screened.flags.add("safety_disclaimer")
    calls = _calls(reply)
    if calls is None:
        return screened.answer("malformed", None, "too many function calls for a decision")
    ours = [call for call in calls if _is_named(call.function, tool.function)]
    if ours:
        if len(ours) < len(calls):
            screened.flags.add("other_calls")
        screened.flags.discard("reasoning_only")
        return _settle(screened, reply, ours, question, tool)
    if calls:
        return screened.answer("malformed", None, "calls another function")
    if reply.stop_reason == "unknown" and not text:  # how a provider layer hands over a call it could not read
        screened.flags.add("serving_fault")
    if "serving_fault" in screened.flags:
        return screened.answer("malformed", None, "the provider could not read the function call")
    written = textual_calls(text, tool.function) if text else []
    if written is None or written:
        screened.flags.add("text_tool_call")
        values = [tool.value(arguments, question) for arguments in written or [{}]]
        return _agree(screened, values, question, tool)
    answer = settle_unread(screened)
    return answer if answer.status != "malformed" else screened.answer("malformed", None, "no function call")


def _calls(reply: Reply) -> list[ToolCall] | None:
    calls: Any = reply.tool_calls
    if not isinstance(calls, list | tuple):
        return []
    found = [call for call in islice(cast("list[Any]", calls), MOST_CALLS + 1) if isinstance(call, ToolCall)]
    return found if len(found) <= MOST_CALLS else None


def _is_named(said: Any, function: str) -> bool:
    """Whether a name is our function's, once leaked control tokens and namespaces are cut off."""
    if not isinstance(said, str) or len(said) > 300:
        return False
    match = _NAME.fullmatch(said.split("<", 1)[0].split("｜", 1)[0])
    return match is not None and match.group(1) == function


def _settle(screened: Screened, reply: Reply, ours: list[ToolCall], question: Question, tool: Tool) -> Answer:
    if any(call.parse_error for call in ours):
        return screened.answer("malformed", None, "arguments that could not be parsed")
    values = [_value(call.arguments, question, tool) for call in ours]
    if len(ours) == 1 and not _is_as_sent(values[0], reply.metadata, question, tool):
        return screened.answer("malformed", None, "arguments that say two things")
    answer = _agree(screened, values, question, tool)
    if answer.status == "answered" and answer.value in {0, 1} and stance(screened.text) == 1 - answer.value:
        screened.flags.add("text_disagrees")
        return screened.answer("answered", answer.value)
    return answer


def _agree(screened: Screened, values: list[Any], question: Question, tool: Tool) -> Answer:
    if any(value is None for value in values):
        return screened.answer("malformed", None, "arguments that do not answer")
    if any(value != values[0] for value in values):
        return screened.answer("malformed", None, "calls that contradict each other")
    return tool.judge(screened, values[0], question)


def _value(arguments: Any, question: Question, tool: Tool) -> Any:
    """The answer that arguments hold, after at most one decoding and one wrapper."""
    members = _mapping(arguments, question)
    if members is None:
        return None
    value = tool.value(members, question)
    if value is not None or len(members) != 1:
        return value
    key, wrapped = next(iter(members.items()))
    # Servers put whole arguments under a wrapper of their own, or under the first argument's name.
    if key.lower() in _WRAPPERS or key in {tool.function, "decision", "rank_1", f"rank_of_{question.label}_1"}:
        inner = _mapping(wrapped, question)
        return None if inner is None else tool.value(inner, question)
    return None


def _mapping(value: Any, question: Question) -> Mapping[str, Any] | None:
    """A value as a mapping of arguments, decoded where it is a string; None where it cannot be one."""
    if isinstance(value, str):
        value = _decoded(value)
    if not isinstance(value, Mapping):
        return None
    members = cast("Mapping[Any, Any]", value)
    if len(members) > 4 * question.slots + 20 or not all(isinstance(key, str) for key in members):
        return None
    return members


def _decoded(text: str) -> Any:
    if len(text) > LONGEST_ARGUMENTS:
        return None
    try:
        value = decode(text.strip())
        return decode(value.strip()) if isinstance(value, str) else value
    except ValueError:
        return None


def _is_as_sent(value: Any, metadata: Any, question: Question, tool: Tool) -> bool:
    """Whether the arguments as sent, where they were kept, are one whole object that says the same value.

    Some servers close an object that was cut off, or fill in what it lacks: nobody said that.
    """
    if not isinstance(metadata, Mapping):
        return True
    wire = cast("Mapping[str, Any]", metadata).get("wire_arguments")
    if not isinstance(wire, str) or len(wire) > LONGEST_ARGUMENTS:
        return True
    said = wire.strip()
    if not said.startswith("{"):
        return True
    try:
        sent, end = DECODER.raw_decode(said)
    except RepeatedKeyError:
        return False
    except (ValueError, RecursionError):
        return said.rstrip("\"' ").endswith("}")
    return "{" not in said[end:] and _value(sent, question, tool) == value
