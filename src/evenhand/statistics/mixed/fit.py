"""Mixed models: effects of interest beside effects that vary at random over what was sampled.

Step 4 of 4: from a formula and data to estimates, and to words where there are none.
"""

from __future__ import annotations

import functools
import importlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evenhand.errors import InputError
from evenhand.statistics.formulas import Formula, parse_formula
from evenhand.statistics.matrices import INTERCEPT, Matrices, build_matrices, independent, level_codes, orthonormal
from evenhand.statistics.mixed.criterion import Criterion
from evenhand.statistics.mixed.estimates import MixedFit, exact_fit, failed_fit, mixed_fit
from evenhand.statistics.mixed.identification import Identification, identify
from evenhand.statistics.mixed.products import Products, RandomBlock, group_centred, random_block
from evenhand.statistics.mixed.search import Optimum, WarmStart, minimise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

_CONSTANT = 1e-13
_RANK_LOST = 1e-6
_LEFT = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class MixedModel:
    """A mixed model laid out once, to be fitted often: to all rows, without some, with other outcomes.

    Attributes:
        coef_names: Names of the coefficients, p of them.
        lost: Coefficients that are sums of others.
        formula: What was laid out.
        absorb: The column that is absorbed, or None.
        blocks: The random terms.
        design: The fixed columns, shape (n, p).
        x: The same, orthonormal over all rows, shape (n, p).
        turn: Coefficients are `turn @` those of `x`, shape (p, p).
        y: The outcome, shape (n,).
        offset: Least-squares coefficients of `y` on `x`, shape (p,), which are taken out before the search.
        scale: The root mean square of what is left, by which it is divided.
        products: Cross-products of all this.
        identification: Which variances they can tell.
        table: The rows.
        levels: The levels of each factor, the reference first.
        absorbed: The group of each row whose mean is taken out, shape (n,); None where there is none.
        remarks: Notes of the layout.
        reml: Restricted likelihood, or full.
    """

    coef_names: tuple[str, ...]
    lost: tuple[str, ...]
    formula: Formula
    absorb: str | None
    blocks: tuple[RandomBlock, ...]
    design: NDArray[np.float64]
    x: NDArray[np.float64]
    turn: NDArray[np.float64]
    y: NDArray[np.float64]
    offset: NDArray[np.float64]
    scale: float
    products: Products
    identification: Identification
    table: pl.DataFrame
    levels: Mapping[str, tuple[str, ...]]
    absorbed: NDArray[np.int64] | None
    remarks: tuple[str, ...]
    reml: bool

    @property
    def reference(self) -> dict[str, str]:
        """The reference level of each factor."""
        return {name: known[0] for name, known in self.levels.items()}

    def fit(self, start: WarmStart | None = None) -> MixedFit:
        """Estimate the model.

        Args:
            start: Where the search begins: `warm_start` of a fit to similar data.
        """
        if self.scale <= _CONSTANT * max(float(np.abs(self.y).max()), 1e-300):
            return exact_fit(self)
        with single_threaded():
            told = self.identification
            kept = [i for i in range(len(self.blocks)) if i not in told.left_out]
            if told.unsettled:
                return failed_fit(self, told.left_out, _indistinct(self.blocks[i].label for i in told.unsettled))
            try:
                optimum = self._optimum(kept, start)
            except np.linalg.LinAlgError:
                return failed_fit(
                    self, told.left_out, "its equations cannot be solved: nothing varies, or by too little"
                )
        if optimum.flat:
            return failed_fit(self, told.left_out, _indistinct(self.blocks[kept[i]].label for i in optimum.flat))
        if optimum.trouble:
            return failed_fit(self, told.left_out, optimum.trouble)
        return mixed_fit(self, kept, told.left_out, optimum)

    def without(self, column: str, level: object, start: WarmStart | None = None) -> MixedFit:
        """Estimate the model from the rows in which a column is not at a level; nothing is laid out again.

        Args:
            column: A column of the formula.
            level: The value that is left out.
            start: Where the search begins.

        Raises:
            InputError: A column or level that is not there, or too few rows left.
        """
        if column not in self.table.columns:
            raise InputError(
                f"there is no column {column!r} in the model", where="mixed", mend="Name a column of the formula"
            )
        held = self.table[column]
        out = np.zeros(len(self.y), dtype=np.bool_)
        if level is not None:
            out = (held.cast(pl.String) == level if isinstance(level, str) else held == level).to_numpy()
        if not out.any():
            raise InputError(f"no row has {level!r} in {column}", where="mixed", mend="Name a level that is there")
        with single_threaded():
            # Without a level of a factor the others are coded anew: the level may be their reference.
            if column in self.levels:
                with suppress(InputError):
                    return self._coded_anew(~out).fit(start)
            return self._refit(out, start)

    def without_rows(self, out: NDArray[np.bool_], start: WarmStart | None = None) -> MixedFit:
        """Estimate the model from the other rows; nothing is laid out again where every factor keeps its reference.

        Args:
            out: The rows that are left out, shape (n,), in the order of `table`.
            start: Where the search begins.

        Raises:
            InputError: Another shape, or too few rows left.
        """
        if out.shape != self.y.shape or not out.any():
            raise InputError(
                f"a choice of shape {out.shape} among {len(self.y)} rows, or one of none",
                where="mixed",
                mend="Choose one row or more of the table",
            )
        rest = self.table.filter(~out)
        with single_threaded():
            if all((rest[name].cast(pl.String) == known[0]).any() for name, known in self.levels.items()):
                return self._refit(out, start)
            return self._coded_anew(~out).fit(start)

    def with_outcome(self, y: NDArray[np.float64]) -> MixedModel:
        """The same design with another outcome, as simulations ask for.

        Args:
            y: The outcome by row of `table`, shape (n,).

        Raises:
            InputError: Another shape, or a value that is not finite.
        """
        y = np.asarray(y, dtype=np.float64)
        if y.shape != self.y.shape or not np.isfinite(y).all():
            raise InputError(
                f"an outcome of shape {y.shape} for {len(self.y)} rows, or one that is not finite",
                where="mixed",
                mend="Give one finite number a row",
            )
        offset, left, scale = _without_fixed(self.x, _centred(y, self.absorbed))
        products = self.products.with_outcome(self.blocks, self.x, left)
        return replace(self, y=y, offset=offset, scale=scale, products=products)

    def _optimum(self, kept: Sequence[int], start: WarmStart | None) -> Optimum:
        criterion = Criterion(self.products.of_terms(kept), [self.blocks[i].width for i in kept], reml=self.reml)
        size = criterion.parameters
        return minimise(criterion, start if start is not None and start.fits(size) else None)

    def _refit(self, out: NDArray[np.bool_], start: WarmStart | None) -> MixedFit:
        """The fit to the other rows; which variances they can tell is asked where its minimum leaves it in doubt."""
        model = self._without(out)
        told = model.identification
        fit = model.fit(start)
        # At an inner minimum that is not flat, every variance is told.
        if fit.converged and not fit.singular and not told.left_out:
            return fit
        asked = identify(model.products, model.blocks)
        return fit if asked == told else replace(model, identification=asked).fit(start)

    def _without(self, out: NDArray[np.bool_]) -> MixedModel:
        """A model to be fitted at once, and for nothing else; what the data tell is as with all rows."""
        rest = ~out
        if not self.scale:
            return self._of_rows(rest)
        products = self.products.plus(self._taken_away(out) if self.absorbed is None else self._recentred(out))
        if products.n <= len(self.coef_names) or np.linalg.eigvalsh(products.xx)[0] < _RANK_LOST:
            return self._of_rows(rest)
        products, step = products.orthonormal()
        # What is left may vary by no more than the rounding of what was taken away.
        if products.yy - float(products.xy @ products.xy) < _LEFT * self.products.yy:
            return self._of_rows(rest)
        # The rows themselves are read no more: the cross-products are all that a fit needs.
        return replace(
            self,
            turn=self.turn @ step,
            y=self.y[rest],
            offset=np.linalg.solve(step, self.offset),
            products=products,
        )

    def _taken_away(self, out: NDArray[np.bool_]) -> Products:
        """What the cross-products lose with some rows."""
        left = (self.y[out] - self.x[out] @ self.offset) / self.scale
        return Products.of([block.of(out) for block in self.blocks], self.x[out], left, signs=-np.ones(len(left)))

    def _recentred(self, out: NDArray[np.bool_]) -> Products:
        """The same where groups are taken out: each that loses rows goes, and what is left of it comes again."""
        assert self.absorbed is not None
        touched = np.bincount(self.absorbed[out], minlength=int(self.absorbed.max()) + 1)[self.absorbed] > 0
        rows = [np.flatnonzero(touched), np.flatnonzero(touched & ~out)]
        first = int(self.absorbed.max()) + 1
        groups = np.concatenate([self.absorbed[part] + k * first for k, part in enumerate(rows)])
        groups = np.unique(groups, return_inverse=True)[1]
        both = np.concatenate(rows)
        x = group_centred(self.design[both], groups) @ self.turn
        left = (group_centred(self.y[both], groups) - x @ self.offset) / self.scale
        signs = np.repeat([-1.0, 1.0], [len(part) for part in rows])
        return Products.of([block.of(both) for block in self.blocks], x, left, groups, signs)

    def _coded_anew(self, rows: NDArray[np.bool_]) -> MixedModel:
        table = self.table.filter(rows)
        there = {name: set(table[name].cast(pl.String).to_list()) for name in self.levels}
        reference = {
            name: next(level for level in known if level in there[name]) for name, known in self.levels.items()
        }
        laid = build_matrices(table, self.formula, reference=reference, also=_also(self.absorb))
        found = _lay_out(laid, self.formula, self.absorb, reml=self.reml)
        return replace(found, remarks=(*self.remarks, *(note for note in found.remarks if note not in self.remarks)))

    def _of_rows(self, rows: NDArray[np.bool_]) -> MixedModel:
        """The model of some of the rows, laid out anew."""
        blocks = [block.of(rows) for block in self.blocks]
        table = self.table.filter(rows)
        laid = Matrices(self.y[rows], self.design[rows], self.coef_names, self.levels, table, self.remarks)
        absorbed = None if self.absorbed is None else np.unique(self.absorbed[rows], return_inverse=True)[1]
        return _assemble(laid, self.formula, self.absorb, blocks, absorbed, reml=self.reml)


