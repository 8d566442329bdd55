"""Materials made elsewhere, brought in as runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.imports.fairfund import import_fairfund

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from evenhand.instrument import Instrument
    from evenhand.plan import Plan

IMPORTS: Mapping[str, Callable[[Path], tuple[Plan, Instrument]]] = {"fairfund": import_fairfund}
"""From a folder of released materials to a plan and its instrument, by the materials' name."""
