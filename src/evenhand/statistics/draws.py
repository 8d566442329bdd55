"""What a bootstrap drew: estimates from a sample, from its resamples, and without each cluster in turn."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from math import isnan
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import polars as pl

from evenhand.errors import InputError
from evenhand.tables import some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Kind = Literal["percentile", "bca"]
NO_VARIATION = "no variation"
ROUNDING = 1e-12
"""What moves less than this, relative to its size, does not move."""


@dataclass(frozen=True, slots=True)
class BootstrapDraws:
    """Estimates from a sample, from its resamples, and without each cluster in turn.

    Attributes:
        names: Of the estimates, k of them.
        estimate: From the sample, shape (k,).
        draws: From the resamples in which all estimates are finite, shape (kept replicates, k).
        kept: Which resamples these are, shape (replicates,).
        without: The estimates without each cluster, shape (clusters, k); NaN where they are not defined.
        resamples: A digest of clusters and draws: two records that have it in common are of the same resamples.
        remarks: What a reader must know of the data.
    """

    names: tuple[str, ...]
    estimate: NDArray[np.float64]
    draws: NDArray[np.float64]
    kept: NDArray[np.bool_]
    without: NDArray[np.float64]
    resamples: str
    remarks: tuple[str, ...] = ()

    @property
    def clusters(self) -> int:
        """How many clusters were drawn from."""
        return len(self.without)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which estimates differ between resamples by more than rounding, shape (k,)."""
        spread = np.abs(self.draws - self.estimate).max(axis=0)
        return spread > ROUNDING * np.abs(self.draws).max(axis=0)

    @property
    def std_error(self) -> NDArray[np.float64]:
        """SD of the draws, shape (k,); 0 exactly where nothing varies."""
        return np.where(self.varies, self.draws.std(axis=0, ddof=1), 0.0)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of any of the estimates must know: the remarks, and how many replicates are left out."""
        out = int((~self.kept).sum())
        if not out:
            return self.remarks
        left = (
            "is left out: an estimate is not defined in it"
            if out == 1
            else ("are left out: an estimate is not defined in them")
        )
        lost = f"{out} of {len(self.kept)} replicates {left}"
        return (*self.remarks, lost)

    @property
    def note(self) -> str:
        """The caveats, and in one line how many estimates do not vary; empty where there is nothing."""
        still = int((~self.varies).sum())
        total = len(self.names)
        variation = (NO_VARIATION if still == total else f"{NO_VARIATION} in {still} of {total} estimates",)
        return "; ".join((*self.caveats, *(variation if still else ())))

    def select(self, names: Sequence[str]) -> BootstrapDraws:
        """Some of the estimates, as a family of their own over the same resamples.

        Raises:
            InputError: A name that is not there.
        """
        stray = next((name for name in names if name not in self.names), None)
        if stray is not None or not names:
            raise InputError(
                f"there is no estimate {stray!r}" if names else "no estimate is named",
                where="bootstrap",
                mend=f"Name some of {some(self.names)}",
            )
        at = [self.names.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            estimate=self.estimate[at],
            draws=self.draws[:, at],
            without=self.without[:, at],
        )

    def intervals(self, *, level: float = 0.95, kind: Kind = "percentile") -> pl.DataFrame:
        """An interval for each estimate alone.

        Args:
            level: Coverage.
            kind: `percentile`, or `bca` for bias-corrected and accelerated (Efron 1987), the acceleration from leaving
                out clusters.

        Returns:
            One row an estimate: term, estimate, std_error, conf_low, conf_high, clusters, replicates, note. An
            estimate without variation has itself for both ends. Ends are missing, and the note says why, where BCa is
            not defined.

        Raises:
            InputError: A level outside 0 to 1, or an unknown kind.
        """
        require_level(level)
        if kind not in {"percentile", "bca"}:
            raise InputError(f"unknown interval {kind!r}", where="bootstrap", mend="Use percentile or bca")
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        ends = np.full((2, len(self.names)), np.nan)
        notes: list[str] = []
        for k, varies in enumerate(self.varies):
            shares, note = (tails, "") if kind == "percentile" else self._bca(k, tails)
            if not varies:
                ends[:, k], note = self.estimate[k], NO_VARIATION
            elif not note:
                ends[:, k] = np.quantile(self.draws[:, k], shares)
            notes.append("; ".join((*self.caveats, *([note] if note else []))))
        return self.frame(conf_low=ends[0], conf_high=ends[1]).with_columns(note=pl.Series(notes, dtype=pl.String))

    def frame(self, **columns: NDArray[np.float64]) -> pl.DataFrame:
        """Rows of estimates with further columns of numbers, shape (k,) each; NaN becomes missing."""
        table = {"term": list(self.names), "estimate": self.estimate, "std_error": self.std_error, **columns}
        return (
            pl.DataFrame(table)
            .with_columns(pl.selectors.float().fill_nan(None))
            .with_columns(clusters=pl.lit(self.clusters), replicates=pl.lit(len(self.draws)))
        )

    def _bca(self, k: int, tails: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
        """Which quantiles of the draws are the ends, or why there are none (Efron 1987, equations 2.3 and 6.6)."""
        from scipy.special import ndtr, ndtri

        draws, estimate, without = self.draws[:, k], self.estimate[k], self.without[:, k]
        if not np.isfinite(without).all():
            return tails, "no BCa interval: the estimate is not defined without one of the clusters"
        # Draws that equal the estimate count half, as in scipy.
        below = float((draws < estimate).mean() + (draws <= estimate).mean()) / 2
        apart = without.mean() - without
        size = float((apart**2).sum())
        if not 0 < below < 1 or size == 0:
            return tails, "no BCa interval: all draws are on one side of the estimate, or no cluster matters"
        bias, acceleration = float(ndtri(below)), float((apart**3).sum()) / (6 * size**1.5)
        shifted = bias + ndtri(tails)
        return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)), dtype=np.float64), ""


def require_level(level: float, *, where: str = "bootstrap") -> None:
    """Refuse a coverage outside 0 to 1 by an InputError."""
    if not (isinstance(level, (int, float)) and 0 < level < 1):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"no interval covers {level}", where=where, mend="Give a level between 0 and 1")


def require_count(value: object, what: str, *, least: int = 1, where: str) -> None:
    """Refuse what is no whole number, or too small a one, by an InputError."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{what} is {value!r}", where=where, mend=f"Give a whole number, {least} or more")


