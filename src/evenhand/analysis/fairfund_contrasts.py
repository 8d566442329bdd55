"""The contrasts of FairFund-Bench: who is put ahead, by task and by presentation.

Source: Lukk 2026, arXiv 2607.28934, sections 3.5, 4.2 and 4.3 and table 10. Rate and Rank: a mixed model with a random
intercept of the respondent and the other design factors fixed (race, gender, framing, category; in bundles position),
Wald's z. Allocate: differences within bundles, whose mean has a random intercept of the respondent. As in the paper,
slots of one bundle count as independent in a regression on Rank; differences within bundles do without that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.contrasts import FRAMING_STEPS
from evenhand.analysis.denominators import BUNDLE_TYPES, TASKS
from evenhand.analysis.focal import BASE, FACTORS, PRIMARY, UNITS
from evenhand.analysis.readings import joined, read_clustered
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED
from evenhand.errors import InputError
from evenhand.statistics import MixedFit, fit_clustered, lay_out_mixed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evenhand.analysis.material import Material

RATE = "rate"
DESIGN_FACTORS = ("race", "gender", "framing", "category", "position")
Step = tuple[str, str]
"""A level less another."""


def fairfund_rows(material: Material) -> pl.DataFrame:
    """The rows of the benchmark's arms in base wording, answered or not; none where a run has no such arm."""
    return material.scores.filter(
        pl.col("bundle_type").is_in([*BUNDLE_TYPES, RATE]),
        pl.col("task").is_in(TASKS),
        pl.col("tag") == PRIMARY,
        pl.col("wording_variant").fill_null(BASE) == BASE,
    )


def focal_contrasts(material: Material) -> pl.DataFrame:
    """Race and gender on Rate, Rank and Allocate (section 4.2).

    Returns:
        Tidy rows `focal_contrast`, arm the bundle type: transparent and disguised apart, and `race` and `gender` for
        both together, as the paper reports Rank. Of Rank also `focal_contrast_paired`, the mean difference within
        bundles (appendix F), and both with tied rankings readmitted at their mean rank, `..._ties`. Of intersectional
        bundles also race by gender.
    """
    rows: list[Row] = []
    for domain, part in by_domain(fairfund_rows(material)):
        steps = {factor: _steps(part, factor, material.setting.reference(domain, factor)) for factor in FACTORS}
        both = [(factor, step) for factor in FACTORS for step in steps[factor]]
        head = Row("focal_contrast", domain=domain)
        rows += _regressed(part.filter(pl.col("task") == RATE), replace(head, format=RATE, arm=RATE), both)
        for factor in FACTORS:
            wanted = [(factor, step) for step in steps[factor]]
            for arm in (f"{factor}_transparent", f"{factor}_disguised", factor):
                rows += _of_bundles(part, replace(head, arm=arm), wanted, paired=True)
        rows += _of_bundles(part, replace(head, arm="intersectional"), both, paired=True)
        rows += _interactions(part, replace(head, arm="intersectional"), steps)
    return as_frame(rows)


def framing_contrasts(material: Material) -> pl.DataFrame:
    """The causal framings on every task (section 4.3, table 10), pooled and by respondent.

    Returns:
        Tidy rows `framing_contrast`, and of Rank with ties `framing_contrast_ties`; term `framing`, group `a - b`, arm
        `rate`, `framing_transparent` (that of table 10) or `framing_disguised`. Those of one respondent are by least
        squares with errors clustered on the unit.
    """
    rows: list[Row] = []
    for domain, part in by_domain(fairfund_rows(material)):
        known = part["framing"].unique().to_list()
        steps = [("framing", step) for step in FRAMING_STEPS if set(step) <= set(known)]
        head = Row("framing_contrast", domain=domain)
        for model in (POOLED, *part["model"].unique().sort()):
            own = part if model == POOLED else part.filter(pl.col("model") == model)
            named = replace(head, model=model)
            rows += _regressed(own.filter(pl.col("task") == RATE), replace(named, format=RATE, arm=RATE), steps)
            for arm in ("framing_transparent", "framing_disguised"):
                rows += _of_bundles(own, replace(named, arm=arm), steps)
    return as_frame(rows)


