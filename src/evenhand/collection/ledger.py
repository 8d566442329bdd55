"""The ledger: every attempt of a run, written the moment it arrives and never changed.

SQLite in WAL mode, a commit an attempt. Rows are keyed by unit, respondent, epoch and attempt; triggers refuse
to update or delete them.
"""

from __future__ import annotations

import json
import platform
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evenhand.collection.attempts import COLUMNS, Attempt, Standing, as_json, as_row, parse_reply
from evenhand.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from evenhand.formats.types import Reply

Decoded = TypeVar("Decoded")

_INSERT = f"INSERT INTO attempts ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"


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

    def register(
        self, respondent: str, *, model: str, arguments: dict[str, Any], settings: dict[str, Any], epochs: int = 1
    ) -> None:
        """Note who a respondent is, and how often each unit is put to it.

        Raises:
            RunError: The same id was used with another model, arguments or settings.
        """
        given = (model, as_json(arguments), as_json(settings))
        known = self.read("SELECT model, arguments, settings FROM respondents WHERE respondent = ?", (respondent,))
        if not known:
            row = (respondent, *given, epochs, now())
            self._write("INSERT INTO respondents VALUES (?, ?, ?, ?, ?, ?)", row, what=f"the respondent {respondent}")
        elif known[0] != given:
            raise RunError(
                f"the respondent {respondent!r} was asked before as {' '.join(known[0])}, now as {' '.join(given)}",
                where=str(self._path),
                mend="Give the new settings another label with --as",
            )
        else:
            raised = "UPDATE respondents SET epochs = MAX(epochs, ?) WHERE respondent = ?"
            self._write(raised, (epochs, respondent), what=f"the respondent {respondent}")

    def record(self, attempt: Attempt) -> None:
        """Append an attempt and commit.

        Raises:
            RunError: The disk is full or the file cannot be written.
        """
        self._write(_INSERT, as_row(attempt, self._open_session()), what=f"the attempt on {attempt.unit}")

    @contextmanager
    def whole(self) -> Generator[None]:
        """Make everything written inside one change: all of it is kept, or none."""
        self._write("BEGIN IMMEDIATE", (), what="a change")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._write("COMMIT", (), what="a change")

    def insert(self, statement: str, row: tuple[Any, ...]) -> int:
        """Write a row as it stands in another ledger; gives its number."""
        return self._write(statement, row, what="a copied row")

    def note(self, statement: str, row: tuple[Any, ...], *, what: str) -> None:
        """Write a row of another table than the attempts', and commit.

        Raises:
            RunError: The disk is full or the file cannot be written.
        """
        self._write(statement, row, what=what)

    def _open_session(self) -> int:
        if self._session is None:
            self._session = self._write(
                "INSERT INTO sessions (started, packages, platform) VALUES (?, ?, ?)",
                (now(), as_json(_packages()), platform.platform()),
                what="the session",
            )
        return self._session

    def respondents(self) -> tuple[str, ...]:
        """Ids in the order they were first asked, by whatever clock."""
        return tuple(row[0] for row in self.read("SELECT respondent FROM respondents ORDER BY rowid"))

    def epochs(self, respondent: str) -> int:
        """How often each unit was to be put to a respondent."""
        [row] = self.read("SELECT epochs FROM respondents WHERE respondent = ?", (respondent,))
        return int(row[0])

    def standings(self, respondent: str, unit: str | None = None) -> dict[tuple[str, int], Standing]:
        """Where each unit that was ever sent stands, or one of them, by unit and epoch."""
        # SQLite gives the bare columns of the row that holds the MAX.
        rows = self.read(
            "SELECT unit, epoch, MAX(attempt), SUM(cause = 'malformed'), status FROM attempts "
            f"WHERE respondent = ?{' AND unit = ?' if unit else ''} GROUP BY unit, epoch",
            (respondent, unit) if unit else (respondent,),
        )
        return {(unit, epoch): Standing(attempts, retries, status) for unit, epoch, attempts, retries, status in rows}

    def last_replies(self, respondent: str) -> Iterator[tuple[str, int, str, int, Reply | None]]:
        """The last attempt of each unit: unit, epoch, status, malformed retries and the raw reply."""
        rows = self.read(
            "SELECT unit, epoch, status, MAX(attempt), SUM(cause = 'malformed'), reply FROM attempts "
            "WHERE respondent = ? GROUP BY unit, epoch",
            (respondent,),
        )
        for unit, epoch, status, _, retries, reply in rows:
            yield unit, epoch, status, retries, self._decode(parse_reply, reply, unit)

    def replies(self, respondent: str, *, statuses: Sequence[str] = ()) -> Iterator[Attempt]:
        """The last attempt of each unit, where it has one of the statuses; of all units where none is named."""
        rows = self.read(
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
                reply=self._decode(parse_reply, reply, unit),
                usage=self._decode(json.loads, usage, unit),
                model_version=rest[0],
                error_class=rest[1],
                error=rest[2],
            )

    def rows(self) -> Iterator[dict[str, Any]]:
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
        [row] = self.read(
            "SELECT SUM(json_extract(usage, '$.input_tokens')), SUM(json_extract(usage, '$.output_tokens')) "
            "FROM attempts WHERE respondent = ?",
            (respondent,),
        )
        return int(row[0] or 0), int(row[1] or 0)

    def read(self, query: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            RunError: The file is damaged or cannot be read.
        """
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


@cache
def _packages() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in (
        "evenhand",
        "inspect_ai",
        "openai",
        "anthropic",
        "google-genai",
        "mistralai",
        "xai-sdk",
        "groq",
        "together",
    ):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
