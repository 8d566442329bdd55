"""The planted control: a disparity of known size put into collected rankings, for an analysis to recover.

"The Audit Decides the Verdict" (section 3 and table 3) plants a disparity by seeded adjacent swaps: in some bundles
a slot of the group exchanges ranks with its neighbour. Every bundle is swapped with one probability, chosen so that
the contrast is expected to change by the size. Where the neighbour is a reference slot, the group's gain is the
reference's loss, and the contrast changes by both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.errors import InputError, OutcomesError
from evenhand.outcomes.schema import BUNDLE_KEY
from evenhand.seeds import uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SIZES = (0.05, 0.10, 0.25, 0.50)
"""The sizes that the study plants, in within-cell SDs (table 3)."""

_NEEDED = ("model", "unit_id", "epoch", "arm", "position", "rank", "valid")


@dataclass(frozen=True, slots=True)
class Planted:
    """Outcomes with a planted disparity. Changes are of the raw contrast, in rank positions; above 0 favours the group.

    The raw contrast is the mean score of the group's rows less that of the reference's, over all ranked rows of all
    models; a score is a negated rank.

    Attributes:
        outcomes: The outcomes as they came, with some ranks exchanged within their bundles.
        sd: The within-cell SD: of the scores around the means of the factor's levels, in rank positions.
        target: The change asked for: size x SD.
        full_change: The change if every bundle were swapped, for the candidates that the seed draws; 0 for size 0.
        probability: With which each bundle is swapped: target / full change.
        swapped: How many bundles were swapped.
        change: The change that these swaps made; its mean over seeds is the target.
    """

    outcomes: pl.DataFrame
    sd: float
    target: float
    full_change: float
    probability: float
    swapped: int
    change: float

    @property
    def expected_change(self) -> float:
        """What swaps with this probability change on average: the target, up to rounding."""
        return self.probability * self.full_change


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Two levels of the factor, and how many ranked rows each has."""

    group: str
    reference: str
    group_rows: int
    reference_rows: int

    def change(self, swaps: pl.DataFrame) -> float:
        """The change of the raw contrast if all these swaps are made."""
        # Whole numbers are summed, so that the result does not depend on the order of rows.
        step, partner = pl.col("step"), pl.col("partner_level")
        gained, lost = swaps.select(
            step.filter(partner.ne_missing(self.group)).sum().alias("gained"),
            step.filter(partner == self.reference).sum().alias("lost"),
        ).row(0)
        return gained / self.group_rows + lost / self.reference_rows


def plant(
    outcomes: pl.DataFrame, *, size: float, factor: str = "race", group: str, reference: str, seed: int
) -> Planted:
    """Plant a disparity between two groups into rankings.

    In each bundle one slot of the group is the candidate (drawn, where there are several). A swap gives it the rank
    of the slot next above it (next below, for a penalty), and that slot its own. Nothing changes where the candidate
    is at the edge of its bundle, is tied, or the rank next to it is held by several slots; a swap with a slot of its
    own group leaves the contrast as it was. Bundles are drawn by their identity, so a seed plants the same whatever
    the order of rows, and a larger size of the same sign keeps the swaps of a smaller one.

    Args:
        outcomes: The outcomes of the arm to analyse. Rows that are valid and have a rank count, of all models, tasks
            and arms together; others pass through. A bundle is told by the columns of `BUNDLE_KEY`; the table may
            lack task and wording_variant.
        size: The change of the raw contrast, in within-cell SDs; below 0 it is a penalty.
        factor: The column that the groups are levels of.
        group: The level that is moved.
        reference: The level it is compared with.
        seed: Of the candidates and the swaps.

    Raises:
        InputError: The contrast or the size is none, the bundles cannot change by so much, or scores do not vary.
        OutcomesError: A column is missing, ranks are not whole numbers, a slot stands twice, or a group has no rank.
    """
    where = f"{factor} {group} against {reference}"
    _check_request(group, reference, size, where=where)
    _check_columns(outcomes, factor, where=where)
    slots = _ranked_slots(outcomes, factor, where=where)
    levels = _level_sums(slots)
    contrast = _counted(levels, group, reference, where=where)
    sd = _within_level_sd(levels, where=where)
    if size == 0:
        return Planted(outcomes, sd, 0.0, 0.0, 0.0, 0, 0.0)
    key = [name for name in BUNDLE_KEY if name in slots.columns]
    swaps = _swaps(slots, key, group=group, up=size > 0, seed=seed)
    target, full_change = size * sd, contrast.change(swaps)
    probability = _probability(size, target, full_change, where=where)
    drawn = swaps.filter(_draws(swaps, key, "swap", seed) < probability)
    return Planted(
        _exchange(outcomes, drawn), sd, target, full_change, probability, drawn.height, contrast.change(drawn)
    )


def _check_request(group: str, reference: str, size: float, *, where: str) -> None:
    if group == reference:
        raise InputError(
            f"the group and the reference are both {group}", where=where, mend="Name two levels of the factor"
        )
    if not math.isfinite(size):
        raise InputError(
            f"the size is {size}, not a finite number",
            where=where,
            mend=f"Give a number of within-cell SDs, such as {', '.join(map(str, SIZES))}",
        )


def _check_columns(outcomes: pl.DataFrame, factor: str, *, where: str) -> None:
    lacking = [name for name in (*_NEEDED, factor) if name not in outcomes.columns]
    if lacking:
        raise OutcomesError(
            f"the column {', '.join(lacking)} is missing",
            where=where,
            mend="Plant in a table of outcomes, and name one of its columns as the factor",
        )
    dtype = outcomes.schema["rank"]
    if not (dtype.is_integer() or dtype == pl.Null):
        raise OutcomesError(
            f"the column rank holds {dtype}, not whole numbers",
            where=where,
            mend="Read the file with `read_outcomes`, or `conform` the table",
        )


