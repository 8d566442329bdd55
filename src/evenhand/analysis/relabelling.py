"""Letters of placebo bundles dealt anew, and the test of each letter in all relabellings at once.

The statistic is that of least squares within calls: an answer's scores sum to a constant, position and stratum are
taken out, and errors are clustered on the bundle. Respondents rank the same bundles, so a relabelling changes the
design of a bundle for all of them together, and one row a slot with its number of answers tells all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from evenhand.statistics.tails import t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELABELLINGS = 1_000
_AT_ONCE = 100
"""Relabellings held at a time."""
_SINGULAR = 1e-9


@dataclass(frozen=True, slots=True)
class Letters:
    """Placebo bundles in numbers, one row a slot, the slots of a bundle together.

    Attributes:
        labels: The letters, k of them; the first is the reference.
        letter: The letter of each slot, shape (units, k).
        square: The square of each unit, counted from 0, shape (units,).
        weight: The answers to each unit, shape (units,).
        y: The mean score of each slot, less its bundle's and what the nuisance tells, shape (units * k,).
        nuisance: Orthonormal columns of position and stratum in weighted rows, shape (units * k, q).
        rows: How many scored rows there are.
        note: What was left out.
    """

    labels: tuple[str, ...]
    letter: NDArray[np.int64]
    square: NDArray[np.int64]
    weight: NDArray[np.float64]
    y: NDArray[np.float64]
    nuisance: NDArray[np.float64]
    rows: int
    note: str

    @property
    def count(self) -> int:
        """How many letters there are."""
        return len(self.labels)

    @property
    def squares(self) -> int:
        """How many squares there are."""
        return int(self.square.max()) + 1

    def draw(self, relabellings: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Letters dealt anew: for each relabelling and square a permutation, shape (relabellings, squares, k)."""
        dealt = np.broadcast_to(np.arange(self.count), (relabellings, self.squares, self.count))
        return rng.permuted(dealt, axis=2)

    def critical(self, alpha: float) -> float:
        """What a statistic must exceed to reject, two-sided, with bundles - 1 degrees of freedom."""
        return float(t_quantile(1 - alpha / 2, len(self.weight) - 1))

    def statistics(self, permutations: NDArray[np.int64]) -> NDArray[np.float64]:
        """The t statistic of each letter but the first, in each relabelling.

        Args:
            permutations: From `draw`, shape (relabellings, squares, k).

        Returns:
            Shape (relabellings, k - 1); NaN where a relabelling mixes letters with positions or strata.
        """
        parts = [permutations[start : start + _AT_ONCE] for start in range(0, len(permutations), _AT_ONCE)]
        return np.concatenate([self._statistics(part) for part in parts])

    def _statistics(self, permutations: NDArray[np.int64]) -> NDArray[np.float64]:
        units, k = len(self.letter), self.count
        dealt = np.take_along_axis(permutations[:, self.square, :], self.letter[None], axis=2)
        root = np.sqrt(self.weight).repeat(k)
        # Each letter once in a bundle: an indicator less its mean is centred within calls.
        indicators = np.equal(dealt[..., None], np.arange(1, k)).astype(np.float64)
        x = (indicators - 1 / k).reshape(len(permutations), units * k, k - 1) * root[:, None]
        x = np.subtract(x, np.matmul(self.nuisance, np.matmul(self.nuisance.T, x)))
        turned = np.swapaxes(x, 1, 2)
        y = self.y * root
        products = np.matmul(turned, x)
        sizes = np.linalg.eigvalsh(products)
        mixed = sizes[:, 0] < _SINGULAR * np.maximum(sizes[:, -1], 1.0)
        products[mixed] = np.eye(k - 1)
        inverse: NDArray[np.float64] = np.asarray(np.linalg.inv(products), dtype=np.float64)
        beta = np.matmul(inverse, np.matmul(turned, y)[..., None])
        residual = y - np.matmul(x, beta)[..., 0]
        scores = np.multiply(x, residual[..., None]).reshape(len(permutations), units, k, k - 1).sum(axis=2)
        columns = k - 1 + int(self.nuisance.shape[1])
        correction = units / (units - 1) * (self.rows - 1) / (self.rows - columns)
        meat = np.matmul(np.swapaxes(scores, 1, 2), scores)
        spread = correction * np.matmul(np.matmul(inverse, meat), inverse)
        variances = np.diagonal(spread, axis1=1, axis2=2)
        usable = (variances > 0) & ~mixed[:, None]
        errors = np.sqrt(np.where(usable, variances, 1.0))
        return np.where(usable, beta[..., 0] / errors, np.nan)


