"""What a difference is divided by: the spread of outcomes in each pool and task, and in each task.

A denominator is the median, over models, of the standard deviation within a model (Lukk 2026, appendix H).
The released ones were computed once on the 14 published models and are frozen, so that a model scored later
is measured by the same yardstick.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import OutcomesError
from evenhand.files import replace_file

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

TASKS = ("rate", "rank", "allocate")
BUNDLE_TYPES = (
    "race_transparent",
    "race_disguised",
    "gender_transparent",
    "gender_disguised",
    "intersectional",
    "framing_transparent",
    "framing_disguised",
)
POOLS: tuple[tuple[str, str], ...] = (
    *((pool, task) for pool in BUNDLE_TYPES for task in ("rank", "allocate")),
    ("rate", "rate"),
)
"""The 15 pairs of pool and task, in the order of the released file."""

_HEADER = ("kind", "axis_a", "axis_b", "denom")
_LEAST = 1e-9
"""Whole numbers that vary at all vary more than this, however many there are."""
_MEND = "Use a file with columns kind, axis_a, axis_b, denom and the 18 rows of the released denominators"


@dataclass(frozen=True, slots=True)
class Denominators:
    """The 15 denominators of pools and the 3 of whole tasks.

    Attributes:
        pools: By (pool, task), in the units of the task. Zero where most models do not vary, not a number (NA in
            a file) where no model has outcomes. As in the released scorer, such a pool standardises nothing and
            drops out of P1, P2 and P4 without a word: the pillar is then the mean over the pools that are left.
        tasks: By task, all pools combined (for P3).
    """

    pools: Mapping[tuple[str, str], float]
    tasks: Mapping[str, float]

    def rows(self) -> list[dict[str, str | float | None]]:
        """The denominators as rows of kind, axis_a, axis_b and denom, as the released file has them."""
        keys = [("pool", *pool, self.pools[pool]) for pool in POOLS]
        keys += [("task", task, "base", self.tasks[task]) for task in TASKS]
        return [
            {"kind": kind, "axis_a": a, "axis_b": b, "denom": denom if math.isfinite(denom) else None}
            for kind, a, b, denom in keys
        ]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Denominators:
        """Read a file in the form of the released denominators.

        Raises:
            OutcomesError: The file cannot be read, lacks a row, has one twice, or holds what is no denominator: 0
                and NA are (see the class), nan, inf, a negative or a vanishing number are not.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            raise OutcomesError(f"the denominators cannot be read ({error})", where=str(path), mend=_MEND) from error
        return _parse(text, where=str(path))

    @classmethod
    def released(cls) -> Denominators:
        """The frozen denominators of the published leaderboard."""
        file = resources.files("evenhand.analysis") / "published" / "denominators.csv"
        return _parse(file.read_text(encoding="utf-8"), where="the released denominators")

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the denominators so that `read` gives the same ones.

        Raises:
            InputError: The file cannot be written.
        """
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(_HEADER)
        for row in self.rows():
            writer.writerow("NA" if row[name] is None else row[name] for name in _HEADER)
        replace_file(Path(path), buffer.getvalue().encode())


def _parse(text: str, *, where: str) -> Denominators:
    found: dict[tuple[str, str, str], float] = {}
    reader = csv.DictReader(io.StringIO(text))
    try:
        for row in reader:
            key, denom = _parse_row(row, where=f"{where}, row {reader.line_num}")
            if key in found:
                raise OutcomesError(
                    f"the denominator of {', '.join(key)} stands here a second time",
                    where=f"{where}, row {reader.line_num}",
                    mend="Keep one row for each",
                )
            found[key] = denom
    except csv.Error as error:
        place = f"{where}, row {reader.line_num + 1}"
        raise OutcomesError(f"this is no row of denominators ({error})", where=place, mend=_MEND) from error
    wanted = [("pool", *pool) for pool in POOLS] + [("task", task, "base") for task in TASKS]
    lacking = [", ".join(key) for key in wanted if key not in found]
    if lacking:
        raise OutcomesError(f"the denominator of {lacking[0]} is missing", where=where, mend=_MEND)
    return Denominators(
        pools={pool: found["pool", *pool] for pool in POOLS},
        tasks={task: found["task", task, "base"] for task in TASKS},
    )


def _parse_row(row: Mapping[str, str], *, where: str) -> tuple[tuple[str, str, str], float]:
    try:
        kind, a, b, cell = (row[name] for name in _HEADER)
        denom = None if cell == "NA" else float(cell)
    except (KeyError, TypeError, ValueError) as error:
        raise OutcomesError("this is no row of denominators", where=where, mend=_MEND) from error
    if denom is not None and denom != 0 and not _LEAST <= denom < math.inf:
        mend = "Give a positive number, 0 where outcomes do not vary, or NA where there are none"
        raise OutcomesError(f"{cell} is no denominator", where=where, mend=mend)
    return (kind, a, b), math.nan if denom is None else denom


def population_sd(count: int, total: int, squares: int) -> float:
    """The population standard deviation of whole numbers from their count, sum and sum of squares.

    In whole numbers throughout, so that outcomes that do not vary have a spread of exactly zero.
    """
    return math.sqrt(count * squares - total * total) / count if count else math.nan


def median_over_models(spreads: Sequence[float]) -> float:
    """The median of the spreads of those models that have outcomes; not a number where none has."""
    finite = [spread for spread in spreads if math.isfinite(spread)]
    return float(statistics.median(finite)) if finite else math.nan
