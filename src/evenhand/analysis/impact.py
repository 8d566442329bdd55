"""Impact ratios: each group's rate of selection over that of the most selected group.

The table that New York City's Local Law 144 asks for (6 RCNY 5-301): by sex, by race, and by both. What is selected
here are applications of a test, not people, so no ratio is a legal finding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from evenhand.analysis.readings import joined, pooled_and_each
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED
from evenhand.statistics.tails import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

DECISIONS = ("decide", "tool_decide")
NO_LEGAL_FINDING = (
    "no legal finding: the applications are a test's, and the most selected group is chosen from the same answers"
)
_CATEGORIES = {"gender": ("gender",), "race": ("race",), "race x gender": ("race", "gender")}
_CLUSTERS = ("profile", "name")


@dataclass(frozen=True, slots=True)
class _Rates:
    """Selections by group.

    Attributes:
        groups: Their names.
        of: The group of each row, shape (n,).
        selected: 0 or 1, shape (n,).
        rates: Shape (groups,).
        counts: Rows by group, shape (groups,).
        clusters: By column, the cluster of each row, shape (n,); the last is their combination.
    """

    groups: list[str]
    of: NDArray[np.int64]
    selected: NDArray[np.float64]
    rates: NDArray[np.float64]
    counts: NDArray[np.float64]
    clusters: list[NDArray[np.int64]]


def impact_ratios(material: Material) -> pl.DataFrame:
    """Selection rates and impact ratios of every format that decides.

    Intervals allow for what the same profile and the same name have in common (two-way clusters, Cameron, Gelbach and
    Miller 2011), of a rate on the logit and of a ratio on the log scale, by the delta method; t with the fewer of
    profiles and names less 1 degrees of freedom. Where a rate is 0 or 1 there is none of it.

    Returns:
        Tidy rows: `selection_rate` and `impact_ratio`, term `gender`, `race` or `race x gender`; pooled and by
        respondent.
    """
    rows: list[Row] = []
    for cell in material.cells:
        if cell.format not in DECISIONS:
            continue
        for model in pooled_and_each(cell.models, POOLED):
            decided = cell.rows if model == POOLED else cell.of_model(model)
            for term, columns in _CATEGORIES.items():
                head = Row("", term=term, domain=cell.domain, format=cell.format, model=model)
                rows += _category_rows(decided, columns, replace(head, note=_unanswered(cell, model)))
    return as_frame(rows)


def _unanswered(cell: Cell, model: str) -> str:
    lost = int(cell.left_out["n"].sum()) if model == POOLED else 0
    return f"{lost} applications without a decision are left out" if lost else ""


def _category_rows(decided: pl.DataFrame, columns: Sequence[str], head: Row) -> Iterator[Row]:
    known = decided.drop_nulls([*columns])
    if known.is_empty():
        return
    rates = _rates_of(known, columns)
    if len(rates.groups) < 2:
        return
    for g, group in enumerate(rates.groups):
        yield _rate_row(rates, g, replace(head, group=group))
    best = int(rates.rates.argmax())
    for g, group in enumerate(rates.groups):
        yield _ratio_row(rates, g, best, replace(head, group=group))


def _rates_of(known: pl.DataFrame, columns: Sequence[str]) -> _Rates:
    # By codes of each column: two categories may come to be written alike.
    levels = known.select(*columns).unique().sort(*columns)
    groups = [" ".join(map(str, row)) for row in levels.iter_rows()]
    numbered = levels.with_row_index("of")
    of = known.join(numbered, on=[*columns], how="left", maintain_order="left")["of"].to_numpy().astype(np.int64)
    selected = (known["y"].to_numpy() / 100.0).astype(np.float64)
    counts = np.bincount(of).astype(np.float64)
    clusters: list[NDArray[np.int64]] = []
    if not any(known[column].has_nulls() for column in _CLUSTERS):
        clusters = [_codes(known[column]) for column in _CLUSTERS]
        clusters.append(clusters[0] * (int(clusters[1].max()) + 1) + clusters[1])
    return _Rates(groups, of, selected, np.bincount(of, selected) / counts, counts, clusters)


def _codes(column: pl.Series) -> NDArray[np.int64]:
    return column.rank("dense").to_numpy().astype(np.int64) - 1


def _rate_row(rates: _Rates, g: int, head: Row) -> Row:
    rate = float(rates.rates[g])
    head = replace(
        head,
        estimand="selection_rate",
        estimate=rate,
        n=int(rates.counts[g]),
        method="logit interval, clusters of profiles and names",
    )
    if rate in (0.0, 1.0):
        return replace(
            head, note=joined(head.note, f"{'every' if rate else 'no'} application was selected: no interval")
        )
    error, df, note = _error(rates, _pull(rates, g))
    if error is None:
        return replace(head, note=joined(head.note, note))
    middle, reach = log(rate / (1 - rate)), _critical(df) * error / (rate * (1 - rate))
    ends = [1 / (1 + exp(-end)) for end in (middle - reach, middle + reach)]
    return replace(head, std_error=error, df=df, conf_low=ends[0], conf_high=ends[1])


def _ratio_row(rates: _Rates, g: int, best: int, head: Row) -> Row:
    rate, top = float(rates.rates[g]), float(rates.rates[best])
    method = f"against {rates.groups[best]}, the most selected; log ratio, clusters of profiles and names"
    head = replace(head, estimand="impact_ratio", n=int(rates.counts[g] + rates.counts[best]), method=method)
    told = joined(head.note, NO_LEGAL_FINDING)
    if top == 0:
        return replace(head, note=joined("nobody was selected: there is no ratio", told))
    head = replace(head, estimate=rate / top, n=int(rates.counts[g]) if g == best else head.n)
    if g == best:
        return replace(head, note=joined("the most selected group: 1 by definition", told))
    if rate == 0:
        return replace(
            head, note=joined("no application of this group was selected: no interval of the log ratio", told)
        )
    error, df, note = _error(rates, _pull(rates, g) / rate - _pull(rates, best) / top)
    if error is None:
        return replace(head, note=joined(note, told))
    reach = _critical(df) * error
    middle = log(rate / top)
    return replace(
        head,
        std_error=error * rate / top,
        df=df,
        conf_low=exp(middle - reach),
        conf_high=exp(middle + reach),
        note=told,
    )


def _pull(rates: _Rates, g: int) -> NDArray[np.float64]:
    """What each row adds to the rate of a group, shape (n,)."""
    return np.where(rates.of == g, (rates.selected - rates.rates[g]) / rates.counts[g], 0.0)


def _error(rates: _Rates, pull: NDArray[np.float64]) -> tuple[float | None, float, str]:
    """Standard error of a sum of pulls, its degrees of freedom, and why there is none."""
    if not rates.clusters:
        return None, 0.0, "no interval: the profile or the name of some rows is unknown"
    counted = pull != 0
    sizes = [len(np.unique(codes[counted])) for codes in rates.clusters]
    if min(sizes[:2], default=0) < 2:
        return None, 0.0, "no interval: decisions vary within fewer than two profiles or names"
    profile, name, both = (
        size / (size - 1) * float((np.bincount(codes, pull) ** 2).sum())
        for codes, size in zip(rates.clusters, [max(size, 2) for size in sizes], strict=True)
    )
    # Two-way clusters may come out below either one; the larger of those is then taken.
    variance = max(profile + name - both, profile, name)
    if variance <= 0:
        return None, 0.0, "no interval: nothing varies between profiles or names"
    return sqrt(variance), float(min(sizes[:2]) - 1), ""


def _critical(df: float) -> float:
    return float(t_quantile(0.975, df))
