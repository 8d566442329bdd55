"""What the pre-flight found, and whether later calls still look like it.

A context that is cut without a word shows in the input tokens per character of prompt: they fall.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from evenhand.collection.parity import ABOVE, BELOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collection.ledger import Ledger

LOWEST, HIGHEST = 0.75, 1.25
"""How far input tokens per character may stray from the pre-flight's median, as a share of it."""

_INPUT = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")


@dataclass(slots=True)
class Monitor:
    """Input tokens per character of one respondent's pre-flight calls, by format.

    Formats that offer functions are apart from those that do not: providers put the functions into words of their own.
    """

    ratios: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def note(self, format: str, ratio: float | None) -> None:
        """A call of the pre-flight; None where the provider counts no tokens."""
        self.ratios.setdefault(format, []).extend([ratio] if ratio else [])

    def judge(self, format: str, ratio: float) -> str:
        """The deviation of a later call; empty where there is none."""
        usual = self.usual(format)
        if usual is None or LOWEST * usual <= ratio <= HIGHEST * usual:
            return ""
        return BELOW if ratio < usual else ABOVE

    def usual(self, format: str) -> float | None:
        """The median of the pre-flight's calls of this format's kind; None before any."""
        kind = is_tool_format(format)
        found = [ratio for name, ratios in self.ratios.items() if is_tool_format(name) == kind for ratio in ratios]
        return median(found) if found else None


def is_tool_format(format: str) -> bool:
    """Whether a format is answered by calling a function."""
    return format.startswith("tool_")


def tokens_per_character(usage: Mapping[str, Any] | None, characters: int) -> float | None:
    """Input tokens, read from a cache or not, per character shown; None where the provider counts none."""
    tokens = sum(int((usage or {}).get(kind) or 0) for kind in _INPUT)
    return tokens / characters if tokens and characters else None


def read_monitor(ledger: Ledger, respondent: str) -> Monitor:
    """What earlier sessions' pre-flights found."""
    rows = ledger.read("SELECT format, ratios FROM preflights WHERE respondent = ?", (respondent,))
    return Monitor({format: json.loads(ratios) for format, ratios in rows})
