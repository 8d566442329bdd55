"""What must hold in every outcomes table, and the message for each way it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import polars as pl

from evenhand.errors import OutcomesError
from evenhand.outcomes.schema import BUNDLE_KEY, COLUMNS, EMPTY_TEXT, SCHEMA, VALUE_COLUMNS, Column

_ROW = "_row"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that may not be.

    Attributes:
        column: The column to quote in the message.
        broken: True on the rows that break the rule; null counts as kept.
        what: The message; `{value}` and any column's name in braces stand for the row's values.
        mend: What to do about it.
    """

    column: str
    broken: pl.Expr
    what: str
    mend: str


def validate(frame: pl.DataFrame, *, where: str = "outcomes", first_row: int = 1) -> None:
    """Check a table against the schema.

    Args:
        frame: The table, with every column of the schema in its type (see `schema.conform`).
        where: The file, for messages.
        first_row: The number by which messages call the first row; 2 for a CSV, whose header is row 1.

    Raises:
        OutcomesError: Naming the first row at fault, what is wrong with it and how many rows share the fault.
    """
    _check_types(frame, where=where)
    rules = _rules()
    broken = frame.select(rule.broken.fill_null(value=False).any().alias(str(i)) for i, rule in enumerate(rules))
    for rule, found in zip(rules, broken.row(0), strict=True):
        if found:
            raise _row_error(frame, rule, where=where, first_row=first_row)
    _check_slots(frame, where=where, first_row=first_row)


def _check_types(frame: pl.DataFrame, *, where: str) -> None:
    for name, dtype in SCHEMA.items():
        if name not in frame.columns:
            raise OutcomesError(
                f"the column {name} is missing",
                where=where,
                mend="Give every column of the schema (`conform` adds those that can be)",
            )
        if frame.schema[name] != dtype:
            raise OutcomesError(
                f"the column {name} holds {frame.schema[name]}, not {dtype}",
                where=where,
                mend=f"Give {name} as {dtype}",
            )


@cache
def _rules() -> list[Rule]:
    columns = [rule for column in COLUMNS for rule in _column_rules(column)]
    return [*columns, *_range_rules(), *_value_rules(), *_flag_rules()]


def _column_rules(column: Column) -> list[Rule]:
    cell = pl.col(column.name)
    rules: list[Rule] = []
    if column.absent == "refused":
        rules.append(
            Rule(column.name, cell.is_null(), f"{column.name} is missing", f"Give every row its {column.name}")
        )
    if column.dtype == pl.String and column.absent != "NA" and column.name not in EMPTY_TEXT:
        rules.append(Rule(column.name, cell == "", f"{column.name} is empty", f"Give every row its {column.name}"))
    if column.labels:
        known = ", ".join(column.labels)
        rules.append(
            Rule(
                column.name,
                cell.is_in(column.labels).not_(),
                f"{column.name} is '{{value}}', an unknown label",
                f"Use one of {known}",
            )
        )
    return rules


def _range_rules() -> list[Rule]:
    size = pl.col("bundle_size")
    rules = [
        Rule(
            name,
            ~pl.col(name).is_between(1, size),
            f"{name} {{value}} is outside 1..{{bundle_size}}, the slots of its bundle",
            "Count from 1 to bundle_size",
        )
        for name in ("position", "rank")
    ]
    rules.append(
        Rule("rating", ~pl.col("rating").is_between(1, 5), "rating {value} is outside 1..5", "Rate from 1 to 5")
    )
    rules.append(
        Rule("decision", ~pl.col("decision").is_in([0, 1]), "decision {value} is neither 0 nor 1", "Use 1 or 0")
    )
    for name, least in (
        ("bundle_size", 1),
        ("name_rank", 1),
        ("epoch", 1),
        ("dollars", 0),
        ("retry_count", 0),
    ):
        rules.append(Rule(name, pl.col(name) < least, f"{name} {{value}} is below {least}", f"Start {name} at {least}"))
    return rules


def _value_rules() -> list[Rule]:
    return [
        Rule(
            column,
            (pl.col("task") == task) & pl.col("valid") & pl.col(column).is_null(),
            f"a valid row of task {task} has no {column}",
            f"Give the {column}, or set valid to FALSE",
        )
        for task, column in VALUE_COLUMNS.items()
    ]


def _flag_rules() -> list[Rule]:
    valid, refused, status = pl.col("valid"), pl.col("refused"), pl.col("status")
    flags = "valid {valid}, refused {refused}, malformed {malformed}, missing {missing}, status {status}"
    agree = "Make the flags agree with the status (answered is valid, all but answered and refused are malformed)"
    wrong = (
        (valid != (status == "answered"))
        | (refused != (status == "refused"))
        | (pl.col("malformed") == (valid | refused))
        | (pl.col("missing") & (valid | refused))
        | ((status == "missing") & ~pl.col("missing"))
    )
    return [Rule("status", wrong, f"the flags contradict each other: {flags}", agree)]


def _row_error(frame: pl.DataFrame, rule: Rule, *, where: str, first_row: int) -> OutcomesError:
    rows = frame.with_row_index(_ROW).filter(rule.broken)
    row = rows.row(0, named=True)
    what = rule.what.format(value=row[rule.column], **row)
    if rows.height > 1:
        what += f" (and {rows.height - 1} more rows like it)"
    return OutcomesError(what, where=f"{where}, row {row[_ROW] + first_row}", mend=rule.mend)


def _check_slots(frame: pl.DataFrame, *, where: str, first_row: int) -> None:
    """Each bundle has each of its positions once.

    Positions lie in 1..bundle_size by now, so that a bundle is whole where it has as many rows as distinct
    positions as slots. Grouping by a 64-bit hash of the key is several times faster than by its six columns;
    two keys with one hash only send a sound table to the exact check.
    """
    hashed = frame.select(pl.struct(BUNDLE_KEY).hash().alias("bundle"), "position", "bundle_size")
    if hashed.group_by("bundle").agg(_is_whole().alias("whole"))["whole"].all():
        return
    bundles = frame.with_row_index(_ROW).group_by(BUNDLE_KEY, maintain_order=True)
    faults = bundles.agg(
        _is_whole().alias("whole"),
        pl.col(_ROW).first(),
        pl.col(_ROW).filter(pl.col("position").is_first_distinct().not_()).first().alias("second"),
        pl.col("position").sort(),
        pl.col("bundle_size").unique().sort(),
    ).filter(~pl.col("whole"))
    if faults.height:
        raise _bundle_error(faults.row(0, named=True), where=where, first_row=first_row)


def _is_whole() -> pl.Expr:
    size = pl.col("bundle_size")
    return (pl.len() == size.min()) & (size.min() == size.max()) & (pl.col("position").n_unique() == pl.len())


def _bundle_error(bundle: dict[str, object], *, where: str, first_row: int) -> OutcomesError:
    name = ", ".join(f"{key} {bundle[key]}" for key in BUNDLE_KEY if bundle[key] is not None)
    second = bundle["second"]
    if isinstance(second, int):
        what, row = f"a second row for the same slot ({name})", second
        mend = "Keep one row for each model, task, wording, unit, epoch, arm and position"
    else:
        row = bundle[_ROW]
        assert isinstance(row, int)
        what = f"the bundle ({name}) has positions {bundle['position']} and bundle_size {bundle['bundle_size']}"
        mend = "Give each bundle one row for each position from 1 to bundle_size, and one bundle_size"
    return OutcomesError(what, where=f"{where}, row {row + first_row}", mend=mend)
