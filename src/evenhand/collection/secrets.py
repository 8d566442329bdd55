"""Keys stay in the environment: nothing that is kept or printed holds one."""

from __future__ import annotations

import os
import re

SHORTEST = 8
"""A shorter value is no key, and replacing it would spoil texts that happen to hold it."""

HIDDEN = "[key removed]"

_NAMES = re.compile(r"(?:key|token|secret|password|credentials?)(?:_|$)", re.IGNORECASE)
_SHAPES = re.compile(r"\bBearer\s+[A-Za-z0-9._~+/=-]{8,}|\b(?:sk|pk|rk|xai|gsk|hf|AIza)[-_][A-Za-z0-9_*.-]{6,}")


def redact(text: str) -> str:
    """A text without the values of the environment's keys, and without what has the shape of one."""
    for value in secret_values():
        text = text.replace(value, HIDDEN)
    return _SHAPES.sub(HIDDEN, text)


def secret_values() -> tuple[str, ...]:
    """The values of environment variables that are named like keys, longest first."""
    found = {value for name, value in os.environ.items() if _NAMES.search(name) and len(value) >= SHORTEST}
    return tuple(sorted(found, key=len, reverse=True))
