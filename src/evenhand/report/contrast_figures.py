"""The figures of the planned contrasts: pooled, by respondent, between formats, and what could have been seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.drawing import Figure, altair, interval_figure, legible, order, panel_width, respondents, span
from evenhand.report.theme import FLOOR, KEY, LABEL_SIZE, MARGIN
from evenhand.report.words import STATUS_WORDS, count_statuses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.evidence import Evidence


def _forest(evidence: Evidence) -> Figure | None:
    """Contrasts with margins shaded and floors marked (figure 1 of "The Audit Decides the Verdict")."""
    rows = legible(_in_sds(status) for status in evidence.analysis.statuses if status.d is not None)
    if not rows:
        return None
    alt = altair()

    base = alt.Chart(alt.InlineData(values=rows))
    groups = alt.Y("group:N", title=None, sort=list(dict.fromkeys(row["group"] for row in rows)))
    axis = "SDs (above 0 favours the group)"
    x = alt.X("d:Q", title=axis)
    bounded, floored = (any(row[part] is not None for row in rows) for part in ("margin_d", "floor_d"))
    key = {name: told for name, told in KEY.items() if {MARGIN: bounded, FLOOR: floored}.get(name, True)}
    hue, shape = _keyed(alt.Color, key, 0), _keyed(alt.Shape, key, 1)
    bands = base.transform_filter("datum.margin_d != null").mark_bar(height=16)
    shaded = bands.encode(groups, alt.X("margin_low:Q", title=axis), alt.X2("margin_high:Q"), color=alt.datum(MARGIN))
    floors = base.transform_filter("datum.floor_d != null").mark_tick(thickness=2, height=12, opacity=1)
    marked = [
        floors.encode(groups, alt.X(f"{side}:Q", title=axis), color=alt.datum(FLOOR))
        for side in ("floor_low", "floor_high")
    ]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(alt.XDatum(0))
    lines = base.mark_rule(strokeWidth=2).encode(groups, alt.X("low:Q", title=axis), alt.X2("high:Q"), color=hue)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        groups, x, color=hue, shape=shape,
        tooltip=["domain:N", "format:N", "group:N", "status:N", "said:N", alt.Tooltip("estimate:Q", format="+.3f"),
                 "unit:N", alt.Tooltip("d:Q", format="+.3f"), alt.Tooltip("q:Q", format=".3f")],
    )  # fmt: skip
    # A layer without rows has no extent, which Vega warns of.
    resolved = base.transform_filter("datum.status != 'not resolved'")
    named = resolved.mark_text(fontSize=LABEL_SIZE, dy=-11).encode(groups, x, text="status:N")
    layers = alt.layer(*[shaded] * bounded, *marked * floored, zero, lines, points, named).properties(
        width=panel_width(rows, "domain", 690, most=620), height=alt.Step(28)
    )
    chart = layers.facet(
        column=alt.Column("domain:N", title=None, sort=order(rows, "domain")),
        row=alt.Row("format:N", title=None, sort=order(rows, "format")),
        spacing=14,
    )
    counts = count_statuses(evidence.analysis.statuses)
    told = ", ".join(f"{count} {STATUS_WORDS[name]}" for name, count in counts.items())
    extremes = sorted(rows, key=lambda row: row["d"])
    return Figure(
        "contrasts",
        "Planned contrasts",
        f"Contrasts of {len(rows)} planned cells and groups in SDs, with 95% intervals, pooled over "
        f"{respondents(evidence)}; {span(evidence.rows('verdict'))} answers a contrast. Shaded: the margin declared "
        "beforehand. Ticks: the smallest effect seen with 80% power before correction. What is not named is not "
        "resolved.",
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


def _by_model(evidence: Evidence) -> Figure | None:
    """The planned contrasts of each respondent alone."""
    planned = {(status.domain, status.format, status.group) for status in evidence.analysis.statuses}
    rows = [
        {"group": row["group"], "domain": row["domain"], "format": row["format"], "model": row["model"],
         "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("contrasts", estimand="contrast_d")
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
        caption=f"Each of {respondents(evidence)} alone, 95% intervals, uncorrected; {span(rows)} answers a contrast.",
        alt=f"{len(rows)} contrasts of single respondents. Lowest {named[0]}; highest {named[1]}.",
    )  # fmt: skip


def _interactions(evidence: Evidence) -> Figure | None:
    """Whether rating and ranking tell the same of a group (section 3), by the three models of it."""
    rows = [
        {"group": row["group"], "domain": row["domain"], "how": row["method"].partition(":")[0].partition(",")[0],
         "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "q": row["q_value"], "n": row["n"]}
        for row in evidence.rows("interactions", estimand="interaction", model="pooled")
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


def _power(evidence: Evidence) -> Figure | None:
    """How likely an effect of each size was to be found (table 3, as curves)."""
    rows = [
        {"effect": float(row["arm"].split()[1]), "power": row["estimate"], "group": row["group"],
         "domain": row["domain"], "format": row["format"], "n": row["n"]}
        for row in evidence.rows("power", estimand="power")
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    alt, rows = altair(), legible(rows)
    curves, labels = _curves(rows, {(s.domain, s.format, s.group): _reach(s) for s in evidence.analysis.statuses})
    base = alt.Chart(alt.InlineData(values=[*curves, *labels]))
    width = panel_width(rows, "domain", 480, most=320)
    y = alt.Y("power:Q", title="power", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1]))
    hue, dash = alt.Color("rank:N", legend=None), alt.StrokeDash("rank:N", legend=None)
    lines = base.transform_filter("!datum.label").mark_line(strokeWidth=2).encode(
        alt.X("effect:Q", title="true effect, SDs"), y, color=hue, strokeDash=dash,
        tooltip=["groups:N", "domain:N", "format:N", alt.Tooltip("effect:Q", format=".2f"),
                 alt.Tooltip("power:Q", format=".0%")],
    )  # fmt: skip
    aim = base.mark_rule(strokeDash=[3, 3]).encode(alt.YDatum(0.8))
    named = base.transform_filter("datum.label")
    samples = named.mark_rule(strokeWidth=2).encode(
        y, x=alt.value(width + 7), x2=alt.value(width + 25), color=hue, strokeDash=dash
    )
    texts = named.mark_text(align="left", fontSize=LABEL_SIZE).encode(
        y, x=alt.value(width + 29), text=alt.Text("label:N")
    )
    deepest = max(sum(r["domain"] == d and r["format"] == f for r in labels) for d, f in _panels(labels))
    chart = (
        alt.layer(aim, lines, samples, texts)
        .properties(width=width, height=max(110, 14 * deepest + 8))
        .facet(
            column=alt.Column("domain:N", title=None, sort=order(rows, "domain")),
            row=alt.Row("format:N", title=None, sort=order(rows, "format")),
            spacing=14,
        )
    )
    seen = sorted(reach for status in evidence.analysis.statuses if (reach := _reach(status)) is not None)
    reach = f" 80% is reached at {seen[0]:.2f} to {seen[-1]:.2f} SD." if seen else ""
    return Figure(
        "power",
        "What effects this audit finds",
        "Power of the deciding specification at 5%, before correction, by the size of the true effect, from the errors "
        f"that it achieved; {span(rows)} answers. Dashed: 80%. Beside each group the effect at which it is reached; "
        "groups with the same share a curve.",
        f"Power curves of {len({(r['domain'], r['format'], r['group']) for r in rows})} planned contrasts.{reach}",
        chart.to_dict(),
        rows,
    )


_CERTAIN = 0.995
"""Power beyond which curves are not drawn: they lie at 100%."""
_LINE = 0.125
"""Between labels of the power figure, as a share of its height."""


def _reach(status: Status) -> float | None:
    """The effect that is found with 80% power, in SDs."""
    return None if status.detectable is None or not status.sd else status.detectable / status.sd


def _panels(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((row["domain"], row["format"]) for row in rows))


def _curves(
    rows: Sequence[Mapping[str, Any]], reaches: Mapping[tuple[str, str, str], float | None]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Curves to draw, one for all groups of a panel that reach 80% at the same effect, and a label for each group."""
    doubtful = max((row["effect"] for row in rows if row["power"] < _CERTAIN), default=0.0)
    certain = min((row["effect"] for row in rows if row["effect"] > doubtful), default=doubtful)
    curves: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for domain, format in _panels(rows):
        own = [row for row in rows if (row["domain"], row["format"]) == (domain, format)]
        alike: dict[str, list[str]] = {}
        for group in order(own, "group"):
            reach = reaches.get((domain, format, group))
            alike.setdefault("" if reach is None else f"{reach:.2f}", []).append(group)
        place = {"domain": domain, "format": format}
        for rank, (reach, groups) in enumerate(sorted(alike.items(), key=lambda one: float(one[0] or "inf"))):
            curves += [
                {**place, "rank": rank, "groups": ", ".join(groups), "effect": row["effect"], "power": row["power"]}
                for row in own
                if row["group"] == groups[0] and row["effect"] <= certain
            ]
            for group in groups:
                height = 0.95 - _LINE * sum((row["domain"], row["format"]) == (domain, format) for row in labels)
                labels.append({**place, "rank": rank, "label": f"{group} {reach}".rstrip(), "power": height})
    return curves, labels


DRAWN: Sequence[Callable[[Evidence], Figure | None]] = (_forest, _by_model, _interactions, _power)


def _keyed(channel: Any, key: Mapping[str, tuple[str, str]], part: int) -> Any:
    """Colours or shapes of a status, whose legend also tells what margins and floors are drawn as."""
    scale = altair().Scale(domain=list(key), range=[told[part] for told in key.values()])
    return channel("status:N", scale=scale, title=None)


def _point(row: Mapping[str, Any]) -> str:
    return f"{row['group']}, {row['domain']}, {row['format']} at {row['d']:+.2f} SD"
