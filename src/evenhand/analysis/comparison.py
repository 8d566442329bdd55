"""Did an update change anything? Two sets of answers to the same applications, one taken off the other.

A change is a contrast of differences: the second answer less the first, to one stimulus, or to one slot of a bundle
that both sides saw with the same applications in the same order. What the applications themselves contribute cancels,
so that a change is not the difference of two independent contrasts and is seen far sooner. A status is never "same":
`changed` survives the correction of its family; `unchanged` does not, and two one-sided tests reject changes as large
as the margin declared beforehand; `not_resolved` is neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.detection import ALPHA, detectable, exclusion_rows
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import FACTORS, SCORE, UNITS, Cell, focal_cells, scored
from evenhand.analysis.material import Material, fit_cell, is_planned
from evenhand.analysis.readings import joined, pooled_and_each, read_clustered
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, contrast_rows
from evenhand.analysis.validity import NOT_IDENTIFIED
from evenhand.analysis.variants import interaction_rows, paired
from evenhand.errors import InputError
from evenhand.statistics import fit_clustered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.families import Tested
    from evenhand.analysis.setting import Setting

CHANGED, UNCHANGED, NOT_RESOLVED = "changed", "unchanged", "not_resolved"
LOST = ("refused", "malformed")
_WHAT = "second less first"
_MATCHED = "same application on both sides"
_UNSHARED = "no slot has a score on both sides"
_SEPARATOR = "\x1f"
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """What may be said of the change of one planned contrast, pooled over matched respondents.

    Attributes:
        domain: The pack.
        format: How the answer was asked for.
        term: The factor.
        group: The level that is compared with the reference.
        status: `changed`, `unchanged` or `not_resolved`.
        first: The contrast of the first side, over all its answers.
        second: The contrast of the second.
        estimate: The change on shared slots; above 0 the second favours the group more.
        std_error: Its standard error.
        df: Its degrees of freedom.
        conf_low: Lower end of the 95% interval.
        conf_high: Its upper end.
        p_value: Two-sided.
        q_value: Corrected within the family.
        family: The family that it is corrected in.
        unit: The format's unit.
        margin: Declared beforehand; None where there is none.
        tost_p: Of the equivalence test at the margin.
        bound: The far end of the 90% interval in size.
        detectable: The smallest change seen with 80% power at 5%, uncorrected.
        shared: Slots with a score on both sides.
        only_first: Slots with a score on the first side alone.
        only_second: Slots with a score on the second side alone.
        said: The status in words.
        note: What else a reader must know.
    """

    domain: str
    format: str
    term: str
    group: str
    status: str
    first: float | None
    second: float | None
    estimate: float | None
    std_error: float | None
    df: float | None
    conf_low: float | None
    conf_high: float | None
    p_value: float | None
    q_value: float | None
    family: str
    unit: str
    margin: float | None
    tost_p: float | None
    bound: float | None
    detectable: float | None
    shared: int
    only_first: int
    only_second: int
    said: str
    note: str


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
        counts = {name: sum(one.status == name for one in self.changes) for name in (CHANGED, UNCHANGED, NOT_RESOLVED)}
        if not self.changes:
            return f"{self.shared:,} slots are shared, but none belongs to a planned contrast."
        return (
            f"Of {len(self.changes)} planned contrasts on {self.shared:,} shared slots, {counts[CHANGED]} changed, "
            f"{counts[UNCHANGED]} are unchanged inside the margin declared beforehand, and {counts[NOT_RESOLVED]} are "
            "not resolved."
        )


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

    def why_not(self, factor: str, group: str) -> str:
        """Why a level's change is not told, in words: a level may be missing on one side alone."""
        for level in (self.references[factor], group):
            for side, cell in (("first", self.first), ("second", self.second)):
                if level not in self._levels(cell.rows, factor):
                    return f"no row of {level} has a score on the {side} side"
            if level not in self._levels(self.rows, factor):
                return f"no shared slot is of {level}"
        return f"{factor} {group} is not identified here"


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
    matched = _match(first, second, respondents)
    names = [before if before == after else f"{after} less {before}" for before, after in matched]
    sides = [
        table.filter(pl.col("model").is_in([pair[side] for pair in matched])).with_columns(
            pl.col("model").replace(dict(zip([pair[side] for pair in matched], names, strict=True)))
        )
        for side, table in enumerate((first, second))
    ]
    # Read together for its refusals alone: a domain that a margin names may be on one side only.
    Material.of(pl.concat(sides), setting)
    scores = [_with_bundles(scored(table)) for table in sides]
    cells = list(_shared_cells(scores[0], scores[1], setting))
    if all(cell.rows.is_empty() for cell in cells):
        raise InputError(
            "no slot has a score on both sides: no stimulus, or bundle in its order, was answered by both",
            where="the two outcomes",
            mend="Put one instrument to both, or name other respondents with --model A --model B",
        )
    planned = [cell for cell in cells if is_planned(cell, setting)]
    own = {cell.key: _contrasts(cell) for cell in cells}
    told, changes = _statuses(planned, own, setting)
    rows = [row for cell in cells for row in (*told.get(cell.key, own[cell.key]), *_by_respondent(cell))]
    rows += [row for cell in cells for row in (*_counts(cell), *_means(cell))]
    rows += _losses(scores, setting)
    noted = [_confounded(row, cells, setting) for row in rows]
    # Who names two respondents knows that the others are left out.
    notes = [*(_left(first, second, matched) if respondents is None else ()), *_notes(cells)]
    return Comparison(as_frame(noted), tuple(changes), matched, tuple(notes))


