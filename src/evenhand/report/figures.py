"""The figures of a report: each from tidy rows, with a caption, and a text for those who do not see it.

One specification gives the figure of the page and the files on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report import fairfund_figures
from evenhand.report.drawing import Figure, altair, interval_figure, order, span
from evenhand.report.theme import STATUS_COLOURS, STATUS_SHAPES, STATUSES
from evenhand.report.words import STATUS_WORDS, count_statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.findings import Findings


def figures(findings: Findings) -> list[Figure]:
    """Every figure that the rows of a run allow."""
    return [figure for draw in _DRAWN if (figure := draw(findings)) is not None]


def _forest(findings: Findings) -> Figure | None:
    """Contrasts with margins shaded and floors marked (figure 1 of "The Audit Decides the Verdict")."""
    rows = [_in_sds(status) for status in findings.analysis.statuses if status.d is not None]
    if not rows:
        return None
    alt = altair()

    base = alt.Chart(alt.InlineData(values=rows))
    groups = alt.Y("group:N", title=None, sort=list(dict.fromkeys(row["group"] for row in rows)))
    axis = "SDs (above 0 favours the group)"
    x = alt.X("d:Q", title=axis)
    bands = base.transform_filter("datum.margin_d != null").mark_bar(opacity=0.18, color="#009e73", height=16)
    span = bands.encode(groups, alt.X("margin_low:Q", title=axis), alt.X2("margin_high:Q"))
    floors = base.transform_filter("datum.floor_d != null").mark_tick(thickness=2, color="#8a6d00", height=12)
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
    layers = alt.layer(span, *marked, zero, lines, points).properties(width=230, height=alt.Step(22))
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
        f"{_respondents(findings)}. Shaded: the margin declared beforehand. Ticks: the smallest effect seen with 80% "
        "power before correction. Shapes and colours: the status.",
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


def _audit(findings: Findings) -> Figure | None:
    """The first position against demographic effects on the same outcome (figure 2)."""
    rows: list[dict[str, Any]] = [
        {
            "what": "listed first" if row["estimand"] == "first_position_d" else f"{row['group']}, {row['domain']}",
            "kind": "the audit" if row["estimand"] == "first_position_d" else "the group",
            "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"],
        }
        for row in findings.rows("audit_against_demographics")
        if row["estimand"] in {"first_position_d", "contrast_d"} and row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    largest = max(rows, key=lambda row: abs(row["d"]))
    return interval_figure(
        rows, "what", "d", "kind", name="audit", title="The audit's own effect beside demographic effects",
        axis="effect on the disguised ranking, SDs",
        caption=f"One fit of all disguised rankings ({rows[0]['n']} bundles), each domain over its SD; 95% intervals "
        f"from resampled bundles. {_respondents(findings).capitalize()}.",
        alt=f"{len(rows)} effects with intervals; the largest in size is {largest['what']} at {largest['d']:+.2f} SD.",
    )  # fmt: skip


def _recognition(findings: Findings) -> Figure | None:
    """Whether respondents say that it is a test, by presentation (figure 3)."""
    rows = [
        {
            "presentation": row["group"], "question": _QUESTIONS.get(row["format"], row["format"]),
            "share": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"],
        }
        for row in findings.rows(
            "recognition", estimand="share_recognised", term="presentation", model="pooled", domain=""
        )
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    shown = "; ".join(f"{row['presentation']} ({row['question']}) {row['share']:.0%}" for row in rows)
    return interval_figure(
        rows, "presentation", "share", "question", name="recognition", title="Recognition of the test by presentation",
        axis="share that says it is a test", percent=True,
        caption=f"Answers of {_respondents(findings)}, {span(rows)} a share; Wilson intervals at 95%.",
        alt=f"Shares of answers that recognise a test: {shown}.",
    )  # fmt: skip


_QUESTIONS = {"purpose_choice": "forced choice", "purpose_open": "in their own words"}


def _recovery(findings: Findings) -> Figure | None:
    """What was planted and what was found again (table 3)."""
    rows = [
        {"planted": row["arm"].removeprefix("planted "), "d": row["estimate"], "low": row["conf_low"],
         "high": row["conf_high"], "kind": _RECOVERED[row["estimand"]], "n": row["n"]}
        for row in findings.rows("recovery")
        if row["estimand"] in _RECOVERED and row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    told = "; ".join(f"{row['planted']}: {row['d']:.3f}" for row in rows if row["kind"] == _RECOVERED["recovered"])
    return interval_figure(
        rows, "planted", "d", "kind", name="recovery", title="Planted disparities, recovered",
        axis="recovered, within-cell SDs",
        caption=f"Disparities planted into {rows[0]['n']:,} ranked slots by swaps, and found by the specification that "
        "decides; 95% intervals.",
        alt=f"Planted size and what was recovered, in SDs: {told}.",
    )  # fmt: skip


_RECOVERED = {"recovered": "as an audit of this size sees it", "recovered_paired": "interval of the change alone"}


def _shifts(findings: Findings) -> Figure | None:
    """How far one name, profile or respondent moves a contrast (appendix C)."""
    rows = [
        {"way": row["method"].split("leave one ")[-1].split(" out")[0], "what": f"{row['group']}, {row['domain']}",
         "format": row["format"], "d": row["estimate"], "note": row["note"]}
        for row in findings.rows("robustness", estimand="max_shift_d")
        if row["estimate"] is not None and "leave one " in row["method"]
    ]  # fmt: skip
    if not rows:
        return None
    alt = altair()

    chart = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_point(filled=True, size=60, opacity=0.85)
        .encode(
            alt.X("d:Q", title="largest shift of the contrast, SDs"),
            alt.Y("format:N", title=None),
            color=alt.Color("format:N", legend=None),
            tooltip=["what:N", "format:N", "note:N", alt.Tooltip("d:Q", format=".3f")],
        )
        .properties(width=620, height=alt.Step(26))
        .facet(row=alt.Row("way:N", title=None), spacing=8)
    )
    largest = max(rows, key=lambda row: row["d"])
    return Figure(
        "shifts",
        "Leave one out",
        f"Largest shift of each of {len({(r['what'], r['format']) for r in rows})} planned contrasts when one name, "
        "profile or respondent is left out.",
        f"Largest shifts in SDs; the largest is {largest['d']:.3f} for {largest['what']}, {largest['format']}, "
        f"without one {largest['way']}.",
        chart.to_dict(),
        rows,
    )


_DRAWN: Sequence[Callable[[Findings], Figure | None]] = (
    _forest, _audit, _recognition, _recovery, _shifts, *fairfund_figures.DRAWN,
)  # fmt: skip


def _scale(alt: Any, values: Sequence[str]) -> Any:
    return alt.Scale(domain=STATUSES, range=list(values))


def _status_colour(alt: Any) -> Any:
    return alt.Color("status:N", scale=_scale(alt, STATUS_COLOURS), title="status")


def _point(row: Mapping[str, Any]) -> str:
    return f"{row['group']}, {row['domain']}, {row['format']} at {row['d']:+.2f} SD"


def _respondents(findings: Findings) -> str:
    count = len(findings.analysis.scope.get("models", []))
    return f"{count} respondent{'' if count == 1 else 's'}"
