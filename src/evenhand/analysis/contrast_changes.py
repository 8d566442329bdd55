"""Which contrasts changed from the first answers to the second, and what may be said of each that was planned.

A status is never "same": `changed` survives the correction of its family; `equivalent` does not, and two one-sided
tests reject changes as large as the margin declared beforehand; `not_resolved` is neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from evenhand.analysis.detection import ALPHA, detectable, exclusion_rows
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import UNITS, Cell
from evenhand.analysis.judging import Judged, Vocabulary, judge
from evenhand.analysis.matching import UNSHARED, WHAT
from evenhand.analysis.material import fit_cell, is_planned
from evenhand.analysis.readings import joined, pooled_and_each
from evenhand.analysis.specifications import POOLED, contrast_rows
from evenhand.analysis.variants import interaction_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.families import Tested
    from evenhand.analysis.matching import SharedCell
    from evenhand.analysis.rows import Row
    from evenhand.analysis.setting import Setting

CHANGED, EQUIVALENT = "changed", "equivalent"
_MATCHED = "same application on both sides"
_WORDS = Vocabulary(
    found=CHANGED,
    bounded=EQUIVALENT,
    above="the second favours the group more",
    below="the second favours the group less",
    its_size="the size",
    open="neither found nor excluded: changes of {size} are seen with 80% power before correction; {margin}",
    unknown="not estimated: see the note; {margin}",
)
_WORDS_ALIKE = replace(_WORDS, unknown="every shared slot moved by the same; {margin}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Judged):
    """What may be said of the change of one planned contrast, pooled over matched respondents.

    The estimate is the change on shared slots; above 0 the second favours the group more.

    Attributes:
        first: The contrast of the first side, over all its answers.
        second: The contrast of the second.
        shared: Slots with a score on both sides.
        only_first: Slots with a score on the first side alone.
        only_second: Slots with a score on the second side alone.
    """

    first: float | None
    second: float | None
    shared: int
    only_first: int
    only_second: int


def contrast_changes(cells: Sequence[SharedCell], setting: Setting) -> tuple[list[Row], list[Change]]:
    """The contrasts of both sides and their changes, pooled and by respondent; and the status of planned changes.

    Args:
        cells: What both sides were asked.
        setting: The terms; margins are read as margins of changes.
    """
    planned = [cell for cell in cells if is_planned(cell, setting)]
    own = {cell.key: _contrasts(cell) for cell in cells}
    told, changes = _statuses(planned, own, setting)
    rows = [row for cell in cells for row in (*told.get(cell.key, own[cell.key]), *_by_respondent(cell))]
    return rows, changes


def confounded(row: Row, cells: Sequence[SharedCell], setting: Setting) -> Row:
    """The row, saying so where an arm of its cells is declared confounded."""
    arms = {
        str(arm)
        for cell in cells
        if (cell.domain, cell.format) == (row.domain, row.format)
        for side in (cell.first, cell.second)
        for arm in side.rows["arm"].unique()
    }
    told = sorted({setting.confounded[arm] for arm in arms if arm in setting.confounded})
    return replace(row, note=joined(row.note, *(f"confounded: {what}" for what in told)))


def _contrasts(cell: SharedCell, model: str = POOLED) -> list[Row]:
    """Each side's contrasts and their change, of all respondents together or of one."""
    rows: list[Row] = []
    for name, side in (("contrast_first", cell.first), ("contrast_second", cell.second)):
        whole = Cell(*cell.key, side.rows, cell.left_out, cell.references)
        fitted = fit_cell(whole, "evenhand", model)
        rows += contrast_rows(whole, fitted.fit, "evenhand", model=model, trouble=fitted.trouble, estimand=name)
    own = cell.rows if model == POOLED else cell.of_model(model)
    rows += interaction_rows(
        cell, own, "change", WHAT, model, clustered="change_clustered", matched=_MATCHED, unshared=UNSHARED
    )
    return [replace(row, method=f"{row.method}; {cell.mode}") for row in rows]


def _by_respondent(cell: SharedCell) -> Iterator[Row]:
    models = sorted({*cell.first.models, *cell.second.models})
    for model in pooled_and_each(models, POOLED)[1:]:
        yield from _contrasts(cell, model)


def _statuses(
    planned: Sequence[SharedCell], own: dict[tuple[str, str, str], list[Row]], setting: Setting
) -> tuple[dict[tuple[str, str, str], list[Row]], list[Change]]:
    """The rows of planned cells with q values and what is excluded, and the status of each change."""
    places = [(cell, at) for cell in planned for at, row in enumerate(own[cell.key]) if row.estimand == "change"]
    found = [own[cell.key][at] for cell, at in places]
    tested = correct_families(setting, [row.format for row in found], [row.p_value for row in found])
    told = {cell.key: list(own[cell.key]) for cell in planned}
    changes: list[Change] = []
    for (cell, at), row, one in zip(places, found, tested, strict=True):
        missing = f"{one.missing} of {one.tests} changes have no p value" if one.missing else ""
        corrected = replace(row, q_value=one.q_value, note=joined(row.note, missing))
        excluded = list(_excluded(cell, corrected, setting))
        told[cell.key][at] = corrected
        told[cell.key] += excluded
        sides = {
            other.estimand: other.estimate
            for other in own[cell.key]
            if (other.term, other.group) == (row.term, row.group) and other.estimand.startswith("contrast_")
        }
        changes.append(_change(confounded(corrected, planned, setting), excluded, sides, cell, one, setting))
    return told, changes


def _excluded(cell: SharedCell, row: Row, setting: Setting) -> Iterator[Row]:
    """`change_tost`, `change_bound` and `change_detectable` of a change."""
    # Where every slot moved alike there is no error to estimate: the contrast of these slots is known not to change.
    known = replace(row, std_error=0.0) if cell.alike and row.estimate is not None else row
    label = f"{WHAT}; {UNITS[row.format]}"
    for other in exclusion_rows(replace(known, q_value=None), setting.margin(row.domain, row.format), label):
        yield replace(other, estimand=f"change_{other.estimand}")
    size, why = detectable(row.std_error or None, row.df)
    empty = dict.fromkeys(("std_error", "conf_low", "conf_high", "p_value", "q_value"))
    method = f"{label}; 80% power, two-sided level {ALPHA:.0%}"
    yield replace(row, estimand="change_detectable", estimate=size, **empty, method=method, note=joined(why, row.note))


def _change(
    row: Row,
    excluded: Sequence[Row],
    sides: dict[str, float | None],
    cell: SharedCell,
    tested: Tested,
    setting: Setting,
) -> Change:
    tost, bound, seen = excluded
    judged = judge(
        row,
        tested,
        _WORDS_ALIKE if cell.alike and row.estimate is not None else _WORDS,
        margin=setting.margin(row.domain, row.format),
        tost_p=tost.p_value,
        bound=bound.estimate,
        detectable=seen.estimate,
    )
    shared, only_first, only_second = cell.slots
    return Change(
        **asdict(judged),
        first=sides.get("contrast_first"),
        second=sides.get("contrast_second"),
        shared=shared,
        only_first=only_first,
        only_second=only_second,
    )
