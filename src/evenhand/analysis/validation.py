"""Proof by simulation: do the planned analyses reject, cover and bound as often as they say?

Whole audits are drawn from a study's own slots (`simulation`), each with names, profiles, slots, respondents and noise
drawn anew, and each is analysed as a real one. The truth of a contrast is on the observed scale: the mean over all
audits of the raw difference, which balanced designs estimate without a model.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from os import cpu_count
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.analysis.material import Material
from evenhand.analysis.simulation import Stage, World
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, contrast_rows
from evenhand.seeds import generator
from evenhand.statistics import correct, equivalence, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.setting import Setting

GROUPS: Mapping[str, float] = {"Black": -0.15, "Female": 0.10}
"""Latent effects that are planted where a scenario plants any."""

SCENARIOS: Mapping[str, World] = {
    "null": World(),
    "null, names of SD 0.1": World(name_sd=0.1),
    "null, names of SD 0.2": World(name_sd=0.2),
    "planted": World(groups=GROUPS),
    "planted, names of SD 0.1": World(groups=GROUPS, name_sd=0.1),
    "planted, names of SD 0.2": World(groups=GROUPS, name_sd=0.2),
    "planted, fine ratings, no ties": World(groups=GROUPS, name_sd=0.1, grain=0.0),
    "planted, first place worth 0.2": World(groups=GROUPS, name_sd=0.1, first=0.2),
    "planted, 3% malformed": World(groups=GROUPS, name_sd=0.1, malformed=0.03),
}
"""What `evenhand validate` draws, by name."""

_SIZE_ALPHA = 0.05


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
    audits: Sequence[int] = field(default_factory=list[int])


def validate(
    slots: pl.DataFrame,
    setting: Setting,
    *,
    audits: int,
    scenarios: Mapping[str, World] = SCENARIOS,
    processes: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> pl.DataFrame:
    """Draw audits and count.

    Args:
        slots: The study's slots (`outcomes.table.blank`) for as many respondents as the audits shall have.
        setting: The terms of the analysis.
        audits: How many of each scenario.
        scenarios: What is true, by name.
        processes: How many processes; by default one a core. 1 stays in this process.
        progress: Called with how many audits are done.

    Returns:
        One row a scenario, specification and format: columns scenario, specification, format, audits, contrasts,
        rejections (share of audits with a rejection in the planned family; the same for all formats), coverage (of the
        95% intervals), coverage_low, coverage_high (its Monte Carlo interval), tost_size (share of equivalence tests
        that reject at a margin as large as the truth; null where nothing was planted), error_ratio (mean standard error
        over the SD of estimates), bias (mean estimate less the truth, in standard errors of a single audit).
    """
    size = 10
    tasks = [
        Task(slots, setting, world, name, range(start, min(start + size, audits)))
        for name, world in scenarios.items()
        for start in range(0, audits, size)
    ]
    found: list[pl.DataFrame] = []
    done = 0
    for task, rows in zip(tasks, _run(tasks, processes or cpu_count() or 1), strict=True):
        found.append(rows)
        done += len(task.audits)
        if progress is not None:
            progress(done)
    return summarise(pl.concat(found), setting)


def _run(tasks: Sequence[Task], processes: int) -> Iterator[pl.DataFrame]:
    if processes == 1:
        yield from map(draw_and_analyse, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(draw_and_analyse, tasks)


def draw_and_analyse(task: Task) -> pl.DataFrame:
    """One row an audit, specification and planned contrast, with the raw difference beside."""
    stage = Stage(task.slots)
    rows: list[dict[str, Any]] = []
    for audit in task.audits:
        rng = generator("validate", task.setting.seed, task.scenario, audit)
        material = Material.of(stage.draw(task.world, rng), task.setting)
        raw = {(cell.domain, cell.format): _raw_differences(cell) for cell in material.planned}
        for specification in SPECIFICATIONS:
            found = [
                row
                for cell in material.planned
                for row in contrast_rows(cell, material.fitted(cell, specification).fit, specification, model=POOLED)
            ]
            corrected = correct([row.p_value for row in found])
            for row, q in zip(found, corrected.values, strict=True):
                rows.append(
                    {
                        "scenario": task.scenario,
                        "audit": audit,
                        "specification": specification,
                        "domain": row.domain,
                        "format": row.format,
                        "group": row.group,
                        "estimate": row.estimate,
                        "std_error": row.std_error,
                        "df": row.df,
                        "low": row.conf_low,
                        "high": row.conf_high,
                        "q": q,
                        "raw": raw[row.domain, row.format].get(row.group),
                    }
                )
    return pl.DataFrame(rows, infer_schema_length=None)


def _raw_differences(cell: Cell) -> dict[str, float]:
    found: dict[str, float] = {}
    for factor, reference in cell.references.items():
        means: dict[str, float] = dict(cell.rows.group_by(factor).agg(pl.col("y").mean()).iter_rows())
        found |= {level: mean - means[reference] for level, mean in means.items() if level != reference}
    return found


def summarise(rows: pl.DataFrame, setting: Setting) -> pl.DataFrame:
    """Count rejections, coverage and sizes over audits; columns as `validate` says."""
    truth = rows.group_by("scenario", "domain", "format", "group").agg(truth=pl.col("raw").mean())
    rows = rows.join(truth, on=["scenario", "domain", "format", "group"])
    rejected = rows.group_by("scenario", "specification", "audit").agg(rejected=(pl.col("q") < setting.family.q).any())
    shares = {(s, p): share for s, p, share in _shares(rejected).iter_rows()}
    found: list[dict[str, Any]] = []
    for key, part in rows.group_by("scenario", "specification", "format", maintain_order=True):
        scenario, specification, format = map(str, key)
        covers = part.filter(pl.col("low").is_not_null()).select(
            (pl.col("low") <= pl.col("truth")) & (pl.col("truth") <= pl.col("high"))
        )
        count, n = int(covers.sum().item()), covers.height
        interval = wilson_interval(count, n)
        found.append(
            {
                "scenario": scenario,
                "specification": specification,
                "format": format,
                "audits": part["audit"].n_unique(),
                "contrasts": n,
                "rejections": shares[scenario, specification],
                "coverage": count / n if n else None,
                "coverage_low": interval[0] if interval else None,
                "coverage_high": interval[1] if interval else None,
                "tost_size": _tost_size(part),
                **_errors(part),
            }
        )
    return pl.DataFrame(found, infer_schema_length=None)


def _shares(rejected: pl.DataFrame) -> pl.DataFrame:
    return rejected.group_by("scenario", "specification").agg(pl.col("rejected").mean())


def _tost_size(part: pl.DataFrame) -> float | None:
    """The share of equivalence tests that reject at a margin as large as the truth, of groups that were given one."""
    tested = [
        equivalence(row["estimate"], row["std_error"], abs(row["truth"]), df=row["df"] or np.inf).p_value < _SIZE_ALPHA
        for row in part.filter(pl.col("group").is_in(list(GROUPS)), pl.col("std_error") > 0).iter_rows(named=True)
        if row["scenario"].startswith("planted")
    ]
    return float(np.mean(tested)) if tested else None


def _errors(part: pl.DataFrame) -> dict[str, float | None]:
    by_contrast = part.drop_nulls(["estimate", "std_error"]).group_by("domain", "group")
    spread = by_contrast.agg(
        ratio=pl.col("std_error").mean() / pl.col("estimate").std(),
        bias=(pl.col("estimate").mean() - pl.col("truth").first()) / pl.col("std_error").mean(),
    )
    ratio, bias = spread["ratio"].mean(), spread["bias"].abs().max()
    return {
        "error_ratio": float(ratio) if isinstance(ratio, float) else None,
        "bias": float(bias) if isinstance(bias, float) else None,
    }
