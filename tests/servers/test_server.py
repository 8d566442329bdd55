"""The journal, the trigger, and the server as a process of its own."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing

import httpx
import pytest
from tests.servers.faults import FAULTS, FaultServer, change
from tests.servers.replies import prompt_of

TOOL = {"type": "function", "function": {"name": "decide", "parameters": {"type": "object", "properties": {}}}}


def say(client, prompt="How much?", **settings):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}], **settings)


def test_the_journal_tells_what_came_when_and_what_was_answered(client):
    before = time.time()
    with FaultServer(fault=lambda n, request: change(choices=[]) if n == 0 else None) as server:
        asker = client(server)
        for prompt in ("a", "a", "b"):
            say(asker, prompt)
        told = httpx.get(server.base_url.removesuffix("/v1") + "/journal").json()
        assert (server.received(), server.answered()) == ({"a": 2, "b": 1}, {"a": 1, "b": 1})
    assert (told["received"], told["answered"]) == ({"a": 2, "b": 1}, {"a": 1, "b": 1})
    assert [(seen["number"], seen["prompt"], seen["answered"]) for seen in told["requests"]] == [
        (0, "a", False),
        (1, "a", True),
        (2, "b", True),
    ]
    assert all(before <= seen["at"] <= time.time() for seen in told["requests"])
    assert {seen["path"] for seen in told["requests"]} == {"/v1/chat/completions"}
    assert told["requests"][2]["body"]["messages"][0]["content"] == "b"


def test_the_trigger_falls_once_after_so_many_answers_and_faults_do_not_count(client):
    fallen = []
    with FaultServer(
        fault=lambda n, request: FAULTS["empty content"] if n % 2 else None,
        kill=lambda: fallen.append(len(server.journal)),
        kill_after=3,
    ) as server:
        asker = client(server)
        for _ in range(12):
            say(asker)
    assert fallen == [5]


@pytest.mark.parametrize("who", ["-1", "0", "1", "own"])
def test_the_trigger_is_not_armed_at_many_processes_or_the_server(who):
    pid = os.getpid() if who == "own" else int(who)
    with FaultServer() as server:
        with pytest.raises(AssertionError, match="this would"):
            server.arm(pid, 1)
        reply = httpx.post(server.base_url.removesuffix("/v1") + "/arm", json={"pid": pid, "after": 1})
        assert reply.status_code == 500


def test_a_connection_is_used_again_and_twenty_at_once_are_served():
    async def many(server):
        limits = httpx.Limits(max_connections=20)
        async with httpx.AsyncClient(base_url=server.base_url, limits=limits, timeout=30) as client:
            asked = ({"messages": [{"role": "user", "content": str(n)}]} for n in range(60))
            return await asyncio.gather(*(client.post("/chat/completions", json=body) for body in asked))

    with FaultServer(answer=prompt_of) as server:
        replies = asyncio.run(many(server))
        assert server.opened <= 20
    assert [reply.json()["choices"][0]["message"]["content"] for reply in replies] == [str(n) for n in range(60)]


def test_the_server_stops_at_once_though_a_request_hangs():
    with socket.socket() as client:
        with FaultServer(fault=lambda n, request: FAULTS["hang"]) as server:
            client.connect(("127.0.0.1", server.port))
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
            while not server.journal:
                time.sleep(0.01)
            start = time.monotonic()
        assert time.monotonic() - start < 2
        assert client.recv(1) == b"", "the connection was left open"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_as_a_process_it_kills_its_client_after_so_many_answers():
    serve = [sys.executable, "-m", "tests.servers.faults", "--port", "0", "--seed", "3", "--fault-rate", "0.0"]
    with subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        root = url.removesuffix("/v1")
        with closing(server.stdin), subprocess.Popen([sys.executable, "-c", ENDLESS, url], text=True) as victim:
            armed = httpx.post(f"{root}/arm", json={"pid": victim.pid, "after": 5}, timeout=10)
            assert armed.json() == {"armed": True}
            assert victim.wait(30) == -signal.SIGKILL
            told = httpx.get(f"{root}/journal", timeout=10).json()
        assert server.wait(10) == 0
    assert sum(told["answered"].values()) >= 5
    assert sum(told["received"].values()) <= sum(told["answered"].values()) + 1


ENDLESS = """
import http.client, json, sys
connection = http.client.HTTPConnection(sys.argv[1].split("/")[2])
while True:
    body = json.dumps({"messages": [{"role": "user", "content": "x"}]})
    connection.request("POST", "/v1/chat/completions", body)
    connection.getresponse().read()
"""
