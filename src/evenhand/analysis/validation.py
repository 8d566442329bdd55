"""Proof by simulation: do the planned analyses reject, cover and bound as often as they say?

Whole audits are drawn from a study's own slots (`simulation`), each with names, profiles, slots, respondents and noise
drawn anew, and in each the planned contrasts are read as those of a real one are; in each, one of the sizes of the
planted control is planted and recovered. `validation_counts` counts what came of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.families import correct_families
from evenhand.analysis.material import Fitted, Material
from evenhand.analysis.planting import SIZES
from evenhand.analysis.recovery import planting_ground, recover
from evenhand.analysis.simulation import Stage, World
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, Specified, contrast_rows, specify
from evenhand.analysis.validation_counts import Validation, count_contrasts, count_recovered
from evenhand.processes import cores, spawned, wanted
from evenhand.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.setting import Setting
    from evenhand.analysis.specifications import Specification

GROUPS: Mapping[str, float] = {"Black": -0.15, "Female": 0.10}
"""Latent effects that are planted where a scenario plants any."""

SCENARIOS: Mapping[str, World] = {
    "null": World(),
    "null, names of SD 0.1": World(name_sd=0.1),
    "null, names of SD 0.2": World(name_sd=0.2),
    "null, first place worth 0.2, 3% malformed": World(name_sd=0.1, first=0.2, malformed=0.03),
    "planted": World(groups=GROUPS),
    "planted, names of SD 0.1": World(groups=GROUPS, name_sd=0.1),
    "planted, names of SD 0.2": World(groups=GROUPS, name_sd=0.2),
    "planted, fine worths, no ties": World(groups=GROUPS, name_sd=0.1, grain=0.0),
    "planted, first place worth 0.2": World(groups=GROUPS, name_sd=0.1, first=0.2),
    "planted, 3% malformed": World(groups=GROUPS, name_sd=0.1, malformed=0.03),
}
"""What `evenhand validate` draws, by name; the name seeds the draws, so that one renamed is drawn anew."""

_BATCH = 10


@dataclass(frozen=True, slots=True)
class Task:
    """Some audits of one scenario.

    Attributes:
        slots: The study's slots before anything was sent.
        setting: The terms of the analysis.
        world: What is true.
        scenario: Its name.
        audits: The numbers of the audits to draw.
    """

    slots: pl.DataFrame
    setting: Setting
    world: World
    scenario: str
    audits: Sequence[int]


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of some audits.

    Attributes:
        contrasts: One row an audit, specification and planned contrast, with the raw difference beside.
        recovered: One row an audit and kind of interval of the planted size.
    """

    contrasts: pl.DataFrame
    recovered: pl.DataFrame


