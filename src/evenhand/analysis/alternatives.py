"""Planned contrasts by other models: a rank-ordered logit, and slopes that vary by respondent (appendix C)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.focal import UNITS
from evenhand.analysis.rows import Row
from evenhand.analysis.specifications import POOLED, by_contrast, contrast_rows
from evenhand.errors import InputError
from evenhand.statistics import fit_rank_logit, lay_out_mixed
from evenhand.statistics.formulas import parse_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Fitted
    from evenhand.statistics import MixedFit

FEWEST_FOR_SLOPES = 4
"""Respondents below which slopes by respondent are not tried."""

LOGIT, SLOPES = "rank-ordered logit", "random slopes"


def _fixed_terms(pooled: Fitted) -> list[str]:
    return [":".join(term) for term in parse_formula(pooled.specified.formula).terms if term]


def logit_rows(cell: Cell, pooled: Fitted) -> Iterator[Row]:
    """Log odds of standing before another applicant, each answer a ranking, errors clustered on the bundle."""
    head = Row("log_odds", domain=cell.domain, format=cell.format, model=POOLED)
    method = f"{LOGIT}: exact likelihood of ties, errors clustered on the bundle, Wald z"
    terms = _fixed_terms(pooled)
    reference = dict(pooled.specified.model.reference) if pooled.specified.model else dict(cell.references)
    reference = {name: level for name, level in reference.items() if name in terms}
    try:
        fit = fit_rank_logit(
            cell.rows,
            f"y ~ {' + '.join(terms) or '1'}",
            ranking="call",
            cluster="unit",
            best="highest",
            reference=reference,
        )
    except InputError as problem:
        for factor, group in cell.compared:
            yield replace(head, term=factor, group=group, method=method, note=problem.what)
        return
    found = by_contrast(cell, fit.rows())
    head = replace(head, n=fit.n, note="; ".join(fit.notes))
    for factor, group in cell.compared:
        row = found.get((factor, group))
        one = replace(head, term=factor, group=group, method=method)
        if row is None:
            yield replace(one, note=f"{cell.why_not(factor, group)}; {head.note}".removesuffix("; "))
            continue
        numbers = {name: row[name] for name in ("estimate", "std_error", "conf_low", "conf_high", "p_value")}
        yield replace(one, **numbers)
        yield replace(
            one,
            estimand="log_odds_random_break",
            estimate=row["random_break"],
            method=f"{LOGIT}: mean of refits with ties broken at random",
            note=_breaks(row["random_break_sd"], fit.tie_rate),
        )
    yield replace(
        head,
        estimand="tie_rate",
        estimate=fit.tie_rate,
        n=fit.rankings,
        method="share of answers with a tie",
        note=f"{fit.tied_items:.1%} of the places are shared",
    )


def _breaks(spread: float | None, tie_rate: float) -> str:
    if spread is None:
        return "no refit has a maximum"
    return f"SD {spread:.3g} between refits" if tie_rate else "there is no tie to break"


def slope_rows(cell: Cell, pooled: Fitted) -> Iterator[Row]:
    """Contrasts whose size varies at random by respondent, each factor in a fit of its own.

    Args:
        cell: The cell.
        pooled: Its fit in the specification that decides.
    """
    for factor in dict.fromkeys(factor for factor, _ in cell.compared):
        fit, trouble = _with_slopes(cell, pooled, factor)
        for row in contrast_rows(cell, fit, "evenhand", trouble=trouble):
            if row.term == factor:
                yield replace(row, method=f"{SLOPES} of {factor} by respondent: {row.method}")


def _with_slopes(cell: Cell, pooled: Fitted, factor: str) -> tuple[MixedFit | None, str]:
    model = pooled.specified.model
    if model is None:
        return None, pooled.trouble
    if len(cell.models) < FEWEST_FOR_SLOPES:
        return None, f"{len(cell.models)} respondents: slopes by respondent take {FEWEST_FOR_SLOPES} or more"
    levels = [group for name, group in cell.groups if name == factor]
    columns = {f"slope_{k}": (pl.col(factor) == level).cast(pl.Float64) for k, level in enumerate(levels, start=1)}
    formula = parse_formula(pooled.specified.formula)
    random = [f"(1|{':'.join(term.group)})" for term in formula.random if term.group != ("model",)]
    # A call that is absorbed leaves no mean of a respondent.
    mean = "0" if cell.bundled else "1"
    slopes = f"({mean} + {' + '.join(columns)} | model)"
    text = f"y ~ {' + '.join([*_fixed_terms(pooled), slopes, *random])}"
    reference = {name: str(level) for name, level in model.reference.items()}
    try:
        sloped = lay_out_mixed(
            cell.rows.with_columns(**columns), text, reference=reference, absorb="call" if cell.bundled else None
        )
        return sloped.fit(), ""
    except InputError as problem:
        return None, problem.what


def slope_shift_rows(cell: Cell, full: Sequence[Row], slopes: Sequence[Row]) -> Iterator[Row]:
    """How far slopes by respondent move each contrast, in units and in SDs.

    Args:
        cell: The cell.
        full: Its contrasts in the specification that decides.
        slopes: Its contrasts with slopes.
    """
    before = {(row.term, row.group): row.estimate for row in full}
    for row in slopes:
        mine = before[row.term, row.group]
        known = row.estimate is not None and mine is not None
        shift = abs(row.estimate - mine) if row.estimate is not None and mine is not None else None
        head = replace(row, estimand="max_shift", std_error=None, df=None, conf_low=None, conf_high=None, p_value=None)
        head = replace(head, n=1, note="" if known else f"there is nothing to shift; {row.note}")
        yield replace(head, estimate=shift, method=f"{SLOPES} of {row.term} by respondent; {UNITS[cell.format]}")
        yield replace(
            head,
            estimand="max_shift_d",
            estimate=shift / cell.sd if shift is not None and cell.sd > 0 else None,
            method=f"{SLOPES} of {row.term} by respondent; over the raw SD of {cell.sd:.4g}",
            note=head.note if cell.sd > 0 else "nothing varies: there is no SD to divide by",
        )
