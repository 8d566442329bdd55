"""How much effects differ between studies (or models) beyond chance, and what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import numbers_of
from evenhand.tables import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Method = Literal["dl", "pm"]
_WHERE = "heterogeneity"
_APART = 1e70
"""So many times larger or smaller than the typical standard error, squares of squares are out of range."""
_LARGEST_TAU2 = 100.0
"""Upper limit of the search, in units of the effects' own spread and errors."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """A random-effects summary.

    Attributes:
        estimate: The mean effect.
        std_error: Its standard error, given tau.
        conf_low: Lower end of the 95% Wald interval of the mean.
        conf_high: Its upper end.
        tau: SD of the true effects, in the effects' unit.
        tau_low: Lower end of the 95% Q-profile interval (Viechtbauer 2007).
        tau_high: Its upper end.
        q: Cochran's Q.
        q_p_value: That all true effects are equal.
        n: How many effects.
        note: What a reader must know; empty where there is nothing.
    """

    estimate: float
    std_error: float
    conf_low: float
    conf_high: float
    tau: float
    tau_low: float | None
    tau_high: float | None
    q: float
    q_p_value: float | None
    n: int
    note: str = ""


def summarise_effects(effects: Sequence[float], std_errors: Sequence[float], *, method: Method = "dl") -> Heterogeneity:
    """Mean effect and heterogeneity of independent effects.

    Args:
        effects: One a study.
        std_errors: Theirs, positive.
        method: `dl` for DerSimonian and Laird (1986), `pm` for Paule and Mandel (1982).

    Raises:
        InputError: No effects, unequal lengths, errors that are not positive, numbers that are not finite, or sizes too
            far apart to be weighed against each other.
    """
    if method not in {"dl", "pm"}:
        raise InputError(f"unknown method {method!r}", where=_WHERE, mend="Use dl or pm")
    y, s = (numbers_of(given, "effects and errors", where=_WHERE) for given in (effects, std_errors))
    if y.size == 0 or y.shape != s.shape or not (np.isfinite(y).all() and np.isfinite(s).all() and (s > 0).all()):
        raise InputError(
            f"{counted(y.size, 'effect')} and {counted(s.size, 'standard error')} that cannot be summarised",
            where=_WHERE,
            mend="Give as many finite effects as positive standard errors; leave out what could not be estimated",
        )
    from scipy.special import chdtrc

    # About the effect known best, in units of the typical error: nothing hangs on the unit or the origin.
    centre, unit = float(y[s.argmin()]), float(np.median(s))
    y, s = _scaled(y, centre, unit), _scaled(s, 0.0, unit)
    v = s**2
    tau2 = _dersimonian_laird(y, v) if method == "dl" else _paule_mandel(y, v)
    weights = 1 / (v + tau2)
    mean = float(weights @ y / weights.sum()) * unit + centre
    error = float(weights.sum() ** -0.5) * unit
    q = _q(0.0, y, v)
    low, high = (end * unit for end in _profile(y, v)) if y.size > 1 else (None, None)
    return Heterogeneity(
        estimate=mean,
        std_error=error,
        conf_low=mean - 1.959963984540054 * error,
        conf_high=mean + 1.959963984540054 * error,
        tau=float(np.sqrt(tau2)) * unit,
        tau_low=low,
        tau_high=high,
        q=q,
        q_p_value=float(chdtrc(y.size - 1, q)) if y.size > 1 else None,
        n=int(y.size),
        note="" if y.size > 1 else "one effect alone says nothing about heterogeneity",
    )


def _scaled(values: NDArray[np.float64], centre: float, unit: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = (values - centre) / unit
    sizes = np.abs(scaled[scaled != 0])
    if not (np.isfinite(scaled).all() and (sizes < _APART).all() and (centre or (sizes > 1 / _APART).all())):
        raise InputError(
            "effects and standard errors are too far apart in size",
            where=_WHERE,
            mend="Check their units; leave out what is known without error",
        )
    return scaled


def _q(tau2: float, y: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """The generalised Q statistic at a heterogeneity."""
    weights = 1 / (v + tau2)
    return float(weights @ (y - weights @ y / weights.sum()) ** 2)


def _dersimonian_laird(y: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    if y.size < 2:
        return 0.0
    weights = 1 / v
    # The sum of weights less that of their squares over it, without a difference of nearly equal numbers.
    before = np.concatenate([[0.0], np.cumsum(weights[:-1])])
    after = np.concatenate([np.cumsum(weights[:0:-1])[::-1], [0.0]])
    scale = float(weights @ ((before + after) / weights.sum()))
    return max(0.0, (_q(0.0, y, v) - (y.size - 1)) / scale)


def _paule_mandel(y: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    return _solve(float(y.size - 1), y, v) if y.size > 1 else 0.0


def _profile(y: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[float, float]:
    """The 95% Q-profile interval of tau."""
    from scipy.special import chdtri

    low, high = (float(np.sqrt(_solve(float(chdtri(y.size - 1, above)), y, v))) for above in (0.025, 0.975))
    return low, high


def _solve(target: float, y: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """The heterogeneity at which Q, which falls in it, comes to a target; 0 where it is below from the start."""
    from scipy.optimize import brentq

    if _q(0.0, y, v) <= target:
        return 0.0
    upper = _LARGEST_TAU2 * float(np.var(y) + v.max())
    while _q(upper, y, v) > target:
        upper *= 10
    least = 1e-15 * float(v.min())
    return float(brentq(lambda tau2: _q(tau2, y, v) - target, 0.0, upper, xtol=least, rtol=8.9e-16, maxiter=5_000))
