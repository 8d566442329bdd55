"""What is still to be spent on a run, model by model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.collection.costs import Measured, estimate, measure, spent
from evenhand.collection.runner import is_final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.costs import Prices
    from evenhand.collection.ledger import Ledger
    from evenhand.collection.models import Respondent
    from evenhand.instrument import Unit
    from evenhand.plan import Settings


def forecast(
    units: Sequence[Unit],
    respondents: Sequence[Respondent],
    ledger: Ledger | None,
    prices: Prices,
    *,
    settings: Settings,
    epochs: int,
    batch: bool,
) -> list[dict[str, Any]]:
    """Requests, tokens and US dollars that are still to come, retries left aside.

    Args:
        units: The units asked for.
        respondents: The models.
        ledger: What was collected; None before anything was.
        prices: What tokens cost.
        settings: How they are asked.
        epochs: Repetitions of each unit.
        batch: Whether batch prices apply.

    Returns:
        A row a respondent: `model`, `requests`, `input_tokens`, `output_tokens`, `measured` (whether tokens follow what
        the model used so far, or rest on four characters a token and a short reply), `dollars`, `dollars_most`
        (were every reply as long as the cap allows) and `spent`; dollars are None where there is no price.
    """
    rows: list[dict[str, Any]] = []
    known = spent(ledger, prices) if ledger else {}
    by_key = {unit.key: unit for unit in units}
    for respondent in respondents:
        standings = ledger.standings(respondent.id) if ledger else {}
        open_ = [
            unit
            for unit in units
            for epoch in range(1, epochs + 1)
            if (respondent.rerun or not unit.reasoning) and not is_final(standings.get((unit.key, epoch)), settings)
        ]
        price = prices.find(respondent.model)
        found = estimate(
            open_,
            measured=measure(ledger, respondent.id, by_key) if ledger else Measured(),
            price=price,
            max_tokens=settings.max_tokens,
            batch=batch,
        )
        rows.append(
            {"model": respondent.id, "requests": found.requests, "input_tokens": found.input_tokens}
            | {"output_tokens": found.output_tokens, "measured": found.measured, "dollars": found.dollars}
            | {"dollars_most": found.dollars_most, "spent": known.get(respondent.id, (0.0 if price else None, 0))[0]}
        )
    return rows
