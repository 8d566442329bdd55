"""What a difference is divided by: the spread of outcomes in each pool and task, and in each task.

A denominator is the median, over models, of the standard deviation within a model (Lukk 2026, appendix H).
The released ones were computed once on the 14 published models and are frozen, so that a model scored later
is measured by the same yardstick.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import OutcomesError
from evenhand.outcomes.files import replace_file

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
_MEND = "Use a file with columns kind, axis_a, axis_b, denom and the 18 rows of the released denominators"


@dataclass(frozen=True, slots=True)
class Denominators:
    """The 15 denominators of pools and the 3 of whole tasks.

    Attributes:
        pools: By (pool, task), in the units of the task. Zero where most models do not vary; such a pool
            standardises nothing. Not a number where no model has outcomes.
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
            OutcomesError: The file cannot be read, lacks a row, or holds what is no denominator.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
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
            OutcomesError: The file cannot be written.
        """
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(_HEADER)
        for row in self.rows():
            writer.writerow("NA" if row[name] is None else row[name] for name in _HEADER)
        replace_file(Path(path), buffer.getvalue().encode())


def _parse(text: str, *, where: str) -> Denominators:
    found: dict[tuple[str, str, str], float] = {}
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), start=2):
        try:
            kind, a, b, cell = (row[name] for name in _HEADER)
            denom = math.nan if cell == "NA" else float(cell)
        except (KeyError, TypeError, ValueError) as error:
            raise OutcomesError("this is no row of denominators", where=f"{where}, row {number}", mend=_MEND) from error
        if denom < 0 or math.isinf(denom):
            raise OutcomesError(f"{cell} is no denominator", where=f"{where}, row {number}", mend=_MEND)
        found[kind, a, b] = denom
    wanted = [("pool", *pool) for pool in POOLS] + [("task", task, "base") for task in TASKS]
    lacking = [", ".join(key) for key in wanted if key not in found]
    if lacking:
        raise OutcomesError(f"the denominator of {lacking[0]} is missing", where=where, mend=_MEND)
    return Denominators(
        pools={pool: found["pool", *pool] for pool in POOLS},
        tasks={task: found["task", task, "base"] for task in TASKS},
    )


def population_sd(count: int, total: int, squares: int) -> float:
    """The population standard deviation of whole numbers from their count, sum and sum of squares.

    In whole numbers throughout, so that outcomes that do not vary have a spread of exactly zero.
    """
    return math.sqrt(count * squares - total * total) / count if count else math.nan


def median_over_models(spreads: Sequence[float]) -> float:
    """The median of the spreads of those models that have outcomes; not a number where none has."""
    finite = [spread for spread in spreads if math.isfinite(spread)]
    return float(np.median(finite)) if finite else math.nan
