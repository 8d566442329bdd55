"""How much a contrast differs between respondents: a pooled number never speaks for one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.analysis.focal import UNITS
from evenhand.analysis.rows import Row
from evenhand.analysis.specifications import POOLED, contrast_rows
from evenhand.statistics import summarise_effects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.analysis.focal import Cell
    from evenhand.analysis.material import Fitted
    from evenhand.statistics.heterogeneity import Method

_METHODS: dict[Method, str] = {"dl": "DerSimonian-Laird", "pm": "Paule-Mandel"}
_SHARED = "respondents saw the same stimuli: what their errors share is counted as none, and tau leans to zero"


def heterogeneity_rows(cell: Cell, by_model: Mapping[str, Fitted]) -> Iterator[Row]:
    """For each contrast of a cell, the SD of the respondents' true contrasts (tau), by two estimators.

    Args:
        cell: The cell.
        by_model: The fit of each respondent's rows alone, in the specification that decides.

    Yields:
        Rows of estimand `tau`, with the 95% Q-profile interval, and Cochran's test that all are equal.
    """
    alone = {
        model: {
            (row.term, row.group): row
            for row in contrast_rows(cell, fitted.fit, "evenhand", model=model, trouble=fitted.trouble)
        }
        for model, fitted in by_model.items()
    }
    for factor, group in cell.groups:
        known = {
            model: (row.estimate, row.std_error)
            for model, rows in alone.items()
            if (row := rows[factor, group]).estimate is not None and row.std_error
        }
        effects = [float(estimate or 0.0) for estimate, _ in known.values()]
        errors = [float(error or 0.0) for _, error in known.values()]
        missing = sorted(set(by_model) - set(known))
        lost = f"without {', '.join(missing)}, whose contrast has no error" if missing else ""
        for method, name in _METHODS.items():
            head = Row("tau", factor, group, cell.domain, cell.format, POOLED, n=len(effects))
            yield _tau(head, effects, errors, method, f"{name}, Q-profile interval; {UNITS[cell.format]}", lost)


def _tau(head: Row, effects: list[float], errors: list[float], method: Method, said: str, lost: str) -> Row:
    if len(effects) < 2:
        told = f"{len(effects)} respondents with a contrast say nothing about how respondents differ"
        return replace(head, method=said, note="; ".join(part for part in (told, lost) if part))
    found = summarise_effects(effects, errors, method=method)
    mean = f"mean {found.estimate:+.4g} [{found.conf_low:+.4g}, {found.conf_high:+.4g}], Q {found.q:.3g}"
    return replace(
        head,
        estimate=found.tau,
        conf_low=found.tau_low,
        conf_high=found.tau_high,
        p_value=found.q_p_value,
        method=said,
        note="; ".join(part for part in (mean, _SHARED, lost) if part),
    )
