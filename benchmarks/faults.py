"""Kills in the middle of a collection: SIGKILL after random numbers of replies, resumed until all is done.

    uv run python -m benchmarks.faults [KILLS] [SHARE]

A local OpenAI-compatible server answers 2,280 units, fails a share of the requests in ten ways, and itself kills its
client after so many replies, so that kills land in the traffic and not in the start-up. Counted are the units
answered, the requests that the server received and those that the ledger holds: the difference is what was paid for
and lost, which can be no more than what was in flight at the kills. The peer is the same collection without kills and
faults.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.servers.faults import TRANSIENT, FaultServer, answer_in_form, at_random

from evenhand import study

CONNECTIONS = 20


def collect(folder: Path, server: FaultServer, kills: int, seed: int) -> tuple[int, int]:
    """Collect with so many kills; the kills that landed, and the exit code of the last process."""
    stream, landed = random.Random(seed), 0
    command = [sys.executable, "-m", "evenhand", "run", str(folder), "--model", "openai-api/fault/faulty"]
    command += ["-M", f"base_url={server.base_url}", "--as", "m", "--max-connections", str(CONNECTIONS), "--json"]
    environment = {**os.environ, "FAULT_API_KEY": "not-a-key-at-all"}
    most = max(1, 2 * 2000 // max(kills, 1))
    while True:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if landed < kills:
            server.arm(process.pid, stream.randint(1, min(most, 200)))
        code = process.wait()
        if code != -signal.SIGKILL:
            return landed, code
        landed += 1


def count(folder: Path) -> dict[str, int]:
    """What the ledger holds."""
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:

        def number(query: str) -> int:
            return int(connection.execute(query).fetchone()[0])

        answered = "SELECT unit, COUNT(*) AS times FROM attempts WHERE status = 'answered' GROUP BY unit"
        return {
            "units answered": number(f"SELECT COUNT(*) FROM ({answered})"),
            "units answered more than once": number(f"SELECT COUNT(*) FROM ({answered}) WHERE times > 1"),
            "attempts": number("SELECT COUNT(*) FROM attempts"),
            "errors": number("SELECT COUNT(*) FROM attempts WHERE status = 'error'"),
        }


def main() -> None:
    """Run with and without kills and print the counts."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 0.02
    for title, number, faults in (("peer, no kills", 0, 0.0), (f"{kills} kills", kills, share)):
        with (
            tempfile.TemporaryDirectory() as name,
            FaultServer(answer=answer_in_form, fault=at_random(TRANSIENT, faults)) as server,
        ):
            folder = Path(name) / "run"
            study.build("fairfund", folder)
            start = time.perf_counter()
            landed, code = collect(folder, server, number, seed=1)
            seconds, found, received = time.perf_counter() - start, count(folder), server.received().total()
        lost = received - found["attempts"]
        print(f"{title}: {landed} landed, exit {code}, {seconds:,.0f} s")
        print("  " + ", ".join(f"{value:,} {key}" for key, value in found.items()))
        print(f"  {received:,} requests received, {lost:,} not recorded (at most {landed * CONNECTIONS:,} in flight)")


if __name__ == "__main__":
    main()
