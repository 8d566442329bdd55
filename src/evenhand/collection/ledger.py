"""The ledger: every attempt of a run, written the moment it arrives and never changed.

SQLite in WAL mode, a commit an attempt. Rows are keyed by unit, respondent, epoch and attempt; triggers refuse
to update or delete them.
"""

from __future__ import annotations

import json
import platform
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self

from evenhand.errors import RunError
from evenhand.formats.types import Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

VERSION = 1
CAUSES = ("first", "malformed", "transport")

_SCHEMA = """
CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE respondents (
    respondent TEXT PRIMARY KEY, model TEXT NOT NULL, arguments TEXT NOT NULL, settings TEXT NOT NULL,
    added TEXT NOT NULL
);
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY, started TEXT NOT NULL, packages TEXT NOT NULL, platform TEXT NOT NULL
);
CREATE TABLE attempts (
    unit TEXT NOT NULL, respondent TEXT NOT NULL, epoch INTEGER NOT NULL, attempt INTEGER NOT NULL,
    cause TEXT NOT NULL, session INTEGER NOT NULL, started TEXT NOT NULL, latency REAL NOT NULL,
    request TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    reply TEXT, stop_reason TEXT, usage TEXT, model_version TEXT, error_class TEXT, error TEXT,
    PRIMARY KEY (unit, respondent, epoch, attempt)
);
CREATE TRIGGER attempts_stay BEFORE UPDATE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
CREATE TRIGGER attempts_last BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request and what came of it.

    Attributes:
        unit: `{arm}/{unit_id}`.
        respondent: The respondent's id.
        epoch: The repetition, from 1.
        attempt: Counts every request of this unit, respondent and epoch, from 1.
        cause: first, malformed (the reply before could not be read) or transport (the request before failed).
        started: When it was sent, ISO 8601 in UTC.
        latency: Seconds until the reply.
        request: What was sent: prompt, settings, seed.
        status: How the reply was read when it arrived; analyses read it again.
        reason: Why it was not answered.
        reply: The raw reply, or None where there was none.
        usage: Tokens as the provider counted them.
        model_version: What the provider says it served.
        error_class: The exception's class, where the request failed.
        error: Its message.
    """

    unit: str
    respondent: str
    epoch: int
    attempt: int
    cause: str
    started: str
    latency: float
    request: dict[str, Any]
    status: str
    reason: str
    reply: Reply | None = None
    usage: dict[str, Any] | None = None
    model_version: str | None = None
    error_class: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a unit stands with a respondent: its last attempt and how many came before."""

    attempts: int
    malformed_retries: int
    status: str


class Ledger:
    """An open ledger. Use `open_ledger`; close it, or use it as a context manager."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._session: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything recorded is already on disk."""
        self._connection.close()

    def register(self, respondent: str, *, model: str, arguments: dict[str, Any], settings: dict[str, Any]) -> None:
        """Note who a respondent is.

        Raises:
            RunError: The same id was used with another model, arguments or settings.
        """
        given = (model, _json(arguments), _json(settings))
        known = self._connection.execute(
            "SELECT model, arguments, settings FROM respondents WHERE respondent = ?", (respondent,)
        ).fetchone()
        if known is None:
            with self._connection:
                self._connection.execute("INSERT INTO respondents VALUES (?, ?, ?, ?, ?)", (respondent, *given, now()))
        elif tuple(known) != given:
            raise RunError(
                f"the respondent {respondent!r} was asked before as {' '.join(known)}, now as {' '.join(given)}",
                where=str(self._path),
                mend="Give the new settings another label with --as",
            )

    def record(self, attempt: Attempt) -> None:
        """Append an attempt and commit.

        Raises:
            RunError: The disk is full or the file cannot be written; what was recorded before is safe.
        """
        row = (
            *(
                attempt.unit,
                attempt.respondent,
                attempt.epoch,
                attempt.attempt,
                attempt.cause,
                self._open_session(),
            ),
            *(attempt.started, attempt.latency, _json(attempt.request), attempt.status, attempt.reason),
            _json(asdict(attempt.reply)) if attempt.reply else None,
            attempt.reply.stop_reason if attempt.reply else None,
            _json(attempt.usage) if attempt.usage else None,
            *(attempt.model_version, attempt.error_class, _storable(attempt.error)),
        )
        try:
            with self._connection:
                self._connection.execute(f"INSERT INTO attempts VALUES ({', '.join('?' * len(row))})", row)
        except sqlite3.Error as problem:
            raise RunError(
                f"the attempt on {attempt.unit} could not be recorded ({problem})",
                where=str(self._path),
                mend="Everything recorded before is safe. Make room or mend the folder's rights, then run the "
                "same command again",
            ) from None

    def _open_session(self) -> int:
        if self._session is None:
            with self._connection:
                cursor = self._connection.execute(
                    "INSERT INTO sessions (started, packages, platform) VALUES (?, ?, ?)",
                    (now(), _json(_packages()), platform.platform()),
                )
            self._session = cursor.lastrowid
        assert self._session is not None
        return self._session

    def respondents(self) -> tuple[str, ...]:
        """Ids in the order they were first asked."""
        rows = self._connection.execute("SELECT respondent FROM respondents ORDER BY added, rowid")
        return tuple(row[0] for row in rows)

    def standings(self, respondent: str) -> dict[tuple[str, int], Standing]:
        """Where each unit that was ever sent stands, by unit and epoch."""
        rows = self._connection.execute(
            "SELECT unit, epoch, MAX(attempt), SUM(cause = 'malformed'), status FROM attempts "
            "WHERE respondent = ? GROUP BY unit, epoch",
            (respondent,),
        )
        return {(unit, epoch): Standing(attempts, retries, status) for unit, epoch, attempts, retries, status in rows}

    def last_replies(self, respondent: str) -> Iterator[tuple[str, int, str, int, Reply | None]]:
        """The last attempt of each unit: unit, epoch, status, malformed retries and the raw reply."""
        rows = self._connection.execute(
            "SELECT unit, epoch, status, MAX(attempt), SUM(cause = 'malformed'), reply FROM attempts "
            "WHERE respondent = ? GROUP BY unit, epoch",
            (respondent,),
        )
        for unit, epoch, status, _, retries, reply in rows:
            yield unit, epoch, status, retries, _reply(reply) if reply else None

    def replies(self, respondent: str, *, statuses: Sequence[str] = ()) -> Iterator[Attempt]:
        """The last attempt of each unit, where it has one of the statuses; of all units where none is named."""
        rows = self._connection.execute(
            "SELECT unit, epoch, MAX(attempt), cause, started, latency, request, status, reason, reply, usage, "
            "model_version, error_class, error FROM attempts WHERE respondent = ? GROUP BY unit, epoch ORDER BY rowid",
            (respondent,),
        )
        for unit, epoch, number, cause, started, latency, request, status, reason, reply, usage, *rest in rows:
            if statuses and status not in statuses:
                continue
            yield Attempt(
                *(unit, respondent, epoch, number, cause, started, latency, json.loads(request), status, reason),
                reply=_reply(reply) if reply else None,
                usage=json.loads(usage) if usage else None,
                model_version=rest[0],
                error_class=rest[1],
                error=rest[2],
            )

    def tokens(self, respondent: str) -> tuple[int, int]:
        """Input and output tokens over all attempts, as the provider counted them."""
        row = self._connection.execute(
            "SELECT SUM(json_extract(usage, '$.input_tokens')), SUM(json_extract(usage, '$.output_tokens')) "
            "FROM attempts WHERE respondent = ?",
            (respondent,),
        ).fetchone()
        return int(row[0] or 0), int(row[1] or 0)


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
    if not write and not path.is_file():
        raise RunError("nothing was collected yet", where=str(path), mend="Collect with `evenhand run RUN --model ...`")
    connection: sqlite3.Connection | None = None
    try:
        connection = _connect_writing(path, digest) if write else _connect_reading(path)
        facts = dict(connection.execute("SELECT key, value FROM facts").fetchall())
    except sqlite3.Error as problem:
        if connection is not None:
            connection.close()
        raise RunError(
            f"the ledger cannot be opened ({problem})",
            where=str(path),
            mend="Check the folder's rights and free space; if the file is damaged, restore it from a copy",
        ) from None
    if facts.get("version") != str(VERSION) or facts.get("digest") != digest:
        connection.close()
        raise RunError(
            "the ledger belongs to another instrument or version of Evenhand",
            where=str(path),
            mend="Keep each run's ledger with the instrument it was collected on",
        )
    return Ledger(connection, path)


def _connect_writing(path: Path, digest: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    # A commit survives the death of the process; only a loss of power could take the last ones.
    connection.execute("PRAGMA synchronous = NORMAL")
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'facts'").fetchone():
        with connection:
            connection.executescript(f"BEGIN; {_SCHEMA}")
            connection.executemany("INSERT INTO facts VALUES (?, ?)", [("version", str(VERSION)), ("digest", digest)])
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


def now() -> str:
    """The time in UTC, ISO 8601 with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _json(content: object) -> str:
    """JSON in ASCII, so that lone surrogates in a model's text survive; what JSON does not know becomes its text."""
    return json.dumps(content, sort_keys=True, default=str)


def _storable(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def _reply(text: str) -> Reply:
    record: dict[str, Any] = json.loads(text)
    record["tool_calls"] = tuple(ToolCall(**call) for call in record["tool_calls"])
    record["content"] = tuple(record["content"])
    return Reply(**record)


@cache
def _packages() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in ("evenhand", "inspect_ai", "openai", "anthropic", "google-genai", "mistralai"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
