"""Checks of the instrument that come before any null is read: what is planted is recovered, and nothing is not found.

"The Audit Decides the Verdict" (sections 2 and 3, table 3): disparities of known size planted into disguised rankings,
and placebo bundles, whose groups are letters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.focal import BASE, PRIMARY, RANKINGS, Cell
from evenhand.analysis.material import Fitted
from evenhand.analysis.planting import SIZES, plant
from evenhand.analysis.relabelling import RELABELLINGS, lay_out_letters
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, contrast_rows, specify
from evenhand.errors import EvenhandError
from evenhand.outcomes.schema import BUNDLE_KEY
from evenhand.seeds import generator
from evenhand.statistics import wilson_interval
from evenhand.statistics.tails import t_two_sided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evenhand.analysis.material import Material
    from evenhand.statistics import MixedModel

GROUP = "Black"
"""The group that the paper plants for."""

ALPHA = 0.05
_BY_CHANCE = "by chance alone one in twenty of such intervals does not"


@dataclass(frozen=True, slots=True)
class Recovered:
    """One planted size, found again.

    Attributes:
        size: In within-cell SDs.
        rows: The contrast after less before with the width of the contrast's own interval (`recovered`), and with the
            interval of the change alone (`recovered_paired`).
    """

    size: float
    rows: tuple[Row, ...]

    @property
    def covered(self) -> list[bool | None]:
        """By row, whether its interval covers what was planted; None where there is no interval."""
        return [
            None if row.conf_low is None or row.conf_high is None else row.conf_low <= self.size <= row.conf_high
            for row in self.rows
        ]


def planted_recovery(material: Material, *, domain: str | None = None, group: str = GROUP) -> pl.DataFrame:
    """Plant disparities of known size into a domain's disguised rankings, and find them with one specification.

    Args:
        material: Outcomes and the terms of their analysis.
        domain: The pack; by default the last that has such rankings (in the paper triage).
        group: The level of race that is favoured; where the cell has not got it, its first stands in.

    Returns:
        Tidy rows, sizes in SDs within the cell's bundles of several races. `recovered`: contrast after planting less
        contrast before, with the width
        of the interval that the contrast itself has: what an audit of this size makes of such a disparity.
        `recovered_paired`: the same with the interval of the change alone, in which the answers are the same before
        and after: whether the estimator tells the size. `instrument_check`: the share of sizes that the intervals
        cover, of each kind.
    """
    target = planting_ground(material, domain=domain, group=group)
    if target is None:
        return as_frame([])
    found = [recover(material, *target, size, seed=material.setting.seed) for size in SIZES]
    rows = [row for one in found for row in one.rows]
    return as_frame([*rows, *_instrument_check(found)])


def planting_ground(material: Material, *, domain: str | None = None, group: str = GROUP) -> tuple[Cell, str] | None:
    """The cell that disparities are planted into and the level that is favoured, as `planted_recovery` has them.

    None where the study has no such rankings or no race to favour.
    """
    cells = [cell for cell in material.planned if cell.format in RANKINGS and domain in {None, cell.domain}]
    if not cells:
        return None
    races = [level for factor, level in cells[-1].groups if factor == "race"]
    return (cells[-1], group if group in races else races[0]) if races else None


def recover(material: Material, cell: Cell, group: str, size: float, *, seed: int) -> Recovered:
    """Plant one size into a cell and find it again.

    Args:
        material: What the cell is of; its fit before planting is read.
        cell: Disguised rankings.
        group: The level of race that is favoured.
        size: In within-cell SDs.
        seed: Of the swaps.
    """
    reference = cell.references["race"]
    head = Row("recovered", "race", group, cell.domain, cell.format, POOLED, f"planted {size:.2f}")
    before = material.fitted(cell, "evenhand")
    try:
        # A bundle of one race bears nothing on the contrast of races: what is planted is a size of the others.
        placed = cell.rows.with_row_index("_place")
        key = [name for name in BUNDLE_KEY if name in placed.columns]
        mixed = pl.col("race").n_unique().over(key) > 1
        planted = plant(placed.filter(mixed), size=size, group=group, reference=reference, seed=seed)
    except EvenhandError as problem:
        return _nothing(head, size, f"{problem.what} ({problem.where})")
    answered = pl.concat([planted.outcomes, placed.filter(~mixed)]).sort("_place").drop("_place")
    rows = answered.with_columns(y=-pl.col("rank").cast(pl.Float64))
    model = before.specified.model or specify(cell, cell.rows, "evenhand").model
    after = _fit_again(cell, before, model, rows)
    contrasts = [
        next(
            row
            for row in contrast_rows(cell, fitted.fit, "evenhand", trouble=fitted.trouble)
            if (row.term, row.group) == ("race", group)
        )
        for fitted in (before, after)
    ]
    old, new = contrasts
    if old.estimate is None or new.estimate is None or new.conf_low is None or not new.std_error:
        return _nothing(head, size, f"not estimated: {new.note or old.note}")
    sd, change = planted.sd, new.estimate - old.estimate
    told = (
        f"{planted.swapped} bundles swapped, which changed the raw contrast by {planted.change / sd:.3f} SD; "
        f"one SD is {sd:.4g} positions; contrast before {old.estimate / sd:+.3f}, after {new.estimate / sd:+.3f}"
    )
    head = replace(head, estimate=change / sd, n=new.n)
    reach = (new.estimate - new.conf_low) / sd
    whole = replace(
        head,
        **_interval(change, new.std_error, new.df, sd),
        conf_low=change / sd - reach,
        conf_high=change / sd + reach,
        method="evenhand: contrast after less before, interval as wide as the contrast's; SDs",
        note=told,
    )
    return Recovered(size, (whole, _paired(model, rows, replace(head, note=told), group, change, sd)))


def _fit_again(cell: Cell, before: Fitted, model: MixedModel | None, rows: pl.DataFrame) -> Fitted:
    """The fit after planting: the same rows with other ranks, so that nothing is laid out again."""
    if model is None or before.fit is None or model.y.shape != (rows.height,):
        specified = specify(cell, rows, "evenhand")
        return Fitted(specified, specified.model.fit() if specified.model else None)
    return replace(before, fit=model.with_outcome(rows["y"].to_numpy()).fit(before.fit.warm_start))


def _interval(change: float, error: float, df: float | None, sd: float) -> dict[str, float | None]:
    """The error, and the p value of no change."""
    p = float(t_two_sided(change / error, math.inf if df is None else df))
    return {"std_error": error / sd, "df": df, "p_value": p}


def _paired(model: MixedModel | None, rows: pl.DataFrame, head: Row, group: str, change: float, sd: float) -> Row:
    """The interval of the change: the same model of what planting did to each row."""
    head = replace(head, estimand="recovered_paired", method="evenhand: interval of the change of each row; SDs")
    if model is None or model.y.shape != (rows.height,):
        return replace(head, note=f"{head.note}; rows differ before and after: there is no change of each")
    fit = model.with_outcome(rows["y"].to_numpy() - model.y).fit()
    term = f"race{group}"
    found = next((row for row in fit.rows() if row["term"] == term), None)
    if found is None or found["std_error"] is None:
        return replace(head, note=f"{head.note}; {'; '.join(fit.notes)}")
    reach = (found["conf_high_satterthwaite"] - found["estimate"]) / sd
    return replace(
        head,
        **_interval(change, found["std_error"], found["df"], sd),
        conf_low=change / sd - reach,
        conf_high=change / sd + reach,
    )


def _nothing(head: Row, size: float, why: str) -> Recovered:
    rows = (replace(head, note=why), replace(head, estimand="recovered_paired", note=why))
    return Recovered(size, rows)


def _instrument_check(found: list[Recovered]) -> Iterator[Row]:
    """Whether the intervals cover what was planted: read before any null is."""
    for kind in range(2):
        of_kind = found[0].rows[kind]
        covered = {one.size: one.covered[kind] for one in found}
        known = [value for value in covered.values() if value is not None]
        outside = [f"{size:.2f}" for size, value in covered.items() if value is False]
        unknown = [f"{size:.2f}" for size, value in covered.items() if value is None]
        told = [f"{sum(known)} of {len(found)} planted sizes lie in their intervals"]
        told += [f"not {', '.join(outside)} ({_BY_CHANCE})"] if outside else []
        told += [f"{', '.join(unknown)} could not be planted or estimated"] if unknown else []
        yield replace(
            Row("instrument_check", "race", of_kind.group, of_kind.domain, of_kind.format, POOLED),
            estimate=sum(known) / len(known) if known else None,
            n=len(known),
            method=f"share of planted sizes inside the intervals of {of_kind.estimand}",
            note="; ".join(told),
        )


def placebo(material: Material, *, relabellings: int = RELABELLINGS) -> pl.DataFrame:
    """Placebo bundles: names of one race and gender, letters in race's place, profiles as disguised bundles have them.

    Args:
        material: Outcomes and the terms of their analysis.
        relabellings: How often the letters are dealt anew.

    Returns:
        Tidy rows. `placebo_contrast`: each letter against the first, in the rank specification that decides.
        `placebo_rejections`: the share of relabellings in which the test of a letter rejects at 5%, with its Wilson
        interval, and as p value the share whose statistic is as large as the observed one.
    """
    rows: list[Row] = []
    for cell in _placebo_cells(material):
        specified = specify(cell, cell.rows, "evenhand")
        fit = specified.model.fit() if specified.model else None
        for row in contrast_rows(cell, fit, "evenhand", trouble=specified.trouble, estimand="placebo_contrast"):
            rows.append(replace(row, term="pseudo_group", note=row.note.replace("race ", "letter ")))
        rows += _rejections(material, cell, relabellings)
    return as_frame(rows)


def _placebo_cells(material: Material) -> Iterator[Cell]:
    """The placebo rows as cells whose race is the letter, so that they are analysed as rankings of races are."""
    wanted = material.scores.filter(
        pl.col("pseudo_group").is_not_null(),
        pl.col("task").is_in(RANKINGS),
        pl.col("tag") == PRIMARY,
        pl.col("wording_variant").fill_null(BASE) == BASE,
        pl.col("y").is_not_null(),
    )
    for key, part in wanted.group_by("domain", "task", "mode", maintain_order=True):
        domain, task, mode = (str(value) for value in key)
        # Race and gender are constant within a bundle, and so say nothing about its order.
        rows = part.with_columns(race=pl.col("pseudo_group"), gender=pl.lit(None, pl.String))
        first = str(rows["race"].min())
        yield Cell(domain, task, mode, rows, part.clear(), {"race": first})


def _rejections(material: Material, cell: Cell, relabellings: int) -> Iterator[Row]:
    head = Row("placebo_rejections", "pseudo_group", "", cell.domain, cell.format, POOLED)
    told = "letters dealt anew in each square: it speaks for the design, not for the sampling of names"
    letters = lay_out_letters(cell.rows)
    if isinstance(letters, str):
        yield replace(head, note=f"{letters}; {told}")
        return
    rng = generator("placebo", material.setting.seed, cell.domain, cell.format)
    identity = np.tile(np.arange(letters.count), (1, letters.squares, 1))
    observed = np.abs(letters.statistics(identity))[0]
    drawn = np.abs(letters.statistics(letters.draw(relabellings, rng)))
    usable = np.isfinite(drawn).all(axis=1)
    if not usable.any() or not np.isfinite(observed).all():
        yield replace(head, note=f"letters go with positions or strata here: there is no test of them; {told}")
        return
    drawn, made = drawn[usable], int(usable.sum())
    if made < relabellings:
        told = f"{relabellings - made} relabellings mix letters with positions or strata and do not count; {told}"
    rejected = drawn > letters.critical(ALPHA)
    method = (
        f"share of {made} relabellings of {letters.squares} squares that reject at 5%: least squares within "
        "calls, errors clustered on the bundle, Wilson interval"
    )
    for k, label in enumerate(letters.labels[1:]):
        low, high = wilson_interval(int(rejected[:, k].sum()), made) or (None, None)
        as_large = int((drawn[:, k] >= observed[k] * (1 - 1e-9)).sum())
        yield replace(
            head,
            group=label,
            estimate=float(rejected[:, k].mean()),
            conf_low=low,
            conf_high=high,
            p_value=(1 + as_large) / (1 + made),
            n=letters.rows,
            method=method,
            note="; ".join(part for part in (f"observed |t| {observed[k]:.3f}", letters.note, told) if part),
        )
    share = float(rejected.mean())
    yield replace(
        head,
        group="all",
        estimate=share,
        std_error=float(rejected.mean(axis=1).std() / math.sqrt(made)),
        n=letters.rows,
        method=f"{method.split(':', maxsplit=1)[0]}, mean over the letters",
        note="; ".join(part for part in (letters.note, told) if part),
    )
