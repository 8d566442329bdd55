"""One style for every figure, on paper and on the page, by day and by night.

Colours are those of Okabe and Ito (2008), told apart by people with any colour vision; no figure needs them to be read:
statuses have shapes, groups have labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.report.statuses import LOOKS

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
FLOOR_COLOUR = "#b8860b"
MARGIN, FLOOR = "margin declared", "seen with 80% power"
KEY = {look.word: (look.colour, look.shape) for look in LOOKS.values()} | {
    MARGIN: ("rgba(0, 158, 115, 0.2)", "square"),
    FLOOR: (FLOOR_COLOUR, "stroke"),
}
"""Of a forest plot: what its marks are, by colour and shape."""
LABEL_SIZE = 11
"""Of labels inside a figure, in pixels."""
SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


@dataclass(frozen=True, slots=True)
class Surface:
    """What a figure stands on.

    Attributes:
        paper: Behind it, a colour.
        ink: Of text and rules, a colour.
        grid: Of frames and grid lines, a colour.
    """

    paper: str
    ink: str
    grid: str


PAPER = Surface("white", "#1b1f24", "#d9dee4")
"""Of files."""
SCREEN = Surface("transparent", "var(--ink)", "var(--grid)")
"""Of a page, whose style gives the colours: figures follow it by day, by night and in print, drawn once."""


def config(surface: Surface) -> dict[str, Any]:
    """The configuration of a figure on a surface."""
    ink, grid = surface.ink, surface.grid
    text = {"font": FONT, "color": ink}
    return {
        "background": surface.paper,
        "font": FONT,
        "view": {"stroke": grid},
        "axis": {
            "labelColor": ink, "titleColor": ink, "gridColor": grid, "domainColor": grid, "tickColor": grid,
            "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelLimit": 340,
        },
        "header": {"labelColor": ink, "titleColor": ink, "labelFontSize": 13, "labelFontWeight": "bold"},
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12, "titleFontSize": 12, "orient": "bottom"},
        "title": {**text, "fontSize": 14},
        "text": text,
        "rule": {"color": ink},
        "range": {"category": SERIES},
    }  # fmt: skip