def _ranked_slots(outcomes: pl.DataFrame, factor: str, *, where: str) -> pl.DataFrame:
    """The ranked rows: the bundle's key, position, rank, level, and row, the place in the outcomes."""
    key = [name for name in BUNDLE_KEY if name in outcomes.columns]
    rows = outcomes.select(
        *key,
        "position",
        "valid",
        pl.col("rank").cast(pl.Int64),
        pl.col(factor).cast(pl.String).alias("level"),
        pl.int_range(pl.len()).alias("row"),
    )
    slots = rows.filter(pl.col("valid") & pl.col("rank").is_not_null())
    twice = slots.filter(pl.struct(*key, "position").is_duplicated())
    if twice.height:
        row = twice.row(0, named=True)
        slot = ", ".join(f"{name} {row[name]}" for name in (*key, "position") if row[name] is not None)
        mend = "Keep one row for each slot of a bundle; rows of several tasks need the column task"
        raise OutcomesError(f"a slot has several ranks ({slot})", where=where, mend=mend)
    return slots


def _level_sums(slots: pl.DataFrame) -> dict[str, tuple[int, int, int]]:
    """For each level, in order: the number of its ranks, their sum and that of their squares."""
    rank = pl.col("rank")
    sums = slots.group_by("level").agg(pl.len(), rank.sum(), (rank**2).sum().alias("squares"))
    return {level: (n, total, squares) for level, n, total, squares in sorted(sums.drop_nulls("level").iter_rows())}


def _counted(levels: Mapping[str, tuple[int, int, int]], group: str, reference: str, *, where: str) -> _Contrast:
    for level in (group, reference):
        if level not in levels:
            raise OutcomesError(
                f"no row of {level} has a rank",
                where=where,
                mend=f"Give answered rankings that hold both (levels with a rank: {', '.join(levels) or 'none'})",
            )
    return _Contrast(group, reference, levels[group][0], levels[reference][0])


def _within_level_sd(levels: Mapping[str, tuple[int, int, int]], *, where: str) -> float:
    """The SD of scores around the means of their levels, with n - levels degrees of freedom."""
    residual = sum(squares - total**2 / n for n, total, squares in levels.values())
    freedom = sum(n for n, _, _ in levels.values()) - len(levels)
    if freedom < 1 or residual <= 0:
        raise InputError(
            "scores do not vary within the levels, so a size in SDs means nothing",
            where=where,
            mend="Give more bundles, or rankings that are not all ties",
        )
    return math.sqrt(residual / freedom)


def _swaps(slots: pl.DataFrame, key: Sequence[str], *, group: str, up: bool, seed: int) -> pl.DataFrame:
    """For each bundle whose candidate can move: the key, the rows of both slots, the partner's level and the step.

    The step is the change of the candidate's score: above 0 upwards.
    """
    # The slot before is the one to swap with, so bundles run from the best rank, or for a penalty from the worst.
    order = [False] * len(key) + [not up]
    bundle, rank, place, untied = (pl.col(name) for name in ("bundle", "rank", "place", "untied"))
    neighbours = (
        slots.sort(*key, "rank", descending=order)
        .with_columns(pl.struct(key).rle_id().alias("bundle"), pl.struct(*key, "rank").rle_id().alias("place"))
        .with_columns((place.ne_missing(place.shift(1)) & place.ne_missing(place.shift(-1))).alias("untied"))
        .with_columns(
            (rank - rank.shift(1)).alias("step"),
            pl.col("level").shift(1).alias("partner_level"),
            pl.col("row").shift(1).alias("partner_row"),
            ((bundle == bundle.shift(1)) & untied & untied.shift(1)).alias("movable"),
        )
    )
    slots = neighbours.filter(pl.col("level") == group)
    slots = slots.with_columns(_draws(slots, [*key, "position"], "candidate", seed).alias("draw"))
    is_candidate = pl.col("draw") == pl.col("draw").min().over("bundle")
    return slots.filter(is_candidate & pl.col("movable"))


def _draws(rows: pl.DataFrame, columns: Sequence[str], what: str, seed: int) -> pl.Series:
    """A uniform number for each row, by what it is for, the seed and the row's values in the columns."""
    keys = rows.select(columns).iter_rows()
    return pl.Series([uniform("plant", what, seed, *map(str, key)) for key in keys], dtype=pl.Float64)


def _probability(size: float, target: float, full_change: float, *, where: str) -> float:
    if full_change == 0:
        raise InputError(
            "no bundle can change: each candidate is at the edge, tied, or next to a tie or to its own group",
            where=where,
            mend="Give rankings that place the group next to others, with an untied place to move to",
        )
    probability = target / full_change
    if probability > 1:
        largest = math.floor(1000 * abs(size) / probability) / 1000
        raise InputError(
            f"a size of {size:g} SD is a change of {target:+.3f} rank positions, and swapping every bundle changes "
            f"the contrast by {full_change:+.3f} only",
            where=where,
            mend=f"Plant a size of {math.copysign(largest, size):g} SD or nearer to 0",
        )
    return probability


def _exchange(outcomes: pl.DataFrame, swaps: pl.DataFrame) -> pl.DataFrame:
    """The outcomes with the ranks of each swap's two rows exchanged."""
    taken_from = np.arange(outcomes.height)
    rows, partners = swaps["row"].to_numpy(), swaps["partner_row"].to_numpy()
    taken_from[rows], taken_from[partners] = partners, rows
    return outcomes.with_columns(outcomes["rank"].gather(taken_from))
