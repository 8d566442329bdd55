"""The server: plain answers, faults by choice, a journal of what was asked, and a trigger that kills its client.

    python -m tests.servers.faults          a process of its own; prints its address first

`POST /arm {"pid": 1, "after": 20}` sends SIGKILL to a process after so many more replies; `GET /journal` tells how often
each prompt was received and answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.servers.batches import Batches
from tests.servers.http import Request, Response, read_request, write_response
from tests.servers.replies import completion, error, prompt_of, tool_call, usage_of

Answer = Callable[[dict[str, Any]], str]
Fault = Callable[[dict[str, Any], str], Response]
Choose = Callable[[int, dict[str, Any]], "Fault | None"]


def refuse(status: int, message: str = "no", code: str | None = None, **headers: str) -> Fault:
    """An HTTP error."""
    names = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda request, said: Response.of(error(status, message, code), status=status, headers=names)


def change(**changes: Any) -> Fault:
    """A completion that is not as it should be."""
    return lambda request, said: Response.of(completion(request, said, **changes))


FAULTS: dict[str, Fault] = {
    "429": refuse(429, "rate limit", retry_after="0"),
    "quota": refuse(429, "You exceeded your current quota", "insufficient_quota"),
    "500": refuse(500),
    "503": refuse(503),
    "hang": lambda request, said: Response(hang=True),
    "slow": lambda request, said: Response.of(completion(request, said), delay=0.3),
    "cut": lambda request, said: Response.of(completion(request, said), cut_at=40),
    "silent": lambda request, said: Response(silent=True),
    "broken json": lambda request, said: Response(body=b'{"id": "x", "choices": [{"mess'),
    "empty body": lambda request, said: Response(body=b""),
    "empty content": lambda request, said: Response.of(completion(request, "")),
    "null content": lambda request, said: Response.of(completion(request, None)),
    "no choices": change(choices=[]),
    "error in 200": lambda request, said: Response.of(error(200, "upstream failed")),
    "html": lambda request, said: Response(body=b"<html>Bad gateway</html>", content_type="text/html"),
    "json as text": lambda request, said: Response.of(completion(request, said), content_type="text/plain"),
    "thinking blocks": lambda request, said: Response.of(
        completion(
            request,
            None,
            message={
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "maybe 2"}]},
                    {"type": "text", "text": said},
                ]
            },
        )
    ),
    "arguments as object": lambda request, said: Response.of(
        completion(request, None, message=tool_call(request, {"decision": 1}))
    ),
    "odd finish": change(finish_reason="MALFORMED_FUNCTION_CALL"),
    "reasoned": lambda request, said: Response.of(
        completion(request, said, usage=usage_of(request, said, reasoning_tokens=50))
    ),
    "half read": lambda request, said: Response.of(
        completion(
            request,
            said,
            usage={"prompt_tokens": len(prompt_of(request)) // 8, "completion_tokens": 1, "total_tokens": 9},
        )
    ),
}
"""Every fault by its name; each takes the request and what would have been said."""

TRANSIENT = ("429", "500", "503", "cut", "silent", "broken json", "empty body", "no choices", "error in 200", "html")
"""Faults after which the same request may be answered."""


def at_random(names: tuple[str, ...], share: float, seed: int = 0) -> Choose:
    """A fault of these for a share of the requests."""
    stream = random.Random(seed)
    return lambda number, request: FAULTS[stream.choice(names)] if stream.random() < share else None


@dataclass
class Seen:
    """One request to a model."""

    prompt: str
    body: dict[str, Any]
    answered: bool = False


@dataclass
class FaultServer:
    """A server on 127.0.0.1, in a thread of its own: `with FaultServer(...) as server: server.base_url`.

    Attributes:
        answer: What is said to a request; a mapping is the arguments of a tool call.
        fault: Which fault the n-th request meets, from 0; None for an answer.
        journal: Every request to a model, in order of arrival.
    """

    answer: Callable[[dict[str, Any]], Any] = lambda request: "4"
    fault: Choose = lambda number, request: None
    batches: Batches = field(default_factory=Batches)
    journal: list[Seen] = field(default_factory=list)
    port: int = 0
    _armed: tuple[int, int] | None = None
    _replies: int = 0

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
        """Kill a process after so many more replies."""
        self._armed = (pid, self._replies + after)

    def received(self) -> Counter[str]:
        """How often each prompt was received."""
        return Counter(seen.prompt for seen in self.journal)

    def answered(self) -> Counter[str]:
        """How often each prompt was answered, the answer completely sent."""
        return Counter(seen.prompt for seen in self.journal if seen.answered)

    async def _main(self, ready: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        server = await asyncio.start_server(self._connected, "127.0.0.1", self.port, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            while (request := await read_request(reader)) is not None:
                if not await self._serve(request, writer):
                    break
        except (asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            pass  # the test is over, or a client was killed in the middle of a request
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(Exception):
                writer.close()

    async def _serve(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        if request.path.endswith("/chat/completions"):
            return await self._serve_model(request, writer)
        return await write_response(self._route(request), writer)

    def _route(self, request: Request) -> Response:
        if request.path == "/arm":
            asked = request.json()
            self.arm(int(asked["pid"]), int(asked["after"]))
            return Response.of({"armed": True})
        if request.path == "/journal":
            return Response.of({"received": self.received(), "answered": self.answered()})
        if request.path.endswith("/models"):
            return Response.of({"object": "list", "data": [{"id": "faulty", "object": "model"}]})
        return self.batches.route(request, self.answer) or Response.of(error(404, "no such page"), status=404)

    async def _serve_model(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        body = request.json()
        seen = Seen(prompt_of(body), body)
        fault = self.fault(len(self.journal), body)
        self.journal.append(seen)
        said = self.answer(body)
        plain = _plain(body, said)
        response = fault(body, said) if fault else Response.of(plain)
        sent = await write_response(response, writer)
        seen.answered = sent and fault is None
        if seen.answered:
            self._replies += 1
            self._kill_if_due()
        return sent

    def _kill_if_due(self) -> None:
        if self._armed and self._replies >= self._armed[1]:
            pid, self._armed = self._armed[0], None
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _plain(body: dict[str, Any], said: Any) -> dict[str, Any]:
    if isinstance(said, str):
        return completion(body, said)
    return completion(body, None, message=tool_call(body, json.dumps(said)))


def answer_in_form(request: dict[str, Any]) -> str:
    """An answer that every format of FairFund-Bench reads."""
    prompt = prompt_of(request)
    words = {"two": 2, "three": 3, "four": 4, "five": 5}
    slots = next((n for word, n in words.items() if prompt.startswith(f"Below are {word} ")), 1)
    if slots == 1:
        return str(1 + sum(map(ord, prompt)) % 5)
    if "You have $10,000" in prompt:
        return ", ".join(str(10_000 // slots + (10_000 % slots if i == 0 else 0)) for i in range(slots))
    return ", ".join(str(i) for i in range(1, slots + 1))


def main() -> None:
    """Serve until standard input is closed."""
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    with FaultServer(answer=answer_in_form, fault=at_random(TRANSIENT, share)) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
