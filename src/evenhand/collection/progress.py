"""How far a run is, from its units and the ledger alone: no reply is read again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from evenhand.collection.costs import spent
from evenhand.collection.deviations import deviation_rows, error_rows, refusal_rows, served
from evenhand.collection.runner import is_final
from evenhand.formats.types import STATUSES
from evenhand.instrument import asked_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.costs import Prices
    from evenhand.collection.ledger import Ledger
    from evenhand.instrument import Unit
    from evenhand.plan import Settings


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How far a run is.

    Attributes:
        models: A row a respondent: `model`, `units` and a count for each status, `final` (needing no further request),
            `input_tokens`, `output_tokens`, `retried` (units with more than one attempt), `dollars` (None where there
            is no price), `versions` and `backends` (what the provider says it served), `shared_reply_ids` (replies
            whose id another reply has too) and `unsettled_batch_items`.
        arms: Rows with `model`, `arm`, `domain`, `format`, `units` and a count for each status.
        deviations: Rows with `model`, `format`, `deviation`, `calls` and `of`: where calls parted from what was
            asked for.
        errors: Rows with `model`, `reason` and `units`: why units stand as errors, the most frequent reasons first.
        refusals: Rows with `model`, `format`, `parameter`, `value` and `message`: settings that a provider refused.
    """

    models: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    arms: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    deviations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    errors: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    refusals: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def summarise(units: Sequence[Unit], ledger: Ledger, *, epochs: int, settings: Settings, prices: Prices) -> RunStatus:
    """How far a run is, in units times epochs.

    Args:
        units: The units to count, an instrument's or some of its arms'.
        ledger: The attempts.
        epochs: Repetitions of each unit that the study asks for; where more were collected, those count.
        settings: How they are asked; says how often a malformed answer is asked for again.
        prices: What tokens cost.
    """
    costs = spent(ledger, prices)
    formats = {unit.key: unit.format for unit in units}
    kinds = {unit.arm: {"domain": unit.domain, "format": unit.format} for unit in units}
    status = RunStatus(refusals=refusal_rows(ledger))
    for respondent in ledger.respondents():
        counts, final = _count(units, ledger, respondent, max(epochs, ledger.epochs(respondent)), settings)
        tokens_in, tokens_out = ledger.tokens(respondent)
        status.models.append(
            {"model": respondent, **_counted(sum(counts.values(), Counter[str]())), "final": final}
            | {"input_tokens": tokens_in, "output_tokens": tokens_out, "dollars": costs[respondent][0]}
            | served(ledger, respondent)
        )
        status.arms.extend(
            {"model": respondent, "arm": arm, **kinds[arm], **_counted(count)} for arm, count in counts.items()
        )
        status.errors.extend(error_rows(ledger, respondent))
        status.deviations.extend(deviation_rows(ledger, respondent, formats))
    return status


def _count(
    units: Sequence[Unit], ledger: Ledger, respondent: str, epochs: int, settings: Settings
) -> tuple[dict[str, Counter[str]], int]:
    standings = ledger.standings(respondent)
    counts: dict[str, Counter[str]] = {}
    final = 0
    for unit in asked_of(units, {key for key, _ in standings}):
        for epoch in range(1, epochs + 1):
            standing = standings.get((unit.key, epoch))
            counts.setdefault(unit.arm, Counter())[standing.status if standing else "missing"] += 1
            final += is_final(standing, settings)
    return counts, final


def last_heard(ledger: Ledger) -> dict[str, datetime]:
    """By respondent, when its latest attempt came to an end, by the clock of whoever sent it."""
    # SQLite gives the bare columns of the row that holds the MAX.
    rows = ledger.read("SELECT respondent, MAX(rowid), started, latency FROM attempts GROUP BY respondent")
    found: dict[str, datetime] = {}
    for respondent, _, started, latency in rows:
        sent = datetime.fromisoformat(started)
        found[respondent] = (sent if sent.tzinfo else sent.replace(tzinfo=UTC)) + timedelta(seconds=latency)
    return found


def standing_rows(units: Sequence[Unit], ledger: Ledger, *, epochs: int) -> dict[str, list[Any]]:
    """Every slot with what became of its unit, as columns: what a comparison of groups needs, replies unread."""
    columns: dict[str, list[Any]] = {
        name: [] for name in ("model", "arm", "domain", "task", "unit_id", "epoch", "race", "gender", "status")
    }
    for respondent in ledger.respondents():
        standings = ledger.standings(respondent)
        for unit in asked_of(units, {key for key, _ in standings}):
            for epoch in range(1, max(epochs, ledger.epochs(respondent)) + 1):
                standing = standings.get((unit.key, epoch))
                status = standing.status if standing else "missing"
                for slot in unit.slots:
                    row = (respondent, unit.arm, unit.domain, unit.format, unit.unit_id, epoch)
                    for values, cell in zip(
                        columns.values(), (*row, slot.race or None, slot.gender or None, status), strict=True
                    ):
                        values.append(cell)
    return columns


def _counted(counts: Counter[str]) -> dict[str, int]:
    return {"units": counts.total()} | {status: counts[status] for status in STATUSES}