def require_generator(rng: object, where: str) -> None:
    """Refuse what draws no random numbers by an InputError."""
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng is {rng!r}, no generator", where=where, mend="Give numpy.random.default_rng(seed)")


def cells_of(values: Any, what: str, *, where: str) -> list[Any]:
    """The values of a flat sequence of any kind, numpy's, polars' and pandas' among them; missing ones are None.

    Raises:
        InputError: No such sequence.
    """
    cells: Any
    try:
        if hasattr(values, "tolist"):
            cells = values.tolist()
        else:
            cells = values.to_list() if hasattr(values, "to_list") else list(values)
    except TypeError:
        cells = None
    flat = cast("list[Any] | None", cells if isinstance(cells, list) else None)
    if flat is None or not all(isinstance(cell, Hashable) for cell in flat):
        raise InputError(f"the {what} are no flat sequence", where=where, mend="Give a list or a column")
    gone: list[bool] = values.isna().tolist() if hasattr(values, "isna") else [_is_nan(cell) for cell in flat]
    return [None if missing else cell for cell, missing in zip(flat, gone, strict=True)]


def _is_nan(cell: object) -> bool:
    return isinstance(cell, float) and isnan(cell)


def numbers_of(values: Any, what: str, *, where: str) -> NDArray[np.float64]:
    """The numbers of a flat sequence of any kind, shape (n,); missing ones are NaN.

    Raises:
        InputError: No such sequence, or one that holds something else than numbers.
    """
    cells = cells_of(values, what, where=where)
    try:
        if not any(isinstance(cell, (str, bytes)) for cell in cells):
            return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InputError(f"the {what} are no numbers", where=where, mend="Give a list or a column of numbers")
