"""Least squares with cluster-robust standard errors.

Clusters stand for what was sampled. Clustered on bundles, errors say nothing about other names than those used: where
names differ by an SD of 0.2, a nominal 95% interval of a race contrast covers 70% of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from evenhand.errors import InputError
from evenhand.statistics.formulas import parse_formula
from evenhand.statistics.matrices import build_matrices, independent, orthonormal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Errors = Literal["cr1", "cr2"]
FOR_THESE_ONLY = "for these names only: names that vary within clusters are taken as fixed"


@dataclass(frozen=True, slots=True)
class ClusteredFit:
    """A least-squares fit.

    Attributes:
        coef_names: Names of the coefficients, p of them; those that the data do not identify are left out.
        beta: Estimates, shape (p,).
        std_errors: Cluster-robust standard errors, shape (p,).
        vcov: Their covariance matrix, shape (p, p).
        df: Degrees of freedom by coefficient, shape (p,): clusters - 1, or Satterthwaite's for `cr2`.
        n: Rows.
        clusters: How many clusters.
        not_identified: Coefficients that are sums of others in these data.
        reference: The reference level of each factor.
        notes: What a reader must know.
    """

    coef_names: tuple[str, ...]
    beta: NDArray[np.float64]
    std_errors: NDArray[np.float64]
    vcov: NDArray[np.float64]
    df: NDArray[np.float64]
    n: int
    clusters: int
    not_identified: tuple[str, ...]
    reference: Mapping[str, str]
    notes: tuple[str, ...]

    def tidy(self) -> pl.DataFrame:
        """One row a coefficient: term, estimate, std_error, df, conf_low, conf_high, p_value, n, note."""
        from scipy.stats import t

        known = self.std_errors > 0
        reach = np.where(known, t.ppf(0.975, self.df) * self.std_errors, np.nan)
        statistic = np.divide(self.beta, self.std_errors, out=np.full_like(self.beta, np.nan), where=known)
        note = "; ".join(self.notes)
        columns = {
            "term": list(self.coef_names),
            "estimate": self.beta,
            "std_error": np.where(known, self.std_errors, np.nan),
            "df": self.df,
            "conf_low": self.beta - reach,
            "conf_high": self.beta + reach,
            "p_value": 2 * t.sf(np.abs(statistic), self.df),
        }
        table = pl.DataFrame(columns).with_columns(n=pl.lit(self.n), note=pl.lit(note))
        return table.with_columns(pl.selectors.float().fill_nan(None))


def fit_clustered(
    data: Any,
    formula: str,
    *,
    cluster: str,
    errors: Errors = "cr1",
    reference: Mapping[str, str] | None = None,
) -> ClusteredFit:
    """Fit by least squares, with standard errors that allow for any dependence within clusters.

    Args:
        data: A polars or pandas frame.
        formula: `outcome ~ terms`, no random terms.
        cluster: The column of clusters.
        errors: `cr1` multiplies by G/(G-1) (n-1)/(n-p), as Stata, statsmodels and fixest do; `cr2` is Bell and
            McCaffrey's (2002) bias-reduced estimator with Satterthwaite degrees of freedom, for few clusters.
        reference: The reference level of factors.

    Raises:
        InputError: A formula or data that cannot be used, a single cluster, or fewer rows than coefficients.
    """
    if errors not in {"cr1", "cr2"}:
        raise InputError(f"unknown errors {errors!r}", where="clustered", mend="Use cr1 or cr2")
    laid = lay_out(data, formula, cluster=cluster, reference=reference)
    y, pieces = laid.y, laid.pieces
    x, turn = orthonormal(laid.x)
    fitted = x.T @ y
    residuals = y - x @ fitted
    beta = turn @ fitted
    vcov, df = _cr1(x, residuals, turn, laid) if errors == "cr1" else _cr2(x, residuals, turn, pieces)
    return ClusteredFit(
        laid.coef_names,
        beta,
        np.sqrt(np.clip(np.diag(vcov), 0, None)),
        vcov,
        df,
        len(y),
        len(pieces),
        laid.lost,
        laid.reference,
        _notes(laid.remarks, laid.lost, y),
    )


@dataclass(frozen=True, slots=True)
class Layout:
    """A clustered model in numbers.

    Attributes:
        y: The outcome, shape (n,).
        x: The identified columns of the design, shape (n, p).
        coef_names: Their names.
        lost: Names of columns that are sums of others.
        pieces: The rows of each cluster.
        labels: What each cluster is called.
        reference: The reference level of each factor.
        remarks: What was left out of the data.
    """

    y: NDArray[np.float64]
    x: NDArray[np.float64]
    coef_names: tuple[str, ...]
    lost: tuple[str, ...]
    pieces: list[NDArray[np.int64]]
    labels: tuple[str, ...]
    reference: Mapping[str, str]
    remarks: tuple[str, ...]

    @property
    def correction(self) -> float:
        """The factor of CR1 errors, G/(G-1) (n-1)/(n-p)."""
        n, p = (int(size) for size in self.x.shape)
        groups = len(self.pieces)
        return groups / (groups - 1) * (n - 1) / (n - p)


def lay_out(data: Any, formula: str, *, cluster: str, reference: Mapping[str, str] | None = None) -> Layout:
    """Lay out a clustered model; arguments and errors as `fit_clustered` has them."""
    parsed = parse_formula(formula)
    if parsed.random:
        raise InputError(
            "random terms have no place here", where="formula", mend="Leave them out, or fit a mixed model"
        )
    laid = build_matrices(data, parsed, reference=reference, also=(cluster,))
    kept = independent(laid.x)
    codes = laid.table[cluster].rank("dense").to_numpy().astype(np.int64) - 1
    groups, n, p = int(codes.max()) + 1, len(laid.y), len(kept)
    if groups < 2 or n <= p or p == 0:
        raise InputError(
            f"{n} rows in {groups} cluster{'s' * (groups != 1)} for {p} coefficients",
            where="clustered",
            mend="Give two clusters or more, and more rows than coefficients",
        )
    order = np.argsort(codes, kind="stable")
    pieces = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    lost = tuple(name for k, name in enumerate(laid.coef_names) if k not in set(kept))
    names = tuple(laid.coef_names[k] for k in kept)
    labels = tuple(str(label) for label in laid.table[cluster].unique().sort().to_list())
    return Layout(laid.y, laid.x[:, kept], names, lost, pieces, labels, laid.reference, laid.remarks)


def _notes(remarks: tuple[str, ...], lost: tuple[str, ...], y: NDArray[np.float64]) -> tuple[str, ...]:
    notes = [FOR_THESE_ONLY, *remarks]
    if lost:
        notes.append(f"not identified: {', '.join(lost)}")
    if not np.ptp(y):
        notes.append("the outcome is constant")
    return tuple(notes)


def _cr1(
    x: NDArray[np.float64], residuals: NDArray[np.float64], turn: NDArray[np.float64], laid: Layout
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """From orthonormal columns, shape (n, p), and what leads from them to coefficients, shape (p, p)."""
    scores = np.array([x[rows].T @ residuals[rows] for rows in laid.pieces]) @ turn.T
    vcov: NDArray[np.float64] = laid.correction * scores.T @ scores
    return vcov, np.full(int(x.shape[1]), len(laid.pieces) - 1.0)


def _cr2(
    x: NDArray[np.float64], residuals: NDArray[np.float64], turn: NDArray[np.float64], pieces: list[NDArray[np.int64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Arguments as `_cr1` has them."""
    p = int(x.shape[1])
    adjusted = [_half_inverse(np.eye(len(rows)) - x[rows] @ x[rows].T) @ x[rows] for rows in pieces]
    scores = np.array([a.T @ residuals[rows] for a, rows in zip(adjusted, pieces, strict=True)]) @ turn.T
    vcov: NDArray[np.float64] = scores.T @ scores
    df: NDArray[np.float64] = np.empty(p)
    for k in range(p):
        weights = [a @ turn[k] for a in adjusted]
        shared = np.array([x[rows].T @ w for rows, w in zip(pieces, weights, strict=True)])
        products = np.diag([float(w @ w) for w in weights]) - shared @ shared.T
        df[k] = np.trace(products) ** 2 / float((products**2).sum())
    return vcov, df


def _half_inverse(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The symmetric inverse square root, of directions alone that are not null."""
    values, vectors = np.linalg.eigh(matrix)
    safe = values > 1e-10
    scaled: NDArray[np.float64] = vectors[:, safe] / np.sqrt(values[safe])
    return (scaled @ vectors[:, safe].T).astype(np.float64)
