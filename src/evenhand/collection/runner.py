"""The runner: units out to models through Inspect's model layer, every reply into the ledger.

What is to be done follows from the ledger alone, so the same command resumes: units never sent, and units
whose last attempt is an error. Answered, refused, no_answer and twice malformed are final.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from evenhand import formats
from evenhand.collection.ledger import Attempt, Ledger, Standing, now
from evenhand.design.seeds import generator
from evenhand.errors import CollectionError, EvenhandError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from inspect_ai.model import GenerateConfig, Model

    from evenhand.formats.types import Answer, Reply
    from evenhand.instrument import Unit
    from evenhand.plan import Settings

MALFORMED_RETRIES = 1
TRANSPORT_RETRIES = 2
BACKOFF_SECONDS = 0.5
ATTEMPT_TIMEOUT = 600
# A respondent whose first requests all fail is given up: the cause is not the unit.
HOPELESS_AFTER = 10


@dataclass(frozen=True, slots=True)
class Respondent:
    """A model as it is asked in this run.

    Attributes:
        model: Inspect's model string, `provider/name`.
        arguments: Provider arguments.
        label: The id in the ledger and the `model` column; by default the model with its arguments.
    """

    model: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    label: str = ""

    @property
    def id(self) -> str:
        """`provider/name`, with the arguments in brackets where there are any."""
        if self.label:
            return self.label
        arguments = ",".join(f"{key}={self.arguments[key]}" for key in sorted(self.arguments))
        return f"{self.model}[{arguments}]" if arguments else self.model


class Progress(Protocol):
    """What is told about a collection as it goes."""

    def start(self, respondent: str, total: int, done: int) -> None:
        """A respondent's work begins: so many unit-epochs, so many already final."""
        ...

    def advance(self, respondent: str, status: str) -> None:
        """A unit came to rest with this status."""
        ...


@dataclass(slots=True)
class _Counts:
    """What one session of one respondent brought."""

    finished: int = 0
    errors: int = 0
    last_error: str = ""


def collect(
    units: Sequence[Unit],
    respondents: Sequence[Respondent],
    ledger: Ledger,
    *,
    settings: Settings,
    epochs: int,
    seed: int,
    max_connections: int,
    progress: Progress,
) -> None:
    """Put units to models until each has come to rest.

    Args:
        units: The units asked for (an instrument's, or some of its arms').
        respondents: The models; all are asked at once.
        ledger: Open for writing.
        settings: How they are asked.
        epochs: Repetitions of each unit.
        seed: Fixes the order of units, the same for all models.
        max_connections: Requests under way at once, for each model.
        progress: Told of each unit that comes to rest.

    Raises:
        InputError: A model that Inspect cannot make: unknown provider, missing package or key, wrong argument.
        RunError: A label used before with other settings, or a ledger that cannot be written.
        CollectionError: Every request to a model failed, with the last cause.
    """
    models = [_model(respondent, max_connections) for respondent in respondents]
    for respondent in respondents:
        ledger.register(
            respondent.id,
            model=respondent.model,
            arguments=dict(respondent.arguments),
            settings=_request_settings(settings, seed=settings.seed),
        )
    order: list[int] = generator("order", seed).permutation(len(units)).tolist()
    work = [(units[i], epoch) for epoch in range(1, epochs + 1) for i in order]
    first: EvenhandError | None = None
    everyone = list(zip(respondents, models, strict=True))
    try:
        asyncio.run(_collect_all(work, everyone, ledger, settings, max_connections, progress))
    except* EvenhandError as group:
        # Workers fail together (a full disk stops them all); the first says what there is to say.
        first = _first_of(group)
    if first is not None:
        raise first


def _first_of(group: BaseExceptionGroup[EvenhandError]) -> EvenhandError:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first


async def _collect_all(
    work: list[tuple[Unit, int]],
    respondents: list[tuple[Respondent, Model]],
    ledger: Ledger,
    settings: Settings,
    max_connections: int,
    progress: Progress,
) -> None:
    async with asyncio.TaskGroup() as group:
        counts = [_Counts() for _ in respondents]
        for (respondent, model), count in zip(respondents, counts, strict=True):
            standings = ledger.standings(respondent.id)
            todo = [
                (unit, epoch, standings.get((unit.key, epoch)))
                for unit, epoch in work
                if not is_final(standings.get((unit.key, epoch)))
            ]
            progress.start(respondent.id, len(work), len(work) - len(todo))
            queue = iter(todo)
            asker = _Asker(respondent, model, ledger, settings, count)
            for _ in range(min(max_connections, len(todo))):
                group.create_task(_work_off(queue, asker, progress))
    hopeless = [
        f"{respondent.id}: {count.last_error}"
        for (respondent, _), count in zip(respondents, counts, strict=True)
        if _is_hopeless(count)
    ]
    if hopeless:
        raise CollectionError(
            f"every request failed ({'; '.join(hopeless)})",
            where="run",
            mend="Mend the cause, then run the same command again",
        )


