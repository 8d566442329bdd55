"""What became of the units: five ways of not answering, counted apart, by arm and by group.

Refusing or failing more often for one group is itself an outcome, so each is tested where it can be seen: where
a unit holds one level of the factor (singles, and bundles constant in it). A bundle that holds every group loses
all of them together; there the row says so and has no p value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.rows import Row, as_frame
from evenhand.seeds import generator
from evenhand.statistics.proportions import equal_shares_p, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

UNANSWERED = ("refused", "malformed", "no_answer", "error", "missing")
FACTORS = ("race", "gender")
_KEY = ("model", "arm", "domain", "task")
_UNIT = ("unit_id", "epoch", "wording_variant")
"""What was asked once of a respondent in an arm; an instrument's unit has one wording, and its table no such column."""
NOT_IDENTIFIED = "not identified: each unit holds several levels, so all are lost together"


def unanswered_by_group(outcomes: pl.DataFrame, *, factors: Sequence[str] = FACTORS, seed: int = 0) -> pl.DataFrame:
    """Shares of units refused, malformed, without an answer, failed and missing, by level of each factor.

    Args:
        outcomes: One row a slot, with model, arm, domain, task, unit_id, epoch, position, status, the factors, and
            wording_variant where units have several.
        factors: Columns to compare by.
        seed: Of the permutation tests.

    Returns:
        Tidy rows: estimand `share_<status>`, term the factor, group the level; n counts units. The p value is of the
        test that all levels have the same share and stands at each of them.
    """
    rng = generator("unanswered", seed)
    rows: list[Row] = []
    for key, part in outcomes.group_by(_KEY, maintain_order=True):
        model, arm, domain, task = ("" if value is None else str(value) for value in key)
        head = Row("", model=model, arm=arm, domain=domain, format=task)
        for factor in factors:
            levels = [str(level) for level in part[factor].unique(maintain_order=True).drop_nulls()]
            if len(levels) > 1:
                rows.extend(_factor_rows(part, factor, sorted(levels), head, rng))
    return as_frame(rows)


def _factor_rows(
    part: pl.DataFrame, factor: str, levels: Sequence[str], head: Row, rng: np.random.Generator
) -> Iterator[Row]:
    unit = [name for name in _UNIT if name in part.columns]
    units = part.group_by(unit).agg(
        pl.col("status").first(), pl.col(factor).first(), pl.col(factor).n_unique().alias("levels")
    )
    identified = units["levels"].max() == 1
    # Where a unit holds several levels, a unit counts once for each level it holds.
    held = units if identified else part.unique([*unit, factor])
    found: dict[tuple[str, str], int] = {
        (level, status): count for level, status, count in held.group_by(factor, "status").len().iter_rows()
    }
    totals = [sum(count for (one, _), count in found.items() if one == level) for level in levels]
    for status in UNANSWERED:
        counts = [found.get((level, status), 0) for level in levels]
        tested = equal_shares_p(counts, totals, rng=rng) if identified else None
        for level, count, total in zip(levels, counts, totals, strict=True):
            interval = wilson_interval(count, total)
            note = "" if tested else NOT_IDENTIFIED if not identified else _why_untested(sum(counts))
            yield replace(
                head,
                estimand=f"share_{status}",
                term=factor,
                group=level,
                estimate=count / total,
                conf_low=interval[0] if interval else None,
                conf_high=interval[1] if interval else None,
                p_value=tested[0] if tested else None,
                n=total,
                method="Wilson interval" + (f"; {tested[1]}" if tested else ""),
                note=note,
            )


def _why_untested(total: int) -> str:
    return "no such unit in any group" if total == 0 else "all units are alike in this"
