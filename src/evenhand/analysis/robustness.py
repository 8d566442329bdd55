"""Whether another estimator, or one name, profile or respondent less, would tell another story (appendix C).

Every planned contrast is estimated again in several ways; what counts is how far it moves, and whether its corrected
status changes when the whole family is corrected again.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis.alternatives import LOGIT, SLOPES, logit_rows, slope_rows, slope_shift_rows
from evenhand.analysis.between_models import heterogeneity_rows
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import RANKINGS
from evenhand.analysis.leaving_out import KINDS, refits, shift_rows
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import (
    POOLED,
    SPECIFICATIONS,
    clustered_rows,
    contrast_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Fitted, Material
    from evenhand.analysis.setting import Setting
    from evenhand.analysis.specifications import Specification

CLUSTERED = "clustered errors"
ALTERNATIVES = (LOGIT, CLUSTERED, SLOPES)

_Key = tuple[str, str, str, str]
"""Domain, format, factor and group of a planned contrast."""

_NAMED = 3


@dataclass(frozen=True, slots=True)
class CellFits:
    """The fits that the robustness of a cell begins from.

    Attributes:
        pooled: By specification, the fit of all respondents together.
        by_model: Each respondent's alone, in the specification that decides.
    """

    pooled: Mapping[Specification, Fitted]
    by_model: Mapping[str, Fitted]


@dataclass(frozen=True, slots=True)
class CellRobustness:
    """A cell's contrasts in other ways.

    Attributes:
        rows: Tidy rows.
        baseline: The p value of each contrast in the specification that decides.
        p_values: By what was changed (a kind of level and the level, or an alternative and nothing), the p value of
            each contrast; None where it was not estimated.
    """

    rows: tuple[Row, ...]
    baseline: Mapping[_Key, float | None]
    p_values: Mapping[tuple[str, str], Mapping[_Key, float | None]]


def robustness(material: Material) -> pl.DataFrame:
    """Every planned contrast in other ways.

    Returns:
        Tidy rows, the way in `method`. `contrast` by least squares with clustered errors, with random slopes, and
        without each respondent; `log_odds` by rank-ordered logit, `tie_rate` and `log_odds_random_break`;
        `interval_width_change` in percent; `tau` between respondents; `max_shift` (and `_d`) by names, profiles,
        respondents and random slopes; `status_changes`: under how many refits the contrast's corrected status is
        another, the whole family corrected again each time; summed over the family where the group is empty.
    """
    return summarise([robustness_of(cell, fits_of(material, cell)) for cell in material.planned], material)


def summarise(found: Sequence[CellRobustness], material: Material) -> pl.DataFrame:
    """The rows of all planned cells, and what changes of their corrected statuses."""
    return as_frame([*(row for one in found for row in one.rows), *_status_changes(found, material.setting)])


def robustness_of(cell: Cell, fits: CellFits) -> CellRobustness:
    """The contrasts of one cell in other ways; a pure function, so that cells may go to several processes.

    Args:
        cell: A planned cell.
        fits: Its fits.
    """
    pooled = fits.pooled["evenhand"]
    full = list(contrast_rows(cell, pooled.fit, "evenhand", trouble=pooled.trouble))
    p_values: dict[tuple[str, str], dict[_Key, float | None]] = {}
    rows: list[Row] = []
    if cell.format in RANKINGS:
        logit = list(logit_rows(cell, pooled))
        rows += logit
        p_values[LOGIT, ""] = _p_values(row for row in logit if row.estimand == "log_odds")
    clustered = list(clustered_rows(cell, cell.rows))
    rows += [*clustered, *_width_changes(cell, clustered, fits)]
    p_values[CLUSTERED, ""] = _p_values(clustered)
    slopes = list(slope_rows(cell, pooled))
    rows += [*slopes, *slope_shift_rows(cell, full, slopes)]
    if any(row.p_value is not None for row in slopes):
        p_values[SLOPES, ""] = _p_values(slopes)
    left_out = list(refits(cell, pooled))
    for one in left_out:
        # Profiles belong to a domain, whatever they are called.
        label = f"{cell.domain} {one.label}" if one.kind == "profile" else one.label
        p_values[one.kind, label] = {(cell.domain, cell.format, *pair): p for pair, p in one.p_values.items()}
        if one.kind == "model":
            rows += one.rows(cell)
    rows += shift_rows(cell, full, left_out)
    if len(fits.by_model) > 1:
        rows += heterogeneity_rows(cell, fits.by_model)
    return CellRobustness(tuple(rows), _p_values(full), p_values)


def fits_of(material: Material, cell: Cell) -> CellFits:
    """What the robustness of a cell begins from, fitted where it is not yet."""
    return CellFits(
        {name: material.fitted(cell, name) for name in SPECIFICATIONS},
        {model: material.fitted(cell, "evenhand", model) for model in cell.models},
    )


def _p_values(rows: Iterable[Row]) -> dict[_Key, float | None]:
    return {(row.domain, row.format, row.term, row.group): row.p_value for row in rows}


def _width_changes(cell: Cell, clustered: Sequence[Row], fits: CellFits) -> Iterator[Row]:
    """How much wider the clustered interval is than each mixed model's, in percent."""
    for name in SPECIFICATIONS:
        fitted = fits.pooled[name]
        for mine, row in zip(contrast_rows(cell, fitted.fit, name, trouble=fitted.trouble), clustered, strict=True):
            before, after = _width(mine), _width(row)
            change = None if not before or after is None else 100 * (after / before - 1)
            told = "" if change is not None else "one of the intervals is missing"
            yield Row(
                "interval_width_change",
                row.term,
                row.group,
                cell.domain,
                cell.format,
                POOLED,
                estimate=change,
                n=row.n,
                method=f"{CLUSTERED} against the {name} interval; percent",
                note=told,
            )


