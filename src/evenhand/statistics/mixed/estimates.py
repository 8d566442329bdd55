"""What a mixed model's fit says, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.matrices import INTERCEPT
from evenhand.statistics.mixed.search import WarmStart, profiled_hessian
from evenhand.statistics.tails import normal_quantile, normal_two_sided, t_quantile, t_two_sided
from evenhand.statistics.tidying import rows_of, table_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from evenhand.statistics.mixed.fit import MixedModel
    from evenhand.statistics.mixed.products import RandomBlock
    from evenhand.statistics.mixed.search import Optimum

FEW_LEVELS = 5
"""Below so many levels a variance is hardly known."""

_CURVED = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class MixedFit:
    """A mixed model's fit.

    Where it did not converge every number is NaN, and `notes` say why; only where nothing varies, or the fixed effects
    fit the outcome exactly, `beta` holds their least-squares estimates, which no standard error goes with.

    Attributes:
        coef_names: Names of the coefficients, p of them; those that the data do not identify are left out.
        beta: Estimates, shape (p,).
        std_errors: Standard errors, shape (p,).
        vcov: The estimates' covariance, shape (p, p).
        variances: By random term, the variance between its levels: under `name` for `(1|name)`, under `race|model` for
            a slope; in the outcome's unit squared. Terms that are not identified are left out.
        covariances: By random term as written, the covariance of its effects, shape (k, k).
        sigma: The residual standard deviation.
        criterion: -2 log restricted likelihood, or full.
        df_satterthwaite: Degrees of freedom by coefficient, shape (p,).
        converged: Whether this is certified as the minimum.
        singular: Whether a covariance is estimated at its boundary.
        not_identified: Random terms and coefficients that the data do not tell.
        reference: The reference level of each factor.
        notes: What a reader must know.
        n: Rows.
        levels: Levels by grouping factor.
        reml: Whether the likelihood was restricted.
        warm_start: Where a search on similar data may begin; None where this one failed.
        parameter_covariance: Of theta and of sigma in units of the least-squares residual's root mean square, shape
            (t + 1, t + 1).
        vcov_gradient: The gradient of `vcov` in the same, shape (t + 1, p, p).
    """

    coef_names: tuple[str, ...]
    beta: NDArray[np.float64]
    std_errors: NDArray[np.float64]
    vcov: NDArray[np.float64]
    variances: Mapping[str, float]
    covariances: Mapping[str, NDArray[np.float64]]
    sigma: float
    criterion: float
    df_satterthwaite: NDArray[np.float64]
    converged: bool
    singular: bool
    not_identified: tuple[str, ...]
    reference: Mapping[str, str]
    notes: tuple[str, ...]
    n: int
    levels: Mapping[str, int]
    reml: bool
    warm_start: WarmStart | None
    parameter_covariance: NDArray[np.float64]
    vcov_gradient: NDArray[np.float64]

    def tidy(self) -> pl.DataFrame:
        """One row a coefficient: Wald z, and beside it t with Satterthwaite's degrees of freedom.

        Columns: term, estimate, std_error, conf_low, conf_high, p_value, df, conf_low_satterthwaite,
        conf_high_satterthwaite, p_value_satterthwaite, n, method, note.
        """
        return table_of(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `tidy`, missing numbers None."""
        return _rows(self, self.coef_names, self.beta, self.std_errors, self.df_satterthwaite)

    def contrast(self, weights: Mapping[str, float], *, name: str = "contrast") -> pl.DataFrame:
        """A weighted sum of coefficients, as one tidy row.

        Args:
            weights: A weight by coefficient; those not named weigh nothing.
            name: The row's term.

        Raises:
            InputError: A coefficient that is not there.
        """
        stray = next((term for term in weights if term not in self.coef_names), None)
        if stray is not None:
            raise InputError(
                f"there is no coefficient {stray!r}", where="contrast", mend=f"Use {', '.join(self.coef_names)}"
            )
        weigh = np.array([weights.get(term, 0.0) for term in self.coef_names], dtype=np.float64)
        if not np.isfinite(weigh).all() or not weigh.any():
            raise InputError("no coefficient has a finite weight", where="contrast", mend="Give one other than 0")
        variance = np.atleast_1d(weigh @ self.vcov @ weigh)
        gradient = np.einsum("i,kij,j->k", weigh, self.vcov_gradient, weigh)[:, None]
        df = _satterthwaite(variance, gradient, self.parameter_covariance)
        return table_of(_rows(self, (name,), np.atleast_1d(weigh @ self.beta), np.sqrt(variance), df))


