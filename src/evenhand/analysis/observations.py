"""The outcomes that the pillars read, as one small array for each model, pool and task."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.contrasts import CELLS, FRAMINGS, GENDERS, RACES
from evenhand.analysis.denominators import BUNDLE_TYPES, POOLS, TASKS
from evenhand.errors import OutcomesError
from evenhand.outcomes.schema import ALLOCATE_TOTAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_LEVELS = {
    "task": TASKS,
    "bundle_type": (*BUNDLE_TYPES, "rate"),
    "race": RACES,
    "gender": GENDERS,
    "framing": FRAMINGS,
}
_VALUES = ("rating", "rank", "dollars")
_NEEDED = ("model", "wording_variant", "unit_id", "scenario_id", "valid", *_LEVELS, *_VALUES)
_UNIT = ("task", "bundle_type", "unit")


@dataclass(frozen=True, slots=True)
class Exchangeable:
    """What chance alone could have labelled otherwise: groups of one bundle configuration, stimuli of one template.

    A configuration is one setting of what a pool holds fixed (Lukk 2026, appendix G), all its versions together. Over
    them groups are balanced against positions and scenarios, and stay so when groups trade places.

    Attributes:
        blocks: Shape (items,), ascending: the configuration or template of each item.
        cells: Shape (items,): the cell of each item. Within a block cells differ in race and gender only.
        totals: Shape (items, 2): the sum of outcomes of each item, then their number.
    """

    blocks: NDArray[np.intp]
    cells: NDArray[np.intp]
    totals: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One model's outcomes in one pool and task. Higher is better: a rank is negated.

    Attributes:
        cells: Shape (populated,): the numbers of the populated cells, ascending.
        units: Shape (units, 2 x populated), units by their id: the sum of outcomes in each populated cell,
            then the number of outcomes in each.
        count: How many outcomes there are.
        total: Their sum.
        squares: The sum of their squares.
        exchangeable: The same outcomes, by what can trade labels where groups do not matter.
    """

    cells: NDArray[np.intp]
    units: NDArray[np.float64]
    count: int
    total: int
    squares: int
    exchangeable: Exchangeable


@dataclass(frozen=True, slots=True)
class Observations:
    """Every model's strata.

    Attributes:
        models: By model, in the order of their names: by (pool, task), those that have outcomes. A model
            without a single valid outcome is there, with no strata.
        rows: By model, how many rows there are to read, valid or not.
        domain: The domain of the rows; none where they name none.
    """

    models: Mapping[str, dict[tuple[str, str], Stratum]]
    rows: Mapping[str, int]
    domain: str | None


def observe(outcomes: pl.DataFrame, *, where: str = "outcomes") -> Observations:
    """Read the valid base-wording rows of the three tasks into arrays.

    Args:
        outcomes: The outcomes table; where arms have a tag, the primary ones are read.
        where: The file, for messages.

    Raises:
        OutcomesError: A column is missing, the rows are of several domains, a label is none of the benchmark's, a
            valid row has no value or an impossible one, or there is no row to score.
    """
    rows = _rows_to_score(outcomes, where=where)
    domain = _only_domain(rows, where=where)
    models = rows["model"].unique().sort().to_list()
    codes = rows.select(
        _code("model", models),
        *(_code(column, levels) for column, levels in _LEVELS.items()),
        _unit(rows).alias("unit"),
        _arm(rows).alias("arm"),
        _code("scenario_id", rows["scenario_id"].drop_nulls().unique().sort().to_list()).alias("scenario"),
        _value().alias("value"),
        "valid",
    )
    for column in _LEVELS:
        if codes[column].null_count():
            raise _unknown_labels(rows, column, where=where)
    counts = np.bincount(codes["model"].to_numpy(), minlength=len(models)).tolist()
    _check_values(rows, codes, where=where)
    codes = codes.join(_configurations(codes), on=_UNIT, how="left", maintain_order="left").filter("valid")
    if not codes.height:
        raise OutcomesError(
            "there is no valid row to score", where=where, mend="Score outcomes of rate, rank or allocate"
        )
    strata = _strata({name: codes[name].to_numpy() for name in codes.columns}, models, where=where)
    return Observations(strata, dict(zip(models, counts, strict=True)), domain)