def as_record(found: Comparison) -> dict[str, object]:
    """A comparison as `evenhand compare --json` prints it."""
    return {
        "headline": found.headline,
        "respondents": [{"first": before, "second": after} for before, after in found.respondents],
        "changes": [asdict(change) for change in found.changes],
        "rows": found.rows.to_dicts(),
        "notes": list(found.notes),
    }


def _match(
    first: pl.DataFrame, second: pl.DataFrame, respondents: tuple[str, str] | None
) -> tuple[tuple[str, str], ...]:
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


def _with_bundles(scores: pl.DataFrame) -> pl.DataFrame:
    """Scores with `bundle`: the applications of a call in their order, by which bundles of two instruments match."""
    shown = pl.col("stimulus").fill_null("").sort_by("position").str.join(_SEPARATOR)
    return scores.with_columns(bundle=shown.over("call", "task"))


def _shared_cells(first: pl.DataFrame, second: pl.DataFrame, setting: Setting) -> Iterator[SharedCell]:
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


def _without_rows(cell: Cell) -> Cell:
    return replace(cell, rows=cell.rows.clear(), left_out=cell.left_out.clear())


def _differences(first: Cell, second: Cell) -> pl.DataFrame:
    """One row a shared slot, `y` the second score less the first; repeated answers of a side are averaged."""
    key = _key(first, second)
    return paired(_one_each(second.rows, key), first.rows, bundled=second.bundled, key=key)


def _key(first: Cell, second: Cell) -> list[str]:
    """What the same slot is; wordings are told apart where both sides have one in common."""
    key = ["model", "stimulus", *(["bundle", "position"] if first.bundled else [])]
    return [*key, "wording_variant"] if _wordings(first) & _wordings(second) else key


def _wordings(cell: Cell) -> set[str]:
    return {str(name) for name in cell.rows["wording_variant"].unique()}


def _one_each(rows: pl.DataFrame, key: Sequence[str]) -> pl.DataFrame:
    return rows.with_columns(pl.col("y").mean().over(key)).unique(key, keep="first", maintain_order=True)


