"""A few units of each format before the rest, looked at before more is paid for."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import TYPE_CHECKING

from evenhand.collection.failures import Failure
from evenhand.collection.ledger import now
from evenhand.collection.models import connections
from evenhand.collection.monitor import LOWEST, is_tool_format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.collection.asker import Asker, Rest
    from evenhand.collection.attempts import Standing
    from evenhand.instrument import Unit

    Item = tuple[Unit, int, Standing | None]

UNREADABLE = frozenset({"malformed", "no_answer"})


def choose(todo: Sequence[Item], asker: Asker) -> dict[str, list[Item]]:
    """The first units of each format that had no pre-flight yet."""
    chosen: dict[str, list[Item]] = {}
    for item in todo:
        format = item[0].format
        if format not in asker.monitor.ratios and len(chosen.get(format, ())) < asker.conduct.preflight:
            chosen.setdefault(format, []).append(item)
    return chosen


async def look_ahead(
    chosen: dict[str, list[Item]], asker: Asker, advance: Callable[[Unit, Rest], None], note: Callable[[str], None]
) -> None:
    """Ask the chosen units and stop the model where going on would waste money.

    The first unit of each format goes alone, so that a setting which the provider refuses is learnt once.
    """
    rests: dict[str, list[Rest]] = {format: [] for format in chosen}

    async def ask(item: Item) -> None:
        if asker.stopped:
            return
        unit, epoch, standing = item
        rest = await asker.settle(unit, epoch, standing)
        rests[unit.format].append(rest)
        advance(unit, rest)

    for items in chosen.values():
        await ask(items[0])
    others = [item for items in chosen.values() for item in items[1:]]
    width = connections(asker.respondent, asker.conduct)
    for start in range(0, len(others), width):
        await asyncio.gather(*(ask(item) for item in others[start : start + width]))
    if asker.stopped:
        return
    _judge(rests, asker, note)


def _judge(rests: dict[str, list[Rest]], asker: Asker, note: Callable[[str], None]) -> None:
    """Keep what was found, and stop the model where it makes going on pointless."""
    if rests and all(rest.status == "error" for found in rests.values() for rest in found):
        _stop(asker, "every request of the pre-flight failed; see `evenhand replies RUN --status error`")
        return
    for format, found in rests.items():
        replied = [rest for rest in found if rest.status != "error"]
        for rest in replied:
            asker.monitor.note(format, rest.ratio)
    for format, found in rests.items():
        _judge_format(format, [rest for rest in found if rest.status != "error"], asker, note)


def _judge_format(format: str, replied: Sequence[Rest], asker: Asker, note: Callable[[str], None]) -> None:
    if not replied:
        return
    unreadable = Counter(rest.status in UNREADABLE for rest in replied)[True]
    ratios = asker.monitor.ratios[format]
    usual = asker.monitor.usual(format)
    who = f"{asker.respondent.id}, {format}"
    if is_tool_format(format) and not all(rest.called for rest in replied):
        without = sum(not rest.called for rest in replied)
        note(f"{who}: {without} of {len(replied)} pre-flight replies called no function")
    if usual and ratios and min(ratios) < LOWEST * usual:
        _stop(
            asker,
            f"{format}: a prompt was counted at {min(ratios) / usual:.0%} of the usual input tokens per character, "
            "as if it had been cut; raise the context of the server, or go on with --preflight 0",
        )
    elif unreadable == len(replied) >= asker.conduct.preflight:
        _stop(
            asker,
            f"{format}: none of {len(replied)} pre-flight answers could be read; see `evenhand replies RUN`, "
            "or go on with --preflight 0",
        )
    else:
        asker.ledger.note(
            "INSERT OR REPLACE INTO preflights VALUES (?, ?, ?, ?, ?, ?)",
            (asker.respondent.id, format, len(replied), len(replied) - unreadable, json.dumps(ratios), now()),
            what=f"the pre-flight of {format}",
        )


def _stop(asker: Asker, why: str) -> None:
    asker.health.stop = Failure("fatal", None, "pre-flight", why)
