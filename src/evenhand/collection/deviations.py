"""What the calls of a run say about equal treatment of models: versions, backends, refused settings, deviations."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evenhand.collection.ledger import Ledger


def deviation_rows(ledger: Ledger, respondent: str, formats: Mapping[str, str]) -> list[dict[str, Any]]:
    """How many of a respondent's replies parted from what was asked for, by format and kind.

    Args:
        ledger: The attempts.
        respondent: Whose.
        formats: The format of each unit that counts, by its key.

    Returns:
        Rows with `model`, `format`, `deviation`, `calls` and `of` (all replies in that format).
    """
    replied = "SELECT unit, COUNT(*) FROM attempts WHERE respondent = ? AND reply IS NOT NULL GROUP BY unit"
    of: Counter[str] = Counter()
    for unit, calls in ledger.read(replied, (respondent,)):
        if unit in formats:
            of[formats[unit]] += calls
    strayed = (
        "SELECT unit, deviations, COUNT(*) FROM attempts WHERE respondent = ? AND deviations IS NOT NULL GROUP BY 1, 2"
    )
    counts: Counter[tuple[str, str]] = Counter()
    for unit, deviations, calls in ledger.read(strayed, (respondent,)):
        if unit in formats:
            counts.update({(formats[unit], text): calls for text in json.loads(deviations)})
    return [
        {"model": respondent, "format": format, "deviation": text, "calls": calls, "of": of[format]}
        for (format, text), calls in sorted(counts.items())
    ]


def error_rows(ledger: Ledger, respondent: str, *, most: int = 5) -> list[dict[str, Any]]:
    """The most frequent reasons why units stand as errors: rows with `model`, `reason` and `units`."""
    rows = ledger.read(
        "SELECT reason, COUNT(*) FROM "
        "(SELECT status, reason, MAX(attempt) FROM attempts WHERE respondent = ? GROUP BY unit, epoch) "
        "WHERE status = 'error' GROUP BY reason ORDER BY 2 DESC, 1 LIMIT ?",
        (respondent, most),
    )
    return [{"model": respondent, "reason": reason, "units": units} for reason, units in rows]


def refusal_rows(ledger: Ledger) -> list[dict[str, Any]]:
    """Settings that providers refused, and what was sent instead (None: left out)."""
    rows = ledger.read("SELECT respondent, format, parameter, value, message FROM refusals ORDER BY rowid")
    return [
        {"model": model, "format": format or "all", "parameter": parameter, "value": value, "message": message}
        for model, format, parameter, value, message in rows
    ]


def served(ledger: Ledger, respondent: str) -> dict[str, Any]:
    """What a provider says it served, and how often units were asked again.

    Returns:
        `versions`, `backends`, `retried`, `shared_reply_ids` and `unsettled_batch_items`.
    """

    def values(column: str) -> list[str]:
        query = f"SELECT DISTINCT {column} FROM attempts WHERE respondent = ? AND {column} IS NOT NULL ORDER BY 1"
        return [row[0] for row in ledger.read(query, (respondent,))]

    def number(query: str) -> int:
        return int(ledger.read(query, (respondent,))[0][0])

    return {
        "versions": values("model_version"),
        "backends": values("backend"),
        "retried": number(
            "SELECT COUNT(*) FROM "
            "(SELECT 1 FROM attempts WHERE respondent = ? GROUP BY unit, epoch HAVING COUNT(*) > 1)"
        ),
        "shared_reply_ids": number(
            "SELECT COUNT(reply_id) - COUNT(DISTINCT reply_id) FROM attempts WHERE respondent = ?"
        ),
        "unsettled_batch_items": number(
            "SELECT COUNT(*) FROM batches LEFT JOIN attempts USING (unit, respondent, epoch, attempt) "
            "WHERE batches.respondent = ? AND (attempts.unit IS NULL OR batch = '(submitting)')"
        ),
    }
