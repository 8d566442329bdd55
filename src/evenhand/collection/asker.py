"""Putting units to one model: every request a row of the ledger, every retry ours."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.collection.adapter import batches
from evenhand.collection.adapter.wire import recording
from evenhand.collection.calls import Call, attempt_of, read_call
from evenhand.collection.config import own_deviations
from evenhand.collection.failures import Failure, classify
from evenhand.collection.monitor import is_tool_format
from evenhand.collection.requests import inspect_config, inspect_tools, request_settings, unit_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import Model, ModelOutput

    from evenhand.collection.attempts import Standing
    from evenhand.collection.costs import Price, Purse
    from evenhand.collection.ledger import Ledger
    from evenhand.collection.models import Respondent
    from evenhand.collection.monitor import Monitor
    from evenhand.collection.refusals import Refusals
    from evenhand.collection.simulated import SimulatedAPI
    from evenhand.instrument import Unit
    from evenhand.plan import Settings

BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF = 60.0
REJECTIONS_IN_A_ROW = 3
"""So many different units rejected alike, with no success between, and the fault is not the unit's."""

LOSSES_IN_A_ROW = 50
"""So many units left as errors with no success between, and the provider is down."""


@dataclass(frozen=True, slots=True)
class Conduct:
    """How a collection behaves towards a provider.

    Attributes:
        max_connections: Requests under way at once, for each model.
        timeout: Seconds a request may take; in batch mode there is no limit.
        max_retries: How often a request that failed is tried again before the unit is left as an error.
        preflight: Units of each format that are asked and looked at before the rest; 0 for none.
        batch: Requests a batch, through the provider's batch mode; 0 for none.
        batch_tick: Seconds between looks at a batch.
    """

    max_connections: int = 20
    timeout: int = 600
    max_retries: int = 4
    preflight: int = 3
    batch: int = 0
    batch_tick: float = 15.0

    @property
    def batch_config(self) -> str:
        """Inspect's batch settings as JSON; empty where there is no batch."""
        if not self.batch:
            return ""
        size = {"size": self.batch, "max_size": self.batch}
        return json.dumps({**size, "tick": self.batch_tick, "send_delay": self.batch_tick, **batches.PATIENCE})


@dataclass(slots=True)
class Health:
    """How it goes with one model.

    Attributes:
        stop: Why no further request is worth sending; None while there is no such reason.
        rejections: Units rejected since the last success, by the rejection's message.
        losses: Units left as errors since the last success.
        proven: Formats that had a success.
    """

    stop: Failure | None = None
    rejections: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    losses: int = 0
    proven: set[str] = field(default_factory=set[str])

    def succeed(self, format: str) -> None:
        """A reply came."""
        self.rejections.clear()
        self.losses = 0
        self.proven.add(format)

    def fail(self, unit: str, failure: Failure) -> None:
        """A request failed."""
        if failure.kind == "fatal":
            self.stop = failure
        elif failure.kind == "rejected":
            units = self.rejections.setdefault(failure.message, set())
            units.add(unit)
            if len(units) >= REJECTIONS_IN_A_ROW:
                self.stop = failure

    def lose(self, failure: Failure) -> None:
        """A unit was left as an error after all its retries."""
        self.losses += 1
        if self.losses >= LOSSES_IN_A_ROW:
            self.stop = self.stop or failure


EMPTY = Failure("transient", None, "NoChoices", "the server's answer holds no reply", incompatible=True)


