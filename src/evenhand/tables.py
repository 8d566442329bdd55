"""Anyone's table: a CSV or Parquet file whose columns are what they look like, and say where they are not."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from typing import TYPE_CHECKING

import polars as pl

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MISSING = ("", "NA", "NaN", "null")
"""Cells that stand for no value."""

_TRUTHS = {"TRUE": 1.0, "FALSE": 0.0, "True": 1.0, "False": 0.0, "true": 1.0, "false": 0.0}
_PADDED = r"^[+-]?0\d"
_WHERE_TO_SAVE = "Save it as CSV in UTF-8, separated by commas, each row with as many cells as the header"


def read_table(path: Path) -> pl.DataFrame:
    """Read a table.

    Args:
        path: `.csv`, `.csv.gz` or `.parquet`. In a CSV a column is a number where all its cells are, and 0 or 1
            where all are TRUE or FALSE; else it is text. Digits with a leading zero are text.

    Raises:
        InputError: A file that is not there, or cannot be read, or has two columns of one name.
    """
    data = _load(path)
    if path.name.lower().endswith(".parquet"):
        return _parse_parquet(data, str(path))
    return _parse_csv(data, str(path))


def columns_of(path: Path) -> tuple[str, ...]:
    """The names of a table's columns; errors as `read_table` has them."""
    data = _load(path)
    if path.name.lower().endswith(".parquet"):
        return tuple(_parse_parquet(data, str(path)).columns)
    return tuple(_header(_text(data, str(path)), str(path)))


def joined(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """A table with a column of this name that tells combinations apart: `model:unit_id` for two columns together.

    Args:
        table: Any table.
        name: A column, or several joined by colons.
    """
    parts = name.split(":")
    if name in table.columns or len(parts) == 1 or not set(parts) <= set(table.columns):
        return table
    combined = pl.concat_str([pl.col(part).cast(pl.String) for part in parts], separator="\x1f")
    return table.with_columns(combined.alias(name))


def keep_rows(table: pl.DataFrame, where: Mapping[str, str]) -> pl.DataFrame:
    """The rows in which columns have given values.

    Args:
        table: Any table.
        where: Values by column, as they are written.

    Raises:
        InputError: A column that is not there, or no row left.
    """
    for name, value in where.items():
        if name not in table.columns:
            raise InputError(f"there is no column {name!r}", where="where", mend=f"Name one of {_some(table.columns)}")
        column = table[name]
        wanted = column.cast(pl.Float64) == _number(value) if column.dtype.is_numeric() else _texts(column) == value
        kept = table.filter(wanted.fill_null(value=False))
        if kept.is_empty():
            known = [str(found) for found in column.unique().sort().to_list() if found is not None]
            raise InputError(f"no row has {value!r} in {name}", where="where", mend=f"It holds {_some(known)}")
        table = kept
    return table


def _some(names: list[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _texts(column: pl.Series) -> pl.Series:
    return column.cast(pl.String)


def _load(path: Path) -> bytes:
    if not path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        raise InputError(
            "tables of this kind are not read", where=str(path), mend="Give a file that ends in .csv, .csv.gz, .parquet"
        )
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    except FileNotFoundError:
        raise InputError("there is no such file", where=str(path), mend="Check the path") from None
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        raise InputError(f"the file cannot be read ({problem})", where=str(path), mend="Check the file") from None


def _parse_parquet(data: bytes, where: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        raise InputError("this is no Parquet file", where=where, mend="Write the file again") from None


def _text(data: bytes, where: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the file is not UTF-8", where=where, mend=_WHERE_TO_SAVE) from None
    if not text.strip() or "\0" in text:
        raise InputError("the file is empty, or no text", where=where, mend=_WHERE_TO_SAVE)
    return text


def _header(text: str, where: str) -> list[str]:
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as problem:
        raise InputError(f"the header cannot be read ({problem})", where=where, mend=_WHERE_TO_SAVE) from None
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two columns are called {twice!r}", where=where, mend="Rename one of them")
    return names


def _parse_csv(data: bytes, where: str) -> pl.DataFrame:
    text = _text(data, where)
    names = _header(text, where)
    try:
        cells = pl.read_csv(io.BytesIO(text.encode()), infer_schema=False, has_header=True, new_columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        told = str(problem).partition("\n")[0]
        raise InputError(f"the file cannot be read as CSV ({told})", where=where, mend=_WHERE_TO_SAVE) from None
    return cells.select(_as_it_looks(cells[name]) for name in cells.columns)


def _as_it_looks(column: pl.Series) -> pl.Series:
    """Numbers where all cells are numbers, else text; cells that stand for no value are missing."""
    column = column.str.strip_chars()
    column = column.set(column.is_in(MISSING), None)
    filled = column.drop_nulls()
    if filled.is_empty():
        return column
    if filled.is_in(list(_TRUTHS)).all():
        return column.replace_strict(_TRUTHS, return_dtype=pl.Float64)
    if filled.str.contains(_PADDED).any():
        return column
    whole, numbers = filled.cast(pl.Int64, strict=False), filled.cast(pl.Float64, strict=False)
    if not whole.has_nulls():
        return column.cast(pl.Int64)
    return column if numbers.has_nulls() else column.cast(pl.Float64)
