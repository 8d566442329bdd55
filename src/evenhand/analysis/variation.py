"""What comes of repeating and of comparing many: run-level variance, and the spread of groups that are alike.

Temperature 0 is not determinism: repeated answers to one unit (epochs) tell how far a contrast moves from run to run.
And the largest of several group means less the smallest is above zero by chance, the more so the more groups there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.analysis.focal import FACTORS, UNITS
from evenhand.analysis.readings import joined, pooled_and_each
from evenhand.analysis.rows import Row, as_frame
from evenhand.analysis.specifications import POOLED, contrast_rows, specify
from evenhand.seeds import generator
from evenhand.statistics.tails import t_quantile, t_two_sided

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Material

DRAWS = 2_000
_SINGULAR = 1e-9
"""Directions that the data do not tell are smaller than this, and left at nought."""
_ONE_EPOCH = "one epoch: how far answers move from run to run cannot be told, and no interval includes it"


def run_variance(material: Material) -> pl.DataFrame:
    """How far the planned contrasts move between epochs, and intervals that include it.

    The contrast is fitted in each epoch. With the mean W of their squared standard errors and their variance B over m
    epochs, the interval has variance W + (1 + 1/m) B and Rubin's (1987) degrees of freedom. W holds the noise of single
    answers already, so the interval errs on the wide side.

    Returns:
        Tidy rows: `run_sd`, the SD of a contrast between epochs; `contrast_with_runs`; `answer_sd`, the SD of repeated
        answers of a respondent to one slot. One row with a note for a cell of one epoch.
    """
    rows: list[Row] = []
    for cell in material.planned:
        head = Row("run_sd", domain=cell.domain, format=cell.format, model=POOLED)
        if cell.rows["epoch"].n_unique() < 2:
            rows.append(
                replace(head, n=cell.rows.height, method=f"between epochs; {UNITS[cell.format]}", note=_ONE_EPOCH)
            )
            continue
        for model in pooled_and_each(cell.models, POOLED):
            answers = cell.rows if model == POOLED else cell.of_model(model)
            rows.append(_answer_row(answers, replace(head, model=model)))
            rows += _between_epochs(cell, answers, replace(head, model=model))
    return as_frame(rows)


def _answer_row(answers: pl.DataFrame, head: Row) -> Row:
    repeated = answers.group_by("slot", "model").agg(
        pl.col("y").var(), pl.col("y").n_unique().alias("values"), pl.len()
    )
    repeated = repeated.filter(pl.col("len") > 1)
    variance = repeated["y"].mean()
    moved = repeated.filter(pl.col("values") > 1).height
    return replace(
        head,
        estimand="answer_sd",
        estimate=sqrt(variance) if isinstance(variance, float) else None,
        n=repeated.height,
        method=f"root of the mean variance of repeated answers; {UNITS[head.format]}",
        note=f"{moved} of {repeated.height} slots were not answered alike in all epochs; no interval",
    )


def _between_epochs(cell: Cell, answers: pl.DataFrame, head: Row) -> Iterator[Row]:
    found: dict[tuple[str, str], list[Row]] = {pair: [] for pair in cell.groups}
    for epoch in answers["epoch"].unique().sort().to_list():
        rows = answers.filter(pl.col("epoch") == epoch)
        specified = specify(cell, rows, "evenhand")
        fit = specified.model.fit() if specified.model else None
        for row in contrast_rows(cell, fit, "evenhand", model=head.model, trouble=specified.trouble):
            found[row.term, row.group].append(row)
    for (factor, group), runs in found.items():
        yield from _combined(runs, replace(head, term=factor, group=group))


def _combined(runs: Sequence[Row], head: Row) -> Iterator[Row]:
    """Rubin's rules over the epochs."""
    known = [(row.estimate, row.std_error) for row in runs if row.estimate is not None and row.std_error is not None]
    lost = len(runs) - len(known)
    told = (
        f"{lost} of {len(runs)} epochs gave no estimate: {next(row.note for row in runs if row.std_error is None)}"
        if lost
        else ""
    )
    method = f"contrast fitted in each of {len(known)} epochs; {UNITS[head.format]}"
    if len(known) < 2:
        yield replace(head, n=len(known), method=method, note=joined(told, "fewer than two epochs can be compared"))
        return
    estimates, errors = np.array(known).T
    m, mean, between, within = (
        len(known),
        float(estimates.mean()),
        float(estimates.var(ddof=1)),
        float((errors**2).mean()),
    )
    yield replace(
        head, estimate=sqrt(between), n=m, method=method, note=joined(told, f"an SD of {m} numbers; no interval")
    )
    extra = (1 + 1 / m) * between
    total = sqrt(within + extra)
    df = (m - 1) * (1 + within / extra) ** 2 if extra > 0 else None
    sampled = min((row.df for row in runs if row.df is not None), default=None)
    # The variance within epochs is itself estimated with the degrees of freedom of one fit.
    df = min((value for value in (df, sampled) if value is not None), default=None)
    reach = float(t_quantile(0.975, df if df is not None else np.inf)) * total
    yield replace(
        head,
        estimand="contrast_with_runs",
        estimate=mean,
        std_error=total,
        df=df,
        conf_low=mean - reach,
        conf_high=mean + reach,
        p_value=float(t_two_sided(mean / total, df if df is not None else np.inf)) if total else None,
        n=m,
        method=f"{method}; Rubin's rules, {len(known)} epochs",
        note=joined(told, "" if extra > 0 else "epochs agree exactly"),
    )


