"""Cross-products of a mixed model: all that its criterion needs of the data, whatever the number of rows.

Step 1 of 4: products -> criterion -> search -> fit.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.matrices import design_matrix, independent, level_codes, orthonormal, written

_ROUNDING = 1e-13

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from evenhand.statistics.formulas import RandomTerm


@dataclass(frozen=True, slots=True)
class RandomBlock:
    """A random term in numbers.

    Attributes:
        label: The term as a formula writes it.
        group: Its grouping columns, joined by colons.
        effects: What varies, k names.
        codes: The level of each row, shape (n,).
        size: Levels, q.
        design: What varies by row, shape (n, k): columns of mean square one, uncorrelated where they can be.
        turn: Effects are `turn @` those of `design`, shape (k, k).
    """

    label: str
    group: str
    effects: tuple[str, ...]
    codes: NDArray[np.int64]
    size: int
    design: NDArray[np.float64]
    turn: NDArray[np.float64]

    @property
    def width(self) -> int:
        """Effects that vary together, k."""
        return len(self.effects)

    def of(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> RandomBlock:
        """The same term in some of the rows, chosen or numbered; levels keep their numbers."""
        return RandomBlock(
            self.label, self.group, self.effects, self.codes[rows], self.size, self.design[rows], self.turn
        )

    def sparse(self) -> Any:
        """Its design as a sparse matrix of shape (n, q k); a level's effects stand side by side."""
        from scipy.sparse import csr_array

        n, k = len(self.codes), self.width
        columns = (self.codes[:, None] * k + np.arange(k)).ravel()
        return csr_array((self.design.ravel(), columns, np.arange(n + 1) * k), shape=(n, self.size * k))


def random_block(table: pl.DataFrame, term: RandomTerm, levels: Mapping[str, tuple[str, ...]]) -> RandomBlock:
    """Lay out a random term."""
    codes, size = level_codes(table[term.group[0]])
    for name in term.group[1:]:
        further, count = level_codes(table[name])
        present, codes = np.unique(codes * count + further, return_inverse=True)
        size = len(present)
    design, effects = design_matrix(table, term.terms, levels)
    if not effects:
        raise InputError(
            f"nothing varies in {write_term(term)}",
            where="formula",
            mend="Write 1 or a column before the bar",
        )
    design, turn = _spread_evenly(design)
    return RandomBlock(write_term(term), ":".join(map(written, term.group)), effects, codes, size, design, turn)


