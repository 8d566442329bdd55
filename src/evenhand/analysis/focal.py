"""Cells: the rows of one domain, format and presentation that a demographic contrast is read from, scores one way up.

A score is higher where the applicant is treated better: a rating, a yes in percentage points, a negated rank, dollars.
Decisions that came with a number of their own (the column `score`) make a further cell of it, format `score`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.analysis.setting import Setting

FACTORS = ("race", "gender")
RANKINGS = ("rank_ties", "rank", "tool_rank")
"""Formats that rank, the one that a family is expected to plan first."""

BUNDLED = ("rank", "rank_ties", "tool_rank", "allocate")
"""Formats whose answer fills several slots at once."""

SCORE = "score"
"""The format of numbers that came with decisions, each domain's on its own scale."""

UNITS = {
    "rate": "rating points",
    "decide": "percentage points",
    "tool_decide": "percentage points",
    SCORE: "score points",
    "rank": "rank positions",
    "rank_ties": "rank positions",
    "tool_rank": "rank positions",
    "allocate": "dollars",
}
"""The unit of each format's contrasts; other formats have none."""

PRIMARY = "primary"
BASE = "base"
_DEMOGRAPHIC = ("race", "gender", "intersectional")
_SEPARATOR = "\x1f"


@dataclass(frozen=True, eq=False)
class Cell:
    """The rows of one domain, format and presentation.

    Attributes:
        domain: The pack.
        format: How the answer was asked for.
        mode: `single`, `transparent` or `disguised`.
        rows: One row a scored slot: `y`, model, arm, race, gender, name, profile, stimulus, unit, slot, call, epoch,
            position, stratum, framing, category, bundle_type, and what else the outcomes hold.
        left_out: The rows of the same arms that have no score, by race and gender: columns race, gender, n, of.
        references: The reference level of each factor.
    """

    domain: str
    format: str
    mode: str
    rows: pl.DataFrame
    left_out: pl.DataFrame
    references: dict[str, str]

    @cached_property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """Every factor and level that scores can compare with the reference, race first, levels by the alphabet."""
        pairs: list[tuple[str, str]] = []
        for factor in FACTORS:
            levels = self._levels(self.rows, factor)
            if len(levels) > 1 and self.references.get(factor) in levels:
                pairs += [(factor, level) for level in levels if level != self.references[factor]]
        return tuple(pairs)

    @cached_property
    def compared(self) -> tuple[tuple[str, str], ...]:
        """The same, and levels that were asked about but of which, or of whose reference, no row has a score."""
        pairs: list[tuple[str, str]] = []
        for factor in FACTORS:
            levels = sorted({*self._levels(self.rows, factor), *self._levels(self.left_out, factor)})
            if len(levels) > 1 and factor in self.references:
                pairs += [(factor, level) for level in levels if level != self.references[factor]]
        return tuple(pairs)

    def why_not(self, factor: str, group: str) -> str:
        """Why a level is not compared, in words."""
        reference, scored = self.references[factor], self._levels(self.rows, factor)
        if reference not in scored:
            return f"no row of the reference {reference} has a score"
        if group not in scored:
            return f"no row of {group} has a score"
        return f"{factor} {group} is not identified here"

    @staticmethod
    def _levels(rows: pl.DataFrame, factor: str) -> list[str]:
        return rows[factor].drop_nulls().unique().sort().to_list()

    @property
    def bundled(self) -> bool:
        """Whether the slots of a call are scored together, so that their scores sum to a constant."""
        return self.format in BUNDLED

    @property
    def models(self) -> list[str]:
        """The respondents, in the order of their names."""
        return self.rows["model"].unique().sort().to_list()

    @cached_property
    def sd(self) -> float:
        """The raw SD of all rows, over all models: what a contrast is divided by for d."""
        spread = self.rows["y"].std()
        return float(spread) if isinstance(spread, float) else 0.0

    def of_model(self, model: str) -> pl.DataFrame:
        """The rows of one respondent."""
        return self.rows.filter(pl.col("model") == model)


