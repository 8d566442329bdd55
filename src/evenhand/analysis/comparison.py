"""Did an update change anything? Two sets of answers to the same applications, one taken off the other.

A change is a contrast of differences: the second answer less the first, to one stimulus, or to one slot of a bundle
that both sides saw with the same applications in the same order. What the applications themselves contribute cancels,
so that a change is not the difference of two independent contrasts and is seen far sooner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.answer_changes import losses, slot_changes
from evenhand.analysis.contrast_changes import CHANGED, EQUIVALENT, Change, confounded, contrast_changes
from evenhand.analysis.focal import scored
from evenhand.analysis.judging import NOT_RESOLVED, judged_record
from evenhand.analysis.matching import UNSHARED, match_respondents, shared_cells, with_bundles, wordings
from evenhand.analysis.material import Material
from evenhand.analysis.rows import as_frame
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.matching import SharedCell
    from evenhand.analysis.setting import Setting


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from the first answers to the second.

    Attributes:
        rows: Tidy rows by cell: `contrast_first`, `contrast_second`, `change`, `change_clustered` (also by
            respondent where several are matched), `change_tost`, `change_bound` and `change_detectable` of planned
            cells, `change_score`, `answered_differently`, `change_share_<status>` in percentage points, and the
            counts `shared_slots`, `only_first`, `only_second`.
        changes: The status of every planned contrast.
        respondents: Who was compared with whom, the first side's name before the second's.
        notes: What a reader must know of the two sides.
    """

    rows: pl.DataFrame
    changes: tuple[Change, ...]
    respondents: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    @property
    def shared(self) -> int:
        """Slots with a score on both sides."""
        return int(self.rows.filter(estimand="shared_slots")["n"].sum())

    @property
    def headline(self) -> str:
        """How many contrasts have each status, in words."""
        counts = {name: sum(one.status == name for one in self.changes) for name in (CHANGED, EQUIVALENT, NOT_RESOLVED)}
        if not self.changes:
            return f"{self.shared:,} slots are shared, but none belongs to a planned contrast."
        return (
            f"Of {len(self.changes)} planned contrasts on {self.shared:,} shared slots, {counts[CHANGED]} changed, "
            f"{_are(counts[EQUIVALENT])} bounded inside the margin, and {_are(counts[NOT_RESOLVED])} not resolved."
        )


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def compare(
    first: pl.DataFrame, second: pl.DataFrame, setting: Setting, *, respondents: tuple[str, str] | None = None
) -> Comparison:
    """Compare two outcomes tables on the slots that both have answered.

    Args:
        first: Outcomes before.
        second: Outcomes after.
        setting: The terms; margins are read as margins of changes.
        respondents: One respondent of each side. By default those of one name are matched; where there is none and
            each side has one respondent, these two.

    Raises:
        InputError: No respondent or no slot is shared, or terms that speak of nothing in these outcomes.
    """
    matched = match_respondents(first, second, respondents)
    names = [before if before == after else f"{after} less {before}" for before, after in matched]
    sides = [
        table.filter(pl.col("model").is_in([pair[side] for pair in matched])).with_columns(
            pl.col("model").replace(dict(zip([pair[side] for pair in matched], names, strict=True)))
        )
        for side, table in enumerate((first, second))
    ]
    # Read together for its refusals alone: a domain that a margin names may be on one side only.
    Material.of(pl.concat(sides), setting)
    before, after = (with_bundles(scored(table)) for table in sides)
    cells = list(shared_cells(before, after, setting))
    if all(cell.rows.is_empty() for cell in cells):
        raise InputError(
            f"{UNSHARED}: no stimulus, or bundle in its order, was answered by both",
            where="the two outcomes",
            mend="Put one instrument to both, or name other respondents with --model A --model B",
        )
    rows, changes = contrast_changes(cells, setting)
    rows += [row for cell in cells for row in slot_changes(cell)]
    rows += losses(before, after, setting)
    noted = [confounded(row, cells, setting) for row in rows]
    # Who names two respondents knows that the others are left out.
    notes = [*(_left(first, second, matched) if respondents is None else ()), *_notes(cells)]
    return Comparison(as_frame(noted), tuple(changes), matched, tuple(notes))


def as_record(found: Comparison) -> dict[str, object]:
    """A comparison as `evenhand compare --json` prints it."""
    return {
        "headline": found.headline,
        "respondents": [{"first": before, "second": after} for before, after in found.respondents],
        "changes": [judged_record(change) for change in found.changes],
        "rows": found.rows.to_dicts(),
        "notes": list(found.notes),
    }


def _left(first: pl.DataFrame, second: pl.DataFrame, matched: Sequence[tuple[str, str]]) -> Iterator[str]:
    for place, (side, table) in enumerate((("first", first), ("second", second))):
        names = {pair[place] for pair in matched}
        if left := sorted({str(name) for name in table["model"].unique()} - names):
            yield f"respondents of the {side} side that were not compared: {', '.join(left)}"


def _notes(cells: Sequence[SharedCell]) -> Iterator[str]:
    for cell in cells:
        what = f"{cell.domain} {cell.format} ({cell.mode})"
        for side, own in (("first", cell.first), ("second", cell.second)):
            if own.rows.is_empty():
                yield f"{what}: no score on the {side} side"
        one, other = (wordings(side) for side in (cell.first, cell.second))
        if one and other and not one & other:
            said = (", ".join(sorted(names)) for names in (one, other))
            yield f"{what}: the wordings differ ({' on the first side, '.join(said)} on the second), and are part of it"
