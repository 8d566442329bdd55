"""One call to a model: what came of it, and the attempt that the ledger keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.collection import parity
from evenhand.collection.adapter.wire import Wire
from evenhand.collection.attempts import Attempt
from evenhand.collection.ledger import now
from evenhand.collection.monitor import is_tool_format, tokens_per_character
from evenhand.collection.replies import reply_of
from evenhand.collection.requests import shown_characters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspect_ai.model import ModelOutput

    from evenhand.collection.failures import Failure
    from evenhand.collection.monitor import Monitor
    from evenhand.formats.types import Answer, Reply
    from evenhand.instrument import Unit


@dataclass(slots=True)
class Call:
    """One request under way: what is asked, and what came of it."""

    unit: Unit
    epoch: int
    attempt: int
    cause: str
    asked: dict[str, Any]
    started: str = field(default_factory=now)
    latency: float = 0.0
    wire: Wire = field(default_factory=Wire)
    output: ModelOutput | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A call as it was read.

    Attributes:
        reply: The raw reply, where there is one.
        answer: How it was read.
        usage: Tokens as the provider counted them.
        ratio: Input tokens per character shown.
        sent: The settings really sent, where the wire shows them.
        deviations: Where the call parted from what was asked for.
    """

    reply: Reply | None
    answer: Answer | None
    usage: dict[str, Any] | None
    ratio: float | None
    sent: dict[str, Any] | None
    deviations: tuple[str, ...]

    @property
    def status(self) -> str:
        """What became of the call."""
        return self.answer.status if self.answer else "error"

    @property
    def called(self) -> bool:
        """Whether the reply holds a tool call."""
        return bool(self.reply and self.reply.tool_calls)


def read_call(call: Call, *, refused: Mapping[str, Any], monitor: Monitor, own: Sequence[str] = ()) -> Read:
    """Read what came back.

    Args:
        call: A call that has ended.
        refused: Settings that the provider refused at the pre-flight, and what was sent instead.
        monitor: What the pre-flight found.
        own: How the model is asked otherwise by its own settings.
    """
    reply = reply_of(call.output) if call.output else None
    usage = call.output.usage.model_dump(exclude_none=True) if call.output and call.output.usage else None
    ratio = tokens_per_character(usage, shown_characters(call.unit))
    sent = parity.sent_settings(call.wire.request)
    strayed: list[str] = []
    if reply:
        strayed = [*own]
        strayed += parity.deviations(
            call.asked,
            sent,
            refused=refused,
            usage=usage,
            reasoned=bool(reply.reasoning),
            degraded="tool_choice_degraded" in reply.metadata,
        )
        if is_tool_format(call.unit.format) and not reply.tool_calls:
            strayed.append(parity.NO_CALL)
        strayed += [text for text in (monitor.judge(call.unit.format, ratio) if ratio else "",) if text]
    return Read(reply, call.unit.read(reply) if reply else None, usage, ratio, sent, tuple(strayed))


def attempt_of(call: Call, read: Read, respondent: str) -> Attempt:
    """The attempt that the ledger keeps of a call."""
    failure = call.failure
    return Attempt(
        unit=call.unit.key,
        respondent=respondent,
        epoch=call.epoch,
        attempt=call.attempt,
        cause=call.cause,
        started=call.started,
        latency=call.latency,
        request={"prompt": call.unit.prompt, **call.asked},
        status=read.status,
        reason=read.answer.reason if read.answer else _failed(call),
        reply=read.reply,
        usage=read.usage,
        model_version=call.output.model if call.output else None,
        error_class=failure.error_class if failure else None,
        error=failure.message if failure else None,
        backend=call.wire.backend,
        reply_id=call.wire.reply_id,
        sent=read.sent,
        wire_request=call.wire.request,
        wire_response=call.wire.response,
        deviations=read.deviations,
    )


def _failed(call: Call) -> str:
    """Why a call failed; of a server that breaks the protocol also who it was."""
    said = str(call.failure)
    who = " ".join(str(part) for part in ((call.wire.response or {}).get("model"), call.wire.backend) if part)
    return f"{who}: {said}" if who and call.failure and call.failure.incompatible else said
