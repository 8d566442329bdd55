"""One style for every figure, on paper and on the page, by day and by night.

Colours are those of Okabe and Ito (2008), told apart by people with any colour vision; no figure needs them to be read:
statuses have shapes, groups have labels.
"""

from __future__ import annotations

from typing import Any

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
STATUSES = ["disparity", "equivalent", "not resolved"]
STATUS_COLOURS = ["#d55e00", "#009e73", "#56789a"]
STATUS_SHAPES = ["square", "diamond", "circle"]
MARGIN_COLOUR, FLOOR_COLOUR = "#009e73", "#b8860b"
SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

_INK = {"light": "#1b1f24", "dark": "#e8ebef"}
_GRID = {"light": "#d9dee4", "dark": "#3a424c"}


def config(mode: str) -> dict[str, Any]:
    """The configuration of a figure.

    Args:
        mode: `light` or `dark`.
    """
    ink, grid = _INK[mode], _GRID[mode]
    text = {"font": FONT, "color": ink}
    return {
        "background": "transparent",
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
