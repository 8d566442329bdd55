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
    hang: bool = False
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


async def write_response(response: Response, writer: asyncio.StreamWriter) -> bool:
    """Send a response as it is to be sent; False where the connection is over."""
    if response.hang:
        await asyncio.sleep(3600)
    if response.delay:
        await asyncio.sleep(response.delay)
    if response.silent:
        writer.transport.abort()
        return False
    reason = HTTPStatus(response.status).phrase
    headers = {"Content-Type": response.content_type, "Content-Length": str(len(response.body)), **response.headers}
    head = f"HTTP/1.1 {response.status} {reason}\r\n" + "".join(f"{key}: {value}\r\n" for key, value in headers.items())
    body = response.body if response.cut_at is None else response.body[: response.cut_at]
    with contextlib.suppress(ConnectionError):
        writer.write(head.encode("latin-1") + b"\r\n" + body)
        await writer.drain()
        if response.cut_at is not None:
            writer.close()
            return False
        return True
    return False
