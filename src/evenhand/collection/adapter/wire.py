"""What went over the wire, taken from Inspect without its keeping it.

Inspect would keep an event of every call for as long as the process lives; an event sink of ours takes each one as it
ends, keeps the request and the response, and lets it go.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.collection.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Generator

_HEADERS = re.compile(r"headers?$|authorization|api[-_]?key", re.IGNORECASE)


@dataclass(slots=True)
class Wire:
    """One call as a provider's client sent and received it; None where the provider does not tell.

    Attributes:
        request: The body that was sent, without headers.
        response: The body that came back, an error's too.
    """

    request: dict[str, Any] | None = None
    response: dict[str, Any] | None = None

    @property
    def reply_id(self) -> str | None:
        """The provider's id of the reply."""
        return _text(self._first("id", "responseId", "response_id"))

    @property
    def backend(self) -> str | None:
        """Who served it: a router's upstream provider, the server's fingerprint."""
        parts = [self._first(key) for key in ("provider", "system_fingerprint")]
        return " ".join(part for part in parts if isinstance(part, str) and part) or None

    def _first(self, *keys: str) -> Any:
        response = self.response or {}
        return next((response[key] for key in keys if response.get(key)), None)


class _Sink:
    """Takes the event of one call."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def on_pending(self, event: Any) -> None:
        """Nothing is known yet."""

    def on_complete(self, event: Any) -> None:
        """The call ended, with a reply or an error."""
        if event.call is not None:
            self._wire.request = clean(event.call.request)
            self._wire.response = clean(event.call.response)


@contextmanager
def recording() -> Generator[Wire]:
    """Catch the wire request and response of the one call to `Model.generate` made inside."""
    from inspect_ai.model._model import use_model_event_sink

    wire = Wire()
    with use_model_event_sink(_Sink(wire)):
        yield wire


def clean(body: Any) -> dict[str, Any] | None:
    """A body without headers and keys."""
    if not isinstance(body, dict):
        return None
    return json.loads(redact(json.dumps(_without_headers(body), default=str)))


def _without_headers(value: Any) -> Any:
    if isinstance(value, dict):
        body: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        return {key: _without_headers(item) for key, item in body.items() if not _HEADERS.search(key)}
    if isinstance(value, list):
        return [_without_headers(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
