"""The figures of contrasts by respondent and between formats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analysis.interactions import ADDITIVE, HIERARCHICAL, STACKED
from evenhand.analysis.specifications import POOLED
from evenhand.report.drawing import Figure, interval_figure, respondents, span, told_point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.report.evidence import Evidence


def _by_model(evidence: Evidence) -> Figure | None:
    """The planned contrasts of each respondent alone."""
    planned = {(status.domain, status.format, status.group) for status in evidence.analysis.statuses}
    rows = [
        {"group": row["group"], "domain": row["domain"], "format": row["format"], "model": row["model"],
         "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("contrasts", estimand="contrast_d")
        if row["model"] != POOLED and row["method"].startswith("evenhand") and row["estimate"] is not None
        and (row["domain"], row["format"], row["group"]) in planned and "transparent bundles" not in row["method"]
    ]  # fmt: skip
    if not rows:
        return None
    extremes = sorted(rows, key=lambda row: row["d"])
    named = [f"{row['model']}, {told_point(row)}" for row in (extremes[0], extremes[-1])]
    return interval_figure(
        rows, "group", "d", "model", name="by_model", title="Planned contrasts by respondent",
        axis="SDs (above 0 favours the group)", column="domain", row="format",
        caption=f"Each of {respondents(evidence)} alone, 95% intervals, uncorrected; {span(rows)} answers a contrast.",
        alt=f"{len(rows)} contrasts of single respondents. Lowest {named[0]}; highest {named[1]}.",
    )  # fmt: skip


_INTERACTION_MODELS = (STACKED, ADDITIVE, HIERARCHICAL)
"""The models whose interactions are drawn, the one that decides first."""


def _interactions(evidence: Evidence) -> Figure | None:
    """Whether rating and ranking tell the same of a group (section 3), by the models of it."""
    rows: list[dict[str, Any]] = [
        {"group": row["group"], "domain": row["domain"], "how": row["method"].partition(":")[0].partition(",")[0],
         "method": row["method"], "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"],
         "q": row["q_value"], "n": row["n"]}
        for row in evidence.rows("interactions", estimand="interaction", model=POOLED)
        if row["estimate"] is not None and row["method"] in _INTERACTION_MODELS
    ]  # fmt: skip
    deciding = [row for row in rows if row["method"] == _INTERACTION_MODELS[0]]
    if not deciding:
        return None
    largest = max(deciding, key=lambda row: abs(row["d"]))
    tested = [row["q"] for row in deciding if row["q"] is not None]
    smallest = f"; the smallest q is {min(tested):.3f}" if tested else ""
    return interval_figure(
        rows, "group", "d", "how", name="interactions", title="Rating less disguised ranking, by group",
        axis="difference of the contrasts, SDs", column="domain",
        caption=f"Each format on its own scale; {span(rows)} answers, 95% intervals. {deciding[0]['how'].capitalize()} "
        "decides; beside it the paper's additive model and a hierarchical one.",
        alt=f"{len(deciding)} interactions by {deciding[0]['how']}{smallest}; the largest in size is "
        f"{largest['group']}, {largest['domain']} at {largest['d']:+.2f} SD.",
    )  # fmt: skip


DRAWN: Sequence[Callable[[Evidence], Figure | None]] = (_by_model, _interactions)
