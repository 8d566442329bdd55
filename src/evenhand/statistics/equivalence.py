"""Equivalence tests, how likely a study sees an effect, and the smallest effect that it can see."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, overload

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.tails import normal_quantile, t_above, t_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 1e-12
"""Chances nearer to 0 or 1 than this are beyond the distributions' precision."""
_FARTHEST = 1e6
_CERTAIN = 1e3
"""Times the critical value: effects of so many standard errors are found with a power that is 1 in all its digits."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether an effect lies within a margin (two one-sided tests, Schuirmann 1987).

    Attributes:
        p_lower: Of the test that the effect is at or below minus the margin.
        p_upper: Of the test that it is at or above the margin.
        p_value: The larger of the two: small where the effect is within the margin.
        conf_low: Lower end of the interval that belongs to the tests (90% where alpha is .05).
        conf_high: Its upper end.
        bound: The far end of that interval in size: within the margin exactly where the test rejects at alpha.
        note: What a reader must know; empty where there is nothing.
    """

    p_lower: float
    p_upper: float
    p_value: float
    conf_low: float
    conf_high: float
    bound: float
    note: str = ""


def equivalence(
    estimate: float, std_error: float, margin: float, *, df: float = inf, alpha: float = 0.05
) -> Equivalence:
    """Two one-sided tests of an estimate against a margin.

    Args:
        estimate: The effect, in any unit.
        std_error: Its standard error, in the same unit; 0 for an effect known exactly.
        margin: The largest effect that counts as none, in the same unit.
        df: Degrees of freedom of the error; infinite for Wald tests.
        alpha: Level of each one-sided test.

    Raises:
        InputError: A margin, level or degrees of freedom that are not positive, or numbers that are not finite.
    """
    _require(isfinite(estimate) and isfinite(std_error) and std_error >= 0, f"estimate {estimate}, error {std_error}")
    _require(isfinite(margin) and margin > 0 and 0 < alpha < 0.5 and df > 0, f"margin {margin}, alpha {alpha}, df {df}")
    if std_error == 0:
        inside = abs(estimate) < margin
        exact = (float(estimate <= -margin), float(estimate >= margin))
        note = "the standard error is zero: there is no variation, and the test compares numbers"
        return Equivalence(*exact, float(not inside), estimate, estimate, abs(estimate), note)
    lower, upper = (estimate + margin) / std_error, (estimate - margin) / std_error
    reach = _quantile(1 - alpha, df) * std_error
    low, high = estimate - reach, estimate + reach
    p_lower, p_upper = _above(lower, df), _above(-upper, df)
    return Equivalence(p_lower, p_upper, max(p_lower, p_upper), low, high, max(abs(low), abs(high)))


@overload
def power_of(effect: float, std_error: float, *, df: float = inf, alpha: float = 0.05) -> float: ...
@overload
def power_of(
    effect: NDArray[np.float64], std_error: float, *, df: float = inf, alpha: float = 0.05
) -> NDArray[np.float64]: ...
def power_of(
    effect: float | NDArray[np.float64], std_error: float, *, df: float = inf, alpha: float = 0.05
) -> float | NDArray[np.float64]:
    """How likely a two-sided test rejects where this is the true effect: both tails of the noncentral t distribution.

    Args:
        effect: One, or an array of any shape, in any unit; its sign does not count.
        std_error: Its standard error, in the same unit, above 0.
        df: Degrees of freedom of the error; infinite for Wald tests.
        alpha: Two-sided level.

    Returns:
        A number for one effect, an array for an array.

    Raises:
        InputError: A standard error, level or degrees of freedom out of range, an effect that is not finite, or numbers
            so extreme that no power can be told.
    """
    found = f"error {std_error}, alpha {alpha}, df {df}"
    _require(isfinite(std_error) and std_error > 0 and _LEAST <= alpha <= 0.5 and df > 0, found)
    sizes = np.abs(np.asarray(effect, dtype=np.float64))
    _require(bool(np.isfinite(sizes).all()), f"effect {effect}")
    with np.errstate(over="ignore"):
        shifts = sizes / std_error
    power = _rejecting(shifts, df, alpha)
    return power if power.ndim else float(power)


