"""What Inspect finds through its entry point: the provider `sim` of simulated respondents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.model import modelapi

if TYPE_CHECKING:
    from evenhand.collection.simulated import SimulatedAPI


@modelapi(name="sim")
def sim() -> type[SimulatedAPI]:
    """Simulated respondents: `sim/null`, `sim/biased`, `sim/equal_splitter`, `sim/noisy`, `sim/unruly`."""
    from evenhand.collection.simulated import SimulatedAPI

    return SimulatedAPI