def _rows_to_score(outcomes: pl.DataFrame, *, where: str) -> pl.DataFrame:
    lacking = [name for name in _NEEDED if name not in outcomes.columns]
    if lacking:
        raise OutcomesError(
            f"the column {', '.join(lacking)} is missing", where=where, mend="Score a table of outcomes"
        )
    for name in _VALUES:
        dtype = outcomes.schema[name]
        if not (dtype.is_integer() or dtype == pl.Null):
            mend = "Read the file with `read_outcomes`, or `conform` the table"
            raise OutcomesError(f"the column {name} holds {dtype}, not whole numbers", where=where, mend=mend)
    keep = (pl.col("wording_variant") == "base") & pl.col("task").is_in(TASKS)
    if "tag" in outcomes.columns:
        keep &= pl.col("tag").fill_null("primary") == "primary"
    missing = [pl.lit(None, pl.String).alias(name) for name in ("arm", "domain") if name not in outcomes.columns]
    return outcomes.filter(keep).with_columns(missing).select(*_NEEDED, "arm", "domain")


def _only_domain(rows: pl.DataFrame, *, where: str) -> str | None:
    domains = rows["domain"].drop_nulls().unique().sort().to_list()
    if len(domains) > 1:
        raise OutcomesError(
            f"the rows to score are of the domains {', '.join(domains)}",
            where=where,
            mend="Score one domain alone, and only runs of the FairFund-Bench designs: pillars are of nothing else",
        )
    return domains[0] if domains else None


def _unknown_labels(rows: pl.DataFrame, column: str, *, where: str) -> OutcomesError:
    levels = _LEVELS[column]
    strange = rows.filter(pl.col(column).is_in(levels).not_().fill_null(value=True))
    labels = strange[column].fill_null("NA").replace("", "(empty)").unique().sort()
    return OutcomesError(
        f"{column} has labels that FairFund-Bench does not know: {', '.join(labels)} (first in {_unit_name(strange)})",
        where=where,
        mend=f"The scorer reads {column} {', '.join(levels)}; leave the rows of other studies out",
    )


def _check_values(rows: pl.DataFrame, codes: pl.DataFrame, *, where: str) -> None:
    """Every valid row has a value, and none is so large that its square or a sum would leave 64 bits."""
    within = codes["value"].is_between(-ALLOCATE_TOTAL, ALLOCATE_TOTAL).fill_null(value=False)
    wrong = codes["valid"] & ~within
    if not wrong.any():
        return
    first = codes.filter(wrong)["value"][0]
    what = "a valid row has no value" if first is None else "a valid row has an impossible value"
    raise OutcomesError(
        f"{what} ({_unit_name(rows.filter(wrong))})",
        where=where,
        mend="Read the file with `read_outcomes`, which checks every row",
    )


def _unit_name(rows: pl.DataFrame) -> str:
    row = rows.row(0, named=True)
    return f"model {row['model']}, task {row['task']}, unit_id {row['unit_id']}"


def _code(column: str, levels: Sequence[str]) -> pl.Expr:
    """The number of each label among the levels; null where it is none of them."""
    return pl.col(column).cast(pl.Enum(levels), strict=False).to_physical().cast(pl.Int64)


def _arm(rows: pl.DataFrame) -> pl.Expr:
    arms = rows["arm"].fill_null("").unique().sort().to_list()
    return pl.col("arm").fill_null("").cast(pl.Enum(arms)).to_physical().cast(pl.Int64)


def _unit(rows: pl.DataFrame) -> pl.Expr:
    """A number for each unit, ascending by unit id and then arm, whatever the order of rows."""
    arms = rows["arm"].fill_null("").n_unique()
    return _code("unit_id", rows["unit_id"].unique().sort().to_list()) * arms + _arm(rows)


def _configurations(codes: pl.DataFrame) -> pl.DataFrame:
    """The configuration of each unit, by number: its arm and what its slots hold, in any order.

    Groups of a single stimulus are what trades labels on Rate, and are no part of its template.
    """
    group = pl.when(pl.col("task") != TASKS.index("rate")).then(pl.col("race") * len(GENDERS) + pl.col("gender"))
    slots = codes.select(*_UNIT, "arm", "framing", "scenario", group=group.fill_null(-1)).unique()
    # Numbers of one width sort as text as they do as numbers, whoever else is in the table.
    held = [pl.col(name).cast(pl.String).str.zfill(9).unique().sort() for name in ("scenario", "framing", "group")]
    units = slots.group_by(*_UNIT, "arm").agg(column.str.join(",", ignore_nulls=True) for column in held)
    key = pl.concat_str("arm", "scenario", "framing", "group", separator=";")
    return units.select(*_UNIT, block=key.rank("dense").cast(pl.Int64))


