"""Text cells of CSV files that people open in spreadsheets.

A spreadsheet runs a cell that starts like a formula. Such text is written with an apostrophe before it, and the
reader takes it off again. Text that already looks so marked gets one more, so saving and loading is the identity.
"""

from __future__ import annotations

import re

MARK = "'"
FORMULA = r"[=+\-@\t\r]"
"""What makes a spreadsheet run a cell, as the first character after any marks (a regular expression)."""

_RISKY = re.compile(f"{MARK}*{FORMULA}")


def guard(text: str) -> str:
    """Text as a cell that no spreadsheet runs."""
    return MARK + text if _RISKY.match(text) else text


def unguard(cell: str) -> str:
    """The text of a guarded cell."""
    return cell[1:] if cell.startswith(MARK) and _RISKY.match(cell) else cell
