"""What must hold in every outcomes table, and the message for each way it can fail."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import polars as pl

from evenhand.errors import OutcomesError
from evenhand.outcomes.schema import (
    ALLOCATE_TOTAL,
    BUNDLE_KEY,
    COLUMNS,
    EMPTY_TEXT,
    SCHEMA,
    UNIT_COLUMNS,
    VALUE_COLUMNS,
    Column,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW = "_row"
_UNIT = "model {model}, task {task}, unit_id {unit_id}, epoch {epoch}"
_RIGHT_OR_INVALID = "Give the amounts as they were answered, or set valid to FALSE"
_MASKABLE = 50
"""The largest bundle whose positions are checked as bits of one 64-bit number."""


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
    _check_rules(frame, _rules(), where=where, first_row=first_row)
    _check_units(frame, where=where, first_row=first_row)
    _check_arms(frame, where=where, first_row=first_row)


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
    if column.absent == "required":
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
    rules += [
        Rule("score", ~pl.col("score").is_finite(), "score {value} is no finite number", "Give a number, or null"),
        Rule(
            "score",
            pl.col("score").is_not_null() & (pl.col("task") != "decide"),
            "score {value} stands beside an answer of task {task}",
            "Give scores with rows of task decide alone",
        ),
    ]
    for name, least in (
        ("bundle_size", 1),
        ("name_rank", 1),
        ("epoch", 1),
        ("dollars", 0),
        ("retry_count", 0),
    ):
        rules.append(Rule(name, pl.col(name) < least, f"{name} {{value}} is below {least}", f"Start {name} at {least}"))
    rules.append(
        Rule(
            "dollars",
            _is_valid("allocate") & (pl.col("dollars") > ALLOCATE_TOTAL),
            f"dollars {{value}} is above {ALLOCATE_TOTAL:,}, the total of its unit",
            _RIGHT_OR_INVALID,
        )
    )
    return rules


def _is_valid(task: str) -> pl.Expr:
    return (pl.col("task") == task) & pl.col("valid")


def _value_rules() -> list[Rule]:
    return [
        Rule(
            column,
            _is_valid(task) & pl.col(column).is_null(),
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


def _check_rules(frame: pl.DataFrame, rules: Sequence[Rule], *, where: str, first_row: int) -> None:
    broken = frame.select(rule.broken.fill_null(value=False).any().alias(str(i)) for i, rule in enumerate(rules))
    for rule, found in zip(rules, broken.row(0), strict=True):
        if found:
            raise _row_error(frame, rule, where=where, first_row=first_row)


def _row_error(frame: pl.DataFrame, rule: Rule, *, where: str, first_row: int) -> OutcomesError:
    rows = frame.with_row_index(_ROW).filter(rule.broken)
    row = rows.row(0, named=True)
    what = rule.what.format(value=row[rule.column], **row)
    if rows.height > 1:
        what += f" (and {rows.height - 1} more rows like it)"
    return OutcomesError(what, where=f"{where}, row {row[_ROW] + first_row}", mend=rule.mend)


def _check_units(frame: pl.DataFrame, *, where: str, first_row: int) -> None:
    """Each unit has each of its slots once, and its slots tell of one answer that can be."""
    if _are_sound(frame):
        return
    _check_slots(frame, where=where, first_row=first_row)
    total = pl.col("dollars").sum().over(BUNDLE_KEY).alias("unit_total")
    _check_rules(frame.with_columns(total), _unit_rules(), where=where, first_row=first_row)


def _are_sound(frame: pl.DataFrame) -> bool:
    """Whether all units are sound, told several times faster than which one is not and why.

    Units are told apart by a 64-bit hash of their key: two keys with one hash only send a sound table to the exact
    checks. Positions lie in 1..bundle_size by now, and n powers of two from 2 to 2**n sum to 2**(n + 1) - 2 only
    where all are different; so do those of the ranks of a strict order.
    """
    size = pl.col("bundle_size")
    if frame.height and frame.select(size.max()).item() > _MASKABLE:
        return False
    strict, allocated = _is_valid("rank"), _is_valid("allocate")
    units = (
        frame.select(
            pl.struct(BUNDLE_KEY).hash().alias("unit"),
            pl.struct(*UNIT_COLUMNS, "bundle_size").hash().alias("shared"),
            size,
            pl.lit(2, pl.Int64).pow("position").alias("slots"),
            pl.when(strict).then(pl.lit(2, pl.Int64).pow("rank")).alias("ranks"),
            pl.when(allocated).then("dollars").alias("dollars"),
            strict.alias("strict"),
            allocated.alias("allocated"),
        )
        .group_by("unit")
        .agg(
            pl.len(),
            size.first(),
            pl.col("shared").min().alias("least"),
            pl.col("shared").max().alias("most"),
            pl.col("slots", "ranks", "dollars").sum(),
            pl.col("strict", "allocated").first(),
        )
    )
    full = pl.lit(2, pl.Int64).pow(size + 1) - 2
    sound = (
        (pl.col("len") == size)
        & (pl.col("least") == pl.col("most"))
        & (pl.col("slots") == full)
        & (pl.col("strict").not_() | (pl.col("ranks") == full))
        & (pl.col("allocated").not_() | (pl.col("dollars") == ALLOCATE_TOTAL))
    )
    return units.select(sound.all()).item()


@cache
def _unit_rules() -> list[Rule]:
    """What must hold within a unit whose slots are all there."""
    shared = [
        Rule(
            column,
            pl.col(column).ne_missing(pl.col(column).first().over(BUNDLE_KEY)),
            f"{column} is {{value}}, but another in an earlier row of its unit ({_UNIT})",
            f"Give all slots of a unit one {column}: they are filled by one answer",
        )
        for column in UNIT_COLUMNS
    ]
    tie = pl.struct(*BUNDLE_KEY, "rank").is_first_distinct().not_()
    return [
        *shared,
        Rule(
            "rank",
            _is_valid("rank") & tie,
            f"rank {{value}} stands twice in one strict order ({_UNIT})",
            "Give each slot of a valid unit of task rank another rank, or set valid to FALSE (ties: task rank_ties)",
        ),
        Rule(
            "dollars",
            _is_valid("allocate") & (pl.col("unit_total") != ALLOCATE_TOTAL),
            f"the dollars of the unit sum to {{unit_total:,}}, not to {ALLOCATE_TOTAL:,} ({_UNIT})",
            _RIGHT_OR_INVALID,
        ),
    ]


def _check_arms(frame: pl.DataFrame, *, where: str, first_row: int) -> None:
    """No slot stands once with an arm and once without: those are the same answer, told twice.

    A released file knows no arms, a run has one for every row.
    """
    if frame["arm"].null_count() in (0, frame.height):
        return
    unarmed = pl.col("arm").is_null()
    first = unarmed.first().over([name for name in BUNDLE_KEY if name != "arm"])
    rule = Rule(
        "arm",
        unarmed != first,
        f"the same unit stands in some rows with an arm and in others without ({_UNIT}), so it would count twice",
        "Keep the rows of one of them: a file without arms cannot be told from the run it may come from",
    )
    _check_rules(frame, [rule], where=where, first_row=first_row)


def _check_slots(frame: pl.DataFrame, *, where: str, first_row: int) -> None:
    """Each bundle has each of its positions once.

    Positions lie in 1..bundle_size by now, so that a bundle is whole where it has as many rows as distinct
    positions as slots.
    """
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