def detectable_multiplier(*, df: float = inf, alpha: float = 0.05, power: float = 0.8) -> float:
    """How many standard errors an effect must have to be found with this power: 2.80 with infinite df.

    With finite degrees of freedom `power_of` is solved. With infinite ones it is the usual sum of two normal quantiles,
    which leaves out the far tail: at 80% and 5% the power is larger than asked by 1e-6.

    Args:
        df: Degrees of freedom of the error.
        alpha: Two-sided level.
        power: Probability of a significant result.

    Raises:
        InputError: A level, power or degrees of freedom out of range, or so extreme that no multiple can be told.
    """
    from scipy.optimize import brentq

    found = f"alpha {alpha}, power {power}, df {df}"
    _require(_LEAST <= alpha <= 0.5 and alpha < power <= 1 - _LEAST and df > 0, found)
    if not isfinite(df):
        return normal_quantile(1 - alpha / 2) + normal_quantile(power)

    def short(shift: float) -> float:
        return float(_rejecting(np.asarray(shift), df, alpha)) - power

    if short(0.0) >= 0:
        # A power that is the level but for rounding.
        return 0.0
    upper = 1.0
    while (below := short(upper)) < 0 and upper < _FARTHEST:
        upper *= 2
    _require(below >= 0, found)
    return float(brentq(short, 0.0, upper, xtol=1e-12))


def minimum_detectable_effect(std_error: float, *, df: float = inf, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest effect that is found with this power, in the unit of the standard error.

    Raises:
        InputError: A standard error that is negative or not finite, or as `detectable_multiplier` does.
    """
    _require(isfinite(std_error) and std_error >= 0, f"error {std_error}")
    return detectable_multiplier(df=df, alpha=alpha, power=power) * std_error


def standardised(effect: float, sd: float) -> float | None:
    """An effect over a raw standard deviation: d. None where nothing varies, for which there is no d.

    Raises:
        InputError: A standard deviation that is negative or not finite, or an effect that is not finite.
    """
    _require(isfinite(effect) and isfinite(sd) and sd >= 0, f"effect {effect}, standard deviation {sd}")
    return effect / sd if sd else None


def _rejecting(shifts: NDArray[np.float64], df: float, alpha: float) -> NDArray[np.float64]:
    """How likely a two-sided test rejects, by how many standard errors (0 or more) the true effect is away."""
    from scipy.special import nctdtr, ndtr

    critical = -_quantile(alpha / 2, df)
    if not isfinite(df):
        return np.asarray(ndtr(shifts - critical) + ndtr(-shifts - critical), dtype=np.float64)
    held = np.minimum(shifts, _CERTAIN * max(critical, 1.0))
    # The near tail as the lower one of the mirrored distribution, which is exact where 1 - nctdtr has lost its digits.
    near, far = nctdtr(df, -held, -critical), nctdtr(df, held, -critical)
    # With hardly any degrees of freedom the quantile is beyond floating point, and scipy gives another.
    told = abs(2 * _above(critical, df) - alpha) < 1e-6 * alpha
    _require(told and bool(np.isfinite(near).all()), f"alpha {alpha}, df {df}")
    # The far tail is too small for scipy where it is NaN.
    return np.asarray(np.minimum(near + np.where(np.isnan(far), 0.0, far), 1.0), dtype=np.float64)


def _above(statistic: float, df: float) -> float:
    return float(t_above(statistic, df))


def _quantile(share: float, df: float) -> float:
    return float(t_quantile(share, df))


def _require(condition: bool, found: str) -> None:
    if not condition:
        raise _impossible(found)


def _impossible(found: str) -> InputError:
    return InputError(
        f"impossible numbers ({found})",
        where="equivalence",
        mend="Give finite numbers, a positive margin, levels between 0 and 1, positive df, none of them extreme",
    )
