"""A run followed from one thread: looked at when it changed, never because somebody asks."""

from __future__ import annotations

import json
import secrets
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from evenhand.errors import EvenhandError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

SHORTEST = 2.0
"""Seconds between two looks, at least."""
_REST = 4
"""A look is followed by a rest of so many times what it took, so that a large run is not read without end."""
_TICK = 0.25


@dataclass(slots=True)
class _Look:
    """One thing that is looked at.

    Attributes:
        read: What is looked at.
        told: What it gave last, and when; None before.
        problem: Why the last attempt failed; empty where it did not.
        seen: The run's mark when `told` was read.
        due: When it may be looked at again, by the monotonic clock.
    """

    read: Callable[[], Mapping[str, Any]]
    told: Mapping[str, Any] | None = None
    problem: str = ""
    seen: Hashable = None
    due: float = 0.0


class Follower:
    """Looks at a run for as long as it is open.

    A look that fails (the ledger is being made, or the folder is gone) leaves what was told before, and says why.

    Args:
        looks: What is looked at by name, the most urgent first.
        mark: What changes where there is something new to read; raises where there is nothing to read from.
        shortest: Seconds between two looks at the same, at least.
    """

    def __init__(
        self,
        looks: Mapping[str, Callable[[], Mapping[str, Any]]],
        *,
        mark: Callable[[], Hashable],
        shortest: float = SHORTEST,
    ) -> None:
        self._looks = {name: _Look(read) for name, read in looks.items()}
        self._mark = mark
        self._shortest = shortest
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="evenhand-view", daemon=True)
        # Of this process: a page that outlives a server must not take another's first state for the one it has.
        self._origin, self._version = secrets.token_hex(4), 0
        self._content: dict[str, Any] = {}
        self._state = b""
        self._publish("")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        # A look under way at a large run takes seconds, which nobody should wait for: it changes nothing.
        self._thread.join(timeout=1)

    @property
    def state(self) -> bytes:
        """What was found so far, as JSON: version, problems, and by look what it told and when."""
        return self._state

    def _follow(self) -> None:
        while not self._stopped.is_set():
            for look in self._looks.values():
                self._publish(self._turn(look))
                if self._stopped.is_set():
                    return
            self._stopped.wait(_TICK)

    def _turn(self, look: _Look) -> str:
        """Look where it is due; gives why the run cannot be looked at at all, or nothing."""
        try:
            mark = self._mark()
        except (EvenhandError, OSError) as problem:
            return str(problem)
        began, first = time.monotonic(), look.told is None
        if (look.told is not None and mark == look.seen and not look.problem) or began < look.due:
            return ""
        try:
            look.told = {**look.read(), "at": datetime.now(UTC).isoformat(timespec="seconds")}
            look.seen, look.problem = mark, ""
        except EvenhandError as problem:
            look.problem = str(problem)
        except Exception as problem:
            # Whatever it is must not end the thread in silence: the page would go on showing what was.
            look.problem = f"{type(problem).__name__}: {problem}"
        ended = time.monotonic()
        # The first look that succeeds pays for what is loaded once.
        once = first and not look.problem
        look.due = ended + (self._shortest if once else max(self._shortest, _REST * (ended - began)))
        return ""

    def _publish(self, gone: str) -> None:
        problems = dict.fromkeys([gone, *(look.problem for look in self._looks.values())])
        content = {
            "problems": [problem for problem in problems if problem],
            **{name: look.told for name, look in self._looks.items()},
        }
        if content != self._content:
            self._version += 1
            self._content = content
            text = json.dumps({"version": f"{self._origin}-{self._version}", **content}, allow_nan=False)
            self._state = text.encode()
