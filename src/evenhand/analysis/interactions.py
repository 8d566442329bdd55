"""Format-by-group interactions: does a group fare better where applications are rated than where they are ranked?

"The Audit Decides the Verdict" (section 3, table 2): Rate minus disguised Rank, each outcome over its own SD. One
stacked fit a domain decides for all its groups; the paper's own specification and two hierarchical ones stand beside.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from evenhand.analysis.focal import RANKINGS
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, contrast_rows
from evenhand.analysis.stacked import (
    UNIT,
    Estimates,
    Pair,
    fit_additive,
    fit_hierarchical,
    fit_stacked,
    joined,
    stack,
)
from evenhand.statistics import correct
from evenhand.statistics.tails import t_quantile, t_two_sided

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evenhand.analysis.material import Material

RATING = "rate"
ENDPOINT = ("hiring", "Black")
"""The domain and group of the paper's primary test, fixed before collection."""

STACKED = "stacked least squares, every nuisance term by format"
ADDITIVE = "paper additive: stacked least squares, nuisance terms shared by the formats"
HIERARCHICAL = "hierarchical: stacked mixed model, nuisance terms and intercepts by format, Satterthwaite t"
SEPARATE = "hierarchical: difference of the evenhand fits of both formats, Welch-Satterthwaite t"


def primary_endpoint(material: Material, *, domain: str = ENDPOINT[0], group: str = ENDPOINT[1]) -> pl.DataFrame:
    """The paper's primary endpoint, on its own and uncorrected: one cell of the interactions.

    Args:
        material: Outcomes and the terms of their analysis.
        domain: The pack; where the study has not got it, its first domain stands in, and the note says so.
        group: The level of race; where the study has not got it, the first stands in.

    Returns:
        Tidy rows: estimand `primary_endpoint`, the specification that decides first; then its two sides,
        `primary_endpoint_side`. Empty where no domain has both formats.
    """
    pairs = _pairs(material)
    if not pairs:
        return as_frame([])
    pair = next((pair for pair in pairs if pair.rating.domain == domain), pairs[0])
    races = [level for factor, level in pair.groups if factor == "race"]
    if not races:
        return as_frame([])
    level = group if group in races else races[0]
    told = "the paper's primary endpoint, which it fixed before collection; not corrected"
    if (pair.rating.domain, level) != (domain, group):
        told = f"the study has no {domain} {group}: its first domain and group stand here, which no one fixed; {told}"
    cell = [row for row in _of_pair(material, pair) if (row.term, row.group) == ("race", level)]
    rows = [replace(row, estimand="primary_endpoint") for row in cell]
    rows += [
        replace(row, estimand="primary_endpoint_side")
        for row in _sides(material, pair)
        if (row.term, row.group) == ("race", level)
    ]
    return as_frame(replace(row, note=joined(told, row.note)) for row in rows)


def interactions(material: Material) -> pl.DataFrame:
    """Every format-by-group interaction, Rate minus disguised Rank, corrected within its specification.

    Returns:
        Tidy rows: estimand `interaction`, in SDs, above 0 where the group fares better when rated. By specification
        (`method`), the one that decides first.
    """
    rows = [row for pair in _pairs(material) for row in _of_pair(material, pair)]
    corrected: list[Row] = []
    by_method = sorted(rows, key=lambda row: _METHODS.index(row.method))
    for _, family in groupby(by_method, key=lambda row: row.method):
        corrected += _corrected(list(family))
    return as_frame(corrected)


def _pairs(material: Material) -> list[Pair]:
    """The pairs of the planned family, in the order of its domains."""
    planned = material.planned
    ranked = next((name for name in RANKINGS if name in {cell.format for cell in planned}), None)
    pairs: list[Pair] = []
    for domain in dict.fromkeys(cell.domain for cell in planned):
        cells = {cell.format: cell for cell in planned if cell.domain == domain}
        if RATING in cells and ranked in cells:
            pairs.append(Pair(cells[RATING], cells[ranked]))
    return pairs