def is_final(standing: Standing | None) -> bool:
    """Whether a unit needs no further request."""
    if standing is None or standing.status == "error":
        return False
    return standing.status != "malformed" or standing.malformed_retries >= MALFORMED_RETRIES


def _is_hopeless(count: _Counts) -> bool:
    return count.errors > 0 and count.errors == count.finished


async def _work_off(queue: Iterator[tuple[Unit, int, Standing | None]], asker: _Asker, progress: Progress) -> None:
    for unit, epoch, standing in queue:
        if _is_hopeless(asker.counts) and asker.counts.errors >= HOPELESS_AFTER:
            return
        status = await asker.settle(unit, epoch, standing)
        progress.advance(asker.respondent.id, status)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Puts units to one model and records every attempt."""

    respondent: Respondent
    model: Model
    ledger: Ledger
    settings: Settings
    counts: _Counts

    async def settle(self, unit: Unit, epoch: int, standing: Standing | None) -> str:
        """Ask until the unit comes to rest, and return its last status."""
        attempt = standing.attempts if standing else 0
        malformed = standing.malformed_retries if standing else 0
        cause = {None: "first", "error": "transport", "malformed": "malformed"}[standing.status if standing else None]
        transport = 0
        while True:
            attempt += 1
            malformed += cause == "malformed"
            status = await self._ask(unit, epoch, attempt, cause, malformed)
            if status == "malformed" and malformed < MALFORMED_RETRIES:
                cause = "malformed"
            elif status == "error" and transport < TRANSPORT_RETRIES:
                await asyncio.sleep(BACKOFF_SECONDS * 2**transport)
                transport += 1
                cause = "transport"
            else:
                self.counts.finished += 1
                self.counts.errors += status == "error"
                return status

    async def _ask(self, unit: Unit, epoch: int, attempt: int, cause: str, malformed: int) -> str:
        # Without the epoch and the retries in it, a seeded model would repeat itself.
        seed = self.settings.seed + 1000 * (epoch - 1) + malformed
        request = _request_settings(self.settings, seed=seed)
        started, clock = now(), time.perf_counter()
        reply: Reply | None = None
        usage: dict[str, Any] | None = None
        version = error_class = error = None
        try:
            reply, usage, version = await _generate(self.model, unit.prompt, request)
        except Exception as problem:
            # Whatever a provider's client raises is this request's outcome, not the end of the run.
            error_class, error = type(problem).__name__, str(problem)
            self.counts.last_error = f"{error_class}: {error}"[:500]
        answer = _read(unit, reply)
        if answer and answer.status == "error":
            self.counts.last_error = answer.reason
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
                status=answer.status if answer else "error",
                reason=answer.reason if answer else error or "",
                reply=reply,
                usage=usage,
                model_version=version,
                error_class=error_class,
                error=error,
            )
        )
        return answer.status if answer else "error"


def _read(unit: Unit, reply: Reply | None) -> Answer | None:
    return None if reply is None else formats.read(unit.format, reply, slots=len(unit.slots))


def _request_settings(settings: Settings, *, seed: int) -> dict[str, Any]:
    request: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        "seed": seed,
    }
    return request | ({"reasoning_effort": "none"} if settings.reasoning == "off" else {})


def _model(respondent: Respondent, max_connections: int) -> Model:
    from inspect_ai.model import get_model

    try:
        return get_model(
            respondent.model,
            config=_config({"max_connections": max_connections}),
            memoize=False,
            **dict(respondent.arguments),
        )
    except InputError:
        raise
    except Exception as problem:
        # Inspect and the providers' packages each have their own errors for a missing key, package or provider.
        raise InputError(
            f"the model cannot be used ({type(problem).__name__}: {_first_line(problem)})",
            where=respondent.model,
            mend="Check the provider's name, its package and its key",
        ) from None


def _first_line(problem: Exception) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), "")


def _config(settings: Mapping[str, Any]) -> GenerateConfig:
    from inspect_ai.model import GenerateConfig

    return GenerateConfig(**settings)


async def _generate(model: Model, prompt: str, request: Mapping[str, Any]) -> tuple[Reply, dict[str, Any] | None, str]:
    from evenhand.collection.replies import reply_of

    # Retries are ours, so that each request is one row of the ledger.
    config = _config({**request, "max_retries": 0, "attempt_timeout": ATTEMPT_TIMEOUT})
    output = await model.generate(prompt, config=config)
    usage = output.usage.model_dump(exclude_none=True) if output.usage else None
    return reply_of(output), usage, output.model
