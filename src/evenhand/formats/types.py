"""The types that pass through this room: a `Reply` comes in, an `Answer` goes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

Status = Literal["answered", "refused", "malformed", "no_answer", "error"]
"""What became of one reply. `missing` (no reply at all) is a status of outcomes, not of answers."""

REPLY_STATUSES: tuple[str, ...] = get_args(Status)
"""Every status of an answer."""

STATUSES: tuple[str, ...] = (*REPLY_STATUSES, "missing")
"""Every status of the outcomes: those of answers, and `missing`."""

Value = int | tuple[int, ...] | str | None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One function call as a provider layer hands it over.

    Attributes:
        function: The name of the function called, untouched.
        arguments: The arguments: usually a mapping, but some servers leave a string or a list.
        parse_error: What the provider layer said when it could not read the arguments.
    """

    function: str
    arguments: Any = field(default_factory=dict[str, Any])
    parse_error: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply in our own neutral words, so that formats know no provider.

    Attributes:
        text: The visible text, all text blocks joined.
        stop_reason: stop, max_tokens, model_length, tool_calls, content_filter or unknown.
        content: The reply's blocks in order, as mappings with a `type`; empty where text is all there is.
        reasoning: The reasoning trace, where the provider gives it apart from the text.
        tool_calls: The function calls.
        error: The provider layer's error message, where the reply is one.
        stop_details: What the provider said about the stop (a refusal's category, for example).
        metadata: Whatever else the provider layer noted.
    """

    text: str = ""
    stop_reason: str = "stop"
    content: tuple[dict[str, Any], ...] = ()
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    error: str | None = None
    stop_details: Any = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a careful coder makes of one reply.

    Attributes:
        status: One of `Status`.
        value: An integer, a tuple of integers (one a slot), a letter, a text, or None. A malformed reply
            has a value only where its flags say what it is (a tie under a strict ranking).
        reason: In a few words why the status is not `answered`; empty otherwise.
        flags: Sorted marks that do not decide the status (tied, truncated, safety_disclaimer, ...).
    """

    status: Status
    value: Value = None
    reason: str = ""
    flags: tuple[str, ...] = ()

    @property
    def coded(self) -> Value:
        """The value that counts as an answer: None unless the status is `answered`.

        Analyses that readmit ties read `value`; whoever prints or tabulates answers reads this.
        """
        return self.value if self.status == "answered" else None


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, as far as reading the reply needs it.

    Attributes:
        slots: How many applications were shown: 1 for singles, 2 to 12 for bundles.
        options: How many options a choice offered (A, B, ...).
        total: What the amounts of an allocation must sum to.
        label: What the applications are called in the prompt ("application", "request").
        scale: The lowest and highest rating.
    """

    slots: int = 1
    options: int = 5
    total: int = 10_000
    label: str = "application"
    scale: tuple[int, int] = (1, 5)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A function offered to the model.

    Attributes:
        name: The function's name.
        description: What the model is told it does.
        parameters: JSON schema of its arguments (an object).
    """

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """One way of asking: every module of a format ends in one of these.

    Attributes:
        name: The format's name.
        read: Reads a reply; never raises on one.
        bundle: Whether it asks about several applications at once.
        choice: Whether it asks for one of several options.
        example: The worked example of its instruction at (slots, total), where it has one.
        tools: The functions it offers, where it does.
    """

    name: str
    read: Callable[[Reply, Question], Answer]
    bundle: bool = False
    choice: bool = False
    example: Callable[[int, int], str] | None = None
    tools: Callable[[Question], tuple[ToolSpec, ...]] | None = None
