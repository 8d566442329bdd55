"""The server: plain answers, faults by choice, a journal of what was asked, and a trigger that kills its client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.servers.batches import Batches
from tests.servers.http import Request, Response, read_request, wait_to_send, write_response
from tests.servers.replies import error, holds_answer, prompt_of, reply_to
from tests.servers.responses_api import in_form

Fault = Callable[[dict[str, Any], Any], Response]
Choose = Callable[[int, dict[str, Any]], Fault | None]

LEAD = 0.2
"""Seconds by which a reply that was overtaken comes later, so that no client reads both at once."""


@dataclass
class Seen:
    """One request to a model.

    Attributes:
        number: Its place in the order of arrival, from 0.
        at: When it came, in seconds since the epoch.
        status: The status that it was or would have been answered with.
        sent: Whether a response was completely sent.
        answered: Whether that response was 200 and held an answer.
    """

    prompt: str
    body: dict[str, Any]
    number: int = 0
    path: str = ""
    at: float = field(default_factory=time.time)
    status: int = 200
    sent: bool = False
    answered: bool = False


@dataclass
class FaultServer:
    """A server on 127.0.0.1, in a thread of its own: `with FaultServer(...) as server: server.base_url`.

    Attributes:
        answer: What is said to a request; a mapping is the arguments of a tool call.
        fault: Which fault the n-th request meets, from 0; None for an answer.
        batches: What the batch interface does.
        journal: Every request to a model, in order of arrival.
        opened: Connections that were opened so far.
        port: Where to listen; 0 takes a free port.
        kill: What is called once after `kill_after` answers, between one answer and the next.
    """

    answer: Callable[[dict[str, Any]], Any] = lambda request: "4"
    fault: Choose = lambda number, request: None
    batches: Batches = field(default_factory=Batches)
    journal: list[Seen] = field(default_factory=list)
    opened: int = 0
    port: int = 0
    kill: Callable[[], None] | None = None
    kill_after: int = 1
    _armed: tuple[Callable[[], None], int] | None = None
    _replies: int = 0
    _last: bytes = b""
    _held: dict[int, asyncio.Event] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kill:
            self._armed = (self.kill, self.kill_after)

    def __enter__(self) -> FaultServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(10), "the server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def arm(self, pid: int, after: int) -> None:
        """Kill a process after so many more answers."""
        assert pid > 1, "this would signal more than one process"
        assert pid != os.getpid(), "this would kill the server"
        self._armed = (lambda: os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM)), self._replies + after)

    def received(self) -> Counter[str]:
        """How often each prompt was received."""
        return Counter(seen.prompt for seen in self.journal)

    def answered(self) -> Counter[str]:
        """How often each prompt was answered, the answer completely sent."""
        return Counter(seen.prompt for seen in self.journal if seen.answered)

    async def _main(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.opened += 1
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._serve(request, reader, writer):
                    break
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass  # the test is over, or a client was killed in the middle of a request
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(Exception):
                writer.close()

    async def _serve(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if request.method == "POST" and request.path.endswith(("/chat/completions", "/responses")):
            return await self._serve_model(request, reader, writer)
        try:
            response = self._route(request)
        except Exception as caught:
            response = Response.of(error(500, f"the test server failed: {caught!r}"), status=500)
        return await write_response(response, writer)

    def _route(self, request: Request) -> Response:
        if request.path == "/arm":
            asked = request.json()
            self.arm(int(asked["pid"]), int(asked["after"]))
            return Response.of({"armed": True})
        if request.path == "/journal":
            return Response.of(self._journal())
        if request.path.endswith("/models"):
            return Response.of({"object": "list", "data": [{"id": "faulty", "object": "model", "created": 1}]})
        return self.batches.route(request, self.answer) or Response.of(error(404, "no such page"), status=404)

    def _journal(self) -> dict[str, Any]:
        return {
            "received": self.received(),
            "answered": self.answered(),
            "requests": [vars(seen) for seen in self.journal],
            "batches": {"asked": self.batches.asked, "custom_ids": self.batches.custom_ids},
        }

    async def _serve_model(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        body = request.json()
        seen = Seen(prompt_of(body), body, len(self.journal), request.path)
        self.journal.append(seen)
        response = self._respond(seen)
        seen.status = response.status
        if response.hold:
            await self._hold(seen.number, response.hold)
        answers = response.status == 200 and holds_answer(response.body)
        if request.path.endswith("/responses"):
            response.body = in_form(response.body)
        if not await wait_to_send(response, reader, writer):
            return False
        # Marked first: who has a reply in hand finds it in the journal.
        seen.sent, seen.answered = True, answers
        if not await write_response(response, writer):
            seen.sent = seen.answered = False
        if seen.answered:
            self._count(seen.number)
        return seen.sent

    def _respond(self, seen: Seen) -> Response:
        """The answer or the fault; what a test's own function raises is told to the client."""
        try:
            fault = self.fault(seen.number, seen.body)
            said = self.answer(seen.body)
            response = fault(seen.body, said) if fault else Response.of(reply_to(seen.body, said))
        except Exception as caught:
            return Response.of(error(500, f"the test's own function failed: {caught!r}"), status=500)
        if response.again and self._last:
            response.body = self._last
        elif holds_answer(response.body):
            self._last = response.body
        return response

    async def _hold(self, number: int, seconds: float) -> None:
        self._held[number] = asyncio.Event()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._held[number].wait(), seconds)
            await asyncio.sleep(LEAD)
        del self._held[number]

    def _count(self, number: int) -> None:
        for held, passed in self._held.items():
            if held < number:
                passed.set()
        self._replies += 1
        if self._armed and self._replies >= self._armed[1]:
            kill, self._armed = self._armed[0], None
            with contextlib.suppress(ProcessLookupError):
                kill()
