"""A domain's ratings and disguised rankings in one fit, each outcome over its own SD.

"The Audit Decides the Verdict" (section 3, "The full interaction family"): a coefficient of group by format is the
group's contrast where applications are rated less that where they are ranked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from evenhand.analysis.focal import FACTORS
from evenhand.analysis.readings import joined
from evenhand.errors import InputError
from evenhand.statistics import fit_clustered, fit_mixed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.focal import Cell

UNIT = "SDs of each format's own rows"

_FORMAT = "format"
_CLUSTERED = "errors clustered on the stimulus (rating) or the bundle (ranking)"


@dataclass(frozen=True, slots=True)
class Pair:
    """A domain's rating cell and its ranking cell.

    Attributes:
        rating: Applications one at a time.
        ranking: Bundles in their disguised presentation.
    """

    rating: Cell
    ranking: Cell

    @property
    def label(self) -> str:
        """The two formats as a difference."""
        return f"{self.rating.format} - {self.ranking.format}"

    @property
    def shared(self) -> list[tuple[str, str]]:
        """Every factor and level that both cells compare with the same reference."""
        there = self.ranking.groups
        return [pair for pair in self.rating.groups if pair in there]

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Every factor and level that either cell compares."""
        return list(dict.fromkeys([*self.rating.groups, *self.ranking.groups]))


@dataclass(frozen=True, slots=True)
class Estimates:
    """Interactions by factor and group: estimate, std_error, df, conf_low, conf_high, p_value; and what to know."""

    found: Mapping[tuple[str, str], Mapping[str, float | None]]
    n: int
    note: str


def stack(pair: Pair) -> pl.DataFrame | None:
    """The rows of both cells, one below the other; `y` over the cell's SD, `cluster` what repeats."""
    parts: list[pl.DataFrame] = []
    for cell, repeats in ((pair.rating, "stimulus"), (pair.ranking, "unit")):
        if cell.sd <= 0:
            return None
        parts.append(
            cell.rows.select(
                pl.col("y") / cell.sd,
                *FACTORS,
                *(pl.col(name).cast(pl.String) for name in ("model", "profile", "name", "stratum", "framing")),
                position=pl.col("position").cast(pl.String) if cell.bundled else pl.lit(None, pl.String),
                format=pl.lit(cell.format),
                cluster=pl.concat_str(pl.lit(cell.format), repeats, separator="\x1f"),
            )
        )
    return pl.concat(parts)


def fit_stacked(pair: Pair, rows: pl.DataFrame) -> Estimates:
    """Profiles as fixed effects: crossed with names, they are noise that a rating need not bear."""
    terms = ["position", "model", "profile", "framing"]
    if not _determines(rows, "profile", "stratum"):
        terms.append("stratum")
    rows, nuisance = _by_format(pair, rows, terms)
    return _least_squares(pair, rows, nuisance)


def fit_additive(pair: Pair, rows: pl.DataFrame) -> Estimates:
    """Position, stratum and respondent as the paper has them: one effect for both formats.

    Where a format has no such column, its rows stand at the first level.
    """
    terms = [term for term in ("position", "stratum", "model", "framing") if rows[term].drop_nulls().n_unique() > 1]
    return _least_squares(pair, rows.with_columns(pl.col(term).fill_null(pl.col(term).min()) for term in terms), terms)


def _least_squares(pair: Pair, rows: pl.DataFrame, nuisance: Sequence[str]) -> Estimates:
    formula = f"y ~ {' + '.join([*_focal(pair), *nuisance])}"
    try:
        fit = fit_clustered(rows, formula, cluster="cluster", reference=_reference(pair))
    except InputError as problem:
        return Estimates({}, 0, problem.what)
    table = {str(row["term"]): row for row in fit.rows()}
    return Estimates(_interactions_in(pair, table, ""), fit.n, joined(_CLUSTERED, *fit.notes, UNIT))


def fit_hierarchical(pair: Pair, rows: pl.DataFrame) -> Estimates:
    """Names and profiles have an intercept that the formats share, and one of each format."""
    rows, nuisance = _by_format(pair, rows, ["position", "stratum", "framing"])
    rows, systems = _by_format(pair, rows, ["model"])
    random = [
        f"(1|{term})"
        for name, terms in (
            ("profile", ("profile", "profile:format")),
            ("name", ("name", "name:format")),
            ("cluster", ("cluster",)),
        )
        if rows[name].n_unique() > 1
        for term in terms
    ]
    random += [f"(1|{name})" for name in systems]
    formula = f"y ~ {' + '.join([*_focal(pair), *nuisance, *random])}"
    try:
        fit = fit_mixed(rows, formula, reference=_reference(pair))
    except InputError as problem:
        return Estimates({}, 0, problem.what)
    if not fit.converged:
        return Estimates({}, fit.n, joined(*fit.notes))
    table = {str(row["term"]): row for row in fit.rows()}
    told = "one residual for both formats, and ranks taken as if they did not sum to a constant"
    return Estimates(_interactions_in(pair, table, "_satterthwaite"), fit.n, joined(told, *fit.notes, UNIT))


def _by_format(pair: Pair, rows: pl.DataFrame, terms: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """Each term as a column for each format in which it varies, at one level in the rows of the other.

    The respondent has no column for rankings: each answer sums to a constant, so that all have the same mean.
    """
    columns: dict[str, pl.Expr] = {}
    for cell in (pair.rating, pair.ranking):
        here = pl.col(_FORMAT) == cell.format
        for term in terms:
            levels = rows.filter(here)[term].drop_nulls().unique().sort()
            if len(levels) < 2 or (term == "model" and cell.bundled):
                continue
            columns[f"{term}_{cell.format}"] = pl.when(here).then(pl.col(term)).otherwise(pl.lit(levels[0]))
    return rows.with_columns(**columns), list(columns)


def _focal(pair: Pair) -> list[str]:
    factors = dict.fromkeys(factor for factor, _ in pair.shared)
    return [*factors, _FORMAT, *(f"{factor}:{_FORMAT}" for factor in factors)]


def _reference(pair: Pair) -> dict[str, str]:
    """The ranking is the reference of the formats, so that an interaction is the rating less the ranking."""
    factors = dict.fromkeys(factor for factor, _ in pair.shared)
    return {factor: pair.rating.references[factor] for factor in factors} | {_FORMAT: pair.ranking.format}


def _interactions_in(
    pair: Pair, table: Mapping[str, Mapping[str, float | None]], suffix: str
) -> dict[tuple[str, str], dict[str, float | None]]:
    found: dict[tuple[str, str], dict[str, float | None]] = {}
    for factor, group in pair.shared:
        row = table.get(f"{factor}{group}:{_FORMAT}{pair.rating.format}")
        if row is not None and row["std_error"] is not None:
            plain = {name: row[name] for name in ("estimate", "std_error", "df")}
            found[factor, group] = plain | {
                name: row[f"{name}{suffix}"] for name in ("conf_low", "conf_high", "p_value")
            }
    return found


def _determines(rows: pl.DataFrame, column: str, other: str) -> bool:
    """Whether a level of a column goes with one level of the other."""
    known = rows.select(column, other).drop_nulls().unique()
    return known.height == known[column].n_unique()
