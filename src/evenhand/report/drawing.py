"""What every figure of a report is, and the commonest of them: points with intervals."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.theme import config

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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

    def styled(self, mode: str) -> dict[str, Any]:
        """The specification in a style, `light` or `dark`."""
        return {**self.spec, "config": config(mode)}


def interval_figure(
    rows: Sequence[Mapping[str, Any]], y: str, x: str, colour: str, *, name: str, title: str, axis: str, caption: str,
    alt: str, percent: bool = False,
) -> Figure:  # fmt: skip
    """Points with intervals, one a row, told apart by colour and shape."""
    draw = altair()

    base = draw.Chart(draw.InlineData(values=list(rows)))
    shared = {"title": axis, "axis": draw.Axis(format="%")} if percent else {"title": axis}
    kinds = order(rows, colour)
    beside = len({(row[y], row[colour]) for row in rows}) > len({row[y] for row in rows})
    offset = draw.YOffset(f"{colour}:N", sort=kinds) if beside else draw.YOffsetValue(0)
    place = draw.Y(f"{y}:N", title=None, sort=order(rows, y))
    # The same title and domain make one legend of colours and shapes.
    legend = draw.Legend(title=" ") if len(kinds) > 1 else None
    kept = draw.Scale(domain=kinds)
    hue = draw.Color(f"{colour}:N", scale=kept, title=" ", legend=legend)
    shape = draw.Shape(f"{colour}:N", scale=kept, title=" ", legend=legend)
    tips = [f"{y}:N", f"{colour}:N", draw.Tooltip(f"{x}:Q", format=".1%" if percent else "+.3f"), "n:Q"]
    zero = base.mark_rule(strokeDash=[3, 3]).encode(draw.XDatum(0))
    lines = base.mark_rule(strokeWidth=2).encode(
        draw.X("low:Q", **shared), draw.X2("high:Q"), place, yOffset=offset, color=hue
    )
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        draw.X(f"{x}:Q", **shared), place, yOffset=offset, color=hue, shape=shape, tooltip=tips
    )
    chart = draw.layer(zero, lines, points).properties(width=620, height=draw.Step(17 if beside else 26))
    return Figure(name, title, caption, alt, chart.to_dict(), list(rows))


def order(rows: Iterable[Mapping[str, Any]], name: str) -> list[str]:
    """The values of a column in the order in which they come."""
    return list(dict.fromkeys(str(row[name]) for row in rows))


def span(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many each row rests on, in words."""
    low, high = min(row["n"] for row in rows), max(row["n"] for row in rows)
    return f"n = {low:,}" if low == high else f"n = {low:,} to {high:,}"


def altair() -> Any:
    """Altair, whose generated types say more than a checker can follow."""
    return importlib.import_module("altair")
