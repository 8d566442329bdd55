"""Batches that outlive the process, through Inspect's batch mode.

Inspect keeps a batch's id in memory alone, waits for ever for a request that a batch ended without, and is brought
down by a batch that cannot be created. Here every item is written down before and after it is submitted, a later
session re-attaches to batches that are still under way, and a batch that ends without a result for some of its
requests fails those alone, so that they are asked again.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.collection.failures import classify
from evenhand.collection.ledger import now

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from evenhand.collection.ledger import Ledger

Key = tuple[str, str, int, int]
"""Respondent, unit, epoch, attempt."""

PATIENCE = {"max_consecutive_check_failures": 20}
"""Looks at a batch that may fail in a row: a provider can take a minute to know a batch that it has accepted."""

SUBMITTING = "(submitting)"
_REFUSED = "(refused)"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})

_item: ContextVar[Key | None] = ContextVar("evenhand_batch_item", default=None)


@contextmanager
def item(respondent: str, unit: str, epoch: int, attempt: int) -> Generator[None]:
    """Say which request is made inside, for the batch it may join."""
    token = _item.set((respondent, unit, epoch, attempt))
    try:
        yield
    finally:
        _item.reset(token)


@dataclass(slots=True)
class Post:
    """What is known of a run's batches: the requests under way, and what earlier sessions left behind.

    Attributes:
        ledger: Where batches are written down.
        left: Batch and custom id of requests that were submitted and never settled.
        keys: The item of each request under way, by the identity of its body.
        empty: Why a batch ended without any result, by its id.
    """

    ledger: Ledger
    left: dict[Key, tuple[str, str]] = field(default_factory=dict[Key, tuple[str, str]])
    keys: dict[int, Key] = field(default_factory=dict[int, Key])
    empty: dict[str, str] = field(default_factory=dict[str, str])

    def submitting(self, custom_ids: dict[str, Key]) -> None:
        """Write down requests that are about to be submitted."""
        with self.ledger.whole():
            for custom_id, (respondent, unit, epoch, attempt) in custom_ids.items():
                row = (SUBMITTING, custom_id, respondent, unit, epoch, attempt, now())
                self._note("INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def submitted(self, batch: str, custom_ids: dict[str, str]) -> None:
        """Write down the provider's id of their batch; a custom id may have changed on the way."""
        with self.ledger.whole():
            for before, after in custom_ids.items():
                update = "UPDATE batches SET batch = ?, custom_id = ? WHERE batch = ? AND custom_id = ?"
                self._note(update, (batch, after, SUBMITTING, before))

    def refused(self, custom_ids: dict[str, Key]) -> None:
        """The provider answered that it does not take them: nothing of them can be paid for."""
        with self.ledger.whole():
            for custom_id in custom_ids:
                self._note("DELETE FROM batches WHERE batch = ? AND custom_id = ?", (SUBMITTING, custom_id))

    def _note(self, statement: str, row: tuple[Any, ...]) -> None:
        self.ledger.note(statement, row, what="a batch")


def open_post(ledger: Ledger) -> Post:
    """What earlier sessions left: the items of batches that no attempt settled."""
    rows = ledger.read(
        "SELECT batches.respondent, unit, epoch, attempt, batch, custom_id FROM batches "
        "LEFT JOIN attempts USING (unit, respondent, epoch, attempt) WHERE attempts.unit IS NULL AND batch != ?",
        (SUBMITTING,),
    )
    return Post(ledger, {(who, unit, epoch, attempt): (batch, own) for who, unit, epoch, attempt, batch, own in rows})


@contextmanager
def lasting(post: Post) -> Generator[None]:
    """Let Inspect's batches be written down, re-attached to and always come to an end, inside."""
    batcher = _private("util.batch").Batcher
    openai, together = _private("_openai_batch").OpenAIBatcher, _private("_together_batch").TogetherBatcher
    log = _private("util.batch_log")
    changes: list[tuple[Any, str, Callable[[Post, Any], Any]]] = [
        (batcher, "generate_for_request", _generate_for_request),
        (batcher, "_wrapped_create_batch", _create_batch),
        (batcher, "_wrapped_check_batch", _check_batch),
        (batcher, "_resolve_inflight_batch", _resolve),
        (batcher, "_fail_and_cleanup_inflight_batch", _give_up),
        (openai, "_parse_jsonl_line", _parse),
        (openai, "_results_from_rejection", _reject),
        (openai, "_adapt_batch_info", _adapt),
        (together, "_adapt_batch_info", _adapt),
    ]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    for owner, name, change in changes:
        setattr(owner, name, change(post, getattr(owner, name)))
    log.set_batch_status_callback(_say_nothing)
    log.set_batch_log_callback(_say_nothing)
    try:
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)
        log.set_batch_status_callback(None)
        log.set_batch_log_callback(None)


def _private(module: str) -> Any:
    """A module of Inspect's providers, whose names are typed nowhere."""
    return import_module(f"inspect_ai.model._providers.{module}")


def _say_nothing(*_: Any) -> None:
    """Inspect prints batch messages to standard output, which is the command's own."""


def _generate_for_request(post: Post, original: Any) -> Any:
    async def generate_for_request(batcher: Any, request: dict[str, Any]) -> Any:
        key = _item.get()
        if key is None:
            return await original(batcher, request)
        left = post.left.pop(key, None)
        if left is not None:
            return await _wait_for(batcher, request, *left)
        post.keys[id(request)] = key
        try:
            return await original(batcher, request)
        finally:
            del post.keys[id(request)]

    return generate_for_request


