"""Anyone's table: files and frames whose columns are what they look like, and say where they are not."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MISSING = ("", "NA", "NaN", "null")
"""Cells that stand for no value."""

_TRUTHS = {"TRUE": True, "FALSE": False, "True": True, "False": False, "true": True, "false": False}
_PADDED = r"^[+-]?0\d"
_WHOLE = r"^[+-]?\d+$"
_KEPT = (pl.String, pl.Boolean, pl.Enum, pl.Categorical, pl.Date, pl.Datetime, pl.Time, pl.Null)
_KINDS = (str, bool, Integral, Real, Decimal, datetime, date, time)
"""What the cells of a pandas column may be; the first that fits is what a cell is."""
_MANY = 12
_WHERE_TO_SAVE = "Save it as CSV in UTF-8, separated by commas, each row with as many cells as the header"


def read_table(path: Path) -> pl.DataFrame:
    """Read a table.

    Args:
        path: `.csv`, `.csv.gz` or `.parquet`. In a CSV a column is a number where all its cells are, and a truth
            value where all are TRUE or FALSE; else it is text. Digits with a leading zero, and columns with a whole
            number beyond 64 bits, are text.

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


def as_polars(data: Any, columns: Sequence[str]) -> pl.DataFrame:
    """Some columns of a frame, as numbers, texts, truth values or times.

    Args:
        data: A polars or pandas frame.
        columns: Names of columns.

    Raises:
        InputError: No such frame, a column that is not there or there twice, or one that holds something else.
    """
    for column in columns:
        require_name(column, "data")
    pandas = hasattr(data, "iloc") and hasattr(data, "columns")
    if not (isinstance(data, pl.DataFrame) or pandas):
        lazy = isinstance(data, pl.LazyFrame)
        mend = "Collect it first" if lazy else "Give a polars or pandas frame"
        raise InputError(f"the data are a {type(data).__name__}", where="data", mend=mend)
    times = Counter(str(name) for name in data.columns)
    for column in columns:
        if column not in times:
            mend = f"Name one of {some(list(times))}"
            raise InputError(f"there is no column {column!r}", where="data", mend=mend)
        if times[column] > 1:
            raise InputError(f"two columns are called {column!r}", where="data", mend="Rename one of them")
    columns = tuple(dict.fromkeys(columns))
    if isinstance(data, pl.DataFrame):
        return pl.DataFrame([_plain(data[column]) for column in columns])
    places = {str(name): place for place, name in enumerate(data.columns)}
    return pl.DataFrame([_plain(_from_pandas(data.iloc[:, places[column]], column)) for column in columns])


def require_name(name: object, where: str) -> None:
    """Refuse what is no column's name by an InputError."""
    if not isinstance(name, str):
        raise InputError(f"{name!r} is no column name", where=where, mend="Give the name of one column as text")


