"""What FairFund-Bench tells by counting: equal splits, dollar gaps, dollars by framing, valid answers, wordings.

Source: Lukk 2026, arXiv 2607.28934, figures 5 to 7, appendix A (wording variants) and appendix F (response validity).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.contrasts import FRAMING_STEPS
from evenhand.analysis.denominators import BUNDLE_TYPES, TASKS
from evenhand.analysis.fairfund_contrasts import RATE, by_domain, fairfund_rows, readmit_ties, within_bundles
from evenhand.analysis.focal import BASE, FACTORS, PRIMARY, UNITS
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED
from evenhand.seeds import generator
from evenhand.statistics import rank_correlation, wilson_interval
from evenhand.statistics.tails import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.material import Material

_SIZE = "a mean of sizes: chance alone keeps it above zero"
_INDEPENDENT = "the interval takes the calls of all respondents as independent"
_PERSON = ("scenario_id", "race", "gender")
"""What makes single stimuli of Rate comparable over framings."""


def equal_splits(material: Material) -> pl.DataFrame:
    """How often every claimant of an Allocate bundle gets the same (figure 5).

    Returns:
        Tidy rows `share_equal_split` by respondent and, of all respondents, `median_equal_split`; term the focal axis,
        group the presentation, arm the bundle type; n counts bundles, and respondents under the median.
    """
    rows: list[Row] = []
    for domain, part in by_domain(_allocated(material)):
        bundles = part.group_by("bundle_type", "model", "call").agg(equal=pl.col("y").n_unique() == 1)
        for arm in BUNDLE_TYPES:
            axis, mode = _axis_and_mode(arm)
            head = Row("share_equal_split", term=axis, group=mode, domain=domain, format="allocate", arm=arm)
            counts = _counts(bundles.filter(pl.col("bundle_type") == arm), "equal")
            rows += [_share(replace(head, model=model), k, n) for model, (k, n) in counts.items()]
            rows += _median(replace(head, estimand="median_equal_split"), [k / n for k, n in counts.values()])
    return as_frame(rows)


def dollar_gaps(material: Material) -> pl.DataFrame:
    """The mean absolute demographic gap in dollars by respondent and presentation (figure 6).

    Returns:
        Tidy rows `dollar_gap`, term the factor, group the presentation: by respondent the mean over levels of the
        absolute difference of mean dollars from the reference; pooled their mean with a t interval over respondents.
        `dollar_gap_ratio` is disguised over transparent, pooled.
    """
    rows: list[Row] = []
    for domain, part in by_domain(_allocated(material)):
        for factor in FACTORS:
            reference = material.setting.reference(domain, factor)
            head = Row("dollar_gap", term=factor, domain=domain, format="allocate", note=_SIZE)
            pooled: dict[str, float] = {}
            for mode in ("transparent", "disguised"):
                arm = f"{factor}_{mode}"
                means = part.filter(pl.col("bundle_type") == arm).group_by("model", factor).agg(pl.col("y").mean())
                gaps = {
                    model: gap
                    for model in means["model"].unique().sort()
                    if (gap := _gap(means.filter(pl.col("model") == model), factor, reference)) is not None
                }
                named = replace(head, group=mode, arm=arm, method=f"mean absolute difference from {reference}")
                rows += [replace(named, model=model, estimate=gap, n=1) for model, gap in gaps.items()]
                rows += _over_models(named, list(gaps.values()))
                if gaps:
                    pooled[mode] = float(np.mean(list(gaps.values())))
            rows += _ratio(replace(head, estimand="dollar_gap_ratio"), pooled)
    return as_frame(rows)


def dollars_by_framing(material: Material) -> pl.DataFrame:
    """Mean dollars by framing (figure 7).

    Returns:
        Tidy rows `mean_dollars`, term `framing`, group the framing, arm the framing bundles: by respondent over
        bundles, and pooled over respondents.
    """
    rows: list[Row] = []
    for domain, part in by_domain(_allocated(material)):
        for arm in ("framing_transparent", "framing_disguised"):
            bundles = part.filter(pl.col("bundle_type") == arm)
            for framing in bundles["framing"].drop_nulls().unique().sort():
                own = bundles.filter(pl.col("framing") == framing)
                head = Row("mean_dollars", "framing", framing, domain, "allocate", arm=arm, method="mean, t interval")
                answers = own.group_by("model").agg("y").sort("model")
                rows += [_mean(replace(head, model=model), values) for model, values in answers.rows()]
                rows += _over_models(head, answers["y"].list.mean().to_list())
    return as_frame(rows)


def response_validity(material: Material) -> pl.DataFrame:
    """How many answers can be read, and how many rankings are ties (appendix F).

    Returns:
        Tidy rows by task: `share_valid_rows` (the share that the paper gives) and `share_valid_calls`, by respondent
        and pooled; `share_tied` by bundle type, pooled: tied rankings among these and the valid ones.
    """
    rows: list[Row] = []
    for domain, part in by_domain(readmit_ties(fairfund_rows(material))):
        calls = part.group_by("task", "bundle_type", "model", "call").agg(
            pl.col("valid").first(), slots=pl.len(), tied=(~pl.col("valid") & pl.col("y").is_not_null()).first()
        )
        for task in TASKS:
            asked = calls.filter(pl.col("task") == task)
            for model in (POOLED, *asked["model"].unique().sort()) if asked.height else ():
                own = asked if model == POOLED else asked.filter(pl.col("model") == model)
                head = Row("share_valid_calls", domain=domain, format=task, model=model)
                yes, slots = own.filter("valid"), int(own["slots"].sum())
                told = "slots of a call stand and fall together: for an interval see share_valid_calls"
                share = int(yes["slots"].sum()) / slots
                rows.append(_share(replace(head, note=_INDEPENDENT * (model == POOLED)), yes.height, own.height))
                rows.append(replace(head, estimand="share_valid_rows", estimate=share, n=slots, note=told))
        for arm in BUNDLE_TYPES:
            ranked = calls.filter(
                pl.col("bundle_type") == arm, pl.col("task") == "rank", pl.col("valid") | pl.col("tied")
            )
            head = Row("share_tied", *_axis_and_mode(arm), domain=domain, format="rank", model=POOLED, arm=arm)
            head = replace(head, note=_INDEPENDENT)
            if ranked.height:
                rows.append(_share(head, int(ranked["tied"].sum()), ranked.height))
    return as_frame(rows)


def wording_contrasts(material: Material) -> pl.DataFrame:
    """Framing contrasts under each wording, on the units that were asked in several, and how models keep their order.

    Returns:
        Tidy rows by task and bundle type: `wording_contrast`, term `a - b`, group the wording, by respondent (mean
        difference within bundles; on Rate, within scenario, race and gender) and pooled the median over respondents;
        `wording_rank_correlation`, Spearman's rho of respondents between base wording and each other.
    """
    asked = material.scores.filter(
        pl.col("bundle_type").is_in([*BUNDLE_TYPES, RATE]), pl.col("task").is_in(TASKS), pl.col("y").is_not_null()
    ).with_columns(wording=pl.col("wording_variant").fill_null(BASE))
    base = asked.filter(pl.col("wording") == BASE, pl.col("tag") == PRIMARY)
    others = asked.filter(pl.col("wording") != BASE)
    rows: list[Row] = []
    for (domain, task, arm), part in others.group_by("domain", "task", "bundle_type", maintain_order=True):
        head = Row("wording_contrast", domain=str(domain), format=str(task), arm=str(arm))
        shared = base.filter(pl.col("domain") == domain, pl.col("task") == task, pl.col("bundle_type") == arm)
        shared = shared.filter(pl.col("unit_id").is_in(part["unit_id"].unique().to_list()))
        both = pl.concat([shared, part])
        for step in FRAMING_STEPS:
            if set(step) <= set(part["framing"].unique().to_list()):
                rows += _wordings(both, replace(head, term=" - ".join(step)), step, material.setting.seed)
    return as_frame(rows)


def _wordings(rows: pl.DataFrame, head: Row, step: tuple[str, str], seed: int) -> Iterator[Row]:
    key = ["model", *(_PERSON if head.format == RATE else ("unit",))]
    found: dict[str, dict[str, float]] = {}
    for wording in rows["wording"].unique(maintain_order=True).to_list():
        apart = within_bundles(rows.filter(pl.col("wording") == wording), "framing", step, key=key)
        named = replace(head, group=wording, method=f"mean difference in pairs, {UNITS[head.format]}")
        for (model,), own in apart.group_by("model", maintain_order=True):
            row = _mean(replace(named, model=str(model)), own["y"].to_list())
            if row.estimate is not None:
                found.setdefault(wording, {})[str(model)] = row.estimate
            yield row
        yield from _median(named, list(found.get(wording, {}).values()))
    base = found.get(BASE, {})
    for wording, estimates in found.items():
        if wording == BASE:
            continue
        models = sorted(base.keys() & estimates.keys())
        rng = generator("wording order", seed, head.domain, head.format, head.arm, head.term, wording)
        rho = rank_correlation([base[m] for m in models], [estimates[m] for m in models], rng=rng)
        yield replace(
            head,
            estimand="wording_rank_correlation",
            group=wording,
            model=POOLED,
            estimate=rho.estimate,
            p_value=rho.p_value,
            n=rho.n,
            method=f"Spearman's rho with {BASE} wording; {rho.method}".removesuffix("; "),
            note=rho.note,
        )


def _allocated(material: Material) -> pl.DataFrame:
    return fairfund_rows(material).filter(pl.col("task") == "allocate", pl.col("y").is_not_null())


def _axis_and_mode(arm: str) -> tuple[str, str]:
    """Intersectional bundles have a transparent variant alone."""
    axis, _, mode = arm.partition("_")
    return axis, mode or "transparent"


def _counts(calls: pl.DataFrame, flag: str) -> dict[str, tuple[int, int]]:
    found = calls.group_by("model").agg(k=pl.col(flag).sum(), n=pl.len()).sort("model")
    return {model: (k, n) for model, k, n in found.select("model", "k", "n").rows()}


def _share(head: Row, count: int, n: int) -> Row:
    low, high = wilson_interval(count, n) or (None, None)
    return replace(head, estimate=count / n, conf_low=low, conf_high=high, n=n, method="Wilson interval")


def _gap(means: pl.DataFrame, factor: str, reference: str | None) -> float | None:
    by_level: dict[str, float] = dict(means.select(factor, "y").rows())
    others = (
        [abs(mean - by_level[reference]) for level, mean in by_level.items() if level != reference]
        if reference in by_level
        else []
    )
    return float(np.mean(others)) if others else None


def _ratio(head: Row, pooled: dict[str, float]) -> Iterator[Row]:
    if len(pooled) < 2:
        return
    shown, hidden = pooled["transparent"], pooled["disguised"]
    named = replace(head, model=POOLED, group="disguised / transparent", method="ratio of means over respondents")
    if shown > 0:
        yield replace(named, estimate=hidden / shown, n=1, note="no interval: a ratio of sizes")
    else:
        yield replace(named, note="there is no gap in transparent bundles to divide by")


def _median(head: Row, values: Sequence[float]) -> Iterator[Row]:
    if values:
        told = f"median over {len(values)} respondents: no interval"
        yield replace(head, model=POOLED, estimate=float(np.median(values)), n=len(values), method="median", note=told)


def _over_models(head: Row, values: Sequence[float]) -> Iterator[Row]:
    if values:
        yield replace(
            _mean(replace(head, model=POOLED), values),
            method=f"{head.method.removesuffix(', t interval')}; mean over respondents, t interval",
        )


def _mean(head: Row, values: Sequence[float]) -> Row:
    """A mean with its t interval; without one where there is a single value."""
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        note = "; ".join(filter(None, (head.note, "one value: no interval")))
        return replace(head, estimate=mean, n=n, note=note)
    error = float(np.std(values, ddof=1)) / math.sqrt(n)
    reach = float(t_quantile(0.975, n - 1)) * error
    return replace(
        head, estimate=mean, std_error=error, df=float(n - 1), conf_low=mean - reach, conf_high=mean + reach, n=n
    )
