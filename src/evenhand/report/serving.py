"""The page that follows a run, and a report, over HTTP: for this machine alone, to be read alone."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from evenhand.errors import InputError
from evenhand.report.places import PAGE, REPORT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from evenhand.report.live import Live

HOST = "127.0.0.1"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".json": "application/json",
}
_OTHER = "application/octet-stream"
_CLOSED = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
_REPORT_PAGE = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Vega compiles expressions, as the page's own policy lets it; served, the page is also framed and led nowhere."""
_LONGEST_BODY = 65_536


@dataclass(frozen=True, slots=True)
class Site:
    """What is served.

    Attributes:
        page: The page at `/`.
        state: What it shows, as JSON, made beforehand.
        report: The folder at `/report/`; it need not be there.
    """

    page: Live
    state: Callable[[], bytes]
    report: Path


@contextmanager
def serve(site: Site, port: int) -> Generator[str]:
    """Serve a site on the loopback address for as long as it is open.

    Args:
        site: What is served.
        port: Where; 0 for any that is free.

    Yields:
        The address, `http://127.0.0.1:8766/`.

    Raises:
        InputError: The port cannot be used.
    """
    try:
        server = _Server(site, port)
    except OSError as problem:
        reason = os.strerror(problem.errno) if problem.errno else problem
        raise InputError(
            f"the port cannot be used ({reason})",
            where=f"{HOST}:{port}",
            mend="Choose another with --port (0 for any that is free), or stop what uses it",
        ) from None
    threading.Thread(target=server.serve_forever, args=(0.1,), name="evenhand-serve", daemon=True).start()
    try:
        yield f"http://{HOST}:{server.port}/"
    finally:
        server.shutdown()
        server.server_close()


def find_file(folder: Path, path: str) -> Path | None:
    """The file of a folder that an address names, percent-encoded; None where there is none, or it is elsewhere.

    Args:
        folder: The folder.
        path: The address below it; an empty one is the report's page.
    """
    try:
        parts = unquote(path, errors="strict").split("/") if path else [PAGE]
        # No folder above or itself, nothing hidden, and no separator or stream of another system.
        if any(not part or part.startswith(".") or {"\\", ":", "\0"} & set(part) for part in parts):
            return None
        root = folder.resolve(strict=True)
        found = root.joinpath(*parts).resolve(strict=True)
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # On Windows it would let another program take the port over.
    allow_reuse_address = os.name != "nt"

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        super().__init__((HOST, port), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def server_bind(self) -> None:
        # HTTPServer's own asks for the name of the address, which may wait for a name server.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.port

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader that went away is no fault; anything else is one, and is printed."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version, sys_version = "Evenhand", ""
    timeout = 10
    _policy = _CLOSED

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        if not self._is_for_us():
            return
        path = self.path.partition("#")[0].partition("?")[0]
        if path == "/":
            self._say(HTTPStatus.OK, self.server.site.page.html, policy=self.server.site.page.policy)
        elif path == "/state.json":
            self._say(HTTPStatus.OK, self.server.site.state(), kind=_TYPES[".json"])
        elif path == f"/{REPORT}":
            self._say(HTTPStatus.MOVED_PERMANENTLY, b"", Location=f"/{REPORT}/")
        elif path.startswith(f"/{REPORT}/"):
            self._send_file(path.removeprefix(f"/{REPORT}/"))
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def __getattr__(self, name: str) -> Any:
        # The base class looks up `do_VERB`: whatever the verb, it is one of those that are not served.
        if name.startswith("do_"):
            return self._refuse_method
        raise AttributeError(name)

    def _is_for_us(self) -> bool:
        """Whether the request was sent to this address by name, not to a name that somebody made point here."""
        names = [HOST, "localhost"]
        wanted = {f"{name}:{self.server.port}" for name in names} | set(names if self.server.port == 80 else ())
        given = [str(value).strip().lower() for value in self.headers.get_all("Host", [])]
        if len(given) == 1 and given[0] in wanted:
            return True
        self._refuse(HTTPStatus.FORBIDDEN)
        return False

    def _refuse_method(self) -> None:
        # What was sent is read, else the connection would be reset before the answer is.
        length = self.headers.get("Content-Length", "0")
        self.rfile.read(min(int(length), _LONGEST_BODY) if length.isdecimal() else 0)
        if self._is_for_us():
            self._refuse(HTTPStatus.METHOD_NOT_ALLOWED, Allow="GET, HEAD")

    def _refuse(self, status: HTTPStatus, **headers: str) -> None:
        self._say(status, f"{status.value} {status.phrase}\n".encode(), kind="text/plain; charset=utf-8", **headers)

    def _send_file(self, path: str) -> None:
        found = find_file(self.server.site.report, path)
        try:
            data = found.read_bytes() if found else None
        except OSError:
            data = None
        if found is None or data is None:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        kind = _TYPES.get(found.suffix.lower(), _OTHER)
        self._say(HTTPStatus.OK, data, kind=kind, policy=_REPORT_PAGE if kind == _TYPES[".html"] else _CLOSED)

    def _say(
        self,
        status: HTTPStatus,
        body: bytes,
        *,
        kind: str = "text/html; charset=utf-8",
        policy: str = _CLOSED,
        **headers: str,
    ) -> None:
        self._policy = policy
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_headers(self) -> None:
        """Every answer, the base class's own too, says what a browser may make of it."""
        self.send_header("Content-Security-Policy", self._policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not printed: whoever sends them chooses what they say."""
