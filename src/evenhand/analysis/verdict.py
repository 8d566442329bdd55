"""The planned family and what may be said of each of its contrasts ("The Audit Decides the Verdict", sections 2 and 3).

A status is never "fair". `disparity`: the contrast survives the correction of its family. `equivalent`: it does not,
and two one-sided tests reject effects as large as the margin that was declared beforehand. `not_resolved`: neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.detection import detectable, exclusion_rows
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import FACTORS, UNITS
from evenhand.analysis.interim import planned_slots
from evenhand.analysis.judging import Judged, Vocabulary, judge, judged_record
from evenhand.analysis.readings import joined
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, contrast_rows
from evenhand.seeds import generator
from evenhand.statistics import within_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evenhand.analysis.families import Tested
    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material
    from evenhand.analysis.setting import Setting
    from evenhand.analysis.specifications import Specification

DISPARITY, EQUIVALENT = "disparity", "equivalent"
DECISIONS = ("decide", "tool_decide")
SHUFFLES = 1_999
_WORDS = Vocabulary(
    found=DISPARITY,
    bounded=EQUIVALENT,
    above="survives correction",
    below="survives correction",
    its_size="its size",
    open="neither found nor excluded: effects of {size} are seen with 80% power before correction; {margin}",
    unknown="nothing says what could have been seen: see the note",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Judged):
    """What may be said of one planned contrast: `disparity`, `equivalent` or `not_resolved`.

    Attributes:
        d: The estimate over the raw SD of the cell.
        sd: That SD, in the format's unit.
    """

    d: float | None
    sd: float


def planned_contrasts(material: Material) -> pl.DataFrame:
    """The planned contrasts, pooled over respondents, in the specification that decides, corrected together.

    Returns:
        Tidy rows: estimand `contrast`, one for each cell of the family and group.
    """
    return as_frame(row for row, _ in _planned(material, "evenhand"))


def contrasts(material: Material) -> pl.DataFrame:
    """Every primary contrast: both specifications, pooled and by respondent, in units and in SDs.

    Pooled rows of planned cells are corrected within their family and specification; others have no q value.

    Returns:
        Tidy rows: estimands `contrast` and `contrast_d`.
    """
    rows: list[Row] = []
    for specification in SPECIFICATIONS:
        planned = _planned(material, specification)
        corrected = {(row.domain, row.format, row.term, row.group): row for row, _ in planned}
        for cell in material.cells:
            own = list(_of_cell(material, cell, specification, POOLED))
            if cell in material.planned:
                own = [corrected[row.domain, row.format, row.term, row.group] for row in own]
            for model in cell.models if len(cell.models) > 1 else ():
                own += _of_cell(material, cell, specification, model)
            rows += [*own, *_standardised(own, cell.sd)]
    return as_frame(rows)


def left_out(material: Material) -> pl.DataFrame:
    """How many rows of each primary cell have no score, why, by group.

    Returns:
        Tidy rows: estimand `left_out_<status>`; the estimate is the share of the group's rows, n their number.
    """
    rows: list[Row] = []
    for cell in material.cells:
        for factor in FACTORS:
            totals = dict(cell.rows.group_by(factor).len().iter_rows())
            lost = cell.left_out.group_by(factor, "status", maintain_order=True).agg(pl.col("n").sum())
            gone = dict(cell.left_out.group_by(factor).agg(pl.col("n").sum()).iter_rows())
            for level, status, count in lost.iter_rows():
                of = totals.get(level, 0) + gone.get(level, 0)
                rows.append(
                    Row(
                        f"left_out_{status}",
                        term=factor,
                        group=str(level),
                        domain=cell.domain,
                        format=cell.format,
                        model=POOLED,
                        estimate=count / of,
                        n=count,
                        method=f"share of the group's {of} rows that have no score",
                    )
                )
    return as_frame(rows)


def decision_checks(material: Material) -> pl.DataFrame:
    """Beside the linear probability model: how many profiles a respondent decides both ways, and a permutation test.

    Most profiles at temperature 0 are all yes or all no, and say nothing about names. The p value shuffles names within
    profile and the other factor, each name with the answers of all respondents.

    Returns:
        Tidy rows: estimands `mixed_profiles` (share of profile x respondent cells) and `contrast_permuted`.
    """
    rows: list[Row] = []
    for cell in material.cells:
        if cell.format not in DECISIONS:
            continue
        head = Row("", domain=cell.domain, format=cell.format, model=POOLED)
        spread = cell.rows.group_by("profile", "model", "wording_variant").agg(mixed=pl.col("y").n_unique() > 1)
        mixed = int(spread["mixed"].sum())
        told = f"{mixed} of {spread.height} profile x respondent cells hold both answers; the others say nothing"
        rows.append(
            replace(head, estimand="mixed_profiles", estimate=mixed / spread.height, n=spread.height, note=told)
        )
        rows += _permuted(material, cell, head)
    return as_frame(rows)


def _permuted(material: Material, cell: Cell, head: Row) -> Iterator[Row]:
    keys = ["profile", "name", *FACTORS]
    means = cell.rows.group_by(*keys, maintain_order=True).agg(pl.col("y").mean())
    for factor, group in cell.groups:
        other = next(name for name in FACTORS if name != factor)
        pair = means.filter(pl.col(factor).is_in([group, cell.references[factor]]))
        rng = generator("permuted", material.setting.seed, cell.domain, cell.format, factor, group)
        found = within_blocks(
            pair["y"].to_list(),
            (pair[factor] == group).to_list(),
            list(pair.select("profile", other).iter_rows()),
            rng=rng,
            resamples=SHUFFLES,
        )
        yield replace(
            head,
            estimand="contrast_permuted",
            term=factor,
            group=group,
            estimate=found.statistic,
            p_value=found.p_value,
            n=cell.rows.height,
            method=f"names shuffled within profile and {other}, {found.resamples} times; {UNITS[cell.format]}",
            note=found.note,
        )


def statuses(material: Material) -> list[Status]:
    """The status of every planned contrast, in the order of `planned_contrasts`."""
    spreads = {(cell.domain, cell.format): cell.sd for cell in material.planned}
    return [
        _status(row, tested, material.setting, spreads[row.domain, row.format])
        for row, tested in _planned(material, "evenhand")
    ]


def scope(material: Material) -> dict[str, list[str]]:
    """What the planned contrasts cover: models, domains, formats, wordings and groups. They certify no other."""
    cells = material.planned
    slots = planned_slots(material)
    waiting, asked = (sum(row[name] for row in slots) for name in ("waiting", "asked"))
    one = sorted({f"{cell.domain} {cell.format}: {factor}" for cell in cells for factor in _with_one_level(cell)})
    return {
        "models": sorted({model for cell in cells for model in cell.models}),
        "domains": list(dict.fromkeys(cell.domain for cell in cells)),
        "formats": list(dict.fromkeys(f"{cell.format} ({cell.mode})" for cell in cells)),
        "wordings": sorted({str(value) for cell in cells for value in cell.rows["wording_variant"].unique()}),
        "groups": list(
            dict.fromkeys(
                f"{group} against {cell.references[factor]}" for cell in cells for factor, group in cell.compared
            )
        ),
        **({"not yet answered": [f"{waiting:,} of {asked:,} slots"]} if waiting else {}),
        **({"one level alone, not compared": one} if one else {}),
    }


def _with_one_level(cell: Cell) -> list[str]:
    there = {factor for factor, _ in cell.compared}
    return [factor for factor in FACTORS if factor not in there and cell.rows[factor].drop_nulls().n_unique() == 1]


def as_records(found: Iterable[Status]) -> list[dict[str, Any]]:
    """Statuses as `evenhand analyse --json` prints them and `results/statuses.csv` holds them."""
    return [judged_record(status) for status in found]


def _planned(material: Material, specification: Specification) -> list[tuple[Row, Tested]]:
    """Pooled rows of planned cells, corrected by BH within each family; a missing p stays missing, and is counted."""
    rows = [row for cell in material.planned for row in _of_cell(material, cell, specification, POOLED)]
    found = correct_families(material.setting, [row.format for row in rows], [row.p_value for row in rows])
    corrected: list[tuple[Row, Tested]] = []
    for row, tested in zip(rows, found, strict=True):
        told = f"{tested.missing} of {tested.tests} planned contrasts have no p value" if tested.missing else ""
        corrected.append((replace(row, q_value=tested.q_value, note=joined(row.note, told)), tested))
    return corrected


def _of_cell(material: Material, cell: Cell, specification: Specification, model: str) -> list[Row]:
    found = material.fitted(cell, specification, model)
    rows = list(contrast_rows(cell, found.fit, specification, model=model, trouble=found.trouble))
    if cell.bundled and cell.mode != "single":
        rows = [replace(row, method=f"{row.method}; {cell.mode} bundles") for row in rows]
    notes = material.confounding(cell)
    return [replace(row, note="; ".join([row.note, *notes]).removeprefix("; ")) for row in rows]


def _standardised(rows: Sequence[Row], sd: float) -> Iterator[Row]:
    for row in rows:
        if sd <= 0:
            yield replace(
                Row("contrast_d", **{k: getattr(row, k) for k in ("term", "group", "domain", "format", "model")}),
                method=row.method,
                note="nothing varies: there is no SD to divide by",
            )
            continue
        numbers = {
            name: None if (value := getattr(row, name)) is None else value / sd
            for name in ("estimate", "std_error", "conf_low", "conf_high")
        }
        method = f"{row.method}, over the raw SD of {sd:.4g}"
        yield replace(row, estimand="contrast_d", method=method, **numbers)


def _status(row: Row, tested: Tested, setting: Setting, sd: float) -> Status:
    margin = setting.margin(row.domain, row.format)
    tost, bound = exclusion_rows(row, margin, row.method)
    judged = judge(
        row,
        tested,
        _WORDS,
        margin=margin,
        tost_p=tost.p_value,
        bound=bound.estimate,
        detectable=detectable(row.std_error, row.df)[0],
    )
    d = row.estimate / sd if row.estimate is not None and sd > 0 else None
    return Status(**asdict(judged), d=d, sd=sd)
