"""How far a run is, from its units and the ledger."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evenhand.collection.runner import is_final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.collection.ledger import Ledger
    from evenhand.instrument import Unit

STATUSES = ("answered", "refused", "malformed", "no_answer", "error", "missing")


def summarise(units: Sequence[Unit], ledger: Ledger, *, epochs: int) -> list[dict[str, Any]]:
    """One row a respondent, counted in units times epochs.

    Args:
        units: The units to count, an instrument's or some of its arms'.
        ledger: The attempts.
        epochs: Repetitions of each unit.

    Returns:
        Rows with `model`, `units`, a count for each status, `final` (needing no further request),
        `input_tokens` and `output_tokens` over all attempts.
    """
    rows: list[dict[str, Any]] = []
    wanted = {(unit.key, epoch) for unit in units for epoch in range(1, epochs + 1)}
    for respondent in ledger.respondents():
        standings = [standing for key, standing in ledger.standings(respondent).items() if key in wanted]
        counts = Counter(standing.status for standing in standings)
        counts["missing"] = len(wanted) - len(standings)
        tokens_in, tokens_out = ledger.tokens(respondent)
        rows.append(
            {"model": respondent, "units": len(wanted)}
            | {status: counts[status] for status in STATUSES}
            | {
                "final": sum(is_final(standing) for standing in standings),
                "input_tokens": tokens_in,
                "output_tokens": tokens_out,
            }
        )
    return rows
