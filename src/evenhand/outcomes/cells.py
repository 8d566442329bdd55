"""How the table's values stand in the cells of a CSV, and how they are read back.

Missing is `NA`, booleans are TRUE and FALSE. Text that a spreadsheet would run as a formula gets a leading
apostrophe; so does text that says NA where NA would mean missing. Text that already looks marked in this way
gets one more, so that reading can always take exactly one off: what was saved is what is loaded.
"""

from __future__ import annotations

import polars as pl

from evenhand.cells import FORMULA
from evenhand.errors import OutcomesError
from evenhand.outcomes.schema import COLUMNS, KINDS, Column

NA = "NA"


def to_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Write every value as its cell.

    Args:
        frame: Any columns of the schema, in its types.

    Returns:
        The same columns as text. Null stands for an empty cell, so that a writer leaves it unquoted.
    """
    return frame.select(_to_cell(column) for column in COLUMNS if column.name in frame.columns)


def _to_cell(column: Column) -> pl.Expr:
    value = pl.col(column.name)
    if column.dtype == pl.Boolean:
        cell = pl.when(value).then(pl.lit("TRUE")).when(value.not_()).then(pl.lit("FALSE"))
    elif column.dtype == pl.String:
        marked = value.str.contains(_needs_mark(column))
        cell = pl.when(marked).then(pl.concat_str(pl.lit("'"), value)).otherwise(value)
    else:
        cell = value.cast(pl.String)
    if column.absent != "blank":
        cell = cell.fill_null(NA)
    return pl.when(cell != "").then(cell).alias(column.name)


def _needs_mark(column: Column) -> str:
    """A pattern for the text that gets a leading apostrophe when it is written."""
    return f"^'*{FORMULA}" if column.absent != "NA" else f"^'*(?:{FORMULA}|NA$)"


def from_cells(cells: pl.DataFrame, *, where: str, first_row: int = 2) -> pl.DataFrame:
    """Read every cell as its value.

    Args:
        cells: Any columns of the schema, as text without nulls.
        where: The file, for messages.
        first_row: The number by which messages call the first row.

    Raises:
        OutcomesError: At the first cell that is not of its column's type, with file, row and column.
    """
    columns = [column for column in COLUMNS if column.name in cells.columns]
    marked = _marked_columns(cells, [column.name for column in columns if column.dtype == pl.String])
    values = cells.select(_from_cell(column, marked=column.name in marked) for column in columns)
    for column in columns:
        if column.dtype == pl.String:
            continue
        unread = cells[column.name].ne(NA) & values[column.name].is_null()
        if unread.any():
            values = values.with_columns(_reread(cells[column.name], column, where=where, first_row=first_row))
    return values


def _marked_columns(cells: pl.DataFrame, names: list[str]) -> set[str]:
    if not cells.height or not names:
        return set()
    found = cells.select(pl.col(name).str.starts_with("'").any() for name in names).row(0, named=True)
    return {name for name, any_marked in found.items() if any_marked}


def _from_cell(column: Column, *, marked: bool) -> pl.Expr:
    cell = pl.col(column.name)
    if column.dtype == pl.Boolean:
        return (
            pl.when(cell == "TRUE")
            .then(pl.lit(value=True))
            .when(cell == "FALSE")
            .then(pl.lit(value=False))
            .alias(column.name)
        )
    if column.dtype == pl.Float64:
        number = cell.cast(pl.Float64, strict=False)
        return pl.when(number.is_finite()).then(number).alias(column.name)
    if column.dtype != pl.String:
        return cell.cast(column.dtype, strict=False)
    absent = NA if column.absent == "NA" else ""
    text = cell if column.absent == "required" else pl.when(cell != absent).then(cell)
    if marked:
        plain = pl.when(cell.str.contains(f"^'{_needs_mark(column)[1:]}")).then(cell.str.slice(1))
        text = plain.otherwise(text)
    return text.alias(column.name)


def _reread(cells: pl.Series, column: Column, *, where: str, first_row: int) -> pl.Series:
    """Read a column that is not spelled as we spell it.

    Other tools write 3.0 for 3, true for TRUE, and leave the cell of a missing number empty.
    """
    kind = KINDS[column.dtype]
    if column.dtype == pl.Boolean:
        names = {"TRUE": True, "FALSE": False}
        values = cells.str.to_uppercase().replace_strict(names, default=None, return_dtype=pl.Boolean)
        mend, missing = f"Write {kind}", [NA]
    else:
        whole = cells.str.replace(r"^(-?\d+)\.0+$", "$1")
        values = whole.to_frame().select(_from_cell(column, marked=False)).to_series()
        mend, missing = f"Write {kind}, or NA where the value is missing", [NA, ""]
    unread = (values.is_null() & cells.is_in(missing).not_()).arg_true()
    if unread.len():
        wrong = int(unread[0])
        raise OutcomesError(
            f"{column.name} is {cells[wrong]!r}, not {kind}",
            where=f"{where}, row {wrong + first_row}",
            mend=mend,
        )
    return values
