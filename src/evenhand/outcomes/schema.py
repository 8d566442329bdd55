"""The columns of the outcomes table: one row per slot per respondent per epoch.

The first 28 columns are those of the FairFund-Bench codebook (Lukk 2026, arXiv 2607.28934) in its order;
the rest are Evenhand's own. Which levels race, gender, framing or category may take is a pack's business
and is not fixed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from evenhand.errors import OutcomesError
from evenhand.formats import FORMATS
from evenhand.formats.types import STATUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from polars.datatypes import DataTypeClass

Absent = Literal["required", "NA", "blank"]
"""How a column says that a value is missing: it may not be, by `NA`, or by an empty cell.

Where the word NA may be a real value (a person called NA), it is never read as missing.
"""

TASKS = FORMATS
CONTEXTS = ("single", "multi")
MODES = ("transparent", "disguised")

VALUE_COLUMNS = {
    "rate": "rating",
    "rank": "rank",
    "rank_ties": "rank",
    "tool_rank": "rank",
    "allocate": "dollars",
    "decide": "decision",
    "tool_decide": "decision",
    "purpose_choice": "choice",
    "purpose_open": "text",
}
"""The column that holds the value of an answer, for each task.

The column `score` holds what a decision came with: a number, higher where the applicant is treated better.
"""

BUNDLE_KEY = ("model", "task", "wording_variant", "unit_id", "epoch", "arm")
"""What names one unit put to one respondent; with `position` it names one slot, that is, one row."""

UNIT_COLUMNS = ("status", "bundle_type")
"""What all slots of a unit share because one answer fills them; `valid` and `refused` follow from the status."""

ALLOCATE_TOTAL = 10_000
"""What the dollars of one answered unit of `allocate` sum to (Lukk 2026, arXiv 2607.28934, section 3)."""

KINDS: dict[DataTypeClass, str] = {
    pl.String: "text",
    pl.Int64: "a whole number",
    pl.Float64: "a number",
    pl.Boolean: "TRUE or FALSE",
}
"""What messages call the values of each type."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table.

    Attributes:
        name: Its name.
        dtype: Its polars type.
        absent: How it says that a value is missing.
        labels: The values it may take, where they are fixed.
        released: Whether the released FairFund-Bench codebook has it.
    """

    name: str
    dtype: DataTypeClass
    absent: Absent = "NA"
    labels: tuple[str, ...] = ()
    released: bool = True


COLUMNS = (
    Column("job_id", pl.String, "required"),
    Column("model", pl.String, "required"),
    Column("task", pl.String, "required", labels=TASKS),
    Column("wording_variant", pl.String, "required"),
    Column("bundle_type", pl.String),
    Column("comparison_context", pl.String, labels=CONTEXTS),
    Column("mode", pl.String, labels=MODES),
    Column("focal_axis", pl.String),
    Column("unit_id", pl.String, "required"),
    Column("bundle_size", pl.Int64, "required"),
    Column("position", pl.Int64, "required"),
    Column("stimulus_id", pl.String, "required"),
    Column("category", pl.String),
    Column("scenario_id", pl.String),
    Column("name_rank", pl.Int64),
    Column("race", pl.String),
    Column("gender", pl.String),
    Column("framing", pl.String),
    Column("rating", pl.Int64),
    Column("rank", pl.Int64),
    Column("dollars", pl.Int64),
    Column("valid", pl.Boolean, "required"),
    Column("refused", pl.Boolean, "required"),
    Column("malformed", pl.Boolean, "required"),
    Column("safety_disclaimer", pl.Boolean, "required"),
    Column("parse_reason", pl.String, "required"),
    Column("retry_count", pl.Int64, "required"),
    Column("missing", pl.Boolean, "required"),
    Column("study", pl.String, released=False),
    Column("arm", pl.String, released=False),
    Column("tag", pl.String, released=False),
    Column("domain", pl.String, released=False),
    Column("epoch", pl.Int64, "required", released=False),
    Column("stratum", pl.Int64, released=False),
    Column("name", pl.String, "blank", released=False),
    Column("pseudo_group", pl.String, released=False),
    Column("attribute", pl.String, released=False),
    Column("decision", pl.Int64, released=False),
    Column("score", pl.Float64, released=False),
    Column("choice", pl.String, released=False),
    Column("text", pl.String, released=False),
    Column("status", pl.String, "required", labels=STATUSES, released=False),
    Column("tied", pl.Boolean, "required", released=False),
)
"""All columns in their order."""

RELEASED = tuple(column.name for column in COLUMNS if column.released)
"""The 28 columns of the released codebook, in its order."""

SCHEMA: dict[str, DataTypeClass] = {column.name: column.dtype for column in COLUMNS}

EMPTY_TEXT = frozenset({"parse_reason"})
"""The text column that may be empty although it may not be missing: a valid row has no reason to give."""


def check_columns(columns: Iterable[str], *, where: str) -> None:
    """Refuse a table that lacks a column of the released codebook.

    Args:
        columns: The names the table has; more than the schema knows are allowed.
        where: The file, for the message.

    Raises:
        OutcomesError: Naming every column that is not there.
    """
    present = set(columns)
    lacking = [name for name in RELEASED if name not in present]
    if not lacking:
        return
    one, none = len(lacking) == 1, len(lacking) == len(RELEASED)
    what = f"the column{'' if one else 's'} {', '.join(lacking)} {'is' if one else 'are'} missing"
    raise OutcomesError(
        "none of the columns of an outcomes file is there" if none else what,
        where=where,
        mend="An outcomes file has the 28 columns of the FairFund-Bench codebook, separated by commas",
    )


def conform(frame: pl.DataFrame, *, where: str = "outcomes") -> pl.DataFrame:
    """Give a table every column of the schema, in order and in its type.

    Where the table lacks one of Evenhand's own columns, the status is derived from the flags (valid,
    refused, missing, else malformed), the epoch is 1, `tied` is false (not known to be tied) and the others
    are missing. Columns that the schema does not know are left out.

    Args:
        frame: A table with at least the 28 released columns.
        where: The file, for messages.

    Raises:
        OutcomesError: A released column is missing, or a value cannot be given its column's type without
            changing it (1.4 in a column of whole numbers).
    """
    check_columns(frame.columns, where=where)
    present = [column for column in COLUMNS if column.name in frame.columns]
    frame = _cast(frame.select(column.name for column in present), present, where=where)
    defaults = {
        "status": derive_status(),
        "epoch": pl.lit(1, dtype=pl.Int64),
        "tied": pl.lit(value=False),
    }
    frame = frame.with_columns(
        defaults.get(column.name, pl.lit(None, dtype=column.dtype)).alias(column.name)
        for column in COLUMNS
        if column not in present
    )
    return frame.select(column.name for column in COLUMNS)


def derive_status() -> pl.Expr:
    """The status as far as the released flags tell it: they know neither `no_answer` nor `error`."""
    return (
        pl.when(pl.col("valid"))
        .then(pl.lit("answered"))
        .when(pl.col("refused"))
        .then(pl.lit("refused"))
        .when(pl.col("missing"))
        .then(pl.lit("missing"))
        .otherwise(pl.lit("malformed"))
    )


def _cast(frame: pl.DataFrame, columns: Iterable[Column], *, where: str) -> pl.DataFrame:
    found = [frame[column.name] for column in columns if frame.schema[column.name] != column.dtype]
    return frame.with_columns(_convert(series, SCHEMA[series.name], where=where) for series in found)


def _convert(series: pl.Series, dtype: DataTypeClass, *, where: str) -> pl.Series:
    """Give a column its type where that changes no value: 3.0 is 3, but neither 1.4 nor a date is a number."""
    kind, name = KINDS[dtype], series.name
    if not _is_convertible(series.dtype, dtype):
        raise OutcomesError(
            f"the column {name} holds {series.dtype}, not {dtype}", where=where, mend=f"Give {name} as {dtype}"
        )
    values = series.cast(dtype, strict=False)
    changed = series.is_not_null() & values.is_null()
    if series.dtype.is_numeric() and dtype.is_numeric():
        changed |= values.cast(series.dtype, strict=False) != series
    wrong = changed.arg_true()
    if wrong.len():
        raise OutcomesError(
            f"{name} is {series[wrong[0]]}, not {kind}",
            where=f"{where}, row {wrong[0] + 1}",
            mend=f"Give {kind}, or null where the value is missing",
        )
    return values


def _is_convertible(found: pl.DataType, dtype: DataTypeClass) -> bool:
    if found == pl.Null:
        return True
    if dtype == pl.String:
        return found.is_integer() or isinstance(found, (pl.Categorical, pl.Enum, pl.Binary))
    return found.is_numeric() and dtype.is_numeric()
