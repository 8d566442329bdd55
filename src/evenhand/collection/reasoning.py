"""The least reasoning that a model can be asked for.

Vendors differ in what "off" is called and in whether it can be had at all. The table below says where to start; the
pre-flight steps down `LADDER` where a provider refuses the step, and every call's usage is checked afterwards.
Sources: the vendors' own pages as Inspect 0.3.285 encodes them in its providers (2026-11).
"""

from __future__ import annotations

import re

LADDER = ("none", "minimal", "low")
"""Efforts to try, least first; after the last the parameter is left out."""

_PLAIN_PROVIDERS = frozenset({"local", "mockllm"})
_LEAST: tuple[tuple[str, str | None], ...] = (
    # OpenAI: the o-series and gpt-oss start at low, the first gpt-5 at minimal, later ones know none.
    (r"(?:^|/)o\d", "low"),
    (r"gpt-oss", "low"),
    (r"gpt-5(?![.\d])", "minimal"),
    (r"gpt-(?:3|4)|chatgpt", None),
    (r"grok-(?:3-mini|[4-9])", "low"),
)


def least_effort(model: str) -> str | None:
    """The `reasoning_effort` that asks a model for no or least reasoning; None where nothing is to be sent.

    Args:
        model: Inspect's model string.
    """
    provider, _, name = model.partition("/")
    if provider in _PLAIN_PROVIDERS:
        return None
    return next((effort for pattern, effort in _LEAST if re.search(pattern, name)), LADDER[0])


def next_effort(effort: str) -> str | None:
    """The step after one that was refused; None leaves the parameter out."""
    after = LADDER[LADDER.index(effort) + 1 :] if effort in LADDER else ()
    return after[0] if after else None


def is_reasoning_model(model: str) -> bool:
    """Whether a model is known to spend output tokens on reasoning that cannot be turned off."""
    return least_effort(model) in {"low", "minimal"}