def joined(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """A table with a column of this name that tells combinations apart: `model:unit_id` for two columns together.

    Where a part is missing, so is the combination.

    Args:
        table: Any table.
        name: A column, or several joined by colons.

    Raises:
        InputError: A part that holds neither numbers, texts, truth values nor times.
    """
    parts = name.split(":")
    if name in table.columns or len(parts) == 1 or not set(parts) <= set(table.columns):
        return table
    plain = as_polars(table, tuple(dict.fromkeys(parts))).with_columns(pl.selectors.float().fill_nan(None))
    combined = plain.select(pl.concat_str([pl.col(part).cast(pl.String) for part in parts], separator="\x1f"))
    return table.with_columns(combined.to_series().alias(name))


def keep_rows(table: pl.DataFrame, where: Mapping[str, str]) -> pl.DataFrame:
    """The rows in which columns have given values.

    Args:
        table: Any table.
        where: Values by column, as they are written.

    Raises:
        InputError: A column that is not there or cannot be compared, or no row left.
    """
    for name, value in where.items():
        if name not in table.columns:
            raise InputError(f"there is no column {name!r}", where="where", mend=f"Name one of {some(table.columns)}")
        column = as_polars(table, (name,)).to_series()
        kept = table.filter(column.cast(pl.String).is_in(meant(column, value)).fill_null(value=False))
        if kept.is_empty():
            known = column.unique().drop_nulls().sort().cast(pl.String).to_list()
            mend = f"It holds {some(known)}" if known else "It holds no value"
            raise InputError(f"no row has {value!r} in {shown(name)}", where="where", mend=mend)
        table = kept
    return table


def meant(column: pl.Series, value: str) -> list[str]:
    """The values of a column that a text stands for, as polars writes them.

    Args:
        column: A column as `as_polars` gives it.
        value: A text, or a number, a truth value or a time, however it is written.
    """
    known = column.unique().drop_nulls()
    written: list[str] = known.cast(pl.String).to_list()
    if value in written and not column.dtype.is_float():
        return [value]
    return [
        text
        for text, one in zip(written, known.to_list(), strict=True)
        if text == value or _is_written(one, text, value)
    ]


def _is_written(known: Any, text: str, value: str) -> bool:
    """Whether a text is one way to write a value, which polars writes as `text`."""
    try:
        if isinstance(known, bool):
            return value.strip().lower() in ({"true", "1"} if known else {"false", "0"})
        if isinstance(known, int):
            return Decimal(value) == known
        if isinstance(known, float):
            return float(value) == float(text)
        if isinstance(known, (datetime, date, time)):
            return type(known).fromisoformat(value) == known
    except (ValueError, InvalidOperation):
        return False
    return False


def some(names: Sequence[object]) -> str:
    """The first dozen of some names, on one line."""
    return ", ".join(shown(name) for name in names[:_MANY]) + (", ..." if len(names) > _MANY else "")


def shown(name: object) -> str:
    """A name on one line: as it is, or quoted where it holds what cannot be printed."""
    text = str(name)
    return text if text.isprintable() else repr(text)


def counted(n: int, noun: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _plain(column: pl.Series) -> pl.Series:
    """A column in a type that all can work with; zeros have no sign."""
    dtype, plain = column.dtype, column
    if isinstance(dtype, (pl.Int128, pl.UInt128)):
        plain = column.cast(pl.Int64, strict=False)
    elif isinstance(dtype, pl.Decimal):
        plain = column.cast(pl.Float64 if dtype.scale else pl.Int64, strict=False)
    elif dtype.is_float():
        plain = column if isinstance(dtype, (pl.Float32, pl.Float64)) else column.cast(pl.Float32)
        plain = plain.set(plain == 0, 0.0) if (plain == 0).any() else plain
    elif not (dtype.is_integer() or isinstance(dtype, _KEPT)):
        raise InputError(
            f"{shown(column.name)} is a column of {dtype}", where="data", mend="Make it numbers, texts, dates or times"
        )
    if plain.null_count() != column.null_count() or (dtype.is_decimal() and plain.n_unique() != column.n_unique()):
        raise InputError(
            f"{shown(column.name)} holds numbers with more digits than can be told apart",
            where="data",
            mend="Make it text where it is no amount, else subtract a constant",
        )
    return plain


def _from_pandas(series: Any, name: str) -> pl.Series:
    """A pandas column; a categorical one keeps the order of its categories."""
    values = [None if gone else value for value, gone in zip(series.tolist(), series.isna().tolist(), strict=True)]
    categories = getattr(series.dtype, "categories", None)
    if categories is not None:
        labels = [str(category) for category in categories]
        twice = next((label for label, times in Counter(labels).items() if times > 1), None)
        if twice is not None:
            what = f"two categories of {shown(name)} are written {twice!r}"
            raise InputError(what, where="data", mend="Rename one of them")
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.Enum(labels))
    return from_cells(values, name)


def from_cells(values: Sequence[Any], name: str) -> pl.Series:
    """Python values as a column.

    Raises:
        InputError: Values that are no numbers, texts, truth values or times, or of several of these kinds.
    """
    cells = [value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value for value in values]
    first: dict[type, Any] = {type(value): value for value in cells if value is not None}
    kinds = {_kind(value) for value in first.values()}
    kinds = {Real} if kinds <= {bool, Integral, Real, Decimal} and len(kinds) > 1 else kinds
    if None in kinds or len(kinds) > 1:
        raise InputError(
            f"{shown(name)} holds values of kind {', '.join(sorted(kind.__name__ for kind in first))}",
            where="data",
            mend="Make all of them numbers, texts, dates or times",
        )
    try:
        if kinds == {Real}:
            return pl.Series(name, [None if value is None else float(value) for value in cells], dtype=pl.Float64)
        return pl.Series(name, cells)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        what = f"{shown(name)} holds values that make no column"
        raise InputError(what, where="data", mend="Give numbers of 64 bits at most, texts, dates or times") from None


def _kind(value: object) -> type | None:
    return next((kind for kind in _KINDS if isinstance(value, kind)), None)


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
        return column.replace_strict(_TRUTHS, return_dtype=pl.Boolean)
    if filled.str.contains(_PADDED).any():
        return column
    whole, numbers = filled.cast(pl.Int64, strict=False), filled.cast(pl.Float64, strict=False)
    if not whole.has_nulls():
        return column.cast(pl.Int64)
    # As floating point numbers, such would no longer be told apart.
    beyond = bool((whole.is_null() & filled.str.contains(_WHOLE)).any())
    return column if beyond or numbers.has_nulls() else column.cast(pl.Float64)