@dataclass(slots=True)
class Rest:
    """How a unit came to rest, and what that used.

    Attributes:
        status: The last attempt's.
        tokens: Input and output tokens of all attempts of this session.
        dollars: What they cost, where there is a price.
        ratio: Input tokens per character of the last attempt.
        called: Whether the last reply held a tool call.
    """

    status: str = "error"
    tokens: tuple[int, int] = (0, 0)
    dollars: float = 0.0
    ratio: float | None = None
    called: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    """Puts units to one model and records every attempt."""

    respondent: Respondent
    model: Model
    ledger: Ledger
    settings: Settings
    conduct: Conduct
    health: Health
    refusals: Refusals
    monitor: Monitor
    purse: Purse
    price: Price | None = None
    simulated: SimulatedAPI | None = None

    @property
    def stopped(self) -> bool:
        """Whether no further request is to be sent."""
        return self.health.stop is not None or self.purse.empty

    async def settle(self, unit: Unit, epoch: int, standing: Standing | None) -> Rest:
        """Ask until the unit comes to rest."""
        attempt = standing.attempts if standing else 0
        malformed = standing.malformed_retries if standing else 0
        cause = {None: "first", "error": "transport", "malformed": "malformed"}[standing.status if standing else None]
        failures = 0
        rest = Rest()
        while True:
            attempt += 1
            malformed += cause == "malformed"
            failure, asked = await self._ask(unit, epoch, attempt, cause, malformed, rest)
            if rest.status == "malformed" and malformed < self.settings.malformed_retries:
                cause = "malformed"
                continue
            if rest.status != "error" or failure is None:
                return rest
            cause = "transport"
            if self._asks_otherwise(unit, failure, asked):
                continue
            if failure.kind != "transient" or failures >= self.conduct.max_retries:
                self.health.lose(failure)
                return rest
            await asyncio.sleep(backoff(failures, failure.retry_after))
            if self.stopped:
                return rest
            failures += 1

    def _asks_otherwise(self, unit: Unit, failure: Failure, asked: Mapping[str, Any]) -> bool:
        """Whether the request was refused for a setting that can be left out, before the format's first success."""
        if failure.status not in {400, 422} or unit.format in self.health.proven or unit.reasoning:
            return False
        if not self.refusals.learn(asked, unit.format, failure.message, fresh=not self.health.proven):
            return False
        self.health.rejections.clear()
        self.health.stop = None
        return True

    async def _ask(
        self, unit: Unit, epoch: int, attempt: int, cause: str, malformed: int, rest: Rest
    ) -> tuple[Failure | None, dict[str, Any]]:
        # Without the epoch and the retries in it, a seeded model would repeat itself.
        seed = self.settings.seed + 1000 * (epoch - 1) + malformed
        wanted = unit_settings(unit, request_settings(self.settings, self.respondent, seed=seed), self.respondent)
        asked = self.refusals.apply(wanted, unit.format, reasoning=bool(unit.reasoning))
        call = Call(unit, epoch, attempt, cause, asked)
        clock = time.perf_counter()
        self.purse.in_flight += 1
        try:
            with recording() as wire:
                call.wire = wire
                call.output = await self._generate(call)
        except Exception as problem:
            # Whatever a provider's client raises is this request's outcome, not the end of the run.
            call.failure = classify(problem)
        else:
            if not call.output.choices:
                call.output, call.failure = None, EMPTY
        finally:
            self.purse.in_flight -= 1
        call.latency = time.perf_counter() - clock
        self._settle_accounts(call, rest)
        return call.failure, asked

    async def _generate(self, call: Call) -> ModelOutput:
        tools, choice = inspect_tools(call.unit, call.asked.get("tool_choice", "auto"))
        timeout = None if self.conduct.batch else self.conduct.timeout
        config = inspect_config(call.unit, call.asked, timeout=timeout, batch=self.conduct.batch_config)
        if self.simulated:
            # Between units, the rest of the loop has its turn: other models, an order to end.
            await asyncio.sleep(0)
            return self.simulated.answer(call.unit.prompt, tools, choice, config)
        with batches.item(self.respondent.id, call.unit.key, call.epoch, call.attempt):
            return await self.model.generate(call.unit.prompt, tools=tools, tool_choice=choice, config=config)

    def _settle_accounts(self, call: Call, rest: Rest) -> None:
        """Read the reply, record the attempt, and keep count of health, tokens and money."""
        format = call.unit.format
        own = own_deviations(self.respondent.options, self.settings, tools=is_tool_format(format))
        refused = self.refusals.of(format, reasoning=bool(call.unit.reasoning))
        read = read_call(call, refused=refused, monitor=self.monitor, own=own)
        rest.status, rest.ratio, rest.called = read.status, read.ratio, read.called
        attempt = attempt_of(call, read, self.respondent.id)
        if self.conduct.batch:
            attempt.request["batch"] = True
        self.ledger.record(attempt)
        self._count(call, read.usage, rest)

    def _count(self, call: Call, usage: Mapping[str, Any] | None, rest: Rest) -> None:
        if call.failure:
            self.health.fail(call.unit.key, call.failure)
        elif rest.status != "error":
            self.health.succeed(call.unit.format)
        counted = usage or {}
        rest.tokens = (
            rest.tokens[0] + int(counted.get("input_tokens") or 0),
            rest.tokens[1] + int(counted.get("output_tokens") or 0),
        )
        dollars = self.price.of(counted, batch=bool(self.conduct.batch)) if self.price else 0.0
        rest.dollars += dollars
        if usage:
            self.purse.charge(dollars)


def backoff(failures: int, asked: float | None = None) -> float:
    """Seconds to wait after so many failures: doubling, spread so that workers do not return together, bounded.

    Args:
        failures: How often the request failed before.
        asked: What the provider asks to wait; followed up to the bound.
    """
    spread = min(LONGEST_BACKOFF, BACKOFF_SECONDS * 2**failures) * random.uniform(0.5, 1.0)
    return min(LONGEST_BACKOFF, max(spread, asked or 0.0))