def _width(row: Row) -> float | None:
    return None if row.conf_low is None or row.conf_high is None else row.conf_high - row.conf_low


def _status_changes(found: Sequence[CellRobustness], setting: Setting) -> Iterator[Row]:
    """How often a contrast's corrected status is another, the whole family corrected with the p values of a refit.

    A level that several cells share (a name, a respondent) is left out of all of them at once.
    """
    baseline = {key: p for one in found for key, p in one.baseline.items()}
    if not baseline:
        return
    before = _survivors(baseline, setting)
    for kind in (*KINDS, *ALTERNATIVES):
        refitted: dict[str, dict[_Key, float | None]] = defaultdict(dict)
        for one in found:
            for (what, level), p_values in one.p_values.items():
                if what == kind:
                    refitted[level] |= p_values
        if not refitted:
            continue
        changed: dict[_Key, list[str]] = defaultdict(list)
        lost: dict[_Key, int] = defaultdict(int)
        for level, p_values in refitted.items():
            after = _survivors(baseline | p_values, setting)
            for key in baseline:
                if after[key] is None and before[key] is not None:
                    lost[key] += 1
                elif after[key] != before[key]:
                    changed[key].append(level)
        yield from _counted(kind, before, changed, lost, len(refitted))


def _survivors(p_values: Mapping[_Key, float | None], setting: Setting) -> dict[_Key, bool | None]:
    tested = correct_families(setting, [format for _, format, _, _ in p_values], list(p_values.values()))
    return {key: one.survives for key, one in zip(p_values, tested, strict=True)}


def _counted(
    kind: str,
    before: Mapping[_Key, bool | None],
    changed: Mapping[_Key, list[str]],
    lost: Mapping[_Key, int],
    refits_made: int,
) -> Iterator[Row]:
    way = f"leave one {kind} out" if kind in KINDS else kind
    method = f"{way}: the {len(before)} planned contrasts corrected again (BH, within their families)"
    for domain, format, factor, group in before:
        key = (domain, format, factor, group)
        was = {True: "survives correction", False: "does not survive correction", None: "has no corrected p"}[
            before[key]
        ]
        levels = [level for level in changed.get(key, []) if level]
        named = (
            f"changes without {', '.join(levels[:_NAMED])}{' and others' * (len(levels) > _NAMED)}" if levels else ""
        )
        missing = f"{lost[key]} of {refits_made} refits gave no p value" if key in lost else ""
        yield Row(
            "status_changes",
            factor,
            group,
            domain,
            format,
            POOLED,
            estimate=float(len(changed.get(key, []))),
            n=refits_made,
            method=method,
            note="; ".join(part for part in (f"with all rows it {was}", named, missing) if part),
        )
    moved = [key for key in before if changed.get(key)]
    told = f"{len(moved)} of {len(before)} planned contrasts change their corrected status under some refit"
    missing = f"{sum(lost.values())} p values are missing in refits" if lost else ""
    yield Row(
        "status_changes",
        model=POOLED,
        estimate=float(sum(len(levels) for levels in changed.values())),
        n=refits_made,
        method=method,
        note="; ".join(part for part in (told, missing) if part),
    )
