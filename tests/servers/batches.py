"""The batch interface: files up, batches made, results down, in an order and with gaps of the test's choosing."""

from __future__ import annotations

import json
import random
import re
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.servers import responses_api
from tests.servers.http import Request, Response
from tests.servers.replies import error, prompt_of, reply_to

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Batches:
    """What the batch interface does.

    Attributes:
        polls: Looks at a batch before it is done.
        not_found: Looks answered 404 before the batch is known.
        lose: Requests of each of the first batches whose result is not there, by their place in the batch.
        tell_lost: Whether those are named in the error file, as OpenAI does for a batch that expired.
        swap: Whether the results of a batch's first two requests are given under each other's id.
        fail: Whether every request of a batch fails, with this message in the error file.
        fail_one: The number of a batch whose first request fails, error and body in the results as OpenAI has them.
        empty: Whether a batch ends as completed with no file at all.
        reject: Errors of a batch that ends as failed before any request was sent; OpenAI gives one or many.
        refuse: Status of the answer to a batch that is to be made.
        status: How a batch ends.
        files: Every file, by its id.
        made: Every batch, by its id; a client that comes later finds it again.
        asked: How often each prompt was in a batch.
        custom_ids: How often each custom id was in a batch.
    """

    polls: int = 0
    not_found: int = 0
    lose: dict[int, set[int]] = field(default_factory=dict)
    tell_lost: bool = False
    swap: bool = False
    fail: str = ""
    fail_one: int | None = None
    empty: bool = False
    reject: tuple[str, ...] = ()
    refuse: int = 0
    status: str = "completed"
    files: dict[str, bytes] = field(default_factory=dict)
    made: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    custom_ids: Counter[str] = field(default_factory=Counter)

    def route(self, request: Request, answer: Callable[[dict[str, Any]], Any]) -> Response | None:
        if request.method == "POST" and request.path.endswith("/files"):
            return self._upload(request)
        if request.method == "GET" and request.path.endswith("/content"):
            return self._give(request.path.split("/")[-2])
        if request.method == "POST" and request.path.endswith("/batches"):
            return self._make(request, answer)
        if request.method == "GET" and "/batches/" in request.path:
            return self._look(request.path.split("/")[-1])
        return None

    def _upload(self, request: Request) -> Response:
        [boundary] = re.findall(r'boundary="?([^;"]+)', request.headers["content-type"])
        parts = request.body.split(b"--" + boundary.encode())
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

    def _give(self, name: str) -> Response:
        if name not in self.files:
            return Response.of(error(404, "no such file"), status=404)
        return Response(body=self.files[name], content_type="application/octet-stream")

    def _make(self, request: Request, answer: Callable[[dict[str, Any]], Any]) -> Response:
        if self.refuse:
            return Response.of(error(self.refuse, "batches are closed"), status=self.refuse)
        asked = request.json()
        if asked["input_file_id"] not in self.files:
            return Response.of(error(400, "no such file"), status=400)
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines() if line.strip()]
        self.asked.update(prompt_of(line["body"]) for line in lines)
        self.custom_ids.update(line["custom_id"] for line in lines)
        name = f"batch_{len(self.made)}_{uuid.uuid4().hex[:8]}"
        self.made[name] = {"lines": lines, "looks": 0, "number": len(self.made), "answer": answer, "asked": asked}
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
        return Response.of(self._info(name, "failed" if self.reject else self.status))

    def _info(self, name: str, status: str) -> dict[str, Any]:
        batch = self.made[name]
        ended = status != "in_progress"
        if ended and "files" not in batch:
            batch["files"] = {} if self.empty or self.reject else self._results(batch)
        files = batch.get("files", {}) if ended else {}
        total = len(batch["lines"])
        lost = len(self.lose.get(batch["number"], ()))
        failed = 0 if not ended else total if self.empty or self.fail else lost
        errors = [{"code": "invalid", "message": text, "param": None, "line": None} for text in self.reject]
        return {
            "id": name,
            "object": "batch",
            "endpoint": batch["asked"]["endpoint"],
            "input_file_id": batch["asked"]["input_file_id"],
            "completion_window": "24h",
            "status": status,
            "created_at": 1,
            "output_file_id": files.get("output"),
            "error_file_id": files.get("error"),
            "errors": {"object": "list", "data": errors} if ended and errors else None,
            "request_counts": None
            if self.reject
            else {"total": total, "completed": total - failed if ended else 0, "failed": failed},
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
        bodies = [reply_to(line["body"], batch["answer"](line["body"])) for line in lines]
        if batch["asked"]["endpoint"].endswith("/responses"):
            bodies = [responses_api.response(body) for body in bodies]
        results = [self._line(own, 200, body) for own, body in zip(ids, bodies, strict=True)]
        if self.fail_one == batch["number"]:
            results[0] = self._line(ids[0], 400, error(400, "this request is not allowed"))
        random.Random(0).shuffle(results)
        files = {"output": self._keep(b"\n".join(results))} if results else {}
        if lost and self.tell_lost:
            files["error"] = self._keep(
                b"\n".join(self._expired(line["custom_id"]) for i, line in enumerate(batch["lines"]) if i in lost)
            )
        return files

    @staticmethod
    def _expired(custom_id: str) -> bytes:
        late = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
        return json.dumps({"id": "x", "custom_id": custom_id, "response": None, "error": late}).encode()

    @staticmethod
    def _line(custom_id: str, status: int, body: dict[str, Any]) -> bytes:
        response = {"status_code": status, "request_id": "r", "body": body}
        return json.dumps({"id": "x", "custom_id": custom_id, "response": response, "error": None}).encode()
