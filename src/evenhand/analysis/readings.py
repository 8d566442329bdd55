"""From what an estimator prints to rows of results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.rows import Row

_NUMBERS = ("estimate", "std_error", "conf_low", "conf_high")


def joined(*notes: str) -> str:
    """Notes as one, those that are empty left out and none told twice."""
    return "; ".join(dict.fromkeys(note for note in notes if note))


def read_mixed(head: Row, found: Mapping[str, Any], *, note: str = "") -> Row:
    """A row of `MixedFit.tidy` or `contrast`, with Satterthwaite's degrees of freedom.

    Args:
        head: Everything but the numbers.
        found: The tidy row.
        note: What else a reader must know.
    """
    return replace(
        head,
        estimate=found["estimate"],
        std_error=found["std_error"],
        df=found["df"],
        conf_low=found["conf_low_satterthwaite"],
        conf_high=found["conf_high_satterthwaite"],
        p_value=found["p_value_satterthwaite"],
        n=found["n"],
        note=joined(head.note, found["note"], note),
    )


def read_clustered(head: Row, found: Mapping[str, Any], *, note: str = "") -> Row:
    """A row of `ClusteredFit.tidy`; arguments as `read_mixed` has them."""
    names = ("estimate", "std_error", "df", "conf_low", "conf_high", "p_value", "n")
    numbers = {name: found[name] for name in names}
    return replace(head, **numbers, note=joined(head.note, found["note"], note))


def in_sds(row: Row, sd: float, *, of: str) -> Row:
    """The same in standard deviations, its estimand named `<estimand>_d`.

    Args:
        row: In the outcome's own unit.
        sd: The raw standard deviation.
        of: Whose it is.
    """
    if sd <= 0:
        empty = dict.fromkeys((*_NUMBERS, "df", "p_value"))
        told = joined(row.note, "nothing varies: there is no SD to divide by")
        return replace(row, estimand=f"{row.estimand}_d", **empty, note=told)
    numbers = {name: None if (value := getattr(row, name)) is None else value / sd for name in _NUMBERS}
    return replace(
        row, estimand=f"{row.estimand}_d", **numbers, method=f"{row.method}, over the raw SD of {of}: {sd:.4g}"
    )


def pooled_and_each(models: Sequence[str], pooled: str) -> list[str]:
    """`pooled` and, where there are several respondents, each of them."""
    return [pooled, *(models if len(models) > 1 else [])]
