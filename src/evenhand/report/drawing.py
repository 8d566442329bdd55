"""What every figure of a report is, and the commonest of them: points with intervals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.theme import config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evenhand.report.findings import Findings


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
    """

    name: str
    title: str
    caption: str
    alt: str
    spec: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]

    @property
    def by_model(self) -> bool:
        """Whether its rows name a respondent, so that a page may leave some out."""
        return any("model" in row for row in self.rows)

    def styled(self, mode: str) -> dict[str, Any]:
        """The specification in a style, `light` or `dark`."""
        return {**self.spec, "config": config(mode)}


def interval_figure(
    rows: Sequence[Mapping[str, Any]], y: str, x: str, colour: str, *, name: str, title: str, axis: str, caption: str,
    alt: str, percent: bool = False, column: str | None = None, row: str | None = None, own_scales: bool = False,
) -> Figure:  # fmt: skip
    """Points with intervals, one a row, told apart by colour and shape.

    Args:
        rows: What is drawn; each has `low`, `high` and `n` besides the columns that are named here.
        y: What stands on the left.
        x: The number.
        colour: What colour and shape tell apart.
        name: Of the figure's files.
        title: Its heading.
        axis: What the number is, with its unit.
        caption: What is drawn.
        alt: What it shows, in words.
        percent: Whether the number is a share.
        column: What has a panel each, side by side.
        row: What has a panel each, one below the other.
        own_scales: Whether panels have scales of their own, as units that differ ask for.
    """
    draw = altair()
    rows = legible(rows)
    base = draw.Chart(draw.InlineData(values=list(rows)))
    shared = {"title": axis, "axis": draw.Axis(format="%")} if percent else {"title": axis}
    kinds = order(rows, colour)
    beside = len({(one[y], one[colour]) for one in rows}) > len({one[y] for one in rows})
    offset = draw.YOffset(f"{colour}:N", sort=kinds) if beside else draw.YOffsetValue(0)
    place = draw.Y(f"{y}:N", title=None, sort=order(rows, y))
    # The same title and domain make one legend of colours and shapes.
    legend = draw.Legend(title=" ") if len(kinds) > 1 else None
    kept = draw.Scale(domain=kinds)
    hue = draw.Color(f"{colour}:N", scale=kept, title=" ", legend=legend)
    shape = draw.Shape(f"{colour}:N", scale=kept, title=" ", legend=legend)
    panels = {"column": column, "row": row}
    named = [f"{part}:N" for part in (*panels.values(), y, colour) if part]
    tips = [*named, draw.Tooltip(f"{x}:Q", format=".1%" if percent else "+.3f"), "n:Q"]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(draw.XDatum(0))
    lines = base.mark_rule(strokeWidth=2).encode(
        draw.X("low:Q", **shared), draw.X2("high:Q"), place, yOffset=offset, color=hue
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        draw.X(f"{x}:Q", **shared), place, yOffset=offset, color=hue, shape=shape, tooltip=tips
    )
    width, step = (210 if column else 620), (17 if beside else 26)
    chart = draw.layer(zero, lines, points).properties(width=width, height=draw.Step(step))
    facets = {
        place: (draw.Column if place == "column" else draw.Row)(f"{part}:N", title=None, sort=order(rows, part))
        for place, part in panels.items()
        if part
    }
    if facets:
        chart = chart.facet(**facets, spacing=14)
    if own_scales:
        chart = chart.resolve_scale(x="independent")
    return Figure(name, title, caption, alt, chart.to_dict(), list(rows))


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


def span(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many each row rests on, in words."""
    low, high = min(row["n"] for row in rows), max(row["n"] for row in rows)
    return f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"


def respondents(findings: Findings) -> str:
    """How many respondents were asked, in words."""
    count = len(findings.analysis.scope.get("models", []))
    return f"{count} respondent{'' if count == 1 else 's'}"


def altair() -> Any:
    """Altair, whose generated types say more than a checker can follow."""
    return importlib.import_module("altair")
