"""One request and what came of it, and how it is written in a row of the ledger."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from evenhand.formats.types import Reply, ToolCall

COLUMNS = (
    *(
        "unit",
        "respondent",
        "epoch",
        "attempt",
        "cause",
        "session",
        "started",
        "latency",
        "request",
        "status",
        "reason",
    ),
    *("reply", "stop_reason", "usage", "model_version", "error_class", "error", "backend", "reply_id", "sent"),
    *("wire_request", "wire_response", "deviations"),
)
"""The columns of an attempt's row, in order."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request and what came of it.

    Attributes:
        unit: `{arm}/{unit_id}`.
        respondent: The respondent's id.
        epoch: The repetition, from 1.
        attempt: Counts every request of this unit, respondent and epoch, from 1.
        cause: first, malformed (the reply before could not be read) or transport (the request before failed).
        started: When it was sent, ISO 8601 in UTC.
        latency: Seconds until the reply.
        request: What was asked for: prompt, settings, seed, tools.
        status: How the reply was read when it arrived; analyses read it again.
        reason: Why it was not answered.
        reply: The raw reply, or None where there was none.
        usage: Tokens as the provider counted them.
        model_version: What the provider says it served.
        error_class: The exception's class, where the request failed.
        error: Its message.
        backend: Who served it, where the provider tells.
        reply_id: The provider's id of the reply.
        sent: The sampling settings really sent, where the provider's client shows them.
        wire_request: The body that was sent, without headers.
        wire_response: The body that came back.
        deviations: Where the call parted from what was asked for.
    """

    unit: str
    respondent: str
    epoch: int
    attempt: int
    cause: str
    started: str
    latency: float
    request: dict[str, Any]
    status: str
    reason: str
    reply: Reply | None = None
    usage: dict[str, Any] | None = None
    model_version: str | None = None
    error_class: str | None = None
    error: str | None = None
    backend: str | None = None
    reply_id: str | None = None
    sent: dict[str, Any] | None = None
    wire_request: dict[str, Any] | None = None
    wire_response: dict[str, Any] | None = None
    deviations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit stands with a respondent: its last attempt and how many came before."""

    attempts: int
    malformed_retries: int
    status: str


def as_row(attempt: Attempt, session: int) -> tuple[Any, ...]:
    """An attempt as the cells of `COLUMNS`."""
    reply = attempt.reply
    return (
        *(attempt.unit, attempt.respondent, attempt.epoch, attempt.attempt, attempt.cause, session),
        *(attempt.started, attempt.latency, as_json(attempt.request), attempt.status, _storable(attempt.reason)),
        as_json(asdict(reply)) if reply else None,
        reply.stop_reason if reply else None,
        *(_cell(attempt.usage), _storable(attempt.model_version), attempt.error_class, _storable(attempt.error)),
        *(_storable(attempt.backend), _storable(attempt.reply_id), _cell(attempt.sent)),
        *(_cell(attempt.wire_request), _cell(attempt.wire_response)),
        as_json(attempt.deviations) if attempt.deviations else None,
    )


def as_json(content: object) -> str:
    """JSON in ASCII, so that lone surrogates in a model's text survive; what JSON does not know becomes its text.

    A provider's NaN becomes text too: SQLite reads the cell again, and has no word for it.
    """
    try:
        return json.dumps(content, sort_keys=True, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(json.loads(json.dumps(content, default=str))), sort_keys=True)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_finite(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def parse_reply(text: str) -> Reply:
    """A reply from its cell."""
    record: dict[str, Any] = json.loads(text)
    record["tool_calls"] = tuple(ToolCall(**call) for call in record["tool_calls"])
    record["content"] = tuple(record["content"])
    return Reply(**record)


def _cell(content: object) -> str | None:
    return None if content is None else as_json(content)


def _storable(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")
