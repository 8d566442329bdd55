"""A pilot batch: each request asks for a word of its own back, so that a provider that mixes up results is found out.

Results of a batch are joined by id, and providers were seen to return the answer to one prompt under the id of
another. No check on the answers themselves would notice.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from evenhand.collection.failures import Failure
from evenhand.instrument import Slot, Unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenhand.collection.asker import Asker

ARM = "(pilot)"
"""The arm of pilot requests; no study's arm can have this name."""

WORDS = ("amber", "birch", "cobalt", "delta", "ember")
_PROMPT = "Reply with this one word and nothing else: {word}"


async def check_batches(asker: Asker, note: Callable[[str], None]) -> None:
    """Send the pilot batch, unless an earlier session did, and stop the model where results are mixed up."""
    units = {word: _unit(word) for word in WORDS[: asker.conduct.batch]}
    standings = asker.ledger.standings(asker.respondent.id)
    todo = {word: unit for word, unit in units.items() if _open(standings.get((unit.key, 1)))}
    if not todo:
        return
    await asyncio.gather(*(asker.settle(unit, 1, standings.get((unit.key, 1))) for unit in todo.values()))
    keys = {unit.key: word for word, unit in units.items()}
    attempts = [attempt for attempt in asker.ledger.replies(asker.respondent.id) if attempt.unit in keys]
    said = {keys[attempt.unit]: attempt.reply.text.lower() for attempt in attempts if attempt.reply}
    if not said and not asker.stopped:
        [(reason, _)] = Counter(attempt.reason for attempt in attempts).most_common(1)
        asker.health.stop = Failure("fatal", None, "pilot batch", f"every request failed: {reason}")
    mixed = [word for word, text in said.items() if word not in text and any(other in text for other in units)]
    if mixed:
        asker.health.stop = Failure(
            "fatal", None, "pilot batch", f"{len(mixed)} of {len(said)} results are the answer to another request"
        )
    elif any(word not in text for word, text in said.items()):
        note(f"{asker.respondent.id}: not every reply to the pilot batch repeats its word; look at them in the export")


def _open(standing: object) -> bool:
    return standing is None or getattr(standing, "status", "") == "error"


def _unit(word: str) -> Unit:
    slot = Slot(1, word, "", "", "", "", 0, "", "")
    return Unit(
        *(ARM, word, "extension:pilot", "", "purpose_open", "base", "", None, None, "application"),
        prompt=_PROMPT.format(word=word),
        slots=(slot,),
    )