def readmit_ties(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of Rank in which malformed rankings that are ties have scores: slots that share a rank share its mean.

    Without any order the slots of a bundle all have the mean rank, and every difference within it is zero (appendix F).
    """
    ranks = pl.col("rank").cast(pl.Float64)
    whole = pl.col("rank").is_not_null().all().over("call")
    tied = ~pl.col("valid") & whole & (pl.col("rank").n_unique().over("call") < pl.len().over("call"))
    return rows.with_columns(y=pl.when(tied).then(-ranks.rank("average").over("call")).otherwise("y"))


def within_bundles(
    rows: pl.DataFrame, factor: str, step: Step, *, key: Sequence[str] = ("call", "unit", "model")
) -> pl.DataFrame:
    """Differences of two levels within each bundle that holds both.

    Args:
        rows: Rows with scores.
        factor: The factor.
        step: The two levels.
        key: What makes a bundle; by default a call, so that repeated answers count apart.

    Returns:
        One row a bundle: its key, and `y`, the mean at the first level less that at the second.
    """
    first, second = (pl.col("y").filter(pl.col(factor) == level).mean() for level in step)
    held = rows.filter(pl.col("y").is_not_null())
    return held.group_by(*key, maintain_order=True).agg(y=first - second).filter(pl.col("y").is_not_null())


def _of_bundles(
    part: pl.DataFrame, head: Row, wanted: Sequence[tuple[str, Step]], *, paired: bool = False
) -> Iterator[Row]:
    """Rank by regression, where wanted also by differences within bundles, each with ties beside; Allocate by these."""
    types = [kind for kind in BUNDLE_TYPES if kind == head.arm or kind.startswith(f"{head.arm}_")]
    bundles = part.filter(pl.col("bundle_type").is_in(types))
    rank, allocate = (bundles.filter(pl.col("task") == task) for task in ("rank", "allocate"))
    found = list(_ranked(rank, head, wanted, paired=paired))
    yield from found
    readmitted = readmit_ties(rank)
    more = readmitted["call"].filter(readmitted["y"].is_not_null() & rank["y"].is_null()).n_unique()
    told = f"{more} tied rankings readmitted" if more else "no tied ranking has its ranks here: nothing is readmitted"
    for row in _ranked(readmitted, head, wanted, paired=paired) if more else found:
        yield replace(row, estimand=f"{row.estimand}_ties", note=joined(row.note, told))
    for factor, step in wanted:
        yield from _paired(allocate, replace(head, format="allocate"), factor, step)


def _ranked(rank: pl.DataFrame, head: Row, wanted: Sequence[tuple[str, Step]], *, paired: bool) -> Iterator[Row]:
    yield from _regressed(rank, replace(head, format="rank"), wanted)
    for factor, step in wanted if paired else ():
        yield from _paired(rank, replace(head, format="rank", estimand=f"{head.estimand}_paired"), factor, step)


def _paired(rows: pl.DataFrame, head: Row, factor: str, step: Step) -> Iterator[Row]:
    head = replace(head, term=factor, group=_named(factor, step))
    yield from _mean_of(within_bundles(rows, factor, step), head, f"within bundles, {_against(head, step)}")


def _mean_of(differences: pl.DataFrame, head: Row, what: str) -> Iterator[Row]:
    if differences.is_empty():
        return
    fit, trouble = _fit(differences, [], {})
    named = replace(head, model=head.model or POOLED, method=f"mean difference {what}")
    if isinstance(fit, MixedFit):
        yield _wald(named, fit.rows()[0])
    elif fit is not None:
        yield replace(read_clustered(named, fit[0]), method=f"{named.method}; errors clustered on the unit")
    else:
        yield replace(named, note=trouble)


def _regressed(rows: pl.DataFrame, head: Row, wanted: Sequence[tuple[str, Step]]) -> Iterator[Row]:
    """Differences of regression coefficients."""
    rows = rows.filter(pl.col("y").is_not_null())
    wanted = [(factor, step) for factor, step in wanted if set(step) <= set(rows[factor].unique().to_list())]
    if not wanted:
        return
    fixed = [name for name in DESIGN_FACTORS if rows[name].drop_nulls().n_unique() > 1]
    # A step is a coefficient where its second level is the reference: one fit for each.
    for factors in _same_reference(wanted):
        steps = [(factor, step) for factor, step in wanted if (factor, step[1]) in factors.items()]
        reference = _references(rows, fixed) | factors
        fit, trouble = _fit(rows, fixed, reference)
        table = fit.rows() if isinstance(fit, MixedFit) else fit or []
        found = {row["term"]: row for row in table}
        for factor, step in steps:
            named = replace(head, term=factor, group=_named(factor, step), model=head.model or POOLED)
            row = found.get(f"{factor}{step[0]}")
            what = f"regression on {', '.join(fixed)}, {_against(head, step)}"
            if row is None:
                yield replace(named, method=what, note=trouble or f"{factor} is not identified here")
            elif isinstance(fit, MixedFit):
                yield _wald(replace(named, method=what), row)
            else:
                yield read_clustered(replace(named, method=f"{what}; errors clustered on the unit"), row)


def _same_reference(wanted: Sequence[tuple[str, Step]]) -> list[dict[str, str]]:
    """Reference levels by factor, in as few sets as will do."""
    sets: list[dict[str, str]] = []
    for factor, (_, second) in wanted:
        if any(known.get(factor) == second for known in sets):
            continue
        free = next((known for known in sets if factor not in known), None)
        if free is None:
            sets.append({factor: second})
        else:
            free[factor] = second
    return sets


def _interactions(part: pl.DataFrame, head: Row, steps: Mapping[str, Sequence[Step]]) -> Iterator[Row]:
    """Race by gender within intersectional bundles: the gap of race among one gender less that among the other."""
    rows = part.filter(pl.col("bundle_type") == "intersectional", pl.col("y").is_not_null())
    for task in ("rank", "allocate"):
        bundles = rows.filter(pl.col("task") == task)
        for race in steps["race"]:
            for gender in steps["gender"]:
                gaps = [within_bundles(bundles.filter(pl.col("gender") == level), "race", race) for level in gender]
                joint = gaps[0].join(gaps[1].select("call", less="y"), on="call", maintain_order="left")
                named = replace(head, format=task, term="race:gender", group=f"{race[0]}, {gender[0]}")
                what = f"within bundles, {UNITS[task]}, against {race[1]} and {gender[1]}"
                yield from _mean_of(joint.with_columns(y=pl.col("y") - pl.col("less")), named, what)


def _fit(
    rows: pl.DataFrame, fixed: Sequence[str], reference: Mapping[str, str]
) -> tuple[MixedFit | list[dict[str, Any]] | None, str]:
    """A mixed model of several respondents; of one, tidy rows of least squares. Why there is neither, in words."""
    terms = " + ".join(fixed) or "1"
    try:
        if rows["model"].n_unique() > 1:
            return lay_out_mixed(rows, f"y ~ {terms} + (1|model)", reference=reference).fit(), ""
        return fit_clustered(rows, f"y ~ {terms}", cluster="unit", reference=reference).rows(), ""
    except InputError as problem:
        return None, problem.what


def _wald(head: Row, found: Mapping[str, Any]) -> Row:
    return replace(
        head,
        estimate=found["estimate"],
        std_error=found["std_error"],
        conf_low=found["conf_low"],
        conf_high=found["conf_high"],
        p_value=found["p_value"],
        n=found["n"],
        method=f"{head.method}; random intercept of the respondent, Wald z",
        note=joined(head.note, found["note"]),
    )


def by_domain(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The rows of each domain, as they come."""
    for (domain,), part in rows.group_by("domain", maintain_order=True):
        yield str(domain), part


def _steps(rows: pl.DataFrame, factor: str, reference: str | None) -> list[Step]:
    """Every level against the reference; none where the reference is not there."""
    levels: list[str] = rows[factor].drop_nulls().unique().sort().to_list()
    return [(level, reference) for level in levels if level != reference] if reference in levels else []


def _references(rows: pl.DataFrame, fixed: Sequence[str]) -> dict[str, str]:
    """The first level of each factor; naming one makes positions a factor, not a number."""
    return {name: str(rows[name].drop_nulls().min()) for name in fixed}


def _named(factor: str, step: Step) -> str:
    return " - ".join(step) if factor == "framing" else step[0]


def _against(head: Row, step: Step) -> str:
    return f"{UNITS[head.format]}, against {step[1]}"
