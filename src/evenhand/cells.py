"""Text cells of CSV files that people open in spreadsheets.

A spreadsheet runs a cell that starts like a formula. Such text is written with an apostrophe before it, and the
reader takes it off again. Text that already looks so marked gets one more, so saving and loading is the identity.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

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


def csv_of(table: pl.DataFrame) -> bytes:
    """A table as CSV for people: text is guarded, what is missing is `NA`."""
    import polars as pl

    texts = [name for name, dtype in table.schema.items() if dtype == pl.String]
    guarded = [
        pl.Series(name, [None if text is None else guard(text) for text in table[name]], dtype=pl.String)
        for name in texts
    ]
    return table.with_columns(guarded).write_csv(null_value="NA").encode()


def csv_of_records(records: Sequence[Mapping[str, Any]]) -> bytes:
    """Records as such a CSV; a column that one of them lacks is missing there."""
    import polars as pl

    return csv_of(pl.DataFrame([dict(record) for record in records], infer_schema_length=None))