def _contrasts(cell: SharedCell, model: str = POOLED) -> list[Row]:
    """Each side's contrasts and their change, of all respondents together or of one."""
    rows: list[Row] = []
    for name, side in (("contrast_first", cell.first), ("contrast_second", cell.second)):
        whole = Cell(*cell.key, side.rows, cell.left_out, cell.references)
        fitted = fit_cell(whole, "evenhand", model)
        rows += contrast_rows(whole, fitted.fit, "evenhand", model=model, trouble=fitted.trouble, estimand=name)
    own = cell.rows if model == POOLED else cell.of_model(model)
    rows += interaction_rows(
        cell, own, "change", _WHAT, model, clustered="change_clustered", matched=_MATCHED, unshared=_UNSHARED
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
        changes.append(_change(_confounded(corrected, planned, setting), excluded, sides, cell, one, setting))
    return told, changes


def _excluded(cell: SharedCell, row: Row, setting: Setting) -> Iterator[Row]:
    """`change_tost`, `change_bound` and `change_detectable` of a change."""
    # Where every slot moved alike there is no error to estimate: the contrast of these slots is known not to change.
    known = replace(row, std_error=0.0) if cell.alike and row.estimate is not None else row
    label = f"{_WHAT}; {UNITS[row.format]}"
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
    margin = setting.margin(row.domain, row.format)
    found = {other.estimand: other for other in excluded}
    tost = found["change_tost"].p_value
    within = tost is not None and tost < ALPHA
    status = CHANGED if tested.survives else UNCHANGED if within else NOT_RESOLVED
    bound, seen = found["change_bound"].estimate, found["change_detectable"].estimate
    shared, only_first, only_second = _numbers(cell)
    return Change(
        domain=row.domain,
        format=row.format,
        term=row.term,
        group=row.group,
        status=status,
        first=sides.get("contrast_first"),
        second=sides.get("contrast_second"),
        estimate=row.estimate,
        std_error=row.std_error,
        df=row.df,
        conf_low=row.conf_low,
        conf_high=row.conf_high,
        p_value=row.p_value,
        q_value=row.q_value,
        family=tested.family.name,
        unit=UNITS[row.format],
        margin=margin,
        tost_p=tost,
        bound=bound,
        detectable=seen,
        shared=shared,
        only_first=only_first,
        only_second=only_second,
        said=_said(status, row, margin, bound, seen, alike=cell.alike and row.estimate is not None),
        note=row.note,
    )


def _said(status: str, row: Row, margin: float | None, bound: float | None, seen: float | None, *, alike: bool) -> str:
    """The status in words; each number is one of the row's."""
    unit = UNITS[row.format]
    if status == CHANGED and row.conf_low is not None and row.conf_high is not None:
        way = "favours the group more" if (row.estimate or 0.0) > 0 else "favours the group less"
        if margin is None:
            return f"the second {way}; no margin was declared to judge the size by"
        beyond = row.conf_low > margin or row.conf_high < -margin
        size = "beyond" if beyond else "within" if -margin < row.conf_low and row.conf_high < margin else "undecided"
        against = "against the margin" if size == "undecided" else "the margin"
        return f"the second {way}; the size is {size} {against} of {margin:g} {unit}"
    if status == UNCHANGED:
        return f"bounded at {bound:.3f} {unit}, inside the margin of {margin:g} declared beforehand"
    against = f"the margin is {margin:g}" if margin is not None else "no margin was declared"
    if seen is None:
        told = "every shared slot moved by the same" if alike else "not estimated: see the note"
        return f"{told}; {against}"
    return f"changes of {seen:.3f} {unit} are seen with 80% power; {against}"


def _numbers(cell: SharedCell) -> tuple[int, int, int]:
    """Shared slots, and those of the first and of the second side alone."""
    key = _key(cell.first, cell.second)
    shared = cell.rows.height
    first, second = (side.rows.select(key).unique().height for side in (cell.first, cell.second))
    return shared, first - shared, second - shared


def _head(cell: SharedCell, estimand: str, method: str) -> Row:
    return Row(estimand, domain=cell.domain, format=cell.format, model=POOLED, method=method)


def _counts(cell: SharedCell) -> Iterator[Row]:
    for name, count in zip(("shared_slots", "only_first", "only_second"), _numbers(cell), strict=True):
        method = f"slots with a score, repeated answers once; {cell.mode}"
        yield replace(_head(cell, name, method), estimate=float(count), n=count)


def _means(cell: SharedCell) -> Iterator[Row]:
    """The mean change of the score itself, and how many slots were answered differently."""
    moved = _head(cell, "change_score", f"mean of {_WHAT}; {UNITS[cell.format]}; {cell.mode}")
    differ = _head(cell, "answered_differently", f"share of shared slots; {cell.mode}")
    if cell.rows.is_empty():
        yield from (replace(head, note=_UNSHARED) for head in (moved, differ))
        return
    sums = cell.rows.group_by("call").agg(pl.col("y").sum().abs())["y"]
    if cell.bundled and bool((sums < _ROUNDING * cell.rows.height).all()):
        told = "the scores of a bundle sum to a constant: their mean cannot change"
        yield replace(moved, estimate=0.0, n=cell.rows.height, note=told)
    else:
        yield _mean(moved, cell.rows, bundled=cell.bundled)
    share = (cell.rows["y"].abs() > _ROUNDING).mean()
    assert isinstance(share, float)
    yield replace(differ, estimate=share, n=cell.rows.height, note="descriptive: no interval")


def _mean(head: Row, rows: pl.DataFrame, *, bundled: bool) -> Row:
    """A mean of differences; bundles, or the profiles of singles, are what varies together."""
    cluster = "unit" if bundled else "profile"
    try:
        fit = fit_clustered(rows, "y ~ 1", cluster=cluster, errors="cr2")
    except InputError as problem:
        mean = rows["y"].mean()
        return replace(head, estimate=mean if isinstance(mean, float) else None, n=rows.height, note=problem.what)
    return read_clustered(
        replace(head, method=f"{head.method}; errors clustered on the {cluster} (CR2)"), fit.rows()[0]
    )


def _losses(scores: Sequence[pl.DataFrame], setting: Setting) -> Iterator[Row]:
    """The change of refused and of malformed shares on slots that were put to both sides, by group."""
    for status in LOST:
        became = pl.when(pl.col("status") != "missing").then(100.0 * (pl.col("status") == status).cast(pl.Float64))
        asked = [table.filter(pl.col("task") != SCORE).with_columns(y=became) for table in scores]
        for cell in _shared_cells(asked[0], asked[1], setting):
            if not cell.rows.is_empty():
                yield from _lost(cell, status)


def _lost(cell: SharedCell, status: str) -> Iterator[Row]:
    method = f"mean of {_WHAT}, slots put to both sides; percentage points; {cell.mode}"
    head = _head(cell, f"change_share_{status}", method)
    if not any((side.rows["y"] != 0).any() for side in (cell.first, cell.second)):
        yield replace(head, estimate=0.0, n=cell.rows.height, note=f"no slot was {status} on either side")
        return
    yield _mean(head, cell.rows, bundled=cell.bundled)
    for factor in dict.fromkeys(factor for factor, _ in cell.compared):
        levels = [str(level) for level in cell.rows[factor].drop_nulls().unique().sort()]
        held = cell.rows.group_by("call").agg(pl.col(factor).n_unique())[factor].max()
        for level in levels:
            one = replace(head, term=factor, group=level)
            if cell.bundled and held != 1:
                yield replace(one, n=cell.rows.filter(pl.col(factor) == level).height, note=NOT_IDENTIFIED)
            else:
                yield _mean(one, cell.rows.filter(pl.col(factor) == level), bundled=cell.bundled)


def _confounded(row: Row, cells: Sequence[SharedCell], setting: Setting) -> Row:
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
        one, other = (_wordings(side) for side in (cell.first, cell.second))
        if one and other and not one & other:
            said = (", ".join(sorted(names)) for names in (one, other))
            yield f"{what}: the wordings differ ({' on the first side, '.join(said)} on the second), and are part of it"
