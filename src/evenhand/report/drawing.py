"""What every figure of a report is, and the commonest of them: points with intervals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.theme import LABEL_SIZE, config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.report.evidence import Evidence
    from evenhand.report.theme import Surface


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure.

    Attributes:
        name: Of its files.
        title: Its heading.
        caption: What is drawn, in which unit, from how many.
        alt: What it shows, in words made from its rows.
        spec: Vega-Lite, without a style.
        rows: What is drawn.
        section: Of the page, where it stands.
    """

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    section: str = "results"

    @property
    def by_model(self) -> bool:
        """Whether its rows name a respondent, so that a page may leave some out."""
        return any("model" in row for row in self.rows)

    def on(self, surface: Surface) -> dict[str, Any]:
        """The specification, styled for what it stands on."""
        return {**self.spec, "config": config(surface)}


def interval_figure(
    rows: Sequence[Mapping[str, Any]], y: str, x: str, colour: str, *, name: str, title: str, axis: str, caption: str,
    alt: str, percent: bool = False, column: str | None = None, row: str | None = None, own_scales: bool = False,
    section: str = "results",
) -> Figure:  # fmt: skip
    """Points with intervals, one a row; what stands side by side is named at the right edge.

    Args:
        rows: What is drawn; each has `low`, `high` and `n` besides the columns that are named here.
        y: What stands on the left.
        x: The number.
        colour: What colour and shape tell apart; the right edge names it where several stand side by side.
        name: Of the figure's files.
        title: Its heading.
        axis: What the number is, with its unit.
        caption: What is drawn.
        alt: What it shows, in words.
        percent: Whether the number is a share.
        column: What has a panel each, side by side.
        row: What has a panel each, one below the other.
        section: Of the page, where it stands.
        own_scales: Whether panels have scales of their own, as units that differ ask for.
    """
    draw = altair()
    rows = legible(rows)
    kinds = order(rows, colour)
    beside = len({(one[y], one[colour]) for one in rows}) > len({one[y] for one in rows})
    base = draw.Chart(draw.InlineData(values=_labelled(rows, y, colour, column, row) if beside else rows))
    shared = {"title": axis, "axis": draw.Axis(format="%")} if percent else {"title": axis}
    offset = {"yOffset": draw.YOffset(f"{colour}:N", sort=kinds)} if beside else {}
    place = draw.Y(f"{y}:N", title=None, sort=order(rows, y))
    kept = draw.Scale(domain=kinds)
    hue = draw.Color(f"{colour}:N", scale=kept, legend=None)
    shape = draw.Shape(f"{colour}:N", scale=kept, legend=None)
    panels = {"column": column, "row": row}
    told = [f"{part}:N" for part in (*panels.values(), y, colour) if part]
    tips = [*told, draw.Tooltip(f"{x}:Q", format=".1%" if percent else "+.3f"), "n:Q"]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(draw.XDatum(0))
    drawn = base.transform_filter("datum.n != null") if beside else base
    lines = drawn.mark_rule(strokeWidth=2).encode(
        draw.X("low:Q", **shared), draw.X2("high:Q"), place, color=hue, **offset
    )
    points = drawn.mark_point(filled=True, size=80, opacity=1).encode(
        draw.X(f"{x}:Q", **shared), place, color=hue, shape=shape, tooltip=tips, **offset
    )
    width, step = panel_width(rows, column, 630, most=480 if beside else 620), (17 if beside else 26)
    layers = [zero, lines, points]
    if beside:
        labels = base.transform_filter("datum.label").mark_text(align="left", fontSize=LABEL_SIZE, limit=_LONGEST_LABEL)
        layers.append(labels.encode(draw.XValue(width + 8), place, text="label:N", **offset))
    chart = draw.layer(*layers).properties(width=width, height=draw.Step(step))
    facets = {
        place: (draw.Column if place == "column" else draw.Row)(f"{part}:N", title=None, sort=order(rows, part))
        for place, part in panels.items()
        if part
    }
    if facets:
        # Labels beside the last column make no space beside the others.
        chart = chart.facet(**facets, spacing=14, bounds="flush" if column else "full")
    if own_scales:
        chart = chart.resolve_scale(x="independent")
    return Figure(name, title, caption, alt, chart.to_dict(), list(rows), section)


_NARROWEST = 120
_LONGEST_LABEL = 220
"""Width of a series' label in pixels; what is longer is cut."""


def _labelled(
    rows: Sequence[Mapping[str, Any]], y: str, colour: str, column: str | None, row: str | None
) -> list[Mapping[str, Any]]:
    """Rows with the label that stands at the right edge: once, in the last column of panels.

    What that column lacks stands there as a row of a label alone.
    """
    last = order(rows, column)[-1] if column else None
    said: list[Mapping[str, Any]] = []
    seen: set[tuple[object, ...]] = set()
    for one in rows:
        at_edge = column is None or str(one[column]) == last
        said.append({**one, "label": one[colour]} if at_edge else one)
        seen |= {(row and one[row], one[y], one[colour])} if at_edge else set()
    for one in rows:
        if (key := (row and one[row], one[y], one[colour])) not in seen:
            seen.add(key)
            places = {name: one[name] for name in (row, y, colour) if name}
            said.append({**places, **({column: last} if column else {}), "label": one[colour]})
    return said


def legible(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows whose texts can be drawn: Vega and its converter stop at control marks and line separators in names."""
    return [
        {name: legible_text(value) if isinstance(value, str) else value for name, value in row.items()} for row in rows
    ]


def legible_text(text: str) -> str:
    """A text in which what cannot be printed, or would turn the direction of the rest, stands by its number."""
    return "".join(mark if mark.isprintable() else f"⟨U+{ord(mark):04X}⟩" for mark in text)


def order(rows: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    """The values of a column in the order in which they come."""
    return list(dict.fromkeys(str(row[name]) for row in rows))


def panel_width(rows: Iterable[Mapping[str, Any]], column: str | None, whole: int, *, most: int) -> int:
    """Width in pixels of each of the panels that stand side by side, one for every value of a column."""
    return max(_NARROWEST, min(most, whole // len(order(rows, column)) if column else most))


def span(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many each row rests on, in words."""
    low, high = min(row["n"] for row in rows), max(row["n"] for row in rows)
    return f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"


def told_point(row: Mapping[str, Any]) -> str:
    """A contrast in SDs, in words."""
    return f"{row['group']}, {row['domain']}, {row['format']} at {row['d']:+.2f} SD"


def respondents(evidence: Evidence) -> str:
    """How many respondents were asked, in words."""
    count = len(evidence.analysis.scope.get("models", []))
    return f"{count} respondent{'' if count == 1 else 's'}"


def altair() -> Any:
    """Altair, whose generated types say more than a checker can follow."""
    return importlib.import_module("altair")
