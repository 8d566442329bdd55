"""Which answers of two outcomes tables are of the same respondent and slot, and what one less the other is.

A single is the same slot where its stimulus is; a slot of a bundle, where the whole bundle and its order are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.focal import FACTORS, Cell, focal_cells
from evenhand.analysis.variants import paired
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.setting import Setting

WHAT = "second less first"
UNSHARED = "no slot has a score on both sides"
_SEPARATOR = "\x1f"


@dataclass(frozen=True, eq=False)
class SharedCell(Cell):
    """A cell whose rows are differences of shared slots.

    Attributes:
        first: The first side's cell; without rows where it has none.
        second: The second side's.
    """

    first: Cell
    second: Cell

    @property
    def key(self) -> tuple[str, str, str]:
        """Domain, format and presentation."""
        return self.domain, self.format, self.mode

    @property
    def alike(self) -> bool:
        """Whether there are shared slots and every one of them moved by the same, mostly by nought."""
        return self.rows["y"].n_unique() == 1

    @property
    def slots(self) -> tuple[int, int, int]:
        """How many slots are shared, and how many have a score on the first and on the second side alone."""
        key = _key(self.first, self.second)
        shared = self.rows.height
        first, second = (side.rows.select(key).unique().height for side in (self.first, self.second))
        return shared, first - shared, second - shared

    def why_not(self, factor: str, group: str) -> str:
        """Why a level's change is not told, in words: a level may be missing on one side alone."""
        for level in (self.references[factor], group):
            for side, cell in (("first", self.first), ("second", self.second)):
                if level not in self._levels(cell.rows, factor):
                    return f"no row of {level} has a score on the {side} side"
            if level not in self._levels(self.rows, factor):
                return f"no shared slot is of {level}"
        return f"{factor} {group} is not identified here"


def match_respondents(
    first: pl.DataFrame, second: pl.DataFrame, respondents: tuple[str, str] | None
) -> tuple[tuple[str, str], ...]:
    """Who is compared with whom, the first side's name before the second's.

    Args:
        first: Outcomes before.
        second: Outcomes after.
        respondents: One of each side; by default those of one name, or the only ones.

    Raises:
        InputError: A side does not have the respondent that is named, or none is on both sides.
    """
    before, after = ([str(name) for name in table["model"].unique().sort()] for table in (first, second))
    if respondents is not None:
        for name, known, side in zip(respondents, (before, after), ("first", "second"), strict=True):
            if name not in known:
                raise InputError(
                    f"no respondent is called {name!r}",
                    where=f"the {side} outcomes",
                    mend=f"Name one of {', '.join(known)}" if known else "Collect answers first",
                )
        return (respondents,)
    shared = [name for name in before if name in after]
    if shared:
        return tuple((name, name) for name in shared)
    if len(before) == len(after) == 1:
        return ((before[0], after[0]),)
    listed = "; ".join(
        f"the {side} has {', '.join(known) or 'none'}" for side, known in (("first", before), ("second", after))
    )
    raise InputError(
        f"no respondent is on both sides ({listed})",
        where="the two outcomes",
        mend="Name one of each with --model A --model B",
    )


def with_bundles(scores: pl.DataFrame) -> pl.DataFrame:
    """Scores with `bundle`: the applications of a call in their order, by which bundles of two instruments match."""
    shown = pl.col("stimulus").fill_null("").sort_by("position").str.join(_SEPARATOR)
    return scores.with_columns(bundle=shown.over("call", "task"))


def shared_cells(first: pl.DataFrame, second: pl.DataFrame, setting: Setting) -> Iterator[SharedCell]:
    """The cells that either side has; `y` is the second score less the first.

    Args:
        first: Scores of the first side, from `with_bundles`; respondents that are compared bear one name.
        second: Those of the second.
        setting: The terms of the analysis.
    """
    before, after = (
        {(cell.domain, cell.format, cell.mode): cell for cell in focal_cells(scores, setting)}
        for scores in (first, second)
    )
    for key in dict.fromkeys([*before, *after]):
        one = before.get(key) or _without_rows(after[key])
        other = after.get(key) or _without_rows(before[key])
        # Levels of either side keep their row; the counts are not read.
        levels = pl.concat(part.select(*FACTORS) for cell in (one, other) for part in (cell.rows, cell.left_out))
        yield SharedCell(*key, _differences(one, other), levels.unique(maintain_order=True), one.references, one, other)


def wordings(cell: Cell) -> set[str]:
    """The wordings of a side's answers."""
    return {str(name) for name in cell.rows["wording_variant"].unique()}


def _without_rows(cell: Cell) -> Cell:
    return replace(cell, rows=cell.rows.clear(), left_out=cell.left_out.clear())


def _differences(first: Cell, second: Cell) -> pl.DataFrame:
    """One row a shared slot, `y` the second score less the first; repeated answers of a side are averaged."""
    key = _key(first, second)
    return paired(_one_each(second.rows, key), first.rows, bundled=second.bundled, key=key)


def _key(first: Cell, second: Cell) -> list[str]:
    """What the same slot is; wordings are told apart where both sides have one in common."""
    key = ["model", "stimulus", *(["bundle", "position"] if first.bundled else [])]
    return [*key, "wording_variant"] if wordings(first) & wordings(second) else key


def _one_each(rows: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    return rows.with_columns(pl.col("y").mean().over(key)).unique(key, keep="first", maintain_order=True)