def fit_mixed(
    data: Any,
    formula: str,
    *,
    reml: bool = True,
    reference: Mapping[str, str] | None = None,
    absorb: str | None = None,
) -> MixedFit:
    """Fit a linear mixed model by restricted or full maximum likelihood.

    The outcome is a sum of fixed effects, of random effects (normal, independent between terms and levels, with one
    covariance a term) and of a residual. Profiled penalised least squares: Bates et al. (2015), Journal of Statistical
    Software 67(1); degrees of freedom after Satterthwaite as in Kuznetsova et al. (2017), ibid. 82(13).

    Args:
        data: A polars or pandas frame. Rows with a missing value are left out and counted.
        formula: As lme4 has it: `rating ~ race + gender + (1|profile) + (1 + race|model)`. Factors are coded by
            treatment contrasts.
        reml: Restricted likelihood; full likelihood where False.
        reference: The reference level of factors; by default the first of an enumerated or ordered column, else the
            first in the alphabet.
        absorb: A column whose levels get a fixed effect each, which is taken out and not estimated: the answer in which
            ranks or dollars sum to a constant, so that its n slots bear n - 1 degrees of freedom. What is constant
            within its levels is not identified then.

    Raises:
        InputError: A formula or data that cannot be used, or fewer rows than coefficients.
    """
    return lay_out_mixed(data, formula, reml=reml, reference=reference, absorb=absorb).fit()