def _spread_evenly(design: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Columns of mean square one, uncorrelated where none is a sum of others, and what leads to them.

    A full covariance of all effects is the same model in any such columns, and years need no centring by hand. Any
    other structure (a diagonal one, say) would be another model in turned columns.
    """
    n, k = (int(size) for size in design.shape)
    if len(independent(design)) == k:
        columns, turn = orthonormal(design)
        return columns * np.sqrt(n), turn * np.sqrt(n)
    scales = np.sqrt((design**2).mean(axis=0))
    scales[scales == 0] = 1.0
    return design / scales, np.diag(1 / scales)


def write_term(term: RandomTerm) -> str:
    """A random term as a formula writes it, without spaces round the bar of an intercept."""
    effects = [":".join(map(written, part)) if part else "1" for part in term.terms]
    if () not in term.terms:
        effects = ["0", *effects]
    bar = "|" if effects == ["1"] else " | "
    return f"({' + '.join(effects)}{bar}{':'.join(map(written, term.group))})"


@dataclass(frozen=True, slots=True)
class Products:
    """Cross-products of the random blocks Z, the fixed columns X and the outcome y.

    Attributes:
        zz: Z_i'Z_j for i <= j, sparse, shape (q_i k_i, q_j k_j).
        zx: Z_i'X, shape (q_i k_i, p).
        zy: Z_i'y, shape (q_i k_i,).
        xx: X'X, shape (p, p).
        xy: X'y, shape (p,).
        yy: y'y.
        n: Rows, less the groups whose means are taken out.
    """

    zz: Mapping[tuple[int, int], Any]
    zx: tuple[NDArray[np.float64], ...]
    zy: tuple[NDArray[np.float64], ...]
    xx: NDArray[np.float64]
    xy: NDArray[np.float64]
    yy: float
    n: int

    @classmethod
    def of(
        cls,
        blocks: Sequence[RandomBlock],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        absorbed: NDArray[np.int64] | None = None,
        signs: NDArray[np.float64] | None = None,
    ) -> Products:
        """Products of rows.

        Args:
            blocks: The random terms.
            x: The fixed columns, shape (n, p).
            y: The outcome, shape (n,).
            absorbed: Groups whose means are taken out of the random terms; out of `x` and `y` they are already.
            signs: By row 1 where it is added and -1 where it is taken away, alike within groups; by default all are
                added.
        """
        sparse = [block.sparse() for block in blocks]
        turned = [(z if signs is None else z * signs[:, None]).T.tocsr() for z in sparse]
        signs = np.ones(len(y)) if signs is None else signs
        pairs = itertools.combinations_with_replacement(range(len(blocks)), 2)
        both = np.column_stack([x, y])
        right = [z @ both for z in turned]
        zz = {(i, j): (turned[i] @ sparse[j]).tocsr() for i, j in pairs}
        n = float(signs.sum())
        if absorbed is not None:
            signed = np.bincount(absorbed, signs) / np.bincount(absorbed)
            zz = _centred(zz, turned, absorbed, signed)
            n -= float(signed.sum())
        signed_x, signed_y = x * signs[:, None], y * signs
        return cls(
            zz,
            tuple(r[:, :-1] for r in right),
            tuple(r[:, -1] for r in right),
            signed_x.T @ x,
            signed_x.T @ y,
            float(signed_y @ y),
            round(n),
        )

    def plus(self, other: Products) -> Products:
        """Products of these rows and others, which may be taken away."""
        return Products(
            {key: _without_rounding(value + other.zz[key], self.n) for key, value in self.zz.items()},
            tuple(a + b for a, b in zip(self.zx, other.zx, strict=True)),
            tuple(a + b for a, b in zip(self.zy, other.zy, strict=True)),
            self.xx + other.xx,
            self.xy + other.xy,
            self.yy + other.yy,
            self.n + other.n,
        )

    def of_terms(self, kept: Sequence[int]) -> Products:
        """Products of some of the random terms."""
        if len(kept) == len(self.zx):
            return self
        pairs = itertools.combinations_with_replacement(range(len(kept)), 2)
        zz = {(a, b): self.zz[kept[a], kept[b]] for a, b in pairs}
        zx, zy = tuple(self.zx[i] for i in kept), tuple(self.zy[i] for i in kept)
        return Products(zz, zx, zy, self.xx, self.xy, self.yy, self.n)

    def orthonormal(self) -> tuple[Products, NDArray[np.float64]]:
        """The same with orthonormal fixed columns, and what leads from the old ones to them, shape (p, p)."""
        step: NDArray[np.float64] = np.linalg.inv(np.linalg.cholesky(self.xx)).T.astype(np.float64)
        zx = tuple(part @ step for part in self.zx)
        xx = step.T @ self.xx @ step
        return Products(self.zz, zx, self.zy, xx, step.T @ self.xy, self.yy, self.n), step

    def with_outcome(self, blocks: Sequence[RandomBlock], x: NDArray[np.float64], y: NDArray[np.float64]) -> Products:
        """The same design with another outcome."""
        zy = tuple(_sums(block, y) for block in blocks)
        return Products(self.zz, self.zx, zy, self.xx, x.T @ y, float(y @ y), self.n)


def _centred(
    zz: Mapping[tuple[int, int], Any],
    turned: Sequence[Any],
    absorbed: NDArray[np.int64],
    signs: NDArray[np.float64],
) -> dict[tuple[int, int], Any]:
    """Z'MZ, M taking the mean of each group out; `signs` by group."""
    from scipy.sparse import csr_array, diags_array

    n, counts = len(absorbed), np.bincount(absorbed)
    members = csr_array((np.ones(n), (np.arange(n), absorbed)))
    sums = [z @ members for z in turned]
    means = [total @ diags_array(signs / counts) for total in sums]
    found: dict[tuple[int, int], Any] = {}
    for (i, j), value in zz.items():
        # What is constant within groups is nought, not rounding.
        found[i, j] = _without_rounding((value - means[i] @ sums[j].T).tocsr(), n)
    return found


def _without_rounding(products: Any, n: int) -> Any:
    products.data[np.abs(products.data) < _ROUNDING * n] = 0.0
    products.eliminate_zeros()
    return products


def group_centred(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values less the mean of their group, exactly nought where they are constant in it.

    Args:
        values: Shape (n,) or (n, p).
        groups: The group of each row, from 0, shape (n,).
    """
    columns = values.reshape(len(values), -1)
    counts = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / counts for column in columns.T])
    left = columns - means[groups]
    left[np.abs(left) < _ROUNDING * np.abs(columns).max(axis=0)] = 0.0
    return left.reshape(values.shape)


def _sums(block: RandomBlock, y: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = [np.bincount(block.codes, block.design[:, k] * y, block.size) for k in range(block.width)]
    return np.column_stack(parts).ravel().astype(np.float64)
