"""What another wording or interface does to a contrast, on applications that were put both ways.

An arm of its own may show groups different applications, and its plain difference then measures those ("The Audit
Decides the Verdict", table 4). A difference of two answers of one respondent to one application does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.composition import baseline_gaps
from evenhand.analysis.focal import BASE, FACTORS, PRIMARY, UNITS, focal_cells
from evenhand.analysis.readings import joined, pooled_and_each, read_clustered
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, clustered_rows, contrast_rows, specify
from evenhand.errors import InputError
from evenhand.statistics import fit_clustered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

INTERFACES = {"tool_decide": ("decide",), "tool_rank": ("rank_ties", "rank")}
"""By tool format, the text formats it restates."""
_NONE_SHARED = "no application was put to a respondent both ways"


def wording_effects(material: Material) -> pl.DataFrame:
    """What each reworded arm does to the contrasts, and what its plain differences rest on.

    Returns:
        Tidy rows, by arm: `wording_interaction`, group by wording on shared applications (by the specification that
        decides and by clustered errors); `raw_difference` of plain means within the arm; `baseline_quality_gap`, in
        rating points of the primary arm; and `mean_score` and `sd_score` of the instruction, the first also by group,
        with those of the primary arm in base wording beside them.
    """
    rows: list[Row] = []
    told: set[tuple[str, str, str]] = set()
    for cell in _reworded(material):
        base = material.cell(cell.domain, cell.format, cell.mode)
        if base is not None and (cell.domain, cell.format, cell.mode) not in told:
            told.add((cell.domain, cell.format, cell.mode))
            rows += _distributions(base, BASE)
        arm, wording = str(cell.rows["arm"][0]), str(cell.rows["wording_variant"][0])
        note = f"confounded: {material.setting.confounded[arm]}" if arm in material.setting.confounded else ""
        found = [
            *_distributions(cell, wording),
            *_interactions(cell, base, "wording_interaction", f"wording {wording} less {BASE}"),
            *_raw_differences(cell),
        ]
        rows += [replace(row, arm=arm, note=joined(row.note, note)) for row in found]
        rows += _gaps(material, cell, arm)
    return as_frame(rows)


def tool_effects(material: Material) -> pl.DataFrame:
    """Native tool calls against text.

    Returns:
        Tidy rows: `contrast` of each interface by the specification that decides, and `interface_interaction`, group by
        interface on shared applications, tool less text.
    """
    rows: list[Row] = []
    for cell in material.cells:
        if cell.format not in INTERFACES:
            continue
        texts = [material.cell(cell.domain, text, cell.mode) for text in INTERFACES[cell.format]]
        text = next((found for found in texts if found is not None), None)
        for one in [cell, *([text] if text is not None else [])]:
            for model in pooled_and_each(one.models, POOLED):
                found = material.fitted(one, "evenhand", model)
                rows += contrast_rows(one, found.fit, "evenhand", model=model, trouble=found.trouble)
        against = text.format if text is not None else "text"
        rows += _interactions(cell, text, "interface_interaction", f"{cell.format} less {against}")
    return as_frame(rows)


def paired(asked: pl.DataFrame, base: pl.DataFrame, *, bundled: bool, key: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of `asked` whose application the same respondent also answered in `base`, `y` the difference of scores.

    A single is the same application where its stimulus is; a slot, where the whole bundle and its order are.

    Args:
        asked: Rows of a cell.
        base: Rows of the cell that is taken off; repeated answers are averaged.
        bundled: Whether slots of a call are scored together.
        key: The columns that say what the same application is, where unit ids do not.
    """
    key = list(key or ["model", "stimulus", *(["unit_id", "position"] if bundled else [])])
    other = base.group_by(key).agg(base=pl.col("y").mean())
    return asked.join(other, on=key, how="inner", maintain_order="left").with_columns(y=pl.col("y") - pl.col("base"))


