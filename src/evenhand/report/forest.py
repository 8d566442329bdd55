"""The forest plot of the planned contrasts, with margins, floors and statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evenhand.report.drawing import Figure, altair, legible, order, panel_width, respondents, span, told_point
from evenhand.report.statuses import LOOKS
from evenhand.report.theme import FLOOR, KEY, LABEL_SIZE, MARGIN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.evidence import Evidence


def forest(evidence: Evidence) -> Figure | None:
    """Contrasts with margins shaded and floors marked (figure 1 of "The Audit Decides the Verdict")."""
    rows = legible(_in_sds(status) for status in evidence.analysis.statuses if status.d is not None)
    if not rows:
        return None
    bounded, floored = (any(row[part] is not None for row in rows) for part in ("margin_d", "floor_d"))
    counts = ", ".join(f"{sum(r['status'] == one.word for r in rows)} {one.word}" for one in LOOKS.values())
    extremes = sorted(rows, key=lambda row: row["d"])
    shading = " Shaded: the margin declared beforehand; equivalent is judged by the 90% interval, narrower than these."
    ticks = " Ticks: the true effect that is found 4 times in 5, before correction."
    return Figure(
        "contrasts",
        "Planned contrasts",
        f"Contrasts of {len(rows)} planned cells and groups in SDs, with 95% intervals, pooled over "
        f"{respondents(evidence)}; {span(evidence.rows('verdict'))} answers a contrast.{shading * bounded}"
        f"{ticks * floored} What is not named is not resolved.",
        f"Forest plot of {len(rows)} contrasts: {counts}. Lowest {told_point(extremes[0])}; highest "
        f"{told_point(extremes[-1])}.",
        _chart(rows, bounded=bounded, floored=floored).to_dict(),
        rows,
    )


def _chart(rows: Sequence[Mapping[str, Any]], *, bounded: bool, floored: bool) -> Any:
    """Panels by domain and format; a layer without rows has no extent, which Vega warns of, and is left out."""
    alt = altair()
    base = alt.Chart(alt.InlineData(values=list(rows)))
    groups = alt.Y("group:N", title=None, sort=order(rows, "group"))

    def x(name: str) -> Any:
        return alt.X(f"{name}:Q", title="SDs (above 0 favours the group)")

    key = {name: told for name, told in KEY.items() if {MARGIN: bounded, FLOOR: floored}.get(name, True)}
    hue, shape = _keyed(alt.Color, key, 0), _keyed(alt.Shape, key, 1)
    bands = base.transform_filter("datum.margin_d != null").mark_bar(height=16)
    shaded = bands.encode(groups, x("margin_low"), alt.X2("margin_high:Q"), color=alt.datum(MARGIN))
    ticks = base.transform_filter("datum.floor_d != null").mark_tick(thickness=2, height=12, opacity=1)
    floors = [ticks.encode(groups, x(side), color=alt.datum(FLOOR)) for side in ("floor_low", "floor_high")]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(alt.XDatum(0))
    lines = base.mark_rule(strokeWidth=2).encode(groups, x("low"), alt.X2("high:Q"), color=hue)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        groups, x("d"), color=hue, shape=shape,
        tooltip=["domain:N", "format:N", "group:N", "status:N", "said:N", alt.Tooltip("estimate:Q", format="+.3f"),
                 "unit:N", alt.Tooltip("d:Q", format="+.3f"), alt.Tooltip("q:Q", format=".3f")],
    )  # fmt: skip
    named = json.dumps([look.word for look in LOOKS.values() if look.named])
    words = base.transform_filter(f"indexof({named}, datum.status) >= 0").mark_text(fontSize=LABEL_SIZE, dy=-11)
    layers = [
        *[shaded] * bounded,
        *floors * floored,
        zero,
        lines,
        points,
        words.encode(groups, x("d"), text="status:N"),
    ]
    panels = alt.layer(*layers).properties(width=panel_width(rows, "domain", 690, most=620), height=alt.Step(28))
    return panels.facet(
        column=alt.Column("domain:N", title=None, sort=order(rows, "domain")),
        row=alt.Row("format:N", title=None, sort=order(rows, "format")),
        spacing=14,
    )


def _in_sds(status: Status) -> dict[str, Any]:
    def over(value: float | None) -> float | None:
        return None if value is None or not status.sd else value / status.sd

    margin, floor = over(status.margin), over(status.detectable)
    return {
        "domain": status.domain, "format": status.format, "group": status.group, "term": status.term,
        "status": LOOKS[status.status].word, "said": status.said, "estimate": status.estimate, "unit": status.unit,
        "q": status.q_value, "d": status.d, "low": over(status.conf_low), "high": over(status.conf_high),
        "margin_d": margin, "margin_low": None if margin is None else -margin, "margin_high": margin,
        "floor_d": floor, "floor_low": None if floor is None else -floor, "floor_high": floor,
    }  # fmt: skip


def _keyed(channel: Any, key: Mapping[str, tuple[str, str]], part: int) -> Any:
    """Colours or shapes of a status, whose legend also tells what margins and floors are drawn as."""
    scale = altair().Scale(domain=list(key), range=[told[part] for told in key.values()])
    return channel("status:N", scale=scale, title=None)
