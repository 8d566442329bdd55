"""Batch mode against the batch interface of a local server."""

import asyncio
import json
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from tests.servers.batches import Batches
from tests.servers.faults import FaultServer

from evenhand.collection import runner
from evenhand.collection.deviations import served
from evenhand.collection.ledger_file import open_ledger
from evenhand.errors import CollectionError, InputError

PILOT = "(pilot)"


def echo(texts):
    """Says a pilot's word back, and to each unit what a test wants."""

    def answer(request):
        prompt = request["messages"][-1]["content"]
        return prompt.rpartition(": ")[2] if prompt.startswith("Reply with this one word") else texts(prompt)

    return answer


@pytest.fixture
def batched(ask):
    def run(server, **settings):
        given = {"batch": 5, "batch_tick": 0.05, "max_retries": 2, **settings}
        return ask(server, model="openai/faulty", arguments={"responses_api": False}, **given)

    return run


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "openai-secret-key")


def of_units(kept, columns="unit, attempt, status"):
    return [row for row in kept.rows(columns) if not row[0].startswith(PILOT)]


def rating(prompt):
    return str(1 + sum(map(ord, prompt)) % 5)


def test_results_in_any_order_are_joined_by_their_id(batched, kept, fairfund):
    """Situation run-12."""
    with FaultServer(answer=echo(rating), batches=Batches(polls=2)) as server:
        batched(server, units=12)
        assert server.journal == [], "single requests were sent in batch mode"
        assert set(server.batches.asked.values()) == {1}
    by_key = {unit.key: unit for unit in fairfund.units}
    read = {key: text_of(reply) for key, reply in of_units(kept, "unit, reply")}
    assert read == {key: rating(by_key[key].prompt) for key in read}
    assert len(read) == 12


def text_of(reply):
    return json.loads(reply)["text"]


def test_the_preflight_goes_one_by_one_and_the_rest_in_batches(batched, kept):
    with FaultServer(answer=echo(rating)) as server:
        batched(server, units=12, preflight=3)
        assert len(server.journal) == 3
        assert sum(server.batches.asked.values()) == 9 + 5
    assert len(of_units(kept)) == 12


def test_a_batch_that_ends_without_some_results_asks_for_those_again(batched, kept):
    """Expired batches give what was finished; the rest is resubmitted."""
    with FaultServer(answer=echo(rating), batches=Batches(lose={1: {0, 3}}, status="expired")) as server:
        batched(server, units=10)
        units = Counter(count for prompt, count in server.batches.asked.items() if not prompt.startswith("Reply"))
        assert units == {1: 8, 2: 2}
    statuses = Counter(row[2] for row in of_units(kept))
    assert statuses == {"answered": 10, "error": 2}
    reasons = {row[1] for row in of_units(kept, "unit, reason, status") if row[2] == "error"}
    assert all("ended without this request's result" in reason for reason in reasons)


def test_a_batch_without_any_file_fails_and_is_not_waited_for(batched, kept):
    """Situation run-15: completed is not success."""
    empty = FaultServer(answer=echo(rating), batches=Batches(empty=True))
    with empty as server, pytest.raises(CollectionError, match="ended without results"):
        batched(server, units=3, max_retries=0)
    assert {row[2] for row in kept.rows("unit, attempt, status")} == {"error"}


def test_a_batch_whose_requests_all_fail_says_why(batched, kept):
    failing = FaultServer(answer=echo(rating), batches=Batches(fail="the prompt is not allowed"))
    with failing as server, pytest.raises(CollectionError, match="the prompt is not allowed"):
        batched(server, units=3, max_retries=0)


def test_a_rejected_batch_says_why(batched):
    rejected = FaultServer(answer=echo(rating), batches=Batches(reject=("the organisation has no batch quota",)))
    with rejected as server, pytest.raises(CollectionError, match="no batch quota"):
        batched(server, units=3, max_retries=0)


def test_an_error_line_fails_its_own_request_and_no_other(batched, kept):
    """Inspect gives up a whole batch, paid results and all, where one line is an error with a body."""
    with FaultServer(answer=echo(rating), batches=Batches(fail_one=1)) as server:
        batched(server, units=5)
        assert Counter(server.batches.asked.values()) == {1: 10}
    assert Counter(row[2] for row in of_units(kept)) == {"answered": 4, "error": 1}