def _value() -> pl.Expr:
    return (
        pl.when(pl.col("task") == "rate")
        .then(pl.col("rating"))
        .when(pl.col("task") == "rank")
        .then(-pl.col("rank").cast(pl.Int64))
        .otherwise(pl.col("dollars"))
        .cast(pl.Int64)
    )


def _strata(
    codes: dict[str, NDArray[np.int64]], models: list[str], *, where: str
) -> dict[str, dict[tuple[str, str], Stratum]]:
    stratum = codes["model"] * len(POOLS) + _pool_numbers(codes["bundle_type"], codes["task"], where=where)
    cell = (codes["race"] * len(GENDERS) + codes["gender"]) * len(FRAMINGS) + codes["framing"]
    order = np.lexsort((codes["unit"], stratum))
    columns = (stratum, codes["unit"], codes["block"], cell, codes["value"])
    stratum, unit, block, cell, value = (column[order] for column in columns)
    starts = np.flatnonzero(np.diff(stratum, prepend=-1))
    found: dict[str, dict[tuple[str, str], Stratum]] = {model: {} for model in models}
    for start, end in pairwise([*starts.tolist(), len(stratum)]):
        model, pool = divmod(int(stratum[start]), len(POOLS))
        rows = slice(start, end)
        single = POOLS[pool][1] == "rate"
        found[models[model]][POOLS[pool]] = _as_stratum(unit[rows], block[rows], cell[rows], value[rows], single)
    return found


def _pool_numbers(bundle_type: NDArray[np.int64], task: NDArray[np.int64], *, where: str) -> NDArray[np.int64]:
    pools, tasks = _LEVELS["bundle_type"], _LEVELS["task"]
    numbers = np.full((len(pools), len(tasks)), -1)
    for number, (pool, name) in enumerate(POOLS):
        numbers[pools.index(pool), tasks.index(name)] = number
    found = numbers[bundle_type, task]
    strange = np.flatnonzero(found < 0)
    if len(strange):
        pool, name = pools[bundle_type[strange[0]]], tasks[task[strange[0]]]
        raise OutcomesError(
            f"bundle_type {pool} does not go with task {name}",
            where=where,
            mend="Task rate has bundle_type rate; rank and allocate have the seven types of bundles",
        )
    return found


def _as_stratum(
    unit: NDArray[np.int64],
    block: NDArray[np.int64],
    cell: NDArray[np.int64],
    value: NDArray[np.int64],
    single: bool,
) -> Stratum:
    """Add up one stratum, whose rows come sorted by unit."""
    unit_at = np.cumsum(np.diff(unit, prepend=unit[0]) != 0)
    units = int(unit_at[-1]) + 1
    at = unit_at * CELLS + cell
    counts = np.bincount(at, minlength=units * CELLS).reshape(units, CELLS)
    sums = np.bincount(at, weights=value, minlength=units * CELLS).reshape(units, CELLS)
    cells = np.flatnonzero(counts.any(axis=0))
    return Stratum(
        cells=cells,
        units=np.hstack([sums[:, cells], counts[:, cells]]).astype(np.float64),
        count=len(value),
        total=int(value.sum()),
        squares=int((value * value).sum()),
        exchangeable=_exchangeable(block, at if single else block * CELLS + cell, cell, value),
    )


def _exchangeable(
    block: NDArray[np.int64], item: NDArray[np.int64], cell: NDArray[np.int64], value: NDArray[np.int64]
) -> Exchangeable:
    _, first, at = np.unique(item, return_index=True, return_inverse=True)
    totals = np.column_stack([np.bincount(at, weights=value), np.bincount(at)])
    # Framings are never exchanged: each has a block of its own.
    blocks, cells = block[first] * len(FRAMINGS) + cell[first] % len(FRAMINGS), cell[first]
    order = np.lexsort((cells, blocks))
    return Exchangeable(blocks[order], cells[order], totals[order].astype(np.float64))
