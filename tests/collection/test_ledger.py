"""The ledger keeps every attempt, whatever it holds, and refuses to change one."""

import os
import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.collection.attempts import Attempt
from evenhand.collection.ledger_file import open_ledger
from evenhand.errors import RunError
from evenhand.formats.types import Reply, ToolCall


def attempt(number=1, *, unit="a/u", status="answered", cause="first", reply=None, **more):
    return Attempt(
        unit=unit,
        respondent="sim/null",
        epoch=1,
        attempt=number,
        cause=cause,
        started="2026-01-01T00:00:00+00:00",
        latency=0.1,
        request={"prompt": "p"},
        status=status,
        reason="",
        reply=reply,
        **more,
    )


@pytest.fixture
def ledger(tmp_path):
    with open_ledger(tmp_path / "ledger.db", digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={"temperature": 0.0})
        yield opened


AWKWARD = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["=1+1", "\ud800", "a\nb\r\n", "\x00", "NA", "\u2028"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=AWKWARD,
    reasoning=AWKWARD,
    arguments=st.dictionaries(AWKWARD, st.none() | st.integers() | AWKWARD, max_size=3),
)
def test_any_reply_comes_back_as_it_was(tmp_path_factory, text, reasoning, arguments):
    reply = Reply(
        text=text,
        reasoning=reasoning,
        content=({"type": "text", "text": text},),
        tool_calls=(ToolCall("f", arguments, None),),
        metadata={"note": text},
    )
    path = tmp_path_factory.mktemp("ledger") / "ledger.db"
    with open_ledger(path, digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={})
        opened.record(attempt(reply=reply, error=text))
        assert [found[-1] for found in opened.last_replies("sim/null")] == [reply]


def test_ten_megabytes_come_back(ledger):
    reply = Reply(text="x" * 10_000_000)
    ledger.record(attempt(reply=reply))
    assert next(ledger.last_replies("sim/null"))[-1] == reply


def test_the_last_attempt_counts_and_malformed_retries_are_counted(ledger):
    ledger.record(attempt(1, status="malformed", reply=Reply("x")))
    ledger.record(attempt(2, status="error", cause="malformed"))
    ledger.record(attempt(3, status="answered", cause="transport", reply=Reply("3")))
    standing = ledger.standings("sim/null")["a/u", 1]
    assert (standing.attempts, standing.malformed_retries, standing.status) == (3, 1, "answered")
    assert list(ledger.last_replies("sim/null")) == [("a/u", 1, "answered", 1, Reply("3"))]


def test_attempts_cannot_be_changed_deleted_or_repeated(ledger, tmp_path):
    ledger.record(attempt())
    with pytest.raises(RunError, match="could not be recorded"):
        ledger.record(attempt())
    other = sqlite3.connect(tmp_path / "ledger.db")
    for statement in ("UPDATE attempts SET status = 'x'", "DELETE FROM attempts"):
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            other.execute(statement)
    other.close()


def test_a_label_keeps_its_settings(ledger):
    ledger.register("sim/null", model="sim/null", arguments={}, settings={"temperature": 0.0})
    with pytest.raises(RunError, match="--as"):
        ledger.register("sim/null", model="sim/null", arguments={}, settings={"temperature": 1.0})
    with pytest.raises(RunError, match="--as"):
        ledger.register("sim/null", model="sim/other", arguments={}, settings={"temperature": 0.0})


def test_readers_look_while_a_run_writes(ledger, tmp_path):
    ledger.record(attempt())
    with open_ledger(tmp_path / "ledger.db", digest="d") as reader:
        assert len(reader.standings("sim/null")) == 1
        ledger.record(attempt(unit="a/v"))
        assert len(reader.standings("sim/null")) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no read-only folders")
def test_a_read_only_copy_opens(tmp_path):
    folder = tmp_path / "copy"
    folder.mkdir()
    with open_ledger(folder / "ledger.db", digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={})
        opened.record(attempt())
    (folder / "ledger.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        with open_ledger(folder / "ledger.db", digest="d") as reader:
            assert len(reader.standings("sim/null")) == 1
    finally:
        folder.chmod(0o755)


def test_another_instruments_ledger_is_refused(ledger, tmp_path):
    with pytest.raises(RunError, match="another instrument"):
        open_ledger(tmp_path / "ledger.db", digest="e")


def test_nothing_collected_yet_says_how_to(tmp_path):
    with pytest.raises(RunError, match="evenhand run"):
        open_ledger(tmp_path / "ledger.db", digest="d")


@pytest.mark.parametrize("write", [True, False])
def test_a_damaged_file_is_one_message(tmp_path, write):
    (tmp_path / "ledger.db").write_bytes(b"no database" * 1000)
    with pytest.raises(RunError, match="cannot be opened"):
        open_ledger(tmp_path / "ledger.db", digest="d", write=write)


@pytest.mark.parametrize("first", ["register", "record"])
def test_a_ledger_that_cannot_be_written_says_so_at_the_first_write(tmp_path, first):
    with open_ledger(tmp_path / "ledger.db", digest="d", write=True) as opened:
        if first == "record":
            opened.register("sim/null", model="sim/null", arguments={}, settings={})
        opened._connection.execute("PRAGMA query_only = 1")
        writes = {
            "register": lambda: opened.register("sim/null", model="sim/null", arguments={}, settings={}),
            "record": lambda: opened.record(attempt()),
        }
        with pytest.raises(RunError, match="could not be recorded"):
            writes[first]()


def test_damage_inside_the_file_is_one_message(tmp_path):
    path = tmp_path / "ledger.db"
    with open_ledger(path, digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={})
        for number in range(200):
            opened.record(attempt(unit=f"a/{number}", reply=Reply("x" * 2000)))
        opened._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[60_000:200_000] = b"\xff" * 140_000
    path.write_bytes(bytes(data))

    def read_everything():
        with open_ledger(path, digest="d") as opened:
            list(opened.last_replies("sim/null"))
            list(opened.replies("sim/null"))

    with pytest.raises(RunError, match="ledger"):
        read_everything()


def test_a_reply_that_is_no_json_is_one_message(tmp_path):
    path = tmp_path / "ledger.db"
    with open_ledger(path, digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={})
        opened.record(attempt(reply=Reply("3")))
        opened._connection.executescript("DROP TRIGGER attempts_stay; UPDATE attempts SET reply = '{broken'; ")
        for read in (opened.last_replies, opened.replies):
            with pytest.raises(RunError, match="a/u"):
                list(read("sim/null"))


def test_labels_that_no_file_can_hold_are_refused(ledger):
    with pytest.raises(RunError):
        ledger.register("l\udcff", model="m", arguments={}, settings={})


def test_a_full_disk_is_one_message_and_loses_nothing(tmp_path):
    path = tmp_path / "ledger.db"
    with open_ledger(path, digest="d", write=True) as opened:
        opened.register("sim/null", model="sim/null", arguments={}, settings={})
        opened.record(attempt(1))
        pages = opened._connection.execute("PRAGMA page_count").fetchone()[0]
        opened._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(RunError, match="recorded before is safe"):
            opened.record(attempt(1, unit="a/v", reply=Reply("x" * 100_000)))
    with open_ledger(path, digest="d", write=True) as opened:
        assert set(opened.standings("sim/null")) == {("a/u", 1)}
        opened.record(attempt(1, unit="a/v", reply=Reply("x" * 100_000)))
        assert len(opened.standings("sim/null")) == 2
