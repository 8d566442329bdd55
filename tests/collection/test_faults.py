"""A server that fails in every way seen so far, spoken to by the real `openai` client through Inspect."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from tests.servers.faults import FAULTS, TRANSIENT, FaultServer, answer_in_form, at_random

from evenhand.collection.models import Respondent
from evenhand.errors import CollectionError


def once(name):
    """The first time a prompt is seen it meets the fault."""
    seen = Counter()

    def choose(number, request):
        prompt = request["messages"][-1]["content"]
        seen[prompt] += 1
        return FAULTS[name] if seen[prompt] == 1 else None

    return choose


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_passing_fault_is_asked_again_and_each_request_is_a_row(name, ask, kept):
    with FaultServer(fault=once(name)) as server:
        ask(server, units=3)
        assert [row[1:] for row in sorted(kept.rows())] == [
            (1, "first", "error"),
            (2, "transport", "answered"),
        ] * 3
        assert len(server.journal) == 6, "the client sent requests that are no rows"
    errors = kept.rows("error_class, error, reason")
    assert all(bool(cls) and bool(text) and bool(why) for cls, text, why in errors[::2] if cls)


def test_a_request_that_hangs_ends_at_the_timeout(ask, kept):
    with FaultServer(fault=once("hang")) as server:
        ask(server, units=1, timeout=3)
        assert [row[3] for row in kept.rows()] == ["error", "answered"]
        assert "Timeout" in kept.rows("error_class")[0][0]
        assert len(server.journal) == 2


@pytest.mark.parametrize("name", ["empty content", "null content"])
def test_an_empty_reply_is_no_answer_and_no_error(name, ask, kept):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        ask(server, units=2)
        assert {row[3] for row in kept.rows()} == {"no_answer"}
        assert len(server.journal) == 2


def test_json_sent_as_text_is_still_an_answer(ask, kept):
    with FaultServer(fault=lambda n, request: FAULTS["json as text"]) as server:
        ask(server, units=2)
    assert {row[3] for row in kept.rows()} == {"answered"}


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_no_request_would_pass_stops_at_once_with_the_cause(status, ask, kept):
    from tests.servers.faults import refuse

    with FaultServer(fault=lambda n, request: refuse(status, f"cause {status}")) as server:
        with pytest.raises(CollectionError, match=f"cause {status}") as caught:
            ask(server, units=50)
        assert caught.value.exit_code == 3
        assert len(server.journal) <= 4, "more than what was in flight"


def test_an_exhausted_quota_stops_and_only_the_errors_are_asked_again(ask, kept):
    with FaultServer(fault=lambda n, request: FAULTS["quota"] if n >= 5 else None) as server:
        with pytest.raises(CollectionError, match="quota"):
            ask(server, units=30)
        before = Counter(row[3] for row in kept.rows())
        server.fault = lambda n, request: None
        asked = len(server.journal)
        ask(server, units=30)
        assert len(server.journal) - asked == 30 - before["answered"]
    assert Counter(row[3] for row in kept.rows())["answered"] == 30


def test_errors_alone_end_as_incomplete_and_name_the_cause(ask, kept):
    with FaultServer(fault=lambda n, request: FAULTS["503"]) as server:
        with pytest.raises(CollectionError, match="pre-flight failed"):
            ask(server, units=30, preflight=3, max_retries=1)
        assert len(server.journal) == 6


def test_a_slow_reply_is_overtaken_and_stays_with_its_own_prompt(ask, kept, fairfund):
    """Replies arrive in another order than their requests; each is joined with what it answers."""
    texts = {unit.prompt: str(1 + i % 5) for i, unit in enumerate(fairfund.units[:12])}
    slow = FAULTS["slow"]
    with FaultServer(
        answer=lambda request: texts[request["messages"][-1]["content"]],
        fault=lambda n, request: slow if n % 3 == 0 else None,
    ) as server:
        ask(server, units=12)
    order = [row[0] for row in kept.rows("unit")]
    by_key = {unit.key: unit for unit in fairfund.units}
    assert {key: json.loads(reply)["text"] for key, reply in kept.rows("unit, reply")} == {
        key: texts[by_key[key].prompt] for key in order
    }
    sent = [seen.prompt for seen in server.journal]
    assert [by_key[key].prompt for key in order] != sent, "nothing was overtaken"


def test_a_reply_sent_twice_shows_in_the_status(ask, kept, fairfund, tmp_path):
    from tests.servers.faults import change

    from evenhand.collection.deviations import served
    from evenhand.collection.ledger_file import open_ledger

    with FaultServer(fault=lambda n, request: change(id="chatcmpl-same")) as server:
        ask(server, units=3)
    with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest) as ledger:
        assert served(ledger, "m")["shared_reply_ids"] == 2


def test_thirty_repetitions_are_thirty_calls_with_thirty_replies(ask, kept, fairfund):
    """Situations run-01, run-02: nothing is served from a cache."""
    with FaultServer() as server:
        ask(server, units=1, epochs=30)
        assert len(server.journal) == 30
        assert len({body.body["seed"] for body in server.journal}) == 30
    assert len({row[0] for row in kept.rows("reply_id")}) == 30


def test_one_temperature_does_not_answer_for_another(ask, kept):
    """Situation run-03."""
    import dataclasses

    from evenhand.plan import load_plan

    settings = load_plan("fairfund").settings
    with FaultServer() as server:
        for temperature in (0.0, 1.0):
            respondent = Respondent("openai-api/fault/faulty", {"base_url": server.base_url}, label=f"t{temperature}")
            ask(
                server,
                units=2,
                respondents=[respondent],
                settings=dataclasses.replace(settings, temperature=temperature),
            )
        assert sorted(seen.body["temperature"] for seen in server.journal) == [0.0, 0.0, 1.0, 1.0]


def test_the_wire_is_kept_and_no_key_with_it(ask, kept):
    with FaultServer() as server:
        ask(server, units=1)
    request, response = kept.one("wire_request"), kept.one("wire_response")
    assert request["messages"][-1]["content"] == kept.one("request")["prompt"]
    assert response["choices"][0]["message"]["content"] == "4"
    assert kept.one("backend") == "fp_test"
    assert kept.one("model_version") == "faulty-1"
    assert kept.one("reply_id") == response["id"]
    assert kept.one("sent") == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 4000, "seed": 0, "reasoning": "none"}
    assert b"fault-secret-key" not in kept.path.read_bytes()


def test_a_key_in_an_error_message_is_not_kept_or_said(ask, kept):
    from tests.servers.faults import refuse

    said = "Incorrect API key provided: fault-secret-key-1234."
    with FaultServer(fault=lambda n, request: refuse(401, said)) as server, pytest.raises(CollectionError) as caught:
        ask(server, units=1)
    assert "Incorrect API key provided" in str(caught.value)
    assert "fault-secret-key" not in str(caught.value)
    assert b"fault-secret-key" not in kept.path.read_bytes()


def test_a_wait_that_the_provider_asks_for_is_kept_within_bounds():
    from evenhand.collection.asker import LONGEST_BACKOFF, backoff

    assert backoff(0, 7.0) == 7.0
    assert backoff(0, 3600.0) == LONGEST_BACKOFF
    assert 0.5 <= backoff(0) <= 1.0


def test_no_unit_is_lost_amid_many_faults(ask, kept):
    with FaultServer(answer=answer_in_form, fault=at_random(TRANSIENT, 0.3)) as server:
        ask(server, units=120, max_connections=10, max_retries=12)
        answered = Counter(row[0] for row in kept.rows() if row[3] == "answered")
        assert len(answered) == 120, [
            row for row in kept.rows("unit, attempt, status, error_class, reason") if row[0] not in answered
        ]
        assert set(answered.values()) == {1}
        assert len(kept.rows()) == len(server.journal)


def test_a_provider_that_goes_down_is_not_asked_for_ever(ask, kept):
    with FaultServer(fault=lambda n, request: FAULTS["503"] if n >= 20 else None) as server:
        with pytest.raises(CollectionError, match="503"):
            ask(server, units=600, max_retries=1)
        assert len(server.journal) < 20 + 2 * (50 + 4)
        server.fault = lambda n, request: None
        ask(server, units=600, max_retries=1)
    assert len({row[0] for row in kept.rows() if row[3] == "answered"}) == 600


def test_the_reasons_of_errors_are_counted(ask, fairfund, tmp_path):
    from evenhand.collection.deviations import error_rows
    from evenhand.collection.ledger_file import open_ledger

    with FaultServer(fault=lambda n, request: FAULTS["500"] if n % 2 else None) as server:
        ask(server, units=10, max_retries=0, max_connections=1)
    with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest) as ledger:
        [row] = error_rows(ledger, "m")
    assert row["units"] == 5
    assert "500" in row["reason"]


def run_until_killed(run, server, environment, *, connections=20):
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "evenhand", "run", str(run), "--model", "openai-api/fault/faulty"),
            *("-M", f"base_url={server.base_url}", "--as", "m", "--max-connections", str(connections), "--json"),
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_ten_kills_lose_nothing_and_pay_for_nothing_twice(tmp_path):
    """2,280 units; the server kills its client after random numbers of replies, and the same command goes on."""
    import random

    from evenhand import study

    run = study.build("fairfund", tmp_path / "run")
    environment = {**os.environ, "FAULT_API_KEY": "x" * 12}
    stream, kills, connections = random.Random(7), 0, 20
    with FaultServer(answer=answer_in_form, fault=at_random(TRANSIENT, 0.02)) as server:
        while True:
            process = run_until_killed(tmp_path / "run", server, environment, connections=connections)
            if kills < 10:
                server.arm(process.pid, stream.randint(1, 200))
            out, _ = process.communicate(timeout=300)
            if process.returncode != -signal.SIGKILL:
                break
            kills += 1
        assert process.returncode == 0, out
        received = server.received()
    assert kills == 10
    [row] = study.status(run).models
    assert (row["answered"], row["final"], row["units"]) == (2280, 2280, 2280)
    with sqlite(run.ledger) as connection:
        answered = connection.execute(
            "SELECT unit, COUNT(*) FROM attempts WHERE status = 'answered' GROUP BY unit"
        ).fetchall()
        attempts = connection.execute("SELECT COUNT(*) FROM attempts").fetchone()[0]
    assert len(answered) == 2280
    assert {count for _, count in answered} == {1}
    unrecorded = received.total() - attempts
    assert 0 <= unrecorded <= kills * connections, "more was paid for than was in flight at the kills"


def sqlite(path):
    import sqlite3
    from contextlib import closing

    return closing(sqlite3.connect(path))