async def _wait_for(batcher: Any, request: dict[str, Any], batch_id: str, custom_id: str) -> Any:
    """Wait for a request of a batch that an earlier session submitted."""
    import anyio
    from inspect_ai._util.background import run_in_background

    send, results = anyio.create_memory_object_stream[Any](1)
    names = _private("util.batch")
    waiting = names.BatchRequest(request=request, result_stream=send, custom_id=custom_id)
    inflight: dict[str, Any] = batcher._inflight_batches
    inflight.setdefault(batch_id, names.Batch(id=batch_id, requests={})).requests[custom_id] = waiting
    if not batcher._is_batch_worker_running:
        batcher._is_batch_worker_running = True
        run_in_background(batcher._batch_worker)
    result = await results.receive()
    if isinstance(result, Exception):
        raise result
    return result


def _create_batch(post: Post, original: Any) -> Any:
    async def create_batch(batcher: Any, requests: list[Any]) -> str:
        ids = [request.custom_id for request in requests]
        keys = {
            own: post.keys[id(r.request)] for own, r in zip(ids, requests, strict=True) if id(r.request) in post.keys
        }
        post.submitting(keys)
        try:
            batch_id: str = await original(batcher, requests)
        except Exception as problem:
            # The requests were told already. Raised further, it would end the worker and leave all others waiting.
            if classify(problem).status is not None:
                post.refused(keys)
            return f"{_REFUSED} {ids[0]}"
        after = {own: request.custom_id for own, request in zip(ids, requests, strict=True) if own in keys}
        post.submitted(batch_id, after)
        return batch_id

    return create_batch


def _check_batch(post: Post, original: Any) -> Any:
    async def check_batch(batcher: Any, batch: Any) -> Any:
        if batch.id.startswith(_REFUSED):
            batcher._inflight_batches.pop(batch.id, None)
            return None
        found = await original(batcher, batch)
        if batch.id in post.empty and batch.id in batcher._inflight_batches:
            lost = RuntimeError(f"the batch {batch.id} ended without results ({post.empty.pop(batch.id)})")
            await batcher._resolve_inflight_batch(batch, dict.fromkeys(batch.requests, lost))
            return None
        return found

    return check_batch


def _resolve(post: Post, original: Any) -> Any:  # noqa: ARG001 (one signature for all)
    async def resolve(batcher: Any, batch: Any, results: dict[str, Any]) -> None:
        lost = RuntimeError(f"the batch {batch.id} ended without this request's result")
        await original(batcher, batch, {own: results.get(own, lost) for own in batch.requests})

    return resolve


def _give_up(post: Post, original: Any) -> Any:  # noqa: ARG001 (one signature for all)
    """A batch that is gone says nothing about the model: its 404 must not pass for an unknown model's."""

    async def give_up(batcher: Any, description: str, batch: Any, error: Exception) -> None:
        gone = RuntimeError(f"the batch {batch.id} was given up: {description} ({error})")
        await original(batcher, description, batch, gone)

    return give_up


class BatchItemError(Exception):
    """A request of a batch that failed.

    Attributes:
        status_code: The HTTP status, where the result names one.
    """

    def __init__(self, message: str, status_code: int | None) -> None:
        super().__init__(message)
        self.status_code = status_code


def _parse(post: Post, original: Any) -> Any:  # noqa: ARG001 (one signature for all)
    """Read a line of results; one that is an error is that request's alone, where Inspect would give up the batch."""

    def parse(batcher: Any, line: dict[str, Any]) -> tuple[str, Any]:
        own = str(line.get("custom_id", ""))
        response: dict[str, Any] = line.get("response") or {}
        body: dict[str, Any] = response.get("body") or {}
        error: Any = line.get("error") or body.get("error")
        if error:
            said = error.get("message", error) if isinstance(error, dict) else error  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            return own, BatchItemError(str(said), response.get("status_code"))  # pyright: ignore[reportUnknownArgumentType]
        try:
            return original(batcher, line)
        except Exception as problem:
            # Whatever a result that follows no protocol raises is that request's outcome.
            return own, problem

    return parse


def _reject(post: Post, original: Any) -> Any:  # noqa: ARG001 (one signature for all)
    """A batch that is rejected as a whole says why, however many errors it names."""

    def reject(batcher: Any, batch: Any, errors: Any) -> dict[str, Any]:
        named: list[Any] = getattr(errors, "data", None) or []
        if not named or len(named) == len(batch.requests):
            return original(batcher, batch, errors)
        said: Counter[str] = Counter(str(error.message) for error in named)
        problem = RuntimeError(f"the batch {batch.id} was rejected ({said.most_common(1)[0][0]})")
        return dict.fromkeys(batch.requests, problem)

    return reject


def _adapt(post: Post, original: Any) -> Any:
    """Notice a batch that has ended with neither results nor errors: Inspect would look at it for ever."""

    def adapt(batcher: Any, info: Any) -> Any:
        adapted = original(batcher, info)
        files = (adapted.output_file_id, adapted.error_file_id)
        if adapted.status in _ENDED and adapted.status != "failed" and not any(files):
            errors: list[Any] = getattr(adapted.errors, "data", None) or []
            said: Counter[str] = Counter(str(error.message) for error in errors)
            post.empty[adapted.id] = said.most_common(1)[0][0] if said else adapted.status
        return adapted

    return adapt
