"""How often simulated audits rejected, covered and bounded, and what they made of the planted control.

The truth of a contrast is on the observed scale: the mean over all audits of the raw difference, which balanced designs
estimate without a model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.statistics import equivalence, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_SIZE_ALPHA = 0.05
_Z = 1.96


@dataclass(frozen=True, slots=True)
class Validation:
    """What simulated audits show.

    Attributes:
        contrasts: One row a scenario, specification and format: columns scenario, specification, format, audits,
            contrasts, rejections, rejections_low, rejections_high (share of audits with a rejection in any planned
            family, the same for all formats, and its Wilson interval), coverage, coverage_low, coverage_high (of the
            95% intervals), tost, tost_low, tost_high (share of equivalence tests that reject at a margin as large
            as the truth; null where nothing was planted), error_ratio (mean standard error over the SD of estimates),
            bias (largest of mean estimate less the truth, in standard errors of a single audit).
        recovery: One row a scenario, kind of interval and planted size: columns scenario, interval, size, audits, lost
            (audits whose ties leave no room for the size, or that gave no interval), mean (of what was recovered, in
            within-cell SDs), mean_low, mean_high (its Monte Carlo interval), coverage, coverage_low, coverage_high.
            Empty where the study has no disguised rankings.
    """

    contrasts: pl.DataFrame
    recovery: pl.DataFrame


def count_contrasts(rows: pl.DataFrame, *, planted: Mapping[str, Collection[str]]) -> pl.DataFrame:
    """Count rejections, coverage and sizes over audits; columns as `Validation` says.

    Args:
        rows: One row an audit, specification and planned contrast.
        planted: By scenario, the groups that were given effects.
    """
    truth = rows.group_by("scenario", "domain", "format", "group").agg(truth=pl.col("raw").mean())
    rows = rows.join(truth, on=["scenario", "domain", "format", "group"], maintain_order="left")
    families = rows.group_by("scenario", "specification", "audit").agg(pl.col("rejected").any())
    counted = families.group_by("scenario", "specification").agg(pl.col("rejected").sum(), n=pl.len())
    rejections = {(s, p): (k, n) for s, p, k, n in counted.iter_rows()}
    found: list[dict[str, Any]] = []
    for key, part in rows.group_by("scenario", "specification", "format", maintain_order=True):
        scenario, specification, format = map(str, key)
        told = part.filter(pl.col("low").is_not_null())
        covers = told.select((pl.col("low") <= pl.col("truth")) & (pl.col("truth") <= pl.col("high"))).sum().item()
        rejected, families_drawn = rejections[scenario, specification]
        found.append(
            {
                "scenario": scenario,
                "specification": specification,
                "format": format,
                "audits": part["audit"].n_unique(),
                "contrasts": told.height,
                **_share("rejections", rejected, families_drawn),
                **_share("coverage", int(covers), told.height),
                **_tost_size(part.filter(pl.col("group").is_in(list(planted[scenario])))),
                **_errors(part),
            }
        )
    return pl.DataFrame(found, infer_schema_length=None)


def count_recovered(rows: pl.DataFrame) -> pl.DataFrame:
    """What the planted control recovered, by size; columns as `Validation` says."""
    if rows.is_empty():
        return rows
    found: list[dict[str, Any]] = []
    for key, drawn in rows.group_by("scenario", "interval", "size", maintain_order=True):
        part = drawn.drop_nulls(["low", "high"])
        covers = part.select((pl.col("low") <= pl.col("size")) & (pl.col("size") <= pl.col("high"))).sum().item()
        estimates = part["estimate"].to_numpy()
        mean = float(estimates.mean()) if len(estimates) else None
        reach = _Z * float(estimates.std(ddof=1)) / math.sqrt(len(estimates)) if len(estimates) > 1 else None
        found.append(
            {
                "scenario": key[0],
                "interval": key[1],
                "size": key[2],
                "audits": part.height,
                "lost": drawn.height - part.height,
                "mean": mean,
                "mean_low": None if mean is None or reach is None else mean - reach,
                "mean_high": None if mean is None or reach is None else mean + reach,
                **_share("coverage", int(covers), part.height),
            }
        )
    return pl.DataFrame(found, infer_schema_length=None)


def _share(name: str, count: int, n: int) -> dict[str, float | None]:
    interval = wilson_interval(count, n)
    low, high = interval or (None, None)
    return {name: count / n if n else None, f"{name}_low": low, f"{name}_high": high}


def _tost_size(part: pl.DataFrame) -> dict[str, float | None]:
    """The share of equivalence tests that reject at a margin as large as the truth, of groups that have an effect."""
    tested = [
        equivalence(row["estimate"], row["std_error"], abs(row["truth"]), df=row["df"] or np.inf).p_value < _SIZE_ALPHA
        for row in part.filter(pl.col("std_error") > 0).iter_rows(named=True)
    ]
    return _share("tost", sum(tested), len(tested))


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