def _of_pair(material: Material, pair: Pair) -> Iterator[Row]:
    rows = stack(pair)
    if rows is None:
        nothing = Estimates({}, 0, "the answers of a format do not vary: there is no SD to divide by")
        estimates = dict.fromkeys(_METHODS, nothing)
    else:
        found = (
            fit_stacked(pair, rows),
            fit_additive(pair, rows),
            fit_hierarchical(pair, rows),
            _separate(material, pair),
        )
        estimates = dict(zip(_METHODS, found, strict=True))
    for method, estimate in estimates.items():
        for factor, group in pair.groups:
            numbers = estimate.found.get((factor, group), {})
            lost = "" if numbers else f"{factor} {group} is not identified here"
            yield Row(
                "interaction",
                term=factor,
                group=group,
                domain=pair.rating.domain,
                format=pair.label,
                model=POOLED,
                estimate=numbers.get("estimate"),
                std_error=numbers.get("std_error"),
                df=numbers.get("df"),
                conf_low=numbers.get("conf_low"),
                conf_high=numbers.get("conf_high"),
                p_value=numbers.get("p_value"),
                n=estimate.n,
                method=method,
                note=joined(estimate.note, lost),
            )


def _separate(material: Material, pair: Pair) -> Estimates:
    """Each format with its own variances, and the calls of the ranking absorbed."""
    sides = list(_sides(material, pair))
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for factor, group in pair.shared:
        rating, ranking = (row for row in sides if (row.term, row.group) == (factor, group))
        numbers = _difference(rating, ranking)
        if numbers:
            found[factor, group] = numbers
    told = "names that move both formats alike are counted twice: the interval is wide rather than narrow"
    notes = dict.fromkeys(row.note for row in sides)
    return Estimates(found, pair.rating.rows.height + pair.ranking.rows.height, joined(told, *notes, UNIT))


def _sides(material: Material, pair: Pair) -> Iterator[Row]:
    """The contrasts of both cells over their SDs, in the specification that decides."""
    for cell in (pair.rating, pair.ranking):
        fitted = material.fitted(cell, "evenhand")
        for row in contrast_rows(cell, fitted.fit, "evenhand", trouble=fitted.trouble):
            numbers = {
                name: value / cell.sd if cell.sd > 0 and (value := getattr(row, name)) is not None else None
                for name in ("estimate", "std_error", "conf_low", "conf_high")
            }
            yield replace(row, method=f"{row.method}, over its SD of {cell.sd:.4g}", **numbers)


def _difference(rating: Row, ranking: Row) -> dict[str, float | None]:
    """Of two independent estimates; nothing where one of them has no error."""
    if rating.estimate is None or ranking.estimate is None or not rating.std_error or not ranking.std_error:
        return {}
    estimate = rating.estimate - ranking.estimate
    variances = [rating.std_error**2, ranking.std_error**2]
    freedom = [math.inf if row.df is None else row.df for row in (rating, ranking)]
    error = math.sqrt(sum(variances))
    spread = sum(v**2 / df for v, df in zip(variances, freedom, strict=True))
    df = error**4 / spread if spread else math.inf
    reach = float(t_quantile(0.975, df)) * error
    return {
        "estimate": estimate,
        "std_error": error,
        "df": df if math.isfinite(df) else None,
        "conf_low": estimate - reach,
        "conf_high": estimate + reach,
        "p_value": float(t_two_sided(estimate / error, df)),
    }


def _corrected(rows: list[Row]) -> Iterator[Row]:
    """BH within one specification; a missing p stays missing, and is counted."""
    found = correct([row.p_value for row in rows])
    lost = f"{found.missing} of {len(rows)} interactions have no p value" if found.missing else ""
    for row, q in zip(rows, found.values, strict=True):
        yield replace(row, q_value=q, note=joined(row.note, lost))


_METHODS = (STACKED, ADDITIVE, HIERARCHICAL, SEPARATE)