def test_a_batch_that_is_not_known_yet_is_looked_at_again_and_never_sent_twice(batched, kept):
    """Situation run-17."""
    with FaultServer(answer=echo(rating), batches=Batches(not_found=3)) as server:
        batched(server, units=5)
        assert set(server.batches.asked.values()) == {1}
    assert {row[2] for row in of_units(kept)} == {"answered"}


def test_results_under_each_others_id_are_found_before_any_unit_is_sent(batched, kept):
    """Situation run-13."""
    with FaultServer(answer=echo(rating), batches=Batches(swap=True)) as server:
        with pytest.raises(CollectionError, match="answer to another request"):
            batched(server, units=10)
        assert all(prompt.startswith("Reply") for prompt in server.batches.asked)


def test_a_refused_batch_ends_its_requests_and_leaves_nothing_waiting(batched, kept):
    closed = FaultServer(answer=echo(rating), batches=Batches(refuse=403))
    with closed as server, pytest.raises(CollectionError, match="batches are closed"):
        batched(server, units=10)
    assert {row[2] for row in kept.rows("unit, attempt, status")} == {"error"}


def test_batches_under_way_are_taken_up_by_the_next_session(batched, kept, fairfund, tmp_path, monkeypatch):
    """A session that dies while batches are under way: the next one waits for them instead of paying again."""
    with FaultServer(answer=echo(rating), batches=Batches(polls=0)) as server:
        batched(server, units=1)
        server.batches.polls = 10**9
        with monkeypatch.context() as patched:
            patched.setattr(runner, "_collect_all", dying_when(lambda: len(server.batches.made) >= 4))
            batched(server, units=11)
        before = server.batches.asked.copy()
        with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest) as ledger:
            left = served(ledger, "m")["unsettled_batch_items"]
        assert left == 10
        server.batches.polls = 0
        batched(server, units=11)
        assert server.batches.asked == before, "a batch was paid for again"
    assert Counter(row[2] for row in of_units(kept)) == {"answered": 11}
    with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest) as ledger:
        assert served(ledger, "m")["unsettled_batch_items"] == 0


def dying_when(due):
    """A collection that is gone, in the middle of everything, as soon as something is due."""
    whole = runner._collect_all

    async def collect_all(*arguments):
        task = asyncio.ensure_future(whole(*arguments))
        while not due():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        task.cancel()
        _, waiting = await asyncio.wait([task], timeout=20)
        assert not waiting, "a request under way did not let itself be ended"

    return collect_all


def test_a_batch_that_is_gone_is_sent_again_after_some_patience(batched, kept, fairfund, tmp_path, monkeypatch):
    from evenhand.collection.adapter import batches

    monkeypatch.setitem(batches.PATIENCE, "max_consecutive_check_failures", 3)
    with FaultServer(answer=echo(rating)) as server:
        batched(server, units=1)
        with closing(sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)) as connection:
            unit = fairfund.units[1].key
            connection.execute("INSERT INTO batches VALUES ('batch_lost', 'c1', 'm', ?, 1, 1, 't')", (unit,))
        batched(server, units=2)
    rows = [row for row in of_units(kept) if row[0] == unit]
    assert [(row[1], row[2]) for row in rows] == [(1, "error"), (2, "answered")]


def test_a_provider_without_batches_is_refused_before_anything_is_sent(ask):
    with FaultServer() as server:
        with pytest.raises(InputError, match="no batch mode"):
            ask(server, units=2, batch=5)
        assert server.journal == []


def test_no_custom_id_is_used_twice(batched, kept, tmp_path):
    """Situation run-14."""
    with FaultServer(answer=echo(rating)) as server:
        batched(server, units=20)
        ids = [line["custom_id"] for made in server.batches.made.values() for line in made["lines"]]
    assert len(ids) == len(set(ids)) == 25


def test_nothing_of_inspect_stays_changed(batched):
    from inspect_ai.model._providers.util.batch import Batcher

    before = {name: getattr(Batcher, name) for name in ("generate_for_request", "_wrapped_create_batch")}
    with FaultServer(answer=echo(rating)) as server:
        batched(server, units=2)
    assert before == {name: getattr(Batcher, name) for name in before}