def mixed_fit(model: MixedModel, kept: Sequence[int], left_out: Mapping[int, str], optimum: Optimum) -> MixedFit:
    """The estimates at a certified minimum, in the outcome's units."""
    at, turn, scale = optimum.at, model.turn, model.scale
    blocks = [model.blocks[i] for i in kept]
    variance = at.square / at.df * scale**2
    vcov = variance * turn @ at.spread @ turn.T
    by_theta = variance * turn @ optimum.spread_gradient @ turn.T
    by_sigma = 2 * np.sqrt(at.df / at.square) * vcov
    gradient = np.concatenate([by_theta, by_sigma[None]])
    parameters = 2 * _pseudo_inverse(optimum.hessian)
    diagonal = np.diag(vcov)
    covariances = _covariances(blocks, optimum, variance)
    constant = 2 * at.df * np.log(scale) - (2 * np.linalg.slogdet(turn)[1] if model.reml else 0.0)
    boundary = _boundary(blocks, optimum.ranks)
    return MixedFit(
        coef_names=model.coef_names,
        beta=turn @ (at.beta * scale + model.offset),
        std_errors=np.sqrt(diagonal),
        vcov=vcov,
        variances=_variances(blocks, covariances),
        covariances=covariances,
        sigma=float(np.sqrt(variance)),
        criterion=float(at.value + constant),
        df_satterthwaite=_satterthwaite(diagonal, np.einsum("kii->ki", gradient), parameters),
        converged=True,
        singular=bool(boundary),
        not_identified=_not_identified(model, left_out),
        reference=model.reference,
        notes=(*_notes(model, left_out), *boundary),
        n=len(model.y),
        levels=_levels(model),
        reml=model.reml,
        warm_start=WarmStart(optimum.theta, profiled_hessian(optimum.hessian)),
        parameter_covariance=parameters,
        vcov_gradient=gradient,
    )


def exact_fit(model: MixedModel) -> MixedFit:
    """The fit where the fixed effects leave nothing: least-squares estimates, which no variance weighs."""
    spread = float(np.ptp(model.y))
    told = (
        f"the outcome is constant at {model.y[0]:g}"
        if spread == 0
        else "the fixed effects fit the outcome exactly, to rounding at its size"
    )
    if spread and model.absorbed is not None and not np.any(model.offset):
        told = "the outcome is constant within the groups that are taken out"
    fit = failed_fit(model, {}, f"{told}: there is no variation to estimate a standard error from")
    estimates = model.turn @ model.offset
    size = max(float(np.abs(model.y).max()), 1e-300)
    return replace(fit, beta=np.where(np.abs(estimates) < 1e-10 * size, 0.0, estimates))


def failed_fit(model: MixedModel, left_out: Mapping[int, str], trouble: str) -> MixedFit:
    """A fit without numbers, and why."""
    p = len(model.coef_names)
    nothing = np.full(p, np.nan)
    return MixedFit(
        coef_names=model.coef_names,
        beta=nothing,
        std_errors=nothing,
        vcov=np.full((p, p), np.nan),
        variances={},
        covariances={},
        sigma=float("nan"),
        criterion=float("nan"),
        df_satterthwaite=nothing,
        converged=False,
        singular=False,
        not_identified=_not_identified(model, left_out),
        reference=model.reference,
        notes=(*_notes(model, left_out), f"no fit: {trouble}"),
        n=len(model.y),
        levels=_levels(model),
        reml=model.reml,
        warm_start=None,
        parameter_covariance=np.full((1, 1), np.nan),
        vcov_gradient=np.full((1, p, p), np.nan),
    )


