"""What a failed request means for the run: try again, leave the unit, or stop asking this model.

What was seen through Inspect's model layer: 401, 402 and 404 come as the SDK's own errors, 400 and 403 as
`ModelGenerateError`, 429, 5xx and hangs as a `RetryError` with a cause, an error inside HTTP 200 as TypeError or
IndexError. So the status is looked for along the whole chain of causes, and an exception without one is treated
like a 5xx.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenhand.collection.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["transient", "rejected", "fatal"]

FATAL_STATUSES = frozenset({401, 402, 403, 404})
"""No key, no money, no right, no such model: every further request would fail alike."""

_AGAIN = frozenset({408, 409, 425, 429})
_QUOTA = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|billing|balance (?:is )?too low|credit balance", re.I
)
_OUT_OF_FORM = frozenset(
    {"AssertionError", "AttributeError", "IndexError", "JSONDecodeError", "KeyError", "TypeError", "ValidationError"}
)
"""What reading an answer raises where it does not follow the provider's protocol."""

_PREREQUISITE = ("PrerequisiteError", "ModuleNotFoundError", "ImportError")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    Attributes:
        kind: `transient` (try again), `rejected` (this request will never pass), `fatal` (no request will).
        status: The HTTP status, where one was found.
        error_class: The class of the exception that carried it.
        message: What it said, in one line, without keys.
        incompatible: Whether the server's answer does not follow the protocol it is spoken to in.
        retry_after: Seconds that the provider asks to wait.
    """

    kind: Kind
    status: int | None
    error_class: str
    message: str
    incompatible: bool = False
    retry_after: float | None = None

    def __str__(self) -> str:
        said = f"{self.error_class}{f' {self.status}' if self.status else ''}: {self.message}"
        if not self.incompatible:
            return said
        return f"server incompatibility ({said}); where the vendor has a provider of its own, use that"


def classify(problem: BaseException) -> Failure:
    """What a failed request means.

    Args:
        problem: Whatever Inspect or the provider's client raised.
    """
    chain = list(_causes(problem))
    carrier = next((link for link in chain if _status(link) is not None), _root(problem))
    status = _status(carrier)
    # Inspect's own error repeats the whole request; the provider's words are apart.
    said = getattr(carrier, "provider_message", None) or str(carrier)
    name = type(carrier).__name__
    message = redact(" ".join(str(said).split()))[:_LONGEST] or name
    return Failure(
        _kind(chain, status, message),
        status,
        name,
        message,
        incompatible=status is None and name in _OUT_OF_FORM,
        retry_after=_retry_after(chain),
    )


def _kind(chain: list[BaseException], status: int | None, message: str) -> Kind:
    if any(type(link).__name__ in _PREREQUISITE for link in chain):
        return "fatal"
    if status in FATAL_STATUSES or (status == 429 and _QUOTA.search(message)):
        return "fatal"
    if status is not None and 400 <= status < 500 and status not in _AGAIN:
        return "rejected"
    return "transient"


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from, outermost first; tenacity keeps its cause in the last attempt."""
    seen: set[int] = set()
    link: BaseException | None = problem
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        last: Any = getattr(link, "last_attempt", None)
        inner = last.exception() if last is not None else None
        link = inner or link.__cause__ or link.__context__


def _root(problem: BaseException) -> BaseException:
    """What an exception was raised from on purpose; what it was only raised amid says less."""
    seen: list[BaseException] = []
    link: BaseException | None = problem
    while link is not None and link not in seen:
        seen.append(link)
        last: Any = getattr(link, "last_attempt", None)
        link = (last.exception() if last is not None else None) or link.__cause__
    return seen[-1]


def _status(problem: BaseException) -> int | None:
    for holder in (problem, getattr(problem, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int) and not isinstance(status, bool):
            return status
    return None


def _retry_after(chain: list[BaseException]) -> float | None:
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None)
        if headers is None:
            continue
        try:
            return max(0.0, float(headers["retry-after"]))
        except (KeyError, TypeError, ValueError):
            continue
    return None
