"""HTTP/1.1 on asyncio streams: enough for the clients of the tests, and open to being broken on purpose."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any


@dataclass
class Request:
    """What a client sent."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}


@dataclass
class Response:
    """What goes back, and how it is broken."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    hang: float = 0.0
    """Send nothing until the client goes away, at most so many seconds; then close."""

    hold: float = 0.0
    """Wait until a later request to a model was answered, at most so many seconds."""

    again: bool = False
    """Send the last answer once more, id and all, in place of this body."""

    cut_at: int | None = None
    """Close the connection after so many bytes of the body, though more were promised."""

    silent: bool = False
    """Close the connection before any byte."""

    @classmethod
    def of(cls, content: object, **settings: Any) -> Response:
        return cls(body=json.dumps(content).encode(), **settings)


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None at its end."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in lines if line)}
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, path.partition("?")[0], headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    chunks = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readline()
    await reader.readline()
    return b"".join(chunks)


async def wait_to_send(response: Response, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Wait as a response is to wait; False where nothing is to be sent or the client has gone."""
    if response.hang:
        with contextlib.suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(reader.read(), response.hang)
        return False
    if response.delay:
        await asyncio.sleep(response.delay)
    if response.silent:
        writer.transport.abort()
    return not (writer.is_closing() or reader.at_eof())


async def write_response(response: Response, writer: asyncio.StreamWriter) -> bool:
    """Send a response; False where it was not sent whole."""
    reason = HTTPStatus(response.status).phrase
    headers = {"Content-Type": response.content_type, "Content-Length": str(len(response.body)), **response.headers}
    head = f"HTTP/1.1 {response.status} {reason}\r\n" + "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    body = response.body if response.cut_at is None else response.body[: response.cut_at]
    with contextlib.suppress(ConnectionError):
        writer.write(head.encode("latin-1") + b"\r\n" + body)
        await writer.drain()
        return response.cut_at is None
    return False
