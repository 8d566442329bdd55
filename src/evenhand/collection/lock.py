"""One writer per run directory.

The lock is an exclusive transaction on a small SQLite file of its own: the operating system takes it back when the
process ends, however it ends, so a dead process holds nothing. Readers of the ledger are not kept out.
"""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evenhand.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LOCK = "writer.lock"


@contextmanager
def writing(folder: Path) -> Generator[None]:
    """Hold a run directory for writing.

    Raises:
        RunError: Another process is writing to the run, or the folder cannot be written.
    """
    path = folder / LOCK
    try:
        connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    except sqlite3.Error as problem:
        raise _unwritable(path, problem) from None
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as problem:
        connection.close()
        if getattr(problem, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
            raise RunError(
                "another process is collecting into this run",
                where=str(folder),
                mend="Wait until it has ended, or stop it; then run the same command again",
            ) from None
        raise _unwritable(path, problem) from None
    try:
        yield
    finally:
        connection.close()


def _unwritable(path: Path, problem: sqlite3.Error) -> RunError:
    return RunError(
        f"the folder cannot be written ({problem})", where=str(path), mend="Choose a run in a folder you may write to"
    )
