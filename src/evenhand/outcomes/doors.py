"""The doors of the outcomes table: CSV for people and for the released scorer, Parquet for exactness."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from evenhand.errors import OutcomesError
from evenhand.files import exists, replace_file
from evenhand.outcomes.cells import from_cells, to_cells
from evenhand.outcomes.checks import validate
from evenhand.outcomes.schema import BUNDLE_KEY, RELEASED, SCHEMA, check_columns, conform

if TYPE_CHECKING:
    import os

__all__ = ["read_outcomes", "validate", "write_outcomes"]

Layout = Literal["evenhand", "fairfund"]
_ENDINGS = (".csv", ".csv.gz", ".parquet")
_CHOOSE = f"Choose a name that ends in {', '.join(_ENDINGS)}"
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_SAVE = "Save it as CSV in UTF-8, separated by commas, one row a line"


def read_outcomes(path: str | os.PathLike[str]) -> pl.DataFrame:
    """Read and check a table of outcomes.

    Takes `.csv`, `.csv.gz` and `.parquet`, with the 28 released columns alone or with Evenhand's own. Text is
    never guessed to be anything else. Columns that the schema does not know are left out.

    Args:
        path: The file.

    Returns:
        The table with every column of the schema, in its order and types.

    Raises:
        OutcomesError: With the file, the row (a CSV's header is row 1) and the mend.
    """
    path = Path(path)
    where = str(path)
    ending = _ending_of_one_there(path)
    data = _load(path)
    if ending == ".parquet":
        frame, first_row = conform(_parse_parquet(data, where=where), where=where), 1
    else:
        frame, first_row = conform(_parse_csv(data, where=where), where=where), 2
    validate(frame, where=where, first_row=first_row)
    return frame


def write_outcomes(frame: pl.DataFrame, path: str | os.PathLike[str], *, schema: Layout = "evenhand") -> None:
    """Check a table of outcomes and write it, whole or not at all.

    Args:
        frame: The table; own columns of Evenhand that it lacks are filled in as `schema.conform` says.
        path: The file; its ending (.csv, .csv.gz, .parquet) says in which form.
        schema: `evenhand` for every column, `fairfund` for the 28 columns of the released codebook.

    Raises:
        OutcomesError: The table breaks the schema, or the released columns cannot hold it.
        InputError: The file cannot be written. One that exists is in either case left as it was.
    """
    path = Path(path)
    ending = _ending(path)
    if schema not in ("evenhand", "fairfund"):
        raise OutcomesError(f"'{schema}' is no layout of outcomes", mend="Use evenhand or fairfund")
    frame = conform(frame)
    validate(frame)
    if schema == "fairfund":
        _check_released(frame)
        frame = frame.select(RELEASED)
    buffer = io.BytesIO()
    if ending == ".parquet":
        frame.write_parquet(buffer)
    else:
        to_cells(frame).write_csv(buffer, null_value="", quote_style="necessary")
    data = buffer.getvalue()
    replace_file(path, gzip.compress(data, compresslevel=6, mtime=0) if ending == ".csv.gz" else data)


def _ending(path: Path) -> str:
    for ending in _ENDINGS:
        if path.name.lower().endswith(ending):
            return ending
    raise OutcomesError("outcomes are neither read nor written in this form", where=str(path), mend=_CHOOSE)


def _ending_of_one_there(path: Path) -> str:
    """The ending of a file to read; of a name that is nowhere its ending is not what is wrong."""
    try:
        return _ending(path)
    except OutcomesError:
        if not any(exists(path, OutcomesError, folder=folder) for folder in (False, True)):
            raise OutcomesError("there is no such file or run", where=str(path), mend="Check the path") from None
        raise


def _load(path: Path) -> bytes:
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except FileNotFoundError as error:
        raise OutcomesError("there is no such file", where=str(path), mend="Check the path") from error
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise OutcomesError(f"the file cannot be read ({error})", where=str(path), mend="Check the file") from error


def _parse_parquet(data: bytes, *, where: str) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise OutcomesError(
            f"this is no Parquet file ({_first_line(error)})", where=where, mend="Write the file again"
        ) from error


def _parse_csv(data: bytes, *, where: str) -> pl.DataFrame:
    data = data.removeprefix(_BOM)
    if data.endswith((b"\n\n", b"\n\r\n")):
        data = data.rstrip(b"\r\n")
    names = _header(data, where=where)
    check_columns(names, where=where)
    try:
        cells = pl.read_csv(io.BytesIO(data), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise OutcomesError(
            f"the file cannot be read as CSV ({_first_line(error)})",
            where=where,
            mend="Save it as UTF-8, separated by commas, each row with as many cells as the header",
        ) from error
    return from_cells(cells.select(name for name in SCHEMA if name in cells.columns).fill_null(""), where=where)


def _header(data: bytes, *, where: str) -> list[str]:
    """The names of the columns; an error where the file is not text in lines of cells separated by commas."""
    if not data.strip():
        raise OutcomesError("the file is empty", where=where, mend="Write the outcomes again")
    if data.startswith(_UTF16) or b"\0" in data[:2]:
        raise OutcomesError("the file is UTF-16", where=where, mend=_SAVE)
    line = data.partition(b"\n")[0].decode("utf-8", errors="replace").rstrip("\r")
    if "\r" in line:
        raise OutcomesError("the lines end in a carriage return alone", where=where, mend=_SAVE)
    try:
        names = [name for row in csv.reader([line]) for name in row]
    except csv.Error as error:
        raise OutcomesError(f"the header cannot be read ({error})", where=where, mend=_SAVE) from error
    for separator, kind in _SEPARATORS.items():
        if separator in line and SCHEMA.keys().isdisjoint(names):
            raise OutcomesError(f"the columns are separated by {kind}", where=where, mend=_SAVE)
    twice = sorted({name for name in names if name in SCHEMA and names.count(name) > 1})
    if twice:
        raise OutcomesError(
            f"the column {', '.join(twice)} stands twice in the header",
            where=where,
            mend="Keep one column of each name",
        )
    return names


def _check_released(frame: pl.DataFrame) -> None:
    """Refuse what the 28 columns cannot tell apart or cannot hold."""
    where = "the released columns cannot hold these outcomes"
    others = frame.filter(pl.col("task").is_in(["rate", "rank", "allocate"]).not_())["task"].unique().sort()
    if others.len():
        raise OutcomesError(
            f"they have no column for the task {', '.join(others)}",
            where=where,
            mend="Keep the rows of rate, rank and allocate, or write every column",
        )
    slot = [name for name in BUNDLE_KEY if name in RELEASED] + ["position"]
    if frame.select(pl.struct(slot).is_duplicated().any()).item():
        raise OutcomesError(
            "rows that only epoch or arm tells apart would stand for one slot",
            where=where,
            mend="Keep one epoch and one arm, or write every column",
        )


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
