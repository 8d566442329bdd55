"""Whether the groups of an arm were shown equally good applications, as the models' own ratings tell it.

"The Audit Decides the Verdict", table 4, last column: the baseline-quality gap is the difference between groups in the
mean rating that the primary, fully crossed arm gave to the profiles each group was shown. It is zero by construction
where a design is crossed or keeps its quotas, and where it is not, it is what an apparent contrast measures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.rows import Row, as_frame

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_PROFILE = ("scenario_id", "framing")
_KEY = ("model", "domain")


def baseline_gaps(
    outcomes: pl.DataFrame,
    *,
    contrasts: Mapping[str, Collection[str]],
    references: Mapping[str, Mapping[str, str]],
    confounded: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """The baseline-quality gap of every arm, by model and group.

    Args:
        outcomes: The outcomes table; the baseline is the mean rating of each profile in answered primary Rate rows.
        contrasts: By arm, the factors that its design compares; arms that are not there have no rows.
        references: By domain, the reference level of each factor that is compared.
        confounded: By arm, what it is confounded with; said in the note of its rows.

    Returns:
        Tidy rows: estimand `baseline_quality_gap`, term the factor, group the level; the estimate is in rating points,
        group minus reference; n counts the slots of both. No row where a model or domain has no primary ratings.
    """
    shown = outcomes.filter(~pl.col("task").str.starts_with("purpose"))
    rated = shown.filter((pl.col("task") == "rate") & (pl.col("tag") == "primary") & pl.col("rating").is_not_null())
    baseline = rated.group_by(*_KEY, *_PROFILE).agg(pl.col("rating").mean().alias("baseline"))
    graded = shown.join(baseline, on=[*_KEY, *_PROFILE], how="inner", nulls_equal=True)
    return as_frame(
        row
        for domain, levels in references.items()
        for factor, reference in levels.items()
        for row in _factor_rows(
            graded.filter(
                pl.col("domain") == domain,
                pl.col("arm").is_in([arm for arm, compared in contrasts.items() if factor in compared]),
            ),
            factor,
            reference,
            confounded or {},
        )
    )


def _factor_rows(graded: pl.DataFrame, factor: str, reference: str, confounded: Mapping[str, str]) -> Iterator[Row]:
    means = (
        graded.filter(pl.col(factor).is_not_null())
        .group_by("model", "domain", "task", "arm", factor, maintain_order=True)
        .agg(pl.col("baseline").mean(), pl.len().alias("n"))
    )
    for key, part in means.group_by("model", "domain", "task", "arm", maintain_order=True):
        model, domain, task, arm = map(str, key)
        found = {str(level): (mean, n) for level, mean, n in part.select(factor, "baseline", "n").iter_rows()}
        if reference not in found:
            continue
        for level, (mean, n) in found.items():
            if level == reference:
                continue
            yield Row(
                "baseline_quality_gap",
                term=factor,
                group=level,
                domain=domain,
                format=task,
                model=model,
                arm=arm,
                estimate=mean - found[reference][0],
                n=n + found[reference][1],
                method=f"mean primary rating of the profiles shown, {level} minus {reference}",
                note=f"confounded: {confounded[arm]}" if arm in confounded else "",
            )
