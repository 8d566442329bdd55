"""The ledger: every attempt of a run, written the moment it arrives and never changed.

SQLite in WAL mode, a commit an attempt. Rows are keyed by unit, respondent, epoch and attempt; triggers refuse
to update or delete them.
"""

from __future__ import annotations

import json
import platform
import sqlite3
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evenhand.errors import RunError
from evenhand.formats.types import Reply, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Decoded = TypeVar("Decoded")


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
    """An open ledger. Use `ledger_file.open_ledger`; close it, or use it as a context manager.

    Every method raises RunError where the file cannot be read or written; what was recorded before is safe.
    """

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
        known = self._read("SELECT model, arguments, settings FROM respondents WHERE respondent = ?", (respondent,))
        if not known:
            row = (respondent, *given, now())
            self._write("INSERT INTO respondents VALUES (?, ?, ?, ?, ?)", row, what=f"the respondent {respondent}")
        elif known[0] != given:
            raise RunError(
                f"the respondent {respondent!r} was asked before as {' '.join(known[0])}, now as {' '.join(given)}",
                where=str(self._path),
                mend="Give the new settings another label with --as",
            )

    def record(self, attempt: Attempt) -> None:
        """Append an attempt and commit.

        Raises:
            RunError: The disk is full or the file cannot be written.
        """
        row = (
            *(attempt.unit, attempt.respondent, attempt.epoch, attempt.attempt, attempt.cause, self._open_session()),
            *(attempt.started, attempt.latency, _json(attempt.request), attempt.status, attempt.reason),
            _json(asdict(attempt.reply)) if attempt.reply else None,
            attempt.reply.stop_reason if attempt.reply else None,
            _json(attempt.usage) if attempt.usage else None,
            *(attempt.model_version, attempt.error_class, _storable(attempt.error)),
        )
        self._write(
            f"INSERT INTO attempts VALUES ({', '.join('?' * len(row))})", row, what=f"the attempt on {attempt.unit}"
        )

    def _open_session(self) -> int:
        if self._session is None:
            self._session = self._write(
                "INSERT INTO sessions (started, packages, platform) VALUES (?, ?, ?)",
                (now(), _json(_packages()), platform.platform()),
                what="the session",
            )
        return self._session

    def respondents(self) -> tuple[str, ...]:
        """Ids in the order they were first asked."""
        return tuple(row[0] for row in self._read("SELECT respondent FROM respondents ORDER BY added, rowid"))

    def standings(self, respondent: str) -> dict[tuple[str, int], Standing]:
        """Where each unit that was ever sent stands, by unit and epoch."""
        # SQLite gives the bare columns of the row that holds the MAX.
        rows = self._read(
            "SELECT unit, epoch, MAX(attempt), SUM(cause = 'malformed'), status FROM attempts "
            "WHERE respondent = ? GROUP BY unit, epoch",
            (respondent,),
        )
        return {(unit, epoch): Standing(attempts, retries, status) for unit, epoch, attempts, retries, status in rows}

    def last_replies(self, respondent: str) -> Iterator[tuple[str, int, str, int, Reply | None]]:
        """The last attempt of each unit: unit, epoch, status, malformed retries and the raw reply."""
        rows = self._read(
            "SELECT unit, epoch, status, MAX(attempt), SUM(cause = 'malformed'), reply FROM attempts "
            "WHERE respondent = ? GROUP BY unit, epoch",
            (respondent,),
        )
        for unit, epoch, status, _, retries, reply in rows:
            yield unit, epoch, status, retries, self._decode(_reply, reply, unit)

    def replies(self, respondent: str, *, statuses: Sequence[str] = ()) -> Iterator[Attempt]:
        """The last attempt of each unit, where it has one of the statuses; of all units where none is named."""
        rows = self._read(
            "SELECT unit, epoch, MAX(attempt), cause, started, latency, request, status, reason, reply, usage, "
            "model_version, error_class, error FROM attempts WHERE respondent = ? GROUP BY unit, epoch ORDER BY rowid",
            (respondent,),
        )
        for unit, epoch, number, cause, started, latency, request, status, reason, reply, usage, *rest in rows:
            if statuses and status not in statuses:
                continue
            yield Attempt(
                *(unit, respondent, epoch, number, cause, started, latency),
                request=self._decode(json.loads, request, unit) or {},
                status=status,
                reason=reason,
                reply=self._decode(_reply, reply, unit),
                usage=self._decode(json.loads, usage, unit),
                model_version=rest[0],
                error_class=rest[1],
                error=rest[2],
            )

    def attempts(self) -> Iterator[dict[str, Any]]:
        """Every attempt of every respondent in the order of arrival, as it is stored: JSON stays text."""
        try:
            cursor = self._connection.execute(
                "SELECT attempts.*, sessions.packages, sessions.platform FROM attempts JOIN sessions USING (session) "
                "ORDER BY attempts.rowid"
            )
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))
        except sqlite3.Error as problem:
            raise damaged(self._path, problem) from None

    def tokens(self, respondent: str) -> tuple[int, int]:
        """Input and output tokens over all attempts, as the provider counted them."""
        [row] = self._read(
            "SELECT SUM(json_extract(usage, '$.input_tokens')), SUM(json_extract(usage, '$.output_tokens')) "
            "FROM attempts WHERE respondent = ?",
            (respondent,),
        )
        return int(row[0] or 0), int(row[1] or 0)

    def _read(self, query: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(query, parameters).fetchall()
        except (sqlite3.Error, UnicodeEncodeError) as problem:
            raise damaged(self._path, problem) from None

    def _write(self, statement: str, row: tuple[Any, ...], *, what: str) -> int:
        try:
            cursor = self._connection.execute(statement, row)
        except (sqlite3.Error, UnicodeEncodeError) as problem:
            raise RunError(
                f"{what} could not be recorded ({problem})",
                where=str(self._path),
                mend="Everything recorded before is safe. Make room or mend the file's rights, then run the "
                "same command again",
            ) from None
        return cursor.lastrowid or 0

    def _decode(self, decode: Callable[[str], Decoded], cell: str | None, unit: str) -> Decoded | None:
        if cell is None:
            return None
        try:
            return decode(cell)
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise damaged(self._path, f"the attempt on {unit}: {problem}") from None


def damaged(path: Path, problem: object) -> RunError:
    """The error for a ledger that cannot be opened or read."""
    if path.with_name(path.name + "-wal").exists() and "unable to open" in str(problem):
        mend = "Copy ledger.db with its -wal and -shm files, or open the run where it can be written"
    else:
        mend = "Check the folder's rights and free space; if the file is damaged, restore it from a copy"
    return RunError(f"the ledger cannot be opened or read ({problem})", where=str(path), mend=mend)


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
