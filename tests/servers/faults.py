"""The faults that a provider was seen to have, by name, and the server that has them as a process of its own.

    python -m tests.servers.faults --port 0 --seed 0 --fault-rate 0.0

prints its address first and serves until its standard input is closed, so give it a pipe. `POST /arm {"pid": 1, "after":
20}` sends SIGKILL to a process after so many more answers; `GET /journal` tells what was received and answered.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any

from tests.servers.http import Response
from tests.servers.replies import answer_in_form, completion, error, prompt_of, reply_to, tool_call, usage_of
from tests.servers.server import Choose, Fault, FaultServer

LONGEST_HANG = 60.0
LONGEST_HOLD = 5.0


def refuse(status: int, message: str = "no", code: str | None = None, **headers: str) -> Fault:
    """An HTTP error."""
    names = {key.replace("_", "-"): value for key, value in headers.items()}
    return lambda request, said: Response.of(error(status, message, code), status=status, headers=names)


def change(**changes: Any) -> Fault:
    """A completion that is not as it should be."""
    return lambda request, said: Response.of(reply_to(request, said, **changes))


def send(**settings: Any) -> Fault:
    """A sound answer, sent as it should not be."""
    return lambda request, said: Response.of(reply_to(request, said), **settings)


FAULTS: dict[str, Fault] = {
    **{str(status): refuse(status) for status in (400, 401, 402, 403, 404, 500, 503)},
    "429": refuse(429, "rate limit", retry_after="0"),
    "quota": refuse(429, "You exceeded your current quota", "insufficient_quota"),
    "hang": lambda request, said: Response(hang=LONGEST_HANG),
    "slow": send(delay=0.3),
    "held back": send(hold=LONGEST_HOLD),
    "served twice": send(again=True),
    "cut": send(cut_at=40),
    "silent": lambda request, said: Response(silent=True),
    "broken json": lambda request, said: Response(body=b'{"id": "x", "choices": [{"mess'),
    "empty body": lambda request, said: Response(body=b""),
    "empty content": lambda request, said: Response.of(completion(request, "")),
    "null content": lambda request, said: Response.of(completion(request, None)),
    "no choices": change(choices=[]),
    "error in 200": lambda request, said: Response.of(error(200, "upstream failed")),
    "html": lambda request, said: Response(body=b"<html>Bad gateway</html>", content_type="text/html"),
    "json as text": send(content_type="text/plain"),
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
        completion(request, None, message=tool_call(request, said if isinstance(said, dict) else {"decision": 1}))
    ),
    "length": change(finish_reason="length"),
    "content filter": change(finish_reason="content_filter"),
    "odd finish": change(finish_reason="MALFORMED_FUNCTION_CALL"),
    "refusal": lambda request, said: Response.of(
        completion(request, None, message={"refusal": "I cannot help with that."})
    ),
    "reasoned": lambda request, said: Response.of(
        reply_to(request, said, usage=usage_of(request, said, reasoning_tokens=50))
    ),
    "half read": lambda request, said: Response.of(
        reply_to(
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


def main() -> None:
    """Serve until standard input is closed."""
    options = argparse.ArgumentParser(description="An OpenAI-compatible server with faults, on loopback.")
    options.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options.add_argument("--seed", type=int, default=0, help="which requests meet which fault")
    options.add_argument("--fault-rate", type=float, default=0.0, help="share of requests that meet a passing fault")
    given = options.parse_args()
    fault = at_random(TRANSIENT, given.fault_rate, given.seed)
    with FaultServer(answer=answer_in_form, fault=fault, port=given.port) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
