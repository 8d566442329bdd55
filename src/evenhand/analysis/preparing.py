"""The costly part of an analysis, cell by cell, in several processes: every fit, and every refit of planned cells."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from os import cpu_count
from typing import TYPE_CHECKING

from evenhand.analysis.material import Fitted, fit_cell
from evenhand.analysis.robustness import CellFits, CellRobustness, robustness_of
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, Specification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

WORTH_PROCESSES = 10_000
"""Rows below which starting a process costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Task:
    """A cell, and whether its contrasts are planned."""

    cell: Cell
    planned: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a task found.

    Attributes:
        fits: By specification and respondent (or `pooled`).
        robustness: Of a planned cell; else None.
    """

    fits: dict[tuple[Specification, str], Fitted]
    robustness: CellRobustness | None


def prepare(
    material: Material, *, processes: int | None = None, progress: Callable[[str], None] | None = None
) -> list[CellRobustness]:
    """Make every fit of the primary cells and keep it in the material.

    Args:
        material: What is analysed.
        processes: How many; by default one a core, and one alone where there is little to fit.
        progress: Called with each cell's name when it is done.

    Returns:
        The refits of the planned cells, in their order.
    """
    tasks = [Task(cell, cell in material.planned) for cell in material.cells]
    rows = sum(task.cell.rows.height for task in tasks)
    wanted = processes or (1 if rows < WORTH_PROCESSES else cpu_count() or 1)
    found: list[CellRobustness] = []
    for task, prepared in zip(tasks, _run(tasks, wanted), strict=True):
        material.keep(task.cell, prepared.fits)
        if prepared.robustness is not None:
            found.append(prepared.robustness)
        if progress is not None:
            progress(f"{task.cell.domain} {task.cell.format} {task.cell.mode}")
    return found


def _run(tasks: Sequence[Task], processes: int) -> Iterator[Prepared]:
    if processes == 1:
        yield from map(prepare_cell, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(prepare_cell, tasks)


def prepare_cell(task: Task) -> Prepared:
    """Every fit of one cell; a pure function."""
    cell = task.cell
    models = [POOLED, *(cell.models if len(cell.models) > 1 else [])]
    keys: list[tuple[Specification, str]] = [(name, model) for name in SPECIFICATIONS for model in models]
    fits = {key: fit_cell(cell, *key) for key in keys}
    refits = None
    if task.planned:
        alone = {model: fits["evenhand", model if len(models) > 1 else POOLED] for model in cell.models}
        refits = robustness_of(cell, CellFits({name: fits[name, POOLED] for name in SPECIFICATIONS}, alone))
    # A respondent's own model is read no more, and large to send.
    light = {key: one if key[1] == POOLED else one.without_model() for key, one in fits.items()}
    return Prepared(light, refits)