def validate(
    slots: pl.DataFrame,
    setting: Setting,
    *,
    audits: int,
    scenarios: Mapping[str, World] = SCENARIOS,
    processes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Validation:
    """Draw audits and count.

    Args:
        slots: The study's slots (`outcomes.table.blank`) for as many respondents as the audits shall have.
        setting: The terms of the analysis.
        audits: How many of each scenario.
        scenarios: What is true, by name.
        processes: How many processes; by default one a core. 1 stays in this process.
        progress: Called with how many audits are done.
    """
    tasks = [
        Task(slots, setting, world, name, range(start, min(start + _BATCH, audits)))
        for name, world in scenarios.items()
        for start in range(0, audits, _BATCH)
    ]
    found: list[Drawn] = []
    done = 0
    for task, drawn in zip(tasks, _run(tasks, wanted(processes, cores())), strict=True):
        found.append(drawn)
        done += len(task.audits)
        if progress is not None:
            progress(done)
    contrasts = pl.concat([one.contrasts for one in found], how="vertical_relaxed")
    recovered = pl.concat([one.recovered for one in found], how="vertical_relaxed")
    planted = {name: list(world.groups) for name, world in scenarios.items()}
    return Validation(
        count_contrasts(contrasts, planted=planted),
        count_recovered(recovered),
    )


def _run(tasks: Sequence[Task], processes: int) -> Iterator[Drawn]:
    if processes == 1:
        yield from map(draw_and_analyse, tasks)
        return
    with spawned(processes) as pool:
        yield from pool.map(draw_and_analyse, tasks)


class _Fitter:
    """Fits the cells of audits that are drawn on the same slots: each model is laid out once where no row is lost."""

    def __init__(self) -> None:
        self._laid: dict[tuple[str, str, Specification], Specified] = {}

    def fit(self, material: Material, *, whole: bool) -> None:
        """Fit every planned cell in both specifications and keep the fits in the material.

        Args:
            material: An audit.
            whole: Whether every slot has an answer, so that the rows are those of other such audits.
        """
        for cell in material.planned:
            fits: dict[tuple[Specification, str], Fitted] = {}
            for name in SPECIFICATIONS:
                fits[name, POOLED] = self._fitted(cell, name, whole=whole)
            material.keep(cell, fits)

    def _fitted(self, cell: Cell, name: Specification, *, whole: bool) -> Fitted:
        key = (cell.domain, cell.format, name)
        specified = self._laid.get(key) if whole else None
        if specified is None:
            specified = specify(cell, cell.rows, name)
            if whole:
                self._laid[key] = specified
        model = specified.model
        if model is None:
            return Fitted(specified, None)
        model = model.with_outcome(cell.rows["y"].to_numpy()) if whole else model
        specified = Specified(model, specified.trouble, specified.formula)
        return Fitted(specified, model.fit())


def draw_and_analyse(task: Task) -> Drawn:
    """The contrasts and the planted control of some audits; a pure function."""
    stage, fitter = Stage(task.slots), _Fitter()
    contrasts: list[dict[str, Any]] = []
    recovered: list[dict[str, Any]] = []
    for audit in task.audits:
        rng = generator("validate", task.setting.seed, task.scenario, audit)
        drawn = stage.draw(task.world, rng)
        material = Material.of(drawn, task.setting)
        fitter.fit(material, whole=drawn.filter(~pl.col("valid")).is_empty())
        head: dict[str, Any] = {"scenario": task.scenario, "audit": audit}
        contrasts += [head | row for row in _contrasts(material)]
        recovered += [head | row for row in _recovered(material, audit, seed=task.setting.seed + audit)]
    return Drawn(pl.DataFrame(contrasts, infer_schema_length=None), pl.DataFrame(recovered, infer_schema_length=None))


def _contrasts(material: Material) -> Iterator[dict[str, Any]]:
    raw = {(cell.domain, cell.format): _raw_differences(cell) for cell in material.planned}
    for specification in SPECIFICATIONS:
        found = [
            row
            for cell in material.planned
            for row in contrast_rows(cell, material.fitted(cell, specification).fit, specification)
        ]
        tested = correct_families(material.setting, [row.format for row in found], [row.p_value for row in found])
        for row, one in zip(found, tested, strict=True):
            yield {
                "specification": specification,
                "domain": row.domain,
                "format": row.format,
                "group": row.group,
                "estimate": row.estimate,
                "std_error": row.std_error,
                "df": row.df,
                "low": row.conf_low,
                "high": row.conf_high,
                "rejected": one.survives,
                "raw": raw[row.domain, row.format].get(row.group),
            }


def _raw_differences(cell: Cell) -> dict[str, float]:
    found: dict[str, float] = {}
    for factor, reference in cell.references.items():
        means: dict[str, float] = dict(cell.rows.group_by(factor).agg(pl.col("y").mean()).iter_rows())
        found |= {level: mean - means[reference] for level, mean in means.items() if level != reference}
    return found


def _recovered(material: Material, audit: int, *, seed: int) -> Iterator[dict[str, Any]]:
    """One size an audit, in turn: the planted control of a study plants its sizes into the same answers."""
    ground = planting_ground(material)
    if ground is None:
        return
    size = SIZES[audit % len(SIZES)]
    for row in recover(material, *ground, size, seed=seed).rows:
        yield {
            "interval": row.estimand,
            "size": size,
            "estimate": row.estimate,
            "std_error": row.std_error,
            "low": row.conf_low,
            "high": row.conf_high,
        }