@dataclass(frozen=True, slots=True)
class _Names:
    """Names with what they are worth.

    Attributes:
        effects: Their effects on the score beside all else, shape (names,).
        group: The level of each, by number, shape (names,).
        blocks: The names that may be exchanged with each other, as index arrays.
        levels: How many groups there are.
    """

    effects: NDArray[np.float64]
    group: NDArray[np.int64]
    blocks: list[NDArray[np.int64]]
    levels: int


def arity_null(material: Material) -> pl.DataFrame:
    """The spread of group means (largest less smallest), beside that of as many groups that are alike.

    Names are what is exchanged: their effects, by least squares beside the answer (bundles) or the respondent and
    profile (singles), are dealt to the groups anew within each level of the other factor. In bundles that hold one name
    of each group the effects of names of one group are told less exactly than those of different groups, so that there
    the null errs on the wide side.

    Returns:
        Tidy rows of the planned cells: `spread` with the p value of the permutations, and `spread_null`, their mean,
        with their 2.5th and 97.5th percentiles for ends. Terms `race`, `gender` and `race x gender`.
    """
    rows: list[Row] = []
    for cell in material.planned:
        for model in pooled_and_each(cell.models, POOLED):
            answers = cell.rows if model == POOLED else cell.of_model(model)
            head = Row("spread", domain=cell.domain, format=cell.format, model=model)
            effects = name_effects(cell, answers)
            for columns in (("race",), ("gender",), FACTORS):
                if not _told_apart(cell, answers, columns):
                    told = "not identified: no answer holds several of its levels"
                    rows.append(replace(head, term=" x ".join(columns), note=told))
                    continue
                rng = generator("arity", material.setting.seed, cell.domain, cell.format, model, *columns)
                rows += _spread_rows(effects, columns, replace(head, term=" x ".join(columns)), rng)
    return as_frame(rows)


def _told_apart(cell: Cell, rows: pl.DataFrame, columns: Sequence[str]) -> bool:
    """Whether levels meet within answers, where answers are centred."""
    if not cell.bundled:
        return True
    met = rows.group_by("call").agg(pl.col(column).n_unique() for column in columns)
    return all((met[column] > 1).any() for column in columns)


