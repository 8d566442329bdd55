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

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["transient", "rejected", "fatal"]

FATAL_STATUSES = frozenset({401, 402, 403, 404})
"""No key, no money, no right, no such model: every further request would fail alike."""

_AGAIN = frozenset({408, 409, 425, 429})
_QUOTA = re.compile(
    r"insufficient[_ ]quota|exceeded your current quota|billing|balance (?:is )?too low|credit balance", re.I
)
_PREREQUISITE = ("PrerequisiteError", "ModuleNotFoundError", "ImportError")
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed request.

    Attributes:
        kind: `transient` (try again), `rejected` (this request will never pass), `fatal` (no request will).
        status: The HTTP status, where one was found.
        error_class: The class of the exception that carried it.
        message: What it said, in one line.
    """

    kind: Kind
    status: int | None
    error_class: str
    message: str

    def __str__(self) -> str:
        return f"{self.error_class}{f' {self.status}' if self.status else ''}: {self.message}"


def classify(problem: BaseException) -> Failure:
    """What a failed request means.

    Args:
        problem: Whatever Inspect or the provider's client raised.
    """
    chain = list(_causes(problem))
    carrier = next((link for link in chain if _status(link) is not None), chain[-1])
    status = _status(carrier)
    message = " ".join(str(carrier).split())[:_LONGEST]
    return Failure(_kind(chain, status, message), status, type(carrier).__name__, message)


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


def _status(problem: BaseException) -> int | None:
    for holder in (problem, getattr(problem, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int) and not isinstance(status, bool):
            return status
    return None