def lay_out_letters(rows: pl.DataFrame) -> Letters | str:
    """Lay out placebo rows; where nothing can be tested, say why.

    Args:
        rows: Scored rows with pseudo_group, unit, call, position, stratum and y.
    """
    labels = tuple(str(label) for label in rows["pseudo_group"].unique().sort())
    k = len(labels)
    whole = rows.filter((pl.len().over("call") == k) & (pl.col("pseudo_group").n_unique().over("call") == k))
    if k < 2 or whole["unit"].n_unique() < 2:
        return f"{whole['unit'].n_unique()} bundles with each of {k} letters once: nothing to relabel"
    note = f"{rows.height - whole.height} rows of incomplete answers left out" if whole.height < rows.height else ""
    slots = (
        whole.group_by("unit", "position", "pseudo_group", "stratum")
        .agg(pl.col("y").mean(), answers=pl.len())
        .sort("unit", "position")
    )
    columns = k - 1 + sum(max(slots[name].n_unique() - 1, 0) for name in ("position", "stratum"))
    if whole["unit"].n_unique() <= columns:
        return f"{whole['unit'].n_unique()} bundles for {columns} effects: too few to relabel"
    if slots.height != whole["unit"].n_unique() * k or slots["y"].n_unique() < 2:
        return "a bundle's slots differ between answers, or no answer varies: nothing to relabel"
    codes = slots["pseudo_group"].rank("dense").to_numpy().astype(np.int64).reshape(-1, k) - 1
    weight = slots["answers"].to_numpy().astype(np.float64)
    centred = slots.select(pl.col("y") - pl.col("y").mean().over("unit"))["y"]
    nuisance = _nuisance(slots, weight)
    root = np.sqrt(weight)
    weighted = centred.to_numpy() * root
    left = (weighted - nuisance @ (nuisance.T @ weighted)) / root
    return Letters(labels, codes, _squares(codes), weight.reshape(-1, k)[:, 0], left, nuisance, whole.height, note)


def _nuisance(slots: pl.DataFrame, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Position and stratum, centred within bundles, as orthonormal columns of the weighted rows."""
    indicators = slots.select(
        pl.col(name).eq_missing(level).cast(pl.Float64).alias(f"{name}{level}")
        for name in ("position", "stratum")
        for level in slots[name].drop_nulls().unique().sort().to_list()[1:]
    )
    k = slots.height // slots["unit"].n_unique()
    x = indicators.to_numpy().reshape(-1, k, indicators.width)
    x = (x - x.mean(axis=1, keepdims=True)).reshape(slots.height, -1) * np.sqrt(weight)[:, None]
    left, sizes, _ = np.linalg.svd(x, full_matrices=False)
    return left[:, sizes > 1e-9 * sizes.max(initial=0.0)]


def _squares(letter: NDArray[np.int64]) -> NDArray[np.int64]:
    """The square of each bundle: k bundles in a row whose letters form a Latin square, else the bundle alone.

    Args:
        letter: The letter at each position, bundles in their order, shape (units, k).
    """
    units, k = letter.shape
    square = np.empty(units, dtype=np.int64)
    start = number = 0
    while start < units:
        block = letter[start : start + k]
        is_latin = len(block) == k and all(len(set(column)) == k for column in block.T.tolist())
        length = k if is_latin else 1
        square[start : start + length] = number
        start, number = start + length, number + 1
    return square
