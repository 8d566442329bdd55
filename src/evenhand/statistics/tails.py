"""Student's t and the normal distribution as tests and intervals need them.

By `scipy.special`, whose functions `scipy.stats` calls too, after checks of its own that take many times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def t_quantile(share: float, df: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """The quantile of Student's t; normal where degrees of freedom are infinite, NaN where they are.

    Args:
        share: From 0 to 1.
        df: Degrees of freedom, above 0, any shape.
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(df, share), dtype=np.float64)


def t_two_sided(statistic: float | NDArray[np.float64], df: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely a t statistic of this size or more is, either way; arguments broadcast, NaN stays.

    Args:
        statistic: Any shape.
        df: Degrees of freedom, above 0; infinite for normal.
    """
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(df, -np.abs(statistic)), dtype=np.float64)


def t_above(statistic: float | NDArray[np.float64], df: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely a t statistic of this or a larger value is; arguments as `t_two_sided` has them."""
    from scipy.special import stdtr

    return np.asarray(stdtr(df, -np.asarray(statistic)), dtype=np.float64)


def normal_two_sided(statistic: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for a normal statistic."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-np.abs(statistic)), dtype=np.float64)


def normal_quantile(share: float) -> float:
    """The quantile of the normal distribution."""
    from scipy.special import ndtri

    return float(ndtri(share))