def lay_out_mixed(
    data: Any,
    formula: str,
    *,
    reml: bool = True,
    reference: Mapping[str, str] | None = None,
    absorb: str | None = None,
) -> MixedModel:
    """Lay out a mixed model for many fits; arguments and errors as `fit_mixed` has them."""
    parsed = parse_formula(formula)
    if not parsed.random:
        raise InputError(
            "there is no random term", where="formula", mend="Add one as in '(1|name)', or use fit_clustered"
        )
    laid = build_matrices(data, parsed, reference=reference, also=_also(absorb))
    with single_threaded():
        return _lay_out(laid, parsed, absorb, reml=reml)


def leave_one_out(model: MixedModel, fit: MixedFit, column: str) -> dict[str, MixedFit]:
    """Refit without each level of a column in turn.

    Args:
        model: The model.
        fit: Its fit to all rows, where every search begins.
        column: A column of the formula.

    Returns:
        The fit without each level, by level in the order of the alphabet.
    """
    if column not in model.table.columns:
        raise InputError(
            f"there is no column {column!r} in the model", where="mixed", mend="Name a column of the formula"
        )
    found: dict[str, MixedFit] = {}
    for level in model.table[column].unique().sort().to_list():
        try:
            found[str(level)] = model.without(column, level, fit.warm_start)
        except InputError as problem:
            found[str(level)] = failed_fit(model, {}, f"without {level}: {problem.what}")
    return found


