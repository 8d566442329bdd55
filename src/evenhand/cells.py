"""Text cells of CSV files that people open in spreadsheets.

A spreadsheet runs a cell that starts like a formula. Such text is written with an apostrophe before it, and the
reader takes it off again, so that saving and loading is the identity.
"""

from __future__ import annotations

MARK = "'"
RISKY = ("=", "+", "-", "@", "\t", "\r", MARK)


def guard(text: str) -> str:
    """Text as a cell that no spreadsheet runs."""
    return MARK + text if text.startswith(RISKY) else text


def unguard(cell: str) -> str:
    """The text of a guarded cell."""
    return cell[1:] if cell.startswith(MARK) and cell[1:].startswith(RISKY) else cell
