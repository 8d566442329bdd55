"""Parameters that a provider refuses: what is sent instead, found at the pre-flight and kept for the whole run.

A model that takes no seed, knows no `reasoning_effort = "none"` or cannot be made to call a function answers 400.
Before the first success of a format such an answer is read as an unsupported setting, never as the unit's fault; from
then on the setting stays as it was found, so that all units of a run are asked alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.collection.ledger import now
from evenhand.collection.parity import FORCED
from evenhand.collection.reasoning import next_effort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collection.ledger import Ledger

_NAMED = (
    ("tool_choice", re.compile(r"tool[_ ]?choice", re.IGNORECASE)),
    ("reasoning_effort", re.compile(r"reasoning[._ ]?effort|reasoning|thinking", re.IGNORECASE)),
    ("seed", re.compile(r"\bseed\b", re.IGNORECASE)),
    ("top_p", re.compile(r"\btop[_ ]?p\b", re.IGNORECASE)),
    ("temperature", re.compile(r"temperature", re.IGNORECASE)),
)
_EVERY = ""


@dataclass(slots=True)
class Refusals:
    """What one provider refused: values by format and parameter; `tool_choice` alone belongs to a format."""

    ledger: Ledger
    respondent: str
    found: dict[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])

    def of(self, format: str, *, reasoning: bool = False) -> dict[str, Any]:
        """The replacements that apply to a format; None means left out.

        Args:
            format: The unit's.
            reasoning: Whether the unit asks for reasoning: how little of it the provider accepts is then no matter.
        """
        own = {name: value for (place, name), value in self.found.items() if place in {_EVERY, format}}
        return {name: value for name, value in own.items() if not (reasoning and name == "reasoning_effort")}

    def apply(self, asked: Mapping[str, Any], format: str, *, reasoning: bool = False) -> dict[str, Any]:
        """What is asked, after what was refused."""
        refused = self.of(format, reasoning=reasoning)
        replaced = {**asked, **{name: value for name, value in refused.items() if name in asked}}
        return {name: value for name, value in replaced.items() if value is not None}

    def learn(self, asked: Mapping[str, Any], format: str, message: str, *, fresh: bool) -> bool:
        """Take up a refusal's message; False where it names nothing that may be asked otherwise now.

        Args:
            asked: What was asked.
            format: The unit's format, which had no success yet.
            message: What the provider said.
            fresh: Whether no format had a success yet; only then may a setting of all formats change.
        """
        for name, pattern in _NAMED:
            if name != "tool_choice" and not fresh:
                continue
            if name in asked and pattern.search(message) and not (name == "tool_choice" and asked[name] != FORCED):
                place = format if name == "tool_choice" else _EVERY
                # Another request, under way at the same time, may have learnt it already.
                if self.found.get((place, name), asked[name]) == asked[name]:
                    self._keep(place, name, _instead(name, asked[name]), message)
                return True
        return False

    def _keep(self, format: str, name: str, value: Any, message: str) -> None:
        self.found[format, name] = value
        self.ledger.note(
            "INSERT INTO refusals VALUES (?, ?, ?, ?, ?, ?)",
            (self.respondent, format, name, value, message, now()),
            what=f"that {name} was refused",
        )


def _instead(name: str, value: Any) -> Any:
    if name == "tool_choice":
        return "auto"
    return next_effort(value) if name == "reasoning_effort" else None


def read_refusals(ledger: Ledger, respondent: str) -> Refusals:
    """What earlier sessions found."""
    rows = ledger.read(
        "SELECT format, parameter, value FROM refusals WHERE respondent = ? ORDER BY rowid", (respondent,)
    )
    return Refusals(ledger, respondent, {(format, name): value for format, name, value in rows})
