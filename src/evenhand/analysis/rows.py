"""The one shape of a result: a tidy row. Every table and figure is drawn from such rows."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Row:
    """One number and what it takes to read it.

    Attributes:
        estimand: What is estimated, in a word (share_refused, ...).
        term: The factor or contrast it is about.
        group: The level of the factor.
        domain: The pack.
        format: How the answer was asked for.
        model: The respondent, or `pooled`.
        arm: The arm, where the number is of one arm.
        estimate: The number, in the estimand's unit.
        std_error: Its standard error.
        df: Degrees of freedom of its interval; None for a normal one, or where there is no interval.
        conf_low: Lower end of the 95% interval.
        conf_high: Upper end of the 95% interval.
        p_value: Of the test that the note or method names.
        q_value: The p value corrected within its family.
        n: How many units the number rests on.
        method: The estimator or test.
        note: What a reader must know; never empty where a number is missing.
    """

    estimand: str
    term: str = ""
    group: str = ""
    domain: str = ""
    format: str = ""
    model: str = ""
    arm: str = ""
    estimate: float | None = None
    std_error: float | None = None
    df: float | None = None
    conf_low: float | None = None
    conf_high: float | None = None
    p_value: float | None = None
    q_value: float | None = None
    n: int = 0
    method: str = ""
    note: str = ""


_TEXT = ("estimand", "term", "group", "domain", "format", "model", "arm", "method", "note")
SCHEMA = {
    name: pl.String if name in _TEXT else pl.Int64 if name == "n" else pl.Float64 for name in Row.__dataclass_fields__
}
_values = attrgetter(*SCHEMA)


def as_frame(rows: Iterable[Row]) -> pl.DataFrame:
    """Rows as a table with the columns of `Row`, in order."""
    return pl.DataFrame([_values(row) for row in rows], schema=SCHEMA, orient="row")