def name_effects(cell: Cell, rows: pl.DataFrame) -> pl.DataFrame:
    """What each name is worth: columns race, gender, name, effect.

    Args:
        cell: The cell.
        rows: Its rows, or some of them.
    """
    key = [*FACTORS, "name"]
    named = rows.drop_nulls(key).with_columns(pl.concat_str(key, separator="\x1f").alias("who"))
    within = ["call"] if cell.bundled else ["model", "profile"]
    nuisance = ["position", "stratum", "framing"] if cell.bundled else []
    centred = named.select(*key, "who", *nuisance, *within, y=pl.col("y") - pl.col("y").mean().over(within))
    blocks = [_dummies(centred["who"])] + [_dummies(centred[c]) for c in nuisance if centred[c].n_unique() > 1]
    codes = centred.select(pl.struct(within).rank("dense"))[:, 0].to_numpy().astype(np.int64) - 1
    design = np.concatenate(blocks, axis=1)
    sums = np.zeros((int(codes.max(initial=0)) + 1, design.shape[1]))
    np.add.at(sums, codes, design)
    design -= (sums / np.bincount(codes)[:, None])[codes]
    solved = np.linalg.pinv(design.T @ design, rcond=_SINGULAR, hermitian=True) @ (design.T @ centred["y"].to_numpy())
    people = centred.unique("who").sort("who").select(*key)
    # Below this there is rounding alone, and groups that are exactly alike should look it.
    return people.with_columns(effect=pl.Series(solved[: people.height].round(10)))


def _dummies(column: pl.Series) -> NDArray[np.float64]:
    codes = column.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    levels = np.unique(codes)
    return (codes[:, None] == levels).astype(np.float64)


def _spread_rows(effects: pl.DataFrame, columns: Sequence[str], head: Row, rng: np.random.Generator) -> Iterator[Row]:
    names = _names(effects, columns)
    if names is None:
        return
    method = f"largest less smallest of {names.levels} group means of name effects; {UNITS[head.format]}"
    observed = float(_spreads(names.effects[None], names)[0])
    head = replace(head, estimate=observed, n=len(names.effects), method=method)
    if not np.ptp(names.effects) > 1e-12:
        yield replace(head, note="no name differs from another: there is nothing to exchange")
        return
    drawn = np.tile(names.effects, (DRAWS, 1))
    for block in names.blocks:
        drawn[:, block] = rng.permuted(drawn[:, block], axis=1)
    null = _spreads(drawn, names)
    p = float((1 + (null >= observed - 1e-12).sum()) / (1 + DRAWS))
    yield replace(head, p_value=p, note=f"compare with the spread of groups that are alike: {null.mean():.3g}")
    low, high = np.quantile(null, [0.025, 0.975]).tolist()
    yield replace(
        head,
        estimand="spread_null",
        estimate=float(null.mean()),
        conf_low=low,
        conf_high=high,
        method=f"{method}; labels dealt anew over names, {DRAWS:,} times",
        note="the ends are percentiles of the null, no interval of an estimate",
    )


def _names(effects: pl.DataFrame, columns: Sequence[str]) -> _Names | None:
    """None where fewer than two groups have names."""
    others = [factor for factor in FACTORS if factor not in columns]
    group = effects.select(pl.struct([*columns]).rank("dense"))[:, 0].to_numpy().astype(np.int64) - 1
    levels = int(group.max(initial=0)) + 1
    if levels < 2:
        return None
    numbered = effects.with_row_index("at")
    parts = numbered.partition_by(others, maintain_order=True) if others else [numbered]
    blocks = [part["at"].to_numpy().astype(np.int64) for part in parts]
    return _Names(effects["effect"].to_numpy(), group, blocks, levels)


def _spreads(effects: NDArray[np.float64], names: _Names) -> NDArray[np.float64]:
    """Largest less smallest mean, shape (draws,), of effects of shape (draws, names)."""
    means = np.column_stack([effects[:, names.group == level].mean(axis=1) for level in range(names.levels)])
    return np.ptp(means, axis=1)
