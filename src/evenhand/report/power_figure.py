"""Power curves: how likely an effect of each size was to be found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.report.drawing import Figure, altair, legible, order, panel_width, span
from evenhand.report.theme import LABEL_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.evidence import Evidence


def power_curves(evidence: Evidence) -> Figure | None:
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
        section="robustness",
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