def scored(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Outcomes with a score `y` (null where the answer has none) and the names of what repeats.

    Added columns: `unit` (arm and unit id), `call` (unit, model, epoch and wording), `slot` (unit and position),
    `stimulus`, `profile` (scenario and framing), `wording` (the wording variant).

    Where no row is in base wording (outcomes of another audit, under scaffolds of its own), all wordings together stand
    for it, and `wording_variant` is `base` throughout. Cells have the variants again: a fixed covariate where
    they vary.

    Arms whose decisions came with scores have each row a second time, as format `score`.
    """
    outcomes = _with_base(outcomes)
    rank = pl.col("rank").cast(pl.Float64)
    value = (
        pl.when(pl.col("task") == "rate")
        .then(pl.col("rating").cast(pl.Float64))
        .when(pl.col("task").is_in(["decide", "tool_decide"]))
        .then(100.0 * pl.col("decision").cast(pl.Float64))
        .when(pl.col("task").is_in(RANKINGS))
        .then(-rank)
        .when(pl.col("task") == "allocate")
        .then(pl.col("dollars").cast(pl.Float64))
    )
    arm = pl.col("arm").fill_null(pl.concat_str("task", pl.lit("-"), "bundle_type"))
    joined = {
        "unit": [arm, pl.col("unit_id")],
        "slot": [arm, pl.col("unit_id"), pl.col("position").cast(pl.String)],
        "call": [arm, pl.col("unit_id"), pl.col("model"), pl.col("epoch").fill_null(1).cast(pl.String), "wording"],
        "profile": [pl.col("scenario_id"), pl.col("framing").fill_null("")],
    }
    scores = outcomes.with_columns(
        y=pl.when(pl.col("valid")).then(value),
        stimulus=pl.col("stimulus_id"),
        tag=pl.col("tag").fill_null(PRIMARY),
        domain=pl.col("domain").fill_null("aid"),
        name=pl.col("name").fill_null(pl.concat_str("race", "gender", pl.col("name_rank").cast(pl.String))),
        **{name: pl.concat_str(parts, separator=_SEPARATOR) for name, parts in joined.items()},
    )
    numbered = scores.filter(pl.col("score").is_not_null().any().over("domain", "arm", "task"))
    if numbered.is_empty():
        return scores
    return pl.concat([scores, numbered.with_columns(task=pl.lit(SCORE), y=pl.when(pl.col("valid")).then("score"))])


def _with_base(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Outcomes with the column `wording`; where none are in base wording, all are taken for it."""
    worded = outcomes.with_columns(wording=pl.col("wording_variant").fill_null(BASE))
    return worded if (worded["wording"] == BASE).any() else worded.with_columns(wording_variant=pl.lit(BASE))


def demographic_rows(scores: pl.DataFrame, *, tag: str = PRIMARY, wording: str = BASE) -> pl.DataFrame:
    """The rows that cells are made of, with a score or without one, and their `presentation`.

    Left out are probes, and bundles that vary no demographic factor (placebo and irrelevant attributes).

    Args:
        scores: Outcomes with scores, from `scored`.
        tag: The tag of the arms: `primary`, or one extension.
        wording: The wording of the arms.
    """
    mode = pl.when(pl.col("task").is_in(BUNDLED)).then(pl.col("mode")).otherwise(pl.lit("single"))
    return scores.filter(
        pl.col("task").is_in(list(UNITS)),
        pl.col("tag") == tag,
        pl.col("wording_variant").fill_null(BASE) == wording,
        pl.col("pseudo_group").is_null(),
        pl.col("attribute").is_null(),
        pl.col("focal_axis").is_null() | pl.col("focal_axis").is_in(_DEMOGRAPHIC),
    ).with_columns(presentation=mode)


def focal_cells(scores: pl.DataFrame, setting: Setting, *, tag: str = PRIMARY, wording: str = BASE) -> list[Cell]:
    """The cells of a study: by domain, format and presentation, in the order in which arms come.

    They hold the rows of `demographic_rows` that have a score; the others are counted. Where no row is in base wording,
    all wordings stand for it (see `scored`), and the column `wording_variant` of a cell tells them apart.

    Args:
        scores: Outcomes with scores, from `scored`.
        setting: The terms of the analysis.
        tag: The tag of the arms: `primary`, or one extension.
        wording: The wording of the arms.

    Raises:
        InputError: A margin is given for the scores of several domains, whose scales differ.
    """
    cells = list(_cells(demographic_rows(scores, tag=tag, wording=wording), setting))
    numbered = [cell.domain for cell in cells if cell.format == SCORE]
    if len(numbered) > 1 and SCORE in setting.margins:
        raise InputError(
            f"the scores of {', '.join(numbered)} stand each on a scale of its own, which no one margin fits",
            where=f"the margin of {SCORE}",
            mend="Give a margin for each domain, as triage/score",
        )
    return cells


def _cells(wanted: pl.DataFrame, setting: Setting) -> Iterator[Cell]:
    for key, part in wanted.group_by("domain", "task", "presentation", maintain_order=True):
        domain, task, mode = (str(value) for value in key)
        rows = part.filter(pl.col("y").is_not_null() & pl.col("y").is_finite())
        if rows.is_empty():
            continue
        references = {factor: level for factor in FACTORS if (level := setting.reference(domain, factor)) is not None}
        told = rows.with_columns(wording_variant="wording")
        yield Cell(domain, task, mode, told, _left_out(part), references)


def _left_out(part: pl.DataFrame) -> pl.DataFrame:
    return (
        part.group_by(*FACTORS, "status", maintain_order=True)
        .agg(n=pl.col("y").is_null().sum(), of=pl.len())
        .filter(pl.col("n") > 0)
    )
