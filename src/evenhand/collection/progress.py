"""How far a run is, from its units and the ledger alone: no reply is read again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand.collection.runner import is_final
from evenhand.formats.types import STATUSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.ledger import Ledger
    from evenhand.instrument import Unit
    from evenhand.plan import Settings


def summarise(
    units: Sequence[Unit], ledger: Ledger, *, epochs: int, settings: Settings
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Counts by respondent, and by respondent and arm, in units times epochs.

    Args:
        units: The units to count, an instrument's or some of its arms'.
        ledger: The attempts.
        epochs: Repetitions of each unit.
        settings: How they are asked; says how often a malformed answer is asked for again.

    Returns:
        Two lists of rows with `model`, `units` and a count for each status; those by respondent also with `final`
        (needing no further request), `input_tokens` and `output_tokens` over all attempts, the others with `arm`.
    """
    arms = list(dict.fromkeys(unit.arm for unit in units))
    models: list[dict[str, Any]] = []
    by_arm: list[dict[str, Any]] = []
    for respondent in ledger.respondents():
        standings = ledger.standings(respondent)
        counts: dict[str, Counter[str]] = {arm: Counter() for arm in arms}
        final = 0
        for unit in units:
            for epoch in range(1, epochs + 1):
                standing = standings.get((unit.key, epoch))
                counts[unit.arm][standing.status if standing else "missing"] += 1
                final += is_final(standing, settings)
        total = sum(counts.values(), Counter[str]())
        tokens_in, tokens_out = ledger.tokens(respondent)
        models.append(
            {"model": respondent, **_counted(total), "final": final}
            | {"input_tokens": tokens_in, "output_tokens": tokens_out}
        )
        by_arm.extend({"model": respondent, "arm": arm, **_counted(counts[arm])} for arm in arms)
    return models, by_arm


def standing_rows(units: Sequence[Unit], ledger: Ledger, *, epochs: int) -> dict[str, list[Any]]:
    """Every slot with what became of its unit, as columns: what a comparison of groups needs, replies unread."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("model", "arm", "domain", "task", "unit_id", "epoch", "race", "gender", "status")
    }
    for respondent in ledger.respondents():
        standings = ledger.standings(respondent)
        for unit in units:
            for epoch in range(1, epochs + 1):
                standing = standings.get((unit.key, epoch))
                status = standing.status if standing else "missing"
                for slot in unit.slots:
                    row = (respondent, unit.arm, unit.domain, unit.format, unit.unit_id, epoch)
                    for values, cell in zip(columns.values(), (*row, slot.race, slot.gender, status), strict=True):
                        values.append(cell)
    return columns


def _counted(counts: Counter[str]) -> dict[str, int]:
    return {"units": counts.total()} | {status: counts[status] for status in STATUSES}
