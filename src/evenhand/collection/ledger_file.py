"""Opening the ledger's file: SQLite in WAL mode, append-only by triggers, tied to one instrument."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from evenhand.collection.ledger import Ledger, damaged
from evenhand.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 2

_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE respondents (
    respondent TEXT PRIMARY KEY, model TEXT NOT NULL, arguments TEXT NOT NULL, settings TEXT NOT NULL,
    epochs INTEGER NOT NULL, added TEXT NOT NULL
);
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, packages TEXT NOT NULL, platform TEXT NOT NULL
);
CREATE TABLE attempts (
    unit TEXT NOT NULL, respondent TEXT NOT NULL, epoch INTEGER NOT NULL, attempt INTEGER NOT NULL,
    cause TEXT NOT NULL, session INTEGER NOT NULL, started TEXT NOT NULL, latency REAL NOT NULL,
    request TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    reply TEXT, stop_reason TEXT, usage TEXT, model_version TEXT, error_class TEXT, error TEXT,
    backend TEXT, reply_id TEXT, sent TEXT, wire_request TEXT, wire_response TEXT, deviations TEXT,
    PRIMARY KEY (unit, respondent, epoch, attempt)
);
CREATE TABLE preflights (
    respondent TEXT NOT NULL, format TEXT NOT NULL, units INTEGER NOT NULL, readable INTEGER NOT NULL,
    ratios TEXT NOT NULL, noted TEXT NOT NULL, PRIMARY KEY (respondent, format)
);
CREATE TABLE refusals (
    respondent TEXT NOT NULL, format TEXT NOT NULL, parameter TEXT NOT NULL, value TEXT, message TEXT NOT NULL,
    noted TEXT NOT NULL
);
CREATE TABLE batches (
    batch TEXT NOT NULL, custom_id TEXT NOT NULL, respondent TEXT NOT NULL, unit TEXT NOT NULL,
    epoch INTEGER NOT NULL, attempt INTEGER NOT NULL, submitted TEXT NOT NULL, PRIMARY KEY (batch, custom_id)
);
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempts_last BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
"""


def open_ledger(path: Path, *, digest: str, write: bool = False) -> Ledger:
    """Open a run's ledger, making it where `write` is asked for.

    Args:
        path: The file.
        digest: The instrument's digest; a ledger of another instrument is refused.
        write: Whether attempts will be recorded.

    Raises:
        RunError: No ledger yet (reading), a damaged file, another instrument or version, or a folder that
            cannot be written.
    """
    if not write:
        _require(path)
    connection: sqlite3.Connection | None = None
    try:
        connection = _connect_writing(path, digest) if write else _connect_reading(path)
        return _checked(connection, path, digest)
    except sqlite3.Error as problem:
        if connection is not None:
            connection.close()
        raise damaged(path, problem) from None


def onlooking(path: Path, *, digest: str) -> Ledger:
    """Open a ledger as it stands while another process may be writing it, and leave its folder as it is.

    An ordinary reader makes the write-ahead log and its index where there are none, and leaves them there. This one
    maps the index read-only; with no log nobody is writing, and the file is read as it stands. It reads from a copy of
    its own that SQLite keeps in a temporary file: a writer that ends while others read leaves its log behind, too.

    In the process that reads, none may open the ledger for writing meanwhile.

    Args:
        path: The file.
        digest: The instrument's digest; a ledger of another instrument is refused.

    Raises:
        RunError: As `open_ledger`, reading; or a writer came meanwhile, so that what was read may be of two minds.
    """
    _require(path)
    before = _mark(path)
    log, index = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    logged = log.exists() and (index.exists() or log.stat().st_size > 0)
    if logged and not index.exists():
        mend = "Let `evenhand status RUN` open it once, which makes the index"
        raise RunError("the ledger's log has no index beside it", where=str(path), mend=mend)
    address = f"{path.resolve().as_uri()}?mode=ro&{'readonly_shm=1' if logged else 'immutable=1'}"
    copy = sqlite3.connect("")
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.backup(copy)
        ledger = _checked(copy, path, digest)
    except sqlite3.Error as problem:
        copy.close()
        raise damaged(path, problem) from None
    if not logged and _mark(path) != before:
        ledger.close()
        raise RunError("the ledger was changed while it was read", where=str(path), mend="Read it again")
    return ledger


def _require(path: Path) -> None:
    if not path.is_file():
        raise RunError("nothing was collected yet", where=str(path), mend="Collect with `evenhand run RUN --model ...`")


def _checked(connection: sqlite3.Connection, path: Path, digest: str) -> Ledger:
    facts = dict(connection.execute("SELECT key, value FROM facts").fetchall())
    if facts.get("version") != str(VERSION) or facts.get("digest") != digest:
        connection.close()
        raise RunError(
            "the ledger belongs to another instrument or version of Evenhand",
            where=str(path),
            mend="Keep each run's ledger with the instrument it was collected on",
        )
    return Ledger(connection, path)


def _mark(path: Path) -> tuple[int, int] | None:
    """What changes where a file without a log is written to."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _connect_writing(path: Path, digest: str) -> sqlite3.Connection:
    # Each statement is its own transaction: an attempt is one insert, committed as it returns.
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # A commit survives the death of the process; only a loss of power could take the last ones.
        connection.execute("PRAGMA synchronous = NORMAL")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone():
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA}")
            facts = [("version", str(VERSION)), ("digest", digest)]
            connection.executemany("INSERT INTO facts VALUES (?, ?)", facts)
            connection.execute("COMMIT")
        # A write that changes nothing, so that a file that cannot be written says so before any request is paid for.
        connection.execute("UPDATE facts SET value = value WHERE key = 'version'")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _connect_reading(path: Path) -> sqlite3.Connection:
    """Open without writing; a copy in a read-only folder, with no log beside it, is read as it stands."""
    address = path.resolve().as_uri()
    connection = sqlite3.connect(f"{address}?mode=ro", uri=True, timeout=30)
    try:
        with closing(connection.execute("SELECT 1 FROM facts")) as cursor:
            cursor.fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        connection = sqlite3.connect(f"{address}?mode=ro&immutable=1", uri=True)
    return connection