def _rows(
    fit: MixedFit,
    terms: Sequence[str],
    estimates: NDArray[np.float64],
    errors: NDArray[np.float64],
    df: NDArray[np.float64],
) -> list[dict[str, Any]]:
    statistic = np.divide(estimates, errors, out=np.full_like(estimates, np.nan), where=errors > 0)
    reach, reach_t = normal_quantile(0.975) * errors, t_quantile(0.975, df) * errors
    numbers = {
        "estimate": estimates,
        "std_error": errors,
        "conf_low": estimates - reach,
        "conf_high": estimates + reach,
        "p_value": normal_two_sided(statistic),
        "df": df,
        "conf_low_satterthwaite": estimates - reach_t,
        "conf_high_satterthwaite": estimates + reach_t,
        "p_value_satterthwaite": t_two_sided(statistic, df),
    }
    method = f"linear mixed model, {'REML' if fit.reml else 'ML'}"
    return rows_of(terms, numbers, n=fit.n, method=method, note="; ".join(fit.notes))


def _satterthwaite(
    variances: NDArray[np.float64], gradient: NDArray[np.float64], parameters: NDArray[np.float64]
) -> NDArray[np.float64]:
    """2 v^2 / Var(v) for variances v of estimates, shape (p,), by the delta method.

    Args:
        variances: Shape (p,).
        gradient: Their gradient in theta and sigma, shape (t + 1, p).
        parameters: The covariance of theta and sigma, shape (t + 1, t + 1).
    """
    spread = np.einsum("kp,kl,lp->p", gradient, parameters, gradient)
    return 2 * variances**2 / spread


def _pseudo_inverse(hessian: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inverse along directions that curve upwards, as lmerTest has it."""
    # Each parameter in units of its own curvature: those of a large variance curve little, and are as well known.
    size = np.sqrt(np.maximum(np.diag(hessian), 0.0))
    known = np.flatnonzero(size > 0)
    unit = size[known]
    values, vectors = np.linalg.eigh(hessian[np.ix_(known, known)] / np.outer(unit, unit))
    curved = values > _CURVED
    found = np.zeros_like(hessian)
    inverse = (vectors[:, curved] / values[curved]) @ vectors[:, curved].T
    found[np.ix_(known, known)] = inverse / np.outer(unit, unit)
    return found


def _covariances(blocks: Sequence[RandomBlock], optimum: Optimum, variance: float) -> dict[str, NDArray[np.float64]]:
    found: dict[str, NDArray[np.float64]] = {}
    place = 0
    for block in blocks:
        k = block.width
        factor = np.zeros((k, k))
        size = k * (k + 1) // 2
        factor[np.tril_indices(k)] = optimum.theta[place : place + size]
        place += size
        found[block.label] = variance * (block.turn @ factor) @ (block.turn @ factor).T
    return found


def _variances(blocks: Sequence[RandomBlock], covariances: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    return {
        block.group if effect == INTERCEPT else f"{effect}|{block.group}": float(covariances[block.label][k, k])
        for block in blocks
        for k, effect in enumerate(block.effects)
    }


def _boundary(blocks: Sequence[RandomBlock], ranks: Sequence[int]) -> tuple[str, ...]:
    notes: list[str] = []
    for block, rank in zip(blocks, ranks, strict=True):
        if rank == block.width:
            continue
        if block.width == 1:
            told = f"the variance of {block.label} is estimated at zero, and degrees of freedom do not count it"
        else:
            told = f"the covariance of {block.label} has rank {rank} of {block.width}"
        notes.append(f"singular: {told}")
    return tuple(notes)


def _not_identified(model: MixedModel, left_out: Mapping[int, str]) -> tuple[str, ...]:
    return (*(model.blocks[i].label for i in sorted(left_out)), *model.lost)


def _notes(model: MixedModel, left_out: Mapping[int, str]) -> tuple[str, ...]:
    told = [f"{model.blocks[i].label} is not identified and left out: {left_out[i]}" for i in sorted(left_out)]
    kept = {block.group for i, block in enumerate(model.blocks) if i not in left_out}
    few = [
        f"{group} has {count} levels: its variance is hardly known"
        for group, count in _levels(model).items()
        if 1 < count < FEW_LEVELS and group in kept
    ]
    return (*model.remarks, *told, *few)


def _levels(model: MixedModel) -> dict[str, int]:
    """Levels that have rows, by grouping factor."""
    found: dict[str, int] = {}
    for i, block in enumerate(model.blocks):
        filled = model.products.zz[i, i].diagonal().reshape(-1, block.width).sum(axis=1)
        found[block.group] = int((filled > 1e-9).sum())
    return found
