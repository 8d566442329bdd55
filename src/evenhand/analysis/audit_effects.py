"""What the audit itself does to a verdict: where an applicant is listed, and how often an answer ties.

"The Audit Decides the Verdict", section 3 and appendix C. Wordings and interfaces are in `variants`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.focal import BASE, BUNDLED, PRIMARY, UNITS
from evenhand.analysis.readings import in_sds, joined, pooled_and_each, read_clustered, read_mixed
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED
from evenhand.errors import InputError
from evenhand.seeds import generator
from evenhand.statistics import (
    difference_of_largest,
    fit_clustered,
    largest,
    least_squares_draws,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material
    from evenhand.statistics import BootstrapDraws, Largest

RANKED_IN_TEXT = ("rank", "rank_ties")
"""Formats that rank in text: one outcome in one unit, which the audit and the demographics are compared on."""
TYING = ("rank_ties", "tool_rank")
"""Formats that permit ties."""
FIRST = "first"
_ALL_TIED = "every answer gives all its slots the same: nothing can be read of positions"


def position_effect(material: Material) -> pl.DataFrame:
    """What being listed first is worth, against the mean of the other positions.

    Twice: in each demographic cell of bundles by the specification that decides, and in every primary arm of bundles,
    placebo and irrelevant attributes included, by least squares within answers, beside strata and framings, with errors
    clustered on bundles.

    Returns:
        Tidy rows: estimands `first_position` in the format's unit and `first_position_d` in SDs of the cell or arm,
        above 0 where the first is treated better; pooled and by respondent.
    """
    rows: list[Row] = []
    for cell in material.cells:
        if cell.bundled:
            for model in pooled_and_each(cell.models, POOLED):
                row = _fitted_position(material, cell, model)
                rows += [row, in_sds(row, cell.sd, of="the cell")]
    bundles = material.scores.filter(
        pl.col("task").is_in(BUNDLED),
        pl.col("tag") == PRIMARY,
        pl.col("wording_variant").fill_null(BASE) == BASE,
        pl.col("y").is_not_null(),
    )
    for key, part in bundles.group_by("domain", "task", "bundle_type", maintain_order=True):
        head = Row(
            "first_position", term="position", group="1", domain=str(key[0]), format=str(key[1]), arm=str(key[2])
        )
        spread = part["y"].std()
        sd = spread if isinstance(spread, float) else 0.0
        for model in pooled_and_each(part["model"].unique().sort().to_list(), POOLED):
            shown = part if model == POOLED else part.filter(pl.col("model") == model)
            row = _mean_position(shown, replace(head, model=model))
            rows += [row, in_sds(row, sd, of="the arm")]
    return as_frame(rows)


def _fitted_position(material: Material, cell: Cell, model: str) -> Row:
    found = material.fitted(cell, "evenhand", model)
    method = (
        f"evenhand: mixed model, Satterthwaite t; {UNITS[cell.format]}; {cell.mode} bundles; against the others' mean"
    )
    head = Row(
        "first_position",
        term="position",
        group="1",
        domain=cell.domain,
        format=cell.format,
        model=model,
        method=method,
    )
    if found.fit is None:
        return replace(head, note=found.trouble)
    others = [name for name in found.fit.coef_names if name.startswith("position")]
    if not others:
        return replace(head, note=joined("positions are not identified here", *found.fit.notes))
    weights = dict.fromkeys(others, -1 / len(others))
    sizes = cell.rows["bundle_size"].unique().sort().to_list()
    mixed = f"bundles of {', '.join(map(str, sizes))} slots together" if len(sizes) > 1 else ""
    row = read_mixed(head, found.fit.contrast(weights).row(0, named=True), note=mixed)
    moves = cell.rows if model == POOLED else cell.of_model(model)
    if _all_tied(moves):
        empty = dict.fromkeys(("estimate", "std_error", "df", "conf_low", "conf_high", "p_value"))
        return replace(row, **empty, note=joined(_ALL_TIED, mixed))
    return row


def _all_tied(rows: pl.DataFrame) -> bool:
    return rows.group_by("call").agg(pl.col("y").n_unique())["y"].max() == 1


def _mean_position(rows: pl.DataFrame, head: Row) -> Row:
    head = replace(head, method=f"least squares within answers, errors clustered on the bundle; {UNITS[head.format]}")
    calls = rows["call"].n_unique()
    if _all_tied(rows):
        return replace(head, n=calls, note=_ALL_TIED)
    beside = _dummies(rows, ("stratum", "framing"))
    table = _within_answers(rows.select("unit", "call", "y", **{FIRST: _IS_FIRST}, **beside))
    formula = f"y ~ 0 + {' + '.join(f'`{name}`' for name in (FIRST, *beside))}"
    try:
        found = {row["term"]: row for row in fit_clustered(table, formula, cluster="unit").rows()}
    except InputError as problem:
        return replace(head, n=calls, note=problem.what)
    if FIRST not in found:
        return replace(head, n=calls, note="no answer has a first and another slot")
    return read_clustered(head, found[FIRST])


_IS_FIRST = (pl.col("position") == 1).cast(pl.Float64)


def _dummies(rows: pl.DataFrame, factors: Sequence[str], *, prefix: str = "") -> dict[str, pl.Expr]:
    """A column of noughts and ones for every level of each factor but its first."""
    return {
        f"{prefix}{factor} {level}": (pl.col(factor) == level).cast(pl.Float64)
        for factor in factors
        for level in rows[factor].drop_nulls().unique().sort().to_list()[1:]
    }


def _within_answers(table: pl.DataFrame) -> pl.DataFrame:
    """Numbers less their mean in the answer: its fixed effect, taken out."""
    numbers = [name for name in table.columns if name not in {"unit", "call"}]
    return table.with_columns((pl.col(numbers) - pl.col(numbers).mean().over("call")).fill_null(0.0))


@dataclass(frozen=True, slots=True)
class _Demographic:
    """A demographic term of the common fit: its column, and the row it becomes."""

    column: str
    head: Row


def audit_against_demographics(material: Material) -> pl.DataFrame:
    """The first position against the largest demographic effect, in one fit on the same outcome in the same unit.

    All disguised rankings, standardised within their domain, each answer centred: a first-position indicator, a term
    for every group of every domain, strata and framings of each domain. Bundles are resampled.

    Returns:
        Tidy rows in SDs: `first_position_d`, `contrast_d` by group, `largest_demographic_d`, and
        `position_less_largest_d` with an interval that holds for a difference of largest values, then with the
        percentiles of the draws, as the paper has it, which have no such coverage.
    """
    disguised = (cell for cell in material.cells if cell.format in RANKED_IN_TEXT and cell.mode == "disguised")
    cells = [cell for cell in disguised if cell.sd > 0]
    if not cells:
        return as_frame([])
    table, terms, nuisance = _common_table(cells)
    columns = [FIRST, *(term.column for term in terms), *nuisance]
    rng = generator("audit-against-demographics", material.setting.seed)
    head = Row("", format=", ".join(sorted({cell.format for cell in cells})), model=POOLED, method=_COMMON)
    try:
        draws = least_squares_draws(table, f"z ~ 0 + {' + '.join(f'`{c}`' for c in columns)}", cluster="unit", rng=rng)
    except InputError as problem:
        return as_frame([replace(head, estimand="position_less_largest_d", note=problem.what)])
    return as_frame(_compared(draws, terms, head))


_COMMON = "one fit on disguised rankings of all domains, answers centred; bundles resampled; SDs"


def _common_table(cells: Sequence[Cell]) -> tuple[pl.DataFrame, list[_Demographic], list[str]]:
    """Numeric columns, centred within the answer; what belongs to another cell is nought."""
    terms: list[_Demographic] = []
    nuisance: list[str] = []
    parts: list[pl.DataFrame] = []
    for number, cell in enumerate(cells):
        groups: dict[str, pl.Expr] = {}
        for factor, group in cell.groups:
            column = f"group {number} {len(groups)}"
            groups[column] = (pl.col(factor) == group).cast(pl.Float64)
            head = Row("contrast_d", term=factor, group=group, domain=cell.domain, format=cell.format)
            terms.append(_Demographic(column, head))
        beside = _dummies(cell.rows, ("stratum", "framing"), prefix=f"{number} ")
        nuisance += beside
        columns = {FIRST: _IS_FIRST, **groups, **beside}
        parts.append(cell.rows.select("unit", "call", z=pl.col("y") / cell.sd, **columns))
    return _within_answers(pl.concat(parts, how="diagonal").fill_null(0.0)), terms, nuisance


def _compared(draws: BootstrapDraws, terms: Sequence[_Demographic], head: Row) -> Iterator[Row]:
    intervals = {row["term"]: row for row in draws.intervals().to_dicts()}
    named = {FIRST: replace(head, estimand="first_position_d", term="position", group="1")}
    for term in terms:
        own = term.head
        named[term.column] = replace(
            head, estimand=own.estimand, term=own.term, group=own.group, domain=own.domain, format=own.format
        )
    for column, row in named.items():
        if column not in intervals:
            yield replace(row, n=draws.clusters, note="not identified here")
            continue
        found = intervals[column]
        numbers = {name: found[name] for name in ("estimate", "std_error", "conf_low", "conf_high", "note")}
        yield replace(row, **numbers, n=draws.clusters, method=f"{head.method}; percentile interval")
    seen = [term for term in terms if term.column in draws.names]
    if FIRST not in draws.names or not seen:
        told = "positions are not" if FIRST not in draws.names else "no demographic term is"
        yield replace(head, estimand="position_less_largest_d", note=f"{told} identified here")
        return
    yield from _differences(draws.select([FIRST]), draws.select([term.column for term in seen]), seen, head)


def _differences(
    position: BootstrapDraws, demographic: BootstrapDraws, terms: Sequence[_Demographic], head: Row
) -> Iterator[Row]:
    who = {term.column: term.head for term in terms}
    size = largest(demographic)
    which = who[size.terms[0]]
    told = f"the largest is {which.domain} {which.group}, of {len(terms)}"
    yield _largest_row(replace(head, estimand="largest_demographic_d", n=demographic.clusters), size, told)
    apart = difference_of_largest(position, demographic)
    row = replace(head, estimand="position_less_largest_d", n=position.clusters)
    yield _largest_row(row, apart, told)
    gaps = np.abs(position.draws[:, 0]) - np.abs(demographic.draws).max(axis=1)
    low, high = np.quantile(gaps, [0.025, 0.975]).tolist()
    yield replace(
        row,
        estimate=apart.estimate,
        std_error=apart.std_error,
        conf_low=low,
        conf_high=high,
        method=f"{head.method}; percentiles of the draws (the paper's)",
        note=joined(told, "a maximum grows under resampling: these percentiles do not cover as often as they say"),
    )


def _largest_row(head: Row, found: Largest, told: str) -> Row:
    return replace(
        head,
        estimate=found.estimate,
        std_error=found.std_error,
        conf_low=found.conf_low,
        conf_high=found.conf_high,
        method=f"{head.method}; interval read off simultaneous ones",
        note=joined(told, found.note),
    )


def tie_rates(material: Material) -> pl.DataFrame:
    """How often rankings that permit ties tie some of their slots, and all of them.

    Returns:
        Tidy rows by arm: estimands `share_tied` and `share_fully_tied` of answered calls, pooled and by respondent.
    """
    calls = (
        material.scores.filter(pl.col("task").is_in(TYING))
        .group_by("domain", "task", "arm", "bundle_type", "model", "call", maintain_order=True)
        .agg(ranks=pl.col("y").n_unique(), slots=pl.len(), scored=pl.col("y").count())
        .with_columns(answered=(pl.col("scored") == pl.col("slots")) & (pl.col("slots") > 1))
    )
    rows: list[Row] = []
    for key, part in calls.group_by("domain", "task", "arm", "bundle_type", maintain_order=True):
        domain, task, arm, cell = (str(value) for value in key)
        head = Row("", term="bundle_type", group=cell, domain=domain, format=task, arm=arm)
        for model in pooled_and_each(part["model"].unique().sort().to_list(), POOLED):
            shown = part if model == POOLED else part.filter(pl.col("model") == model)
            rows += _tie_rows(shown, replace(head, model=model))
    return as_frame(rows)


def _tie_rows(calls: pl.DataFrame, head: Row) -> Iterator[Row]:
    answered = calls.filter("answered")
    lost = calls.height - answered.height
    note = joined(
        f"{lost} of {calls.height} calls have no full answer and are left out" if lost else "",
        "respondents saw the same bundles: the interval takes their answers as independent"
        if head.model == POOLED and calls["model"].n_unique() > 1
        else "",
    )
    found = {
        "share_tied": answered.filter(pl.col("ranks") < pl.col("slots")).height,
        "share_fully_tied": answered.filter(pl.col("ranks") == 1).height,
    }
    for estimand, count in found.items():
        interval = wilson_interval(count, answered.height)
        yield replace(
            head,
            estimand=estimand,
            estimate=count / answered.height if interval else None,
            conf_low=interval[0] if interval else None,
            conf_high=interval[1] if interval else None,
            n=answered.height,
            method="Wilson interval",
            note=note,
        )
