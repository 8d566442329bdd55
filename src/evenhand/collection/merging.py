"""Joining the ledgers of machines that shared one instrument."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evenhand.collection.ledger_file import open_ledger
from evenhand.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evenhand.collection.ledger import Ledger

_KEYED = ("unit", "respondent", "epoch", "attempt")
_NOTES = ("preflights", "refusals", "batches")


def merge_ledgers(paths: Sequence[Path], target: Path, *, digests: Sequence[str]) -> dict[str, int]:
    """Copy every attempt of several ledgers into one.

    An attempt that two ledgers hold alike (one was merged before, or copied) is taken once.

    Args:
        paths: The ledgers; those that do not exist yet hold nothing.
        target: The ledger to make, in a place of its own until the merge is whole.
        digests: The instruments' digests, one a ledger.

    Returns:
        `ledgers`, `attempts` and `repeated` (held by more than one).

    Raises:
        RunError: Nothing was collected, the instruments differ, a respondent was asked with other settings, or
            two ledgers hold different attempts on one unit.
    """
    if len(set(digests)) > 1:
        raise RunError(
            f"the runs have different instruments ({', '.join(digest[:12] + '...' for digest in digests)})",
            where=", ".join(str(path.parent) for path in paths),
            mend="Merge only runs that were built from one study",
        )
    if not any(path.exists() for path in paths):
        raise RunError(
            "nothing was collected in any of the runs",
            where=", ".join(str(path.parent) for path in paths),
            mend="Collect first, with `evenhand run RUN --model ...`",
        )
    counts = {"ledgers": 0, "attempts": 0, "repeated": 0}
    with open_ledger(target, digest=digests[0], write=True) as joined, joined.whole():
        for path in paths:
            if path.exists():
                with open_ledger(path, digest=digests[0]) as source:
                    _copy(source, joined, counts, where=str(path))
    return counts


def _copy(source: Ledger, joined: Ledger, counts: dict[str, int], *, where: str) -> None:
    counts["ledgers"] += 1
    _copy_respondents(source, joined, where=where)
    sessions: dict[int, int] = {}
    for session, started, packages, platform in source.read("SELECT * FROM sessions ORDER BY session"):
        sessions[session] = joined.insert(
            "INSERT INTO sessions (started, packages, platform) VALUES (?, ?, ?)", (started, packages, platform)
        )
    for row in source.rows():
        values = {name: cell for name, cell in row.items() if name not in {"packages", "platform"}}
        values["session"] = sessions[values["session"]]
        if _known(joined, values, where=where):
            counts["repeated"] += 1
            continue
        joined.insert(
            f"INSERT INTO attempts ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        )
        counts["attempts"] += 1
    for table in _NOTES:
        for row in source.read(f"SELECT * FROM {table} ORDER BY rowid"):
            _copy_note(joined, table, row)


def _copy_respondents(source: Ledger, joined: Ledger, *, where: str) -> None:
    for respondent, model, arguments, settings, epochs, _ in source.read("SELECT * FROM respondents ORDER BY rowid"):
        try:
            joined.register(
                respondent,
                model=model,
                arguments=json.loads(arguments),
                settings=json.loads(settings),
                epochs=epochs,
            )
        except RunError:
            raise RunError(
                f"{respondent!r} was another model, or asked with other settings, in the runs before it",
                where=where,
                mend="Collect one of them again under a label of its own, with --as, and merge that",
            ) from None


def _copy_note(joined: Ledger, table: str, row: tuple[Any, ...]) -> None:
    if table == "refusals":
        known = "SELECT 1 FROM refusals WHERE respondent = ? AND format = ? AND parameter = ? AND value IS ?"
        if joined.read(known, row[:4]):
            return
    joined.insert(f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _known(joined: Ledger, values: dict[str, Any], *, where: str) -> bool:
    """Whether the joined ledger holds this very attempt."""
    query = f"SELECT started, request, reply, error FROM attempts WHERE {' AND '.join(f'{key} = ?' for key in _KEYED)}"
    found = joined.read(query, tuple(values[key] for key in _KEYED))
    if not found:
        return False
    if found[0] != (values["started"], values["request"], values["reply"], values["error"]):
        raise RunError(
            f"the unit {values['unit']} was put to {values['respondent']} in two of the runs, with different replies",
            where=where,
            mend="Give each machine units of its own with --shard i/k; to keep one reply, leave the other run out",
        )
    return True
