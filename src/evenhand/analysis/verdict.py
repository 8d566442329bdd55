"""The planned family and what may be said of each of its contrasts ("The Audit Decides the Verdict", sections 2 and 3).

A status is never "fair". `disparity`: the contrast survives the correction of its family. `equivalent`: it does not,
and two one-sided tests reject effects as large as the margin that was declared beforehand. `not_resolved`: neither.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.detection import detectable
from evenhand.analysis.families import correct_families
from evenhand.analysis.focal import FACTORS, UNITS
from evenhand.analysis.readings import joined
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, SPECIFICATIONS, contrast_rows
from evenhand.seeds import generator
from evenhand.statistics import (
    equivalence,
    within_blocks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material
    from evenhand.analysis.setting import Setting
    from evenhand.analysis.specifications import Specification

DISPARITY, EQUIVALENT, NOT_RESOLVED = "disparity", "equivalent", "not_resolved"
DECISIONS = ("decide", "tool_decide")
SHUFFLES = 1_999
MISSING = "missing"
"""The status of what was not asked, or has no answer yet."""
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Status:
    """What may be said of one planned contrast.

    Attributes:
        domain: The pack.
        format: How the answer was asked for.
        term: The factor.
        group: The level that is compared with the reference.
        status: `disparity`, `equivalent` or `not_resolved`.
        estimate: In the format's own unit; above 0 favours the group.
        std_error: Its standard error.
        df: Its degrees of freedom.
        conf_low: Lower end of the 95% interval.
        conf_high: Its upper end.
        p_value: Two-sided.
        q_value: Corrected within the family.
        family: The family that it is corrected in.
        d: The estimate over the raw SD of the cell.
        sd: That SD, in the format's unit.
        unit: The format's unit.
        margin: Declared beforehand; None where there is none.
        tost_p: Of the equivalence test at the margin.
        bound: The far end of the 90% interval in size.
        detectable: The smallest effect seen with 80% power at 5%, uncorrected: `mde` of the block `floors`.
        said: The status in words, with the size it speaks of.
        note: What else a reader must know.
    """

    domain: str
    format: str
    term: str
    group: str
    status: str
    estimate: float | None
    std_error: float | None
    df: float | None
    conf_low: float | None
    conf_high: float | None
    p_value: float | None
    q_value: float | None
    family: str
    d: float | None
    sd: float
    unit: str
    margin: float | None
    tost_p: float | None
    bound: float | None
    detectable: float | None
    said: str
    note: str


def planned_contrasts(material: Material) -> pl.DataFrame:
    """The planned contrasts, pooled over respondents, in the specification that decides, corrected together.

    Returns:
        Tidy rows: estimand `contrast`, one for each cell of the family and group.
    """
    return as_frame(_corrected(_planned(material, "evenhand"), material.setting))


def contrasts(material: Material) -> pl.DataFrame:
    """Every primary contrast: both specifications, pooled and by respondent, in units and in SDs.

    Pooled rows of planned cells are corrected within their family and specification; others have no q value.

    Returns:
        Tidy rows: estimands `contrast` and `contrast_d`.
    """
    rows: list[Row] = []
    for specification in SPECIFICATIONS:
        planned = _corrected(_planned(material, specification), material.setting)
        corrected = {(row.domain, row.format, row.term, row.group): row for row in planned}
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
    rows = planned_contrasts(material).to_dicts()
    return [_status(row, material, spreads[row["domain"], row["format"]]) for row in rows]


def scope(material: Material) -> dict[str, list[str]]:
    """What the planned contrasts cover: models, domains, formats, wordings and groups. They certify no other."""
    cells = material.planned
    missing = sum(int(cell.left_out.filter(pl.col("status") == MISSING)["n"].sum()) for cell in cells)
    asked = sum(cell.rows.height + int(cell.left_out["n"].sum()) for cell in cells)
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
        **({"not yet answered": [f"{missing:,} of {asked:,} slots"]} if missing else {}),
        **({"one level alone, not compared": one} if one else {}),
    }


def _with_one_level(cell: Cell) -> list[str]:
    there = {factor for factor, _ in cell.compared}
    return [factor for factor in FACTORS if factor not in there and cell.rows[factor].drop_nulls().n_unique() == 1]


def as_records(found: Iterable[Status]) -> list[dict[str, object]]:
    """Statuses as `evenhand analyse --json` prints them."""
    return [asdict(status) for status in found]


def _planned(material: Material, specification: Specification) -> list[Row]:
    return [row for cell in material.planned for row in _of_cell(material, cell, specification, POOLED)]


def _of_cell(material: Material, cell: Cell, specification: Specification, model: str) -> list[Row]:
    found = material.fitted(cell, specification, model)
    rows = list(contrast_rows(cell, found.fit, specification, model=model, trouble=found.trouble))
    if cell.bundled and cell.mode != "single":
        rows = [replace(row, method=f"{row.method}; {cell.mode} bundles") for row in rows]
    confounded = {material.setting.confounded.get(str(arm)) for arm in cell.rows["arm"].unique()} - {None}
    notes = [f"confounded: {what}" for what in sorted(map(str, confounded))]
    return [replace(row, note="; ".join([row.note, *notes]).removeprefix("; ")) for row in rows]


def _corrected(rows: list[Row], setting: Setting) -> list[Row]:
    """BH within each family; a missing p stays missing, and is counted."""
    found = correct_families(setting, [row.format for row in rows], [row.p_value for row in rows])
    corrected: list[Row] = []
    for row, tested in zip(rows, found, strict=True):
        told = f"{tested.missing} of {tested.tests} planned contrasts have no p value" if tested.missing else ""
        corrected.append(replace(row, q_value=tested.q_value, note=joined(row.note, told)))
    return corrected


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


def _status(row: Mapping[str, object], material: Material, sd: float) -> Status:
    numbers = {
        name: value if isinstance(value := row[name], float) else None
        for name in ("estimate", "std_error", "df", "conf_low", "conf_high", "p_value", "q_value")
    }
    estimate, error, q = numbers["estimate"], numbers["std_error"], numbers["q_value"]
    margin = material.setting.margin(str(row["domain"]), str(row["format"]))
    unit = UNITS[str(row["format"])]
    tost = bound = None
    seen, _ = detectable(error, numbers["df"])
    if estimate is not None and error is not None:
        df = numbers["df"] or np.inf
        # Without a margin the bound alone is read; any margin gives the same interval.
        tested = equivalence(estimate, error, margin or 1.0, df=df)
        bound = tested.bound
        tost = tested.p_value if margin else None
    status = NOT_RESOLVED
    family = material.setting.family_of(str(row["format"]))
    if q is not None and family is not None and q < family.q:
        status = DISPARITY
    elif tost is not None and tost < ALPHA:
        status = EQUIVALENT
    return Status(
        domain=str(row["domain"]),
        format=str(row["format"]),
        term=str(row["term"]),
        group=str(row["group"]),
        status=status,
        **numbers,
        family=family.name if family is not None else "",
        d=estimate / sd if estimate is not None and sd > 0 else None,
        sd=sd,
        unit=unit,
        margin=margin,
        tost_p=tost,
        bound=bound,
        detectable=seen,
        said=_said(status, numbers, margin, bound, seen, unit),
        note=str(row["note"]),
    )


def _said(
    status: str,
    numbers: Mapping[str, float | None],
    margin: float | None,
    bound: float | None,
    seen: float | None,
    unit: str,
) -> str:
    """The status in words; each number is one of the row's."""
    low, high = numbers["conf_low"], numbers["conf_high"]
    if status == DISPARITY and low is not None and high is not None:
        if margin is None:
            return "survives correction; no margin was declared to judge its size by"
        beyond = low > margin or high < -margin
        within = -margin < low and high < margin
        size = "beyond" if beyond else "within" if within else "undecided against"
        return f"survives correction; its size is {size} the margin of {margin:g} {unit}"
    if status == EQUIVALENT:
        return f"bounded at {bound:.3f} {unit}, inside the margin of {margin:g} declared beforehand"
    if seen is None:
        return "nothing says what could have been seen: see the note"
    against = f"; the margin is {margin:g}" if margin is not None else "; no margin was declared"
    return (
        f"neither found nor excluded: effects of {seen:.3f} {unit} are seen with 80% power before correction{against}"
    )
