"""Putting units to one model: every request a row of the ledger, every retry ours."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evenhand.collection.failures import Failure, classify
from evenhand.collection.ledger import Attempt, Ledger, Standing, now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import GenerateConfig, Model

    from evenhand.collection.models import Respondent
    from evenhand.formats.types import Reply
    from evenhand.instrument import Unit
    from evenhand.plan import Settings

BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF = 60.0
REJECTIONS_IN_A_ROW = 3
"""So many different units rejected alike, with no success between, and the fault is not the unit's."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a collection behaves towards a provider.

    Attributes:
        max_connections: Requests under way at once, for each model.
        timeout: Seconds a request may take.
        max_retries: How often a request that failed is tried again before the unit is left as an error.
    """

    max_connections: int = 20
    timeout: int = 600
    max_retries: int = 4


@dataclass(slots=True)
class Health:
    """How it goes with one model.

    Attributes:
        stop: Why no further request is worth sending; None while there is no such reason.
        rejections: Units rejected since the last success, by the rejection's message.
    """

    stop: Failure | None = None
    rejections: dict[str, set[str]] = field(default_factory=dict[str, set[str]])

    def succeed(self) -> None:
        """A reply came."""
        self.rejections.clear()

    def fail(self, unit: str, failure: Failure) -> None:
        """A request failed."""
        if failure.kind == "fatal":
            self.stop = failure
        elif failure.kind == "rejected":
            units = self.rejections.setdefault(failure.message, set())
            units.add(unit)
            if len(units) >= REJECTIONS_IN_A_ROW:
                self.stop = failure


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts units to one model and records every attempt."""

    respondent: Respondent
    model: Model
    ledger: Ledger
    settings: Settings
    conduct: Conduct
    health: Health

    async def settle(self, unit: Unit, epoch: int, standing: Standing | None) -> str:
        """Ask until the unit comes to rest, and return its last status."""
        attempt = standing.attempts if standing else 0
        malformed = standing.malformed_retries if standing else 0
        cause = {None: "first", "error": "transport", "malformed": "malformed"}[standing.status if standing else None]
        failures = 0
        while True:
            attempt += 1
            malformed += cause == "malformed"
            status, failure = await self._ask(unit, epoch, attempt, cause, malformed)
            if status == "malformed" and malformed < self.settings.malformed_retries:
                cause = "malformed"
                continue
            rejected = failure is not None and failure.kind != "transient"
            if status != "error" or rejected or failures >= self.conduct.max_retries:
                return status
            await asyncio.sleep(backoff(failures))
            if self.health.stop:
                return status
            failures += 1
            cause = "transport"

    async def _ask(
        self, unit: Unit, epoch: int, attempt: int, cause: str, malformed: int
    ) -> tuple[str, Failure | None]:
        # Without the epoch and the retries in it, a seeded model would repeat itself.
        seed = self.settings.seed + 1000 * (epoch - 1) + malformed
        request = request_settings(self.settings, seed=seed)
        started, clock = now(), time.perf_counter()
        reply: Reply | None = None
        usage: dict[str, Any] | None = None
        version: str | None = None
        failure: Failure | None = None
        try:
            reply, usage, version = await self._generate(unit.prompt, request)
        except Exception as problem:
            # Whatever a provider's client raises is this request's outcome, not the end of the run.
            failure = classify(problem)
        answer = unit.read(reply) if reply else None
        status = answer.status if answer else "error"
        self.ledger.record(
            Attempt(
                unit=unit.key,
                respondent=self.respondent.id,
                epoch=epoch,
                attempt=attempt,
                cause=cause,
                started=started,
                latency=time.perf_counter() - clock,
                request={"prompt": unit.prompt, **request},
                status=status,
                reason=answer.reason if answer else str(failure),
                reply=reply,
                usage=usage,
                model_version=version,
                error_class=failure.error_class if failure else None,
                error=failure.message if failure else None,
            )
        )
        if failure:
            self.health.fail(unit.key, failure)
        elif status != "error":
            self.health.succeed()
        return status, failure

    async def _generate(self, prompt: str, request: Mapping[str, Any]) -> tuple[Reply, dict[str, Any] | None, str]:
        from evenhand.collection.replies import reply_of

        # Retries are ours, so that each request is one row of the ledger.
        config = _config(tuple(request.items()), self.conduct.timeout)
        output = await self.model.generate(prompt, config=config)
        usage = output.usage.model_dump(exclude_none=True) if output.usage else None
        return reply_of(output), usage, output.model


@lru_cache(maxsize=64)
def _config(request: tuple[tuple[str, Any], ...], timeout: int) -> GenerateConfig:
    """Inspect's settings of a request; all but those asked again share them."""
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(**dict(request), max_retries=0, attempt_timeout=timeout)


def backoff(failures: int) -> float:
    """Seconds to wait after so many failures: doubling, bounded, spread so that workers do not return together."""
    return min(LONGEST_BACKOFF, BACKOFF_SECONDS * 2**failures) * random.uniform(0.5, 1.0)


def request_settings(settings: Settings, *, seed: int) -> dict[str, Any]:
    """What is asked of the provider beside the prompt."""
    request: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        "seed": seed,
    }
    return request | ({"reasoning_effort": "none"} if settings.reasoning == "off" else {})