@functools.cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # pyright: ignore[reportMissingTypeStubs]

    # scipy brings a BLAS of its own, which the controller sees only if it is loaded.
    importlib.import_module("scipy.linalg")
    return ThreadpoolController()


def single_threaded() -> AbstractContextManager[object]:
    """One BLAS thread: on matrices of a hundred columns, more of them wait for each other."""
    return _controller().limit(limits=1, user_api="blas")


def _also(absorb: str | None) -> tuple[str, ...]:
    return () if absorb is None else (absorb,)


def _lay_out(laid: Matrices, formula: Formula, absorb: str | None, *, reml: bool) -> MixedModel:
    blocks = [random_block(laid.table, term, laid.levels) for term in formula.random]
    if absorb is None:
        return _assemble(laid, formula, None, blocks, None, reml=reml)
    groups, count = level_codes(laid.table[absorb])
    remark = f"a fixed effect for each of {count} levels of {absorb} is taken out"
    laid = replace(laid, remarks=(*laid.remarks, remark))
    return _assemble(laid, formula, absorb, blocks, groups, reml=reml)


def _assemble(
    laid: Matrices,
    formula: Formula,
    absorb: str | None,
    blocks: Sequence[RandomBlock],
    absorbed: NDArray[np.int64] | None,
    *,
    reml: bool,
) -> MixedModel:
    names = laid.coef_names
    centred = _centred(laid.x, absorbed)
    kept = independent(centred)
    groups = 0 if absorbed is None else int(absorbed.max()) + 1
    n, p = len(laid.y) - groups, len(kept)
    if n <= p or p == 0:
        told = f"{len(laid.y)} rows" + (f" in {groups} groups that are taken out" if groups else "")
        raise InputError(
            f"{told} for {p} coefficients", where="mixed", mend="Give more rows than coefficients, and one at least"
        )
    lost = [name for k, name in enumerate(names) if k not in set(kept)]
    if absorbed is not None:
        lost = [name for name in lost if name != INTERCEPT]
    design = laid.x if p == len(names) else laid.x[:, kept]
    columns, turn = orthonormal(centred if p == len(names) else centred[:, kept])
    offset, left, scale = _without_fixed(columns, _centred(laid.y, absorbed))
    products = Products.of(blocks, columns, left, absorbed)
    return MixedModel(
        coef_names=tuple(names[k] for k in kept),
        lost=tuple(lost),
        formula=formula,
        absorb=absorb,
        blocks=tuple(blocks),
        design=design,
        x=columns,
        turn=turn,
        y=laid.y,
        offset=offset,
        scale=scale,
        products=products,
        identification=identify(products, blocks),
        table=laid.table,
        levels=laid.levels,
        absorbed=absorbed,
        remarks=(*laid.remarks, *([f"not identified: {', '.join(lost)}"] if lost else [])),
        reml=reml,
    )


def _centred(values: NDArray[np.float64], groups: NDArray[np.int64] | None) -> NDArray[np.float64]:
    return values if groups is None else group_centred(values, groups)


def _without_fixed(
    x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Least-squares coefficients, and the residual over its root mean square."""
    offset = x.T @ y
    left = y - x @ offset
    again = x.T @ left
    left = left - x @ again
    scale = float(np.sqrt((left**2).mean()))
    return offset + again, left / (scale or 1.0), scale


def _indistinct(labels: Iterable[str]) -> str:
    return f"the data do not tell the parameters of {' and '.join(labels)} apart; write a simpler term"
