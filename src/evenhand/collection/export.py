"""Every attempt of a run as one file for release: JSON lines or Parquet.

What was sent and what came back, with settings, usage, versions and times; neither keys nor headers, which the
ledger does not hold. Requests and replies stay JSON text in ASCII, so that any text of a model comes back as it was.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError
from evenhand.files import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evenhand.collection.ledger import Ledger

ENDINGS = (".jsonl", ".parquet")
_JSON = ("request", "reply", "usage", "sent", "wire_request", "wire_response", "deviations", "packages")


def export_attempts(ledger: Ledger, path: Path, *, digest: str) -> int:
    """Write all attempts, whole or not at all.

    Args:
        ledger: The run's ledger.
        path: The file; its ending says in which form.
        digest: The instrument's digest, in every row.

    Returns:
        How many attempts were written.

    Raises:
        InputError: Another ending, or a place that cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise InputError(
            f"the name ends in {path.suffix or 'nothing'}", where=str(path), mend=f"End it in {' or '.join(ENDINGS)}"
        )
    rows = [{"digest": digest, **row} for row in ledger.rows()]
    replace_file(path, b"".join(_lines(rows)) if path.suffix == ".jsonl" else _parquet(rows))
    return len(rows)


def _lines(rows: list[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        decoded = {name: json.loads(cell) if name in _JSON and cell else cell for name, cell in row.items()}
        yield json.dumps(decoded).encode() + b"\n"


def _parquet(rows: list[dict[str, Any]]) -> bytes:
    import io

    import polars as pl

    numbers = {"epoch": pl.Int64, "attempt": pl.Int64, "session": pl.Int64, "latency": pl.Float64}
    names = list(rows[0]) if rows else ["digest"]
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema={name: numbers.get(name, pl.String) for name in names}).write_parquet(buffer)
    return buffer.getvalue()
