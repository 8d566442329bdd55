"""The figures of the planned contrasts: pooled, by respondent, between formats, and what could have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.drawing import Figure, altair, interval_figure, legible, order, respondents, span
from evenhand.report.theme import FLOOR_COLOUR, MARGIN_COLOUR, STATUS_COLOURS, STATUS_SHAPES, STATUSES
from evenhand.report.words import STATUS_WORDS, count_statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.findings import Findings


def _forest(findings: Findings) -> Figure | None:
    """Contrasts with margins shaded and floors marked (figure 1 of "The Audit Decides the Verdict")."""
    rows = legible(_in_sds(status) for status in findings.analysis.statuses if status.d is not None)
    if not rows:
        return None
    alt = altair()

    base = alt.Chart(alt.InlineData(values=rows))
    groups = alt.Y("group:N", title=None, sort=list(dict.fromkeys(row["group"] for row in rows)))
    axis = "SDs (above 0 favours the group)"
    x = alt.X("d:Q", title=axis)
    bands = base.transform_filter("datum.margin_d != null").mark_bar(opacity=0.18, color=MARGIN_COLOUR, height=16)
    shaded = bands.encode(groups, alt.X("margin_low:Q", title=axis), alt.X2("margin_high:Q"))
    floors = base.transform_filter("datum.floor_d != null").mark_tick(thickness=2, color=FLOOR_COLOUR, height=12)
    marked = [floors.encode(groups, alt.X(f"{side}:Q", title=axis)) for side in ("floor_low", "floor_high")]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(alt.XDatum(0))
    lines = base.mark_rule(strokeWidth=2).encode(
        groups, alt.X("low:Q", title=axis), alt.X2("high:Q"), color=_status_colour(alt)
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        groups, x, color=_status_colour(alt),
        shape=alt.Shape("status:N", scale=_scale(alt, STATUS_SHAPES), title="status"),
        tooltip=["domain:N", "format:N", "group:N", "status:N", "said:N", alt.Tooltip("estimate:Q", format="+.3f"),
                 "unit:N", alt.Tooltip("d:Q", format="+.3f"), alt.Tooltip("q:Q", format=".3f")],
    )  # fmt: skip
    # A layer without rows has no extent, which Vega warns of.
    bounded = [shaded] if any(row["margin_d"] is not None for row in rows) else []
    seen = marked if any(row["floor_d"] is not None for row in rows) else []
    layers = alt.layer(*bounded, *seen, zero, lines, points).properties(width=230, height=alt.Step(22))
    chart = layers.facet(
        column=alt.Column("domain:N", title=None, sort=order(rows, "domain")),
        row=alt.Row("format:N", title=None, sort=order(rows, "format")),
        spacing=14,
    )
    counts = count_statuses(findings.analysis.statuses)
    told = ", ".join(f"{count} {STATUS_WORDS[name]}" for name, count in counts.items())
    extremes = sorted(rows, key=lambda row: row["d"])
    return Figure(
        "contrasts",
        "Planned contrasts",
        f"Contrasts of {len(rows)} planned cells and groups in SDs, with 95% intervals, pooled over "
        f"{respondents(findings)}; {span(findings.rows('verdict'))} answers a contrast. Shaded: the margin declared "
        "beforehand. Ticks: the smallest effect seen with 80% power before correction. Shapes and colours: the status.",
        f"Forest plot of {len(rows)} contrasts: {told}. Lowest {_point(extremes[0])}; highest {_point(extremes[-1])}.",
        chart.to_dict(),
        rows,
    )


def _in_sds(status: Status) -> dict[str, Any]:
    def over(value: float | None) -> float | None:
        return None if value is None or not status.sd else value / status.sd

    margin, floor = over(status.margin), over(status.detectable)
    return {
        "domain": status.domain, "format": status.format, "group": status.group, "term": status.term,
        "status": STATUS_WORDS[status.status], "said": status.said, "estimate": status.estimate, "unit": status.unit,
        "q": status.q_value, "d": status.d, "low": over(status.conf_low), "high": over(status.conf_high),
        "margin_d": margin, "margin_low": None if margin is None else -margin, "margin_high": margin,
        "floor_d": floor, "floor_low": None if floor is None else -floor, "floor_high": floor,
    }  # fmt: skip


def _by_model(findings: Findings) -> Figure | None:
    """The planned contrasts of each respondent alone."""
    planned = {(status.domain, status.format, status.group) for status in findings.analysis.statuses}
    rows = [
        {"group": row["group"], "domain": row["domain"], "format": row["format"], "model": row["model"],
         "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in findings.rows("contrasts", estimand="contrast_d")
        if row["model"] != "pooled" and row["method"].startswith("evenhand") and row["estimate"] is not None
        and (row["domain"], row["format"], row["group"]) in planned and "transparent bundles" not in row["method"]
    ]  # fmt: skip
    if not rows:
        return None
    extremes = sorted(rows, key=lambda row: row["d"])
    named = [f"{row['model']}, {_point(row)}" for row in (extremes[0], extremes[-1])]
    return interval_figure(
        rows, "group", "d", "model", name="by_model", title="Planned contrasts by respondent",
        axis="SDs (above 0 favours the group)", column="domain", row="format",
        caption=f"Each of {respondents(findings)} alone, 95% intervals, uncorrected; {span(rows)} answers a contrast.",
        alt=f"{len(rows)} contrasts of single respondents. Lowest {named[0]}; highest {named[1]}.",
    )  # fmt: skip


def _interactions(findings: Findings) -> Figure | None:
    """Whether rating and ranking tell the same of a group (section 3), by the three models of it."""
    rows = [
        {"group": row["group"], "domain": row["domain"], "how": row["method"].partition(":")[0].partition(",")[0],
         "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "q": row["q_value"], "n": row["n"]}
        for row in findings.rows("interactions", estimand="interaction", model="pooled")
        if row["estimate"] is not None and not row["method"].startswith("hierarchical: difference")
    ]  # fmt: skip
    if not rows:
        return None
    largest = max(rows, key=lambda row: abs(row["d"]))
    survive = sum(row["q"] is not None and row["q"] < 0.05 for row in rows)
    return interval_figure(
        rows, "group", "d", "how", name="interactions", title="Rating less disguised ranking, by group",
        axis="difference of the contrasts, SDs", column="domain",
        caption=f"Each format on its own scale; {span(rows)} answers, 95% intervals. The first model decides; the "
        "paper's additive one and the hierarchical one stand beside.",
        alt=f"{len(rows)} interactions, {survive} with q below .05; the largest in size is {largest['group']}, "
        f"{largest['domain']} at {largest['d']:+.2f} SD ({largest['how']}).",
    )  # fmt: skip


def _power(findings: Findings) -> Figure | None:
    """How likely an effect of each size was to be found (table 3, as curves)."""
    rows = [
        {"effect": float(row["arm"].split()[1]), "power": row["estimate"], "group": row["group"],
         "domain": row["domain"], "format": row["format"], "n": row["n"]}
        for row in findings.rows("power", estimand="power")
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    alt, rows = altair(), legible(rows)
    base = alt.Chart(alt.InlineData(values=rows))
    kinds = order(rows, "group")
    y = alt.Y("power:Q", title="power", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    lines = base.mark_line(strokeWidth=2).encode(
        alt.X("effect:Q", title="true effect, SDs"), y,
        color=alt.Color("group:N", scale=alt.Scale(domain=kinds), title=" "),
        strokeDash=alt.StrokeDash("group:N", scale=alt.Scale(domain=kinds), title=" "),
        tooltip=["group:N", "domain:N", "format:N", alt.Tooltip("effect:Q", format=".2f"),
                 alt.Tooltip("power:Q", format=".0%")],
    )  # fmt: skip
    aim = base.mark_rule(strokeDash=[3, 3]).encode(alt.YDatum(0.8))
    chart = (
        alt.layer(aim, lines)
        .properties(width=190, height=110)
        .facet(
            column=alt.Column("domain:N", title=None, sort=order(rows, "domain")),
            row=alt.Row("format:N", title=None, sort=order(rows, "format")),
            spacing=14,
        )
    )
    floors = [status for status in findings.analysis.statuses if status.detectable is not None and status.sd]
    seen = sorted((status.detectable or 0.0) / status.sd for status in floors)
    reach = f" 80% is reached at {seen[0]:.2f} to {seen[-1]:.2f} SD." if seen else ""
    return Figure(
        "power",
        "What effects this audit finds",
        "Power of the deciding specification at 5%, before correction, by the size of the true effect, from the errors "
        f"that it achieved; {span(rows)} answers. Dashed: 80%. Groups with alike errors lie over each other.",
        f"Power curves of {len({(r['domain'], r['format'], r['group']) for r in rows})} planned contrasts.{reach}",
        chart.to_dict(),
        rows,
    )


DRAWN: Sequence[Callable[[Findings], Figure | None]] = (_forest, _by_model, _interactions, _power)


def _scale(alt: Any, values: Sequence[str]) -> Any:
    return alt.Scale(domain=STATUSES, range=list(values))


def _status_colour(alt: Any) -> Any:
    return alt.Color("status:N", scale=_scale(alt, STATUS_COLOURS), title="status")


def _point(row: Mapping[str, Any]) -> str:
    return f"{row['group']}, {row['domain']}, {row['format']} at {row['d']:+.2f} SD"