def interaction_rows(
    cell: Cell,
    shared: pl.DataFrame,
    estimand: str,
    what: str,
    model: str,
    *,
    clustered: str = "",
    matched: str = "same application and respondent",
    unshared: str = _NONE_SHARED,
) -> Iterator[Row]:
    """The contrasts of paired differences in both manners.

    Args:
        cell: The cell that the differences are of; its rows may be more.
        shared: The differences, from `paired`.
        estimand: What the rows are called.
        what: What was taken from what.
        model: The respondent.
        clustered: What the rows with clustered errors are called, where not as the others.
        matched: What the two answers of a difference share.
        unshared: What is said where there is no difference.
    """
    differences = replace(cell, rows=shared)
    if shared.is_empty():
        for factor, group in cell.compared:
            head = Row(estimand, term=factor, group=group, domain=cell.domain, format=cell.format, model=model)
            yield replace(head, method=what, note=unshared)
        return
    specified = specify(differences, shared, "evenhand")
    fit = specified.model.fit() if specified.model else None
    rows = [
        *contrast_rows(differences, fit, "evenhand", model=model, trouble=specified.trouble, estimand=estimand),
        *(replace(row, estimand=clustered or estimand) for row in clustered_rows(differences, shared, model=model)),
    ]
    alike = "both ways were answered alike" if shared["y"].n_unique() == 1 and shared["y"][0] == 0 else ""
    for row in rows:
        yield replace(
            row,
            method=f"{what}, {matched}; {row.method}",
            note=joined(row.note, alike),
        )


def _reworded(material: Material) -> Iterator[Cell]:
    """One cell an arm and wording other than the base."""
    asked = material.scores.filter(pl.col("wording_variant").fill_null(BASE) != BASE, pl.col("task").is_in(list(UNITS)))
    for key, part in asked.group_by("arm", "tag", "wording_variant", maintain_order=True):
        _, tag, wording = (str(value) for value in key)
        yield from focal_cells(part, material.setting, tag=tag, wording=wording)


def _interactions(cell: Cell, base: Cell | None, estimand: str, what: str) -> Iterator[Row]:
    shared = paired(cell.rows, base.rows, bundled=cell.bundled) if base is not None else cell.rows.clear()
    for model in pooled_and_each(cell.models, POOLED):
        own = shared if model == POOLED else shared.filter(pl.col("model") == model)
        yield from interaction_rows(cell, own, estimand, what, model)


def _raw_differences(cell: Cell) -> Iterator[Row]:
    cluster = "unit" if cell.bundled else "stimulus"
    for model in pooled_and_each(cell.models, POOLED):
        rows = cell.rows if model == POOLED else cell.of_model(model)
        for factor in dict.fromkeys(factor for factor, _ in cell.groups):
            reference = {factor: cell.references[factor]}
            try:
                fit = fit_clustered(rows, f"y ~ {factor}", cluster=cluster, reference=reference)
                found, trouble = {row["term"]: row for row in fit.rows()}, ""
            except InputError as problem:
                found, trouble = {}, problem.what
            for other, group in cell.groups:
                if other != factor:
                    continue
                head = Row(
                    "raw_difference",
                    term=factor,
                    group=group,
                    domain=cell.domain,
                    format=cell.format,
                    model=model,
                    method=f"difference of plain means, errors clustered on the {cluster}; {UNITS[cell.format]}",
                )
                row = found.get(f"{factor}{group}")
                yield read_clustered(head, row) if row else replace(head, note=trouble or "not identified here")


def _gaps(material: Material, cell: Cell, arm: str) -> Iterator[Row]:
    """The baseline-quality gap of an arm, by respondent and of all together."""
    shown = material.outcomes.filter(
        (pl.col("arm") == arm) | ((pl.col("task") == "rate") & (pl.col("tag").fill_null(PRIMARY) == PRIMARY)),
        pl.col("domain") == cell.domain,
    )
    together = [shown.with_columns(model=pl.lit(POOLED))]
    for table in together if len(cell.models) == 1 else [*together, shown]:
        found = baseline_gaps(
            table,
            contrasts={arm: [factor for factor in FACTORS if factor in cell.references]},
            references={cell.domain: cell.references},
            confounded=material.setting.confounded,
        )
        yield from (Row(**row) for row in found.to_dicts())


def _distributions(cell: Cell, wording: str) -> Iterator[Row]:
    """Mean and SD of all answers to an instruction, and means by group."""
    head = Row("mean_score", domain=cell.domain, format=cell.format, model=POOLED, arm=str(cell.rows["arm"][0]))
    head = replace(
        head, method=f"wording {wording}; {UNITS[cell.format]}", note="descriptive: no interval", n=cell.rows.height
    )
    mean = cell.rows["y"].mean()
    yield replace(head, estimate=mean if isinstance(mean, float) else None)
    yield replace(head, estimand="sd_score", estimate=cell.sd)
    for factor in FACTORS:
        means = cell.rows.drop_nulls(factor).group_by(factor).agg(pl.col("y").mean(), pl.len().alias("n")).sort(factor)
        for level, value, n in means.iter_rows():
            yield replace(head, term=factor, group=str(level), estimate=value, n=n)
