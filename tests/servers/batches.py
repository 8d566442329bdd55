"""The batch interface: files up, batches made, results down, in an order and with gaps of the test's choosing."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers.http import Request, Response
from tests.servers.replies import completion, error, prompt_of

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Batches:
    """What the batch interface does.

    Attributes:
        polls: Looks at a batch before it is done.
        not_found: Looks answered 404 before the batch is known.
        lose: Requests of each of the first batches whose result is not there, by their place in the batch.
        swap: Whether the results of a batch's first two requests are given under each other's id.
        fail: Whether every request of a batch fails, with this message in the error file.
        fail_one: The number of a batch whose first request fails, error and body in the results as OpenAI has them.
        empty: Whether a batch ends as completed with no file at all.
        refuse: Status of the answer to a batch that is to be made.
        status: How a batch ends.
    """

    polls: int = 0
    not_found: int = 0
    lose: dict[int, set[int]] = field(default_factory=dict)
    swap: bool = False
    fail: str = ""
    fail_one: int | None = None
    empty: bool = False
    refuse: int = 0
    status: str = "completed"
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)

    def route(self, request: Request, answer: Callable[[dict[str, Any]], Any]) -> Response | None:
        if request.method == "POST" and request.path.endswith("/files"):
            return self._upload(request)
        if request.method == "GET" and request.path.endswith("/content"):
            return Response(body=self.files[request.path.split("/")[-2]], content_type="application/octet-stream")
        if request.method == "POST" and request.path.endswith("/batches"):
            return self._make(request, answer)
        if request.method == "GET" and "/batches/" in request.path:
            return self._look(request.path.split("/")[-1])
        return None

    def _upload(self, request: Request) -> Response:
        boundary = re.search(r"boundary=([^;]+)", request.headers["content-type"]).group(1).strip('"').encode()
        parts = request.body.split(b"--" + boundary)
        [content] = [part.partition(b"\r\n\r\n")[2].rstrip(b"\r\n") for part in parts if b"filename=" in part]
        name = self._keep(content)
        return Response.of(
            {"id": name, "object": "file", "bytes": len(content), "created_at": 1, "filename": "b", "purpose": "batch"}
            | {"status": "processed"}
        )

    def _keep(self, content: bytes) -> str:
        name = f"file-{uuid.uuid4().hex}"
        self.files[name] = content
        return name

    def _make(self, request: Request, answer: Callable[[dict[str, Any]], Any]) -> Response:
        if self.refuse:
            return Response.of(error(self.refuse, "batches are closed"), status=self.refuse)
        lines = [json.loads(line) for line in self.files[request.json()["input_file_id"]].splitlines() if line.strip()]
        self.asked.update(prompt_of(line["body"]) for line in lines)
        name = f"batch_{len(self.made)}_{uuid.uuid4().hex[:8]}"
        self.made[name] = {"lines": lines, "looks": 0, "number": len(self.made), "answer": answer}
        return Response.of(self._info(name, "in_progress"))

    def _look(self, name: str) -> Response:
        if name not in self.made:
            return Response.of(error(404, "no such batch"), status=404)
        batch = self.made[name]
        batch["looks"] += 1
        if batch["looks"] <= self.not_found:
            return Response.of(error(404, "no such batch yet"), status=404)
        if batch["looks"] <= self.not_found + self.polls:
            return Response.of(self._info(name, "in_progress"))
        return Response.of(self._info(name, self.status))

    def _info(self, name: str, status: str) -> dict[str, Any]:
        batch = self.made[name]
        ended = status != "in_progress"
        if ended and "files" not in batch:
            batch["files"] = {} if self.empty else self._results(batch)
        files = batch.get("files", {}) if ended else {}
        total = len(batch["lines"])
        failed = total if ended and (self.empty or self.fail) else 0
        return {
            "id": name,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file-in",
            "completion_window": "24h",
            "status": status,
            "created_at": 1,
            "output_file_id": files.get("output"),
            "error_file_id": files.get("error"),
            "errors": None,
            "request_counts": {"total": total, "completed": total - failed if ended else 0, "failed": failed},
        }

    def _results(self, batch: dict[str, Any]) -> dict[str, str]:
        lost = self.lose.get(batch["number"], set())
        lines = [line for i, line in enumerate(batch["lines"]) if i not in lost]
        if self.fail:
            failed = [self._line(line["custom_id"], 400, error(400, self.fail)) for line in lines]
            return {"error": self._keep(b"\n".join(failed))}
        ids = [line["custom_id"] for line in lines]
        if self.swap and len(ids) > 1:
            ids[0], ids[1] = ids[1], ids[0]
        results = [
            self._line(own, 200, completion(line["body"], batch["answer"](line["body"])))
            for own, line in zip(ids, lines, strict=True)
        ]
        if self.fail_one == batch["number"]:
            results[0] = self._line(ids[0], 400, error(400, "this request is not allowed"))
        random.Random(0).shuffle(results)
        return {"output": self._keep(b"\n".join(results))} if results else {}

    @staticmethod
    def _line(custom_id: str, status: int, body: dict[str, Any]) -> bytes:
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({"id": "x", "custom_id": custom_id, "response": response, "error": None}).encode()
