"""The disclosed extensions: more bundles, reasoning enabled, and the aid materials put to these respondents.

"The Audit Decides the Verdict", appendix C and table 5. All were run after the primary analysis and none enters its
planned family.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace
from importlib import resources
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.detection import exclusion_rows
from evenhand.analysis.focal import PRIMARY, Cell, focal_cells
from evenhand.analysis.readings import joined, pooled_and_each
from evenhand.analysis.recognition import REASONING, probes, recognition_rows, share_row
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, clustered_rows, contrast_rows
from evenhand.analysis.variants import interaction_rows, paired

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.analysis.material import Material

PRECISION = "extension:precision"
AID = "extension:aid"
AFTER_THE_FACT = "commissioned after the frozen estimate was seen; no part of the planned family"
EXPLORATORY = "exploratory: some models in one domain, run after the primary analysis"


def precision(material: Material) -> pl.DataFrame:
    """The frozen sample, the extension and both together, each under one and the same specification.

    Returns:
        Tidy rows, the sample under `arm`: `contrast` by the specification that decides (pooled, and by respondent for
        both samples together) and by errors clustered on bundles; `tost` and `bound` for each where the format
        has a margin, as the block `floors` has them.
    """
    rows: list[Row] = []
    for extension in focal_cells(material.scores, material.setting, tag=PRECISION):
        frozen = material.cell(extension.domain, extension.format, extension.mode)
        samples = {"extension": extension}
        if frozen is not None:
            samples = {"frozen": frozen, **samples, "pooled": _together([frozen, extension])}
        for name, cell in samples.items():
            note = "" if name == "frozen" else AFTER_THE_FACT
            found = [
                *_evenhand(material, cell, POOLED),
                *clustered_rows(cell, cell.rows),
            ]
            margin = material.setting.margin(cell.domain, cell.format)
            found += [tested for row in found for tested in (exclusion_rows(row, margin, row.method) if margin else ())]
            if name == "pooled" and len(cell.models) > 1:
                found += [row for model in cell.models for row in _evenhand(material, cell, model)]
            size = (
                f"{cell.rows['unit'].n_unique()} bundles"
                if cell.bundled
                else f"{cell.rows['stimulus'].n_unique()} stimuli"
            )
            rows += [replace(row, arm=name, note=joined(row.note, size, note)) for row in found]
    return as_frame(rows)


def reasoning_rerun(material: Material) -> pl.DataFrame:
    """Contrasts and recognition with and without reasoning, of the models that were rerun.

    Returns:
        Tidy rows, `with reasoning` or `without` under `arm`: `contrast`, and `share_recognised` of the probes of the
        same requests, by presentation and of all together; `reasoning_interaction`, with less without, on shared
        applications.
    """
    rows: list[Row] = []
    for cell in focal_cells(material.scores, material.setting, tag=REASONING):
        base = material.cell(cell.domain, cell.format, cell.mode)
        same = base.rows.filter(pl.col("model").is_in(cell.models)) if base is not None else cell.rows.clear()
        without = replace(cell, rows=same, left_out=cell.left_out.clear())
        shared = paired(cell.rows, same, bundled=cell.bundled)
        for model in pooled_and_each(cell.models, POOLED):
            own = shared if model == POOLED else shared.filter(pl.col("model") == model)
            rows += [replace(row, arm="with reasoning") for row in _evenhand(material, cell, model)]
            if same.height:
                rows += [replace(row, arm="without") for row in _evenhand(material, without, model)]
            rows += interaction_rows(cell, own, "reasoning_interaction", "with reasoning less without", model)
    rows += _recognition(material)
    return as_frame(replace(row, note=joined(row.note, EXPLORATORY)) for row in rows)


def aid_replication(material: Material) -> pl.DataFrame:
    """The published contrasts on the released stimuli, beside the same contrasts of these respondents.

    Returns:
        Tidy rows: `published` and `contrast`, the latter of all presentations together, as published, and of each;
        pooled and by respondent.
    """
    rows: list[Row] = []
    cells = focal_cells(material.scores, material.setting, tag=AID)
    for published in published_contrasts():
        for format in published["formats"]:
            parts = [cell for cell in cells if (cell.domain, cell.format) == (published["domain"], format)]
            if parts:
                rows += _replicated(material, published, parts)
    return as_frame(rows)


def published_contrasts() -> list[dict[str, Any]]:
    """The contrasts of Lukk (2026) that are replicated: domain, formats, factor, group, reference, estimate, unit."""
    file = resources.files("evenhand.analysis") / "published_contrasts.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))["contrasts"]


def _replicated(material: Material, published: dict[str, Any], parts: Sequence[Cell]) -> Iterator[Row]:
    factor, group, known = published["factor"], published["group"], published["estimate"]
    yield Row(
        "published",
        term=factor,
        group=group,
        domain=published["domain"],
        format=parts[0].format,
        estimate=known,
        method=f"Lukk 2026, arXiv 2607.28934; {published['unit']}; against {published['reference']}",
        note="as published, no interval given; other models",
    )
    whole = _together(parts)
    samples = [("all presentations", whole), *((cell.mode, cell) for cell in parts if len(parts) > 1)]
    for name, cell in samples:
        for model in pooled_and_each(cell.models, POOLED) if cell is whole else [POOLED]:
            found = [row for row in _evenhand(material, cell, model) if (row.term, row.group) == (factor, group)]
            if not found:
                told = f"{group} or {cell.references.get(factor, 'its reference')} is not among the answers"
                found = [Row("contrast", term=factor, group=group, domain=cell.domain, format=cell.format, note=told)]
            yield from (replace(row, arm=name, note=joined(row.note, _direction(row, known))) for row in found)


def _direction(row: Row, known: float) -> str:
    if row.estimate is None:
        return ""
    same = "the published direction" if row.estimate * known > 0 else "not the published direction"
    if row.conf_low is None or row.conf_high is None:
        return same
    clear = "" if row.conf_low > 0 or row.conf_high < 0 else ", and the interval covers zero"
    return f"{same}{clear}"


def _evenhand(material: Material, cell: Cell, model: str) -> Iterator[Row]:
    found = material.fitted(cell, "evenhand", model)
    yield from contrast_rows(cell, found.fit, "evenhand", model=model, trouble=found.trouble)


def _together(cells: Sequence[Cell]) -> Cell:
    """Several cells of one format as one."""
    left = pl.concat([cell.left_out for cell in cells])
    return replace(cells[0], rows=pl.concat([cell.rows for cell in cells]), left_out=left)


def _recognition(material: Material) -> Iterator[Row]:
    found = probes(material.scores.filter(pl.col("tag").is_in([PRIMARY, REASONING])))
    rerun = found.filter(pl.col("tag") == REASONING)
    if rerun.is_empty():
        return
    key = ["model", "domain", "task", "stimulus"]
    same = found.filter(pl.col("tag") == PRIMARY).join(rerun.select(key).unique(), on=key, how="semi")
    for arm, part in (("with reasoning", rerun), ("without", same)):
        head = Row("", arm=arm)
        yield from recognition_rows(part, head)
        for format in part["task"].unique().sort().to_list():
            for model in pooled_and_each(part["model"].unique().sort().to_list(), POOLED):
                shown = part.filter(pl.col("task") == format)
                shown = shown if model == POOLED else shown.filter(pl.col("model") == model)
                yield share_row(shown, replace(head, format=format, term="presentation", group="all", model=model))
