"""Progress for people, on standard error: steps, bars, and plain lines where there is no terminal."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from evenhand.collection.asker import Rest

_FAILURES = ("malformed", "refused", "no_answer", "error")
_SPARE_LINES = 8


def _err() -> Console:
    return Console(stderr=True, highlight=False)


@contextmanager
def steps(*, quiet: bool) -> Generator[Callable[[str], None]]:
    """Announce the steps of a longer command on standard error."""
    console = _err()

    def say(step: str) -> None:
        if not quiet:
            console.print(f"[bold]{escape(step)}[/bold]")

    yield say


@dataclass(slots=True)
class _Tally:
    """What came of a model's units, or an arm's, in this session."""

    total: int
    before: int
    began: float = field(default_factory=time.monotonic)
    counts: Counter[str] = field(default_factory=Counter[str])
    tokens: int = 0
    dollars: float = 0.0

    def add(self, rest: Rest) -> None:
        self.counts[rest.status] += 1
        self.tokens += sum(rest.tokens)
        self.dollars += rest.dollars

    @property
    def done(self) -> int:
        return self.before + self.counts.total()

    def describe(self) -> str:
        """Rate, failures, tokens and cost in one line."""
        seconds = max(time.monotonic() - self.began, 1e-9)
        parts = [f"{self.counts.total() / seconds:,.1f} a second"]
        parts += [f"{self.counts[name]} {name}" for name in _FAILURES if self.counts[name]]
        parts += [f"{self.tokens:,} tokens"] if self.tokens else []
        parts += [f"${self.dollars:,.4f}"] if self.dollars else []
        return ", ".join(parts)


class CollectionBars:
    """Live bars, one a model and below it one an arm where they fit; plain lines at each tenth without a terminal."""

    def __init__(self, progress: Progress, console: Console, *, quiet: bool) -> None:
        self._progress = progress
        self._console = console
        self._quiet = quiet
        self._plain = not console.is_terminal and not quiet
        self._tasks: dict[tuple[str, str], TaskID] = {}
        self._tallies: dict[tuple[str, str], _Tally] = {}

    def start(self, respondent: str, arms: Mapping[str, tuple[int, int]]) -> None:
        """A respondent's work begins."""
        total, done = (sum(counts) for counts in zip(*arms.values(), strict=True)) if arms else (0, 0)
        self._open((respondent, ""), escape(respondent), total, done)
        if len(self._tasks) + len(arms) <= self._console.height - _SPARE_LINES:
            for arm, (units, final) in arms.items():
                self._open((respondent, arm), f"  {escape(arm)}", units, final)
        if self._plain and done:
            self._console.print(f"{escape(respondent)}: {done} of {total} units already final", soft_wrap=True)

    def advance(self, respondent: str, arm: str, rest: Rest) -> None:
        """A unit came to rest."""
        for key in ((respondent, ""), (respondent, arm)):
            if key in self._tallies:
                tally = self._tallies[key]
                tally.add(rest)
                self._progress.update(self._tasks[key], advance=1, said=tally.describe())
        tally = self._tallies[respondent, ""]
        if self._plain and (tally.done * 10 // tally.total) > ((tally.done - 1) * 10 // tally.total):
            text = f"{escape(respondent)}: {tally.done} of {tally.total} units; {tally.describe()}"
            self._console.print(text, soft_wrap=True)

    def note(self, text: str) -> None:
        """Something to know before more is paid for."""
        if not self._quiet:
            self._console.print(f"Note: {text}", markup=False, soft_wrap=True)

    def _open(self, key: tuple[str, str], title: str, total: int, done: int) -> None:
        self._tasks[key] = self._progress.add_task(title, total=total, completed=done, said="")
        self._tallies[key] = _Tally(total, done)


@contextmanager
def collecting(*, quiet: bool) -> Generator[CollectionBars]:
    """Bars for a collection."""
    console = _err()
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[said]}"),
        console=console,
        disable=quiet or not console.is_terminal,
        refresh_per_second=5,
    )
    with progress:
        yield CollectionBars(progress, console, quiet=quiet)


@contextmanager
def scoring(models: int, *, quiet: bool) -> Generator[Callable[[int], None]]:
    """A bar over the models that are scored."""
    console = _err()
    with Progress(console=console, disable=quiet or not console.is_terminal, transient=True) as progress:
        task = progress.add_task("Scoring", total=models)
        yield lambda done: progress.update(task, completed=done)
