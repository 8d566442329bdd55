"""What Inspect finds through its entry point: our providers, and the audit as a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai import Task, task
from inspect_ai.model import modelapi

if TYPE_CHECKING:
    from evenhand.collection.adapter.local import LocalAPI
    from evenhand.collection.simulated import SimulatedAPI


@modelapi(name="sim")
def sim() -> type[SimulatedAPI]:
    """Simulated respondents: `sim/null`, `sim/biased`, `sim/equal_splitter`, `sim/noisy`, `sim/unruly`."""
    from evenhand.collection.simulated import SimulatedAPI

    return SimulatedAPI


@modelapi(name="local")
def local() -> type[LocalAPI]:
    """Models that `evenhand serve-local` serves on this machine: `local/smollm2`."""
    from evenhand.collection.adapter.local import LocalAPI

    return LocalAPI


@task
def audit(instrument: str, arm: str = "*", limit: int | None = None) -> Task:
    """The units of a run: `inspect eval evenhand/audit -T instrument=RUN --model PROVIDER/NAME`."""
    from evenhand.collection.task import make_task

    return make_task(instrument, arm, limit)
