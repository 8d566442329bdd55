"""Reading a ledger beside whoever writes it: all that is there, and not a byte of the folder changed."""

import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_ledger import attempt

from evenhand.collection import ledger_file
from evenhand.collection.ledger_file import onlooking, open_ledger
from evenhand.collection.progress import last_heard
from evenhand.errors import RunError

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_ledger import attempt
from evenhand.collection.ledger_file import open_ledger
with open_ledger(Path(sys.argv[1]), digest="d", write=True) as ledger:
    ledger.register("sim/null", model="sim/null", arguments={}, settings={})
    for line in sys.stdin:
        ledger.record(attempt(unit=line.strip()))
        print("recorded", flush=True)
"""


def stand(folder):
    """Every file with its content and its time, and the folder's own."""
    files = {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in folder.iterdir()}
    return files, folder.stat().st_mtime_ns


def units(path):
    with onlooking(path, digest="d") as ledger:
        return sorted(unit for unit, _ in ledger.standings("sim/null"))


@pytest.fixture
def path(tmp_path):
    """A closed ledger of one attempt."""
    path = tmp_path / "run" / "ledger.db"
    path.parent.mkdir()
    with open_ledger(path, digest="d", write=True) as ledger:
        ledger.register("sim/null", model="sim/null", arguments={}, settings={})
        ledger.record(attempt(unit="a/1"))
    return path


@pytest.fixture
def writer(path):
    """A process that has the ledger open and records the units that it is told."""
    command = [sys.executable, "-c", WRITER, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def record(unit):
            process.stdin.write(f"{unit}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "recorded\n"

        record.process = process
        yield record
        process.kill()


def test_a_ledger_at_rest_is_read_and_no_log_is_left_beside_it(path):
    before = stand(path.parent)
    assert units(path) == ["a/1"]
    assert stand(path.parent) == before
    assert list(before[0]) == ["ledger.db"]


def test_what_another_process_records_is_seen_at_once_and_nothing_is_touched(path, writer):
    for number in range(2, 6):
        writer(f"a/{number}")
        before = stand(path.parent)
        assert units(path) == [f"a/{k}" for k in range(1, number + 1)]
        assert stand(path.parent) == before
    assert "ledger.db-wal" in before[0]


def test_an_open_reader_is_in_nobodys_way(path, writer):
    writer("a/2")
    with onlooking(path, digest="d") as ledger:
        writer("a/3")
        writer.process.stdin.close()
        writer.process.wait()
        # The last to close takes the log away, which it cannot while others have it open.
        assert [file.name for file in path.parent.iterdir()] == ["ledger.db"]
        assert sorted(unit for unit, _ in ledger.standings("sim/null")) == ["a/1", "a/2"]
    assert units(path) == ["a/1", "a/2", "a/3"]


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot be asked to end a process")
def test_what_a_killed_writer_left_is_read_and_left(path, writer):
    writer("a/2")
    writer.process.kill()
    writer.process.wait()
    before = stand(path.parent)
    assert {"ledger.db", "ledger.db-wal", "ledger.db-shm"} == set(before[0])
    assert units(path) == ["a/1", "a/2"]
    assert stand(path.parent) == before
    (path.parent / "ledger.db-shm").unlink()
    with pytest.raises(RunError, match=r"no index beside it.*evenhand status RUN"):
        units(path)
    with open_ledger(path, digest="d") as ledger:
        assert len(ledger.standings("sim/null")) == 2
    assert units(path) == ["a/1", "a/2"]


def test_a_writer_that_comes_meanwhile_makes_the_reading_void(path, monkeypatch):
    def read_while(change):
        def checked(*arguments):
            change()
            return plain(*arguments)

        with monkeypatch.context() as patch:
            plain = ledger_file._checked
            patch.setattr(ledger_file, "_checked", checked)
            onlooking(path, digest="d")

    def write():
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")

    with pytest.raises(RunError, match="changed while it was read"):
        read_while(write)
    with pytest.raises(RunError, match="changed while it was read"):
        read_while(lambda: shutil.rmtree(path.parent))
    with pytest.raises(RunError, match="nothing was collected"):
        units(path)


def test_what_is_no_ledger_of_this_run_is_refused(path):
    with pytest.raises(RunError, match="another instrument"):
        onlooking(path, digest="other")
    path.write_bytes(b"half a ledger" * 100)
    with pytest.raises(RunError, match="cannot be opened or read"):
        units(path)
    path.write_bytes(b"")
    with pytest.raises(RunError, match="cannot be opened or read"):
        units(path)


def test_when_each_respondent_was_last_heard_is_by_arrival(path):
    with open_ledger(path, digest="d", write=True) as ledger:
        ledger.register("m", model="m", arguments={}, settings={})
        for number, started in enumerate(("2026-03-01T10:00:00", "2026-01-01T10:00:00Z")):
            ledger.record(replace(attempt(unit=f"a/{number}"), respondent="m", started=started, latency=30.0))
        assert last_heard(ledger) == {
            "sim/null": datetime(2026, 1, 1, 0, 0, 0, 100_000, tzinfo=UTC),
            "m": datetime(2026, 1, 1, 10, 0, 30, tzinfo=UTC),
        }
