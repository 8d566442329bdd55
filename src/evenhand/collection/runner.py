"""The runner: units out to models through Inspect's model layer, every reply into the ledger.

What is to be done follows from the ledger alone, so the same command resumes: units never sent, and units
whose last attempt is an error. Answered, refused, no_answer, and malformed after its retries are final.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from evenhand.collection.asker import Asker, Conduct, Health, request_settings
from evenhand.collection.models import make_model
from evenhand.errors import CollectionError, EvenhandError
from evenhand.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from evenhand.collection.ledger import Ledger, Standing
    from evenhand.collection.models import Respondent
    from evenhand.instrument import Instrument, Unit
    from evenhand.plan import Settings
    from evenhand.respondents import Lexicon


class Progress(Protocol):
    """What is told about a collection as it goes."""

    def start(self, respondent: str, total: int, done: int) -> None:
        """A respondent's work begins: so many unit-epochs, so many already final."""
        ...

    def advance(self, respondent: str, status: str) -> None:
        """A unit came to rest with this status."""
        ...


class Silent:
    """A progress that nobody watches."""

    def start(self, respondent: str, total: int, done: int) -> None:
        """Nothing to say."""

    def advance(self, respondent: str, status: str) -> None:
        """Nothing to say."""


def collect(
    units: Sequence[Unit],
    respondents: Sequence[Respondent],
    ledger: Ledger,
    *,
    settings: Settings,
    epochs: int,
    seed: int,
    conduct: Conduct | None = None,
    progress: Progress | None = None,
    lexicon: Lexicon | None = None,
) -> None:
    """Put units to models until each has come to rest.

    Args:
        units: The units asked for (an instrument's, or some of its arms').
        respondents: The models; all are asked at once.
        ledger: Open for writing.
        settings: How they are asked.
        epochs: Repetitions of each unit.
        seed: Fixes the order of units, the same for all models.
        conduct: Connections, timeout and retries.
        progress: Told of each unit that comes to rest.
        lexicon: The names and texts that simulated respondents know.

    Raises:
        InputError: A model that Inspect cannot make: unknown provider, missing package or key, wrong argument.
        RunError: A label used before with other settings, or a ledger that cannot be written.
        CollectionError: A model was given up (no key, no quota, no such model, every request rejected alike).
    """
    conduct = conduct or Conduct()
    models = [make_model(respondent, conduct.max_connections, lexicon) for respondent in respondents]
    for respondent in respondents:
        ledger.register(
            respondent.id,
            model=respondent.model,
            arguments=dict(respondent.arguments),
            settings=request_settings(settings, seed=settings.seed),
        )
    order: list[int] = generator("order", seed).permutation(len(units)).tolist()
    work = [(units[i], epoch) for epoch in range(1, epochs + 1) for i in order]
    askers = [
        Asker(respondent, model, ledger, settings, conduct, Health())
        for respondent, model in zip(respondents, models, strict=True)
    ]
    first: EvenhandError | None = None
    try:
        with _rare_garbage_collection():
            asyncio.run(_collect_all(work, askers, progress or Silent()))
    except* EvenhandError as group:
        # Workers fail together (a full disk stops them all); the first says what there is to say.
        first = _first_of(group)
    if first is not None:
        raise first
    _report_stopped(askers)


@contextmanager
def _rare_garbage_collection() -> Generator[None]:
    """Look for garbage less often while requests are under way.

    Inspect keeps an event a call, so the heap grows, and at the usual thresholds a third of the time a unit takes
    goes into walking through objects that stay.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _first_of(group: BaseExceptionGroup[EvenhandError]) -> EvenhandError:
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first


def _report_stopped(askers: Sequence[Asker]) -> None:
    stopped = [f"{asker.respondent.id} ({asker.health.stop})" for asker in askers if asker.health.stop]
    if stopped:
        raise CollectionError(
            f"no further request was sent to {'; '.join(stopped)}",
            where="run",
            mend="Everything collected is kept. Mend the cause, then run the same command again",
        )


async def _collect_all(work: list[tuple[Unit, int]], askers: Sequence[Asker], progress: Progress) -> None:
    async with asyncio.TaskGroup() as group:
        for asker in askers:
            standings = asker.ledger.standings(asker.respondent.id)
            found = [(unit, epoch, standings.get((unit.key, epoch))) for unit, epoch in work]
            todo = [item for item in found if not is_final(item[2], asker.settings)]
            progress.start(asker.respondent.id, len(work), len(work) - len(todo))
            queue = iter(todo)
            for _ in range(min(asker.conduct.max_connections, len(todo))):
                group.create_task(_work_off(queue, asker, progress))


async def _work_off(queue: Iterator[tuple[Unit, int, Standing | None]], asker: Asker, progress: Progress) -> None:
    for unit, epoch, standing in queue:
        if asker.health.stop:
            return
        status = await asker.settle(unit, epoch, standing)
        progress.advance(asker.respondent.id, status)


def is_final(standing: Standing | None, settings: Settings) -> bool:
    """Whether a unit needs no further request."""
    if standing is None or standing.status == "error":
        return False
    return standing.status != "malformed" or standing.malformed_retries >= settings.malformed_retries


def teach(instrument: Instrument) -> Lexicon:
    """The names and texts of an instrument, for simulated respondents, beside those of the shipped packs."""
    from evenhand.respondents import Person, learn, shipped

    people = [Person(slot.name, slot.race, slot.gender) for unit in instrument.units for slot in unit.slots]
    texts = [(*key, text) for key, text in instrument.texts().items()]
    return learn(people, texts).joined(shipped())
