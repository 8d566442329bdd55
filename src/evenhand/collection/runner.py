"""The runner: units out to models through Inspect's model layer, every reply into the ledger.

What is to be done follows from the ledger alone, so the same command resumes: units never sent, and units
whose last attempt is an error. Answered, refused, no_answer, and malformed after its retries are final.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from evenhand.collection import preflight
from evenhand.collection.adapter.batches import lasting, open_post
from evenhand.collection.asker import Asker, Conduct, Health
from evenhand.collection.costs import Prices, open_purse
from evenhand.collection.models import connections, make_model, simulated
from evenhand.collection.monitor import read_monitor
from evenhand.collection.pilot import check_batches
from evenhand.collection.planning import check_plan, warnings
from evenhand.collection.refusals import read_refusals
from evenhand.collection.requests import standing_settings
from evenhand.errors import CollectionError, EvenhandError
from evenhand.seeds import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from evenhand.collection.asker import Rest
    from evenhand.collection.attempts import Standing
    from evenhand.collection.costs import Purse
    from evenhand.collection.ledger import Ledger
    from evenhand.collection.models import Respondent
    from evenhand.instrument import Instrument, Unit
    from evenhand.plan import Settings
    from evenhand.respondents import Lexicon, Written


Item = tuple["Unit", int, "Standing | None"]


class Progress(Protocol):
    """What is told about a collection as it goes."""

    def start(self, respondent: str, arms: Mapping[str, tuple[int, int]]) -> None:
        """A respondent's work begins: by arm so many unit-epochs, so many already final."""
        ...

    def advance(self, respondent: str, arm: str, rest: Rest) -> None:
        """A unit came to rest."""
        ...

    def note(self, text: str) -> None:
        """Something that a reader should know before more is paid for."""
        ...


class Silent:
    """A progress that nobody watches."""

    def start(self, respondent: str, arms: Mapping[str, tuple[int, int]]) -> None:
        """Nothing to say."""

    def advance(self, respondent: str, arm: str, rest: Rest) -> None:
        """Nothing to say."""

    def note(self, text: str) -> None:
        """Nothing to say."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a collection is asked to do.

    Attributes:
        units: The units asked for (an instrument's, or some of its arms').
        settings: How they are asked.
        epochs: Repetitions of each unit.
        seed: Fixes the order of units, the same for all models.
    """

    units: Sequence[Unit]
    settings: Settings
    epochs: int = 1
    seed: int = 1

    def work(self) -> list[tuple[Unit, int]]:
        """Units and epochs in the order in which they are sent."""
        order: list[int] = generator("order", self.seed).permutation(len(self.units)).tolist()
        return [(self.units[i], epoch) for epoch in range(1, self.epochs + 1) for i in order]


def collect(
    errand: Errand,
    respondents: Sequence[Respondent],
    ledger: Ledger,
    *,
    conduct: Conduct | None = None,
    progress: Progress | None = None,
    lexicon: Lexicon | None = None,
    prices: Prices | None = None,
    budget: float | None = None,
) -> None:
    """Put units to models until each has come to rest.

    Args:
        errand: The units and how they are asked.
        respondents: The models; all are asked at once.
        ledger: Open for writing.
        conduct: Connections, timeout and retries.
        progress: Told of each unit that comes to rest.
        lexicon: The names and texts that simulated respondents know.
        prices: What tokens cost.
        budget: US dollars that the whole run may cost, earlier sessions included.

    Raises:
        InputError: A model that Inspect cannot make (unknown provider, missing package or key, wrong argument), that
            cannot be asked like this, or that has no price where there is a budget.
        RunError: A label used before with other settings, or a ledger that cannot be written.
        CollectionError: A model was given up (no key, no quota, no such model, every request rejected alike), or
            the budget is used up.
    """
    conduct, progress, prices = conduct or Conduct(), progress or Silent(), prices or Prices({})
    check_plan(errand, respondents, conduct)
    purse = open_purse(ledger, prices, respondents, budget)
    models = [make_model(respondent, conduct, lexicon) for respondent in respondents]
    for text in warnings(errand, respondents, models, conduct):
        progress.note(text)
    for respondent in respondents:
        ledger.register(
            respondent.id,
            model=respondent.model,
            arguments=dict(respondent.arguments),
            settings=standing_settings(errand.settings, respondent),
            epochs=errand.epochs,
        )
    askers = [
        Asker(
            *(respondent, model, ledger, errand.settings, conduct, Health()),
            refusals=read_refusals(ledger, respondent.id),
            monitor=read_monitor(ledger, respondent.id),
            purse=purse,
            price=prices.find(respondent.model),
            simulated=simulated(model),
        )
        for respondent, model in zip(respondents, models, strict=True)
    ]
    first: EvenhandError | None = None
    try:
        with _rare_garbage_collection(), lasting(open_post(ledger)) if conduct.batch else nullcontext():
            asyncio.run(_collect_all(errand.work(), askers, progress))
    except* EvenhandError as group:
        # Workers fail together (a full disk stops them all); the first says what there is to say.
        first = _first_of(group)
    if first is not None:
        raise first
    _report_stopped(askers, purse)


@contextmanager
def _rare_garbage_collection() -> Generator[None]:
    """Look for garbage less often while requests are under way.

    A request makes hundreds of short-lived objects, and at the usual thresholds a third of the time a unit takes goes
    into looking for cycles among them.
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


def _report_stopped(askers: Sequence[Asker], purse: Purse) -> None:
    stopped = [f"{asker.respondent.id} ({asker.health.stop})" for asker in askers if asker.health.stop]
    if stopped:
        raise CollectionError(
            f"no further request was sent to {'; '.join(stopped)}",
            where="run",
            mend="Everything collected is kept. Mend the cause, then run the same command again",
        )
    if purse.turned_away:
        raise CollectionError(
            f"the budget of ${purse.limit:,.2f} is used up (${purse.spent:,.4f} spent)",
            where="run",
            mend="Everything collected is kept. Raise --budget, then run the same command again",
        )


async def _collect_all(work: list[tuple[Unit, int]], askers: Sequence[Asker], progress: Progress) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            for asker in askers:
                group.create_task(_collect_one(work, asker, progress))
    finally:
        for asker in askers:
            # Every answer is kept by now: a client that cannot be closed takes nothing away.
            with suppress(Exception):
                await asker.model.api.aclose()


async def _collect_one(work: list[tuple[Unit, int]], asker: Asker, progress: Progress) -> None:
    standings = asker.ledger.standings(asker.respondent.id)
    found = [
        (unit, epoch, standings.get((unit.key, epoch)))
        for unit, epoch in work
        if asker.respondent.rerun or not unit.reasoning
    ]
    todo = [item for item in found if not is_final(item[2], asker.settings)]
    who = asker.respondent.id
    # What passed in an earlier session stays as it was asked then.
    asker.health.proven.update(unit.format for unit, _, standing in found if standing and standing.status != "error")
    progress.start(who, _by_arm(found, todo))

    def advance(unit: Unit, rest: Rest) -> None:
        progress.advance(who, unit.arm, rest)

    chosen = preflight.choose(todo, asker)
    if chosen and not asker.purse.empty:
        # One by one and at once, in batch mode too: a batch can take a day.
        single = replace(asker, conduct=replace(asker.conduct, batch=0))
        await preflight.look_ahead(chosen, single, advance, progress.note)
        early = {(unit.key, epoch) for items in chosen.values() for unit, epoch, _ in items}
        todo = [item for item in todo if (item[0].key, item[1]) not in early]
    if asker.conduct.batch and todo and not asker.stopped:
        await check_batches(asker, progress.note)
    queue = iter(todo)
    width = min(connections(asker.respondent, asker.conduct), len(todo))
    async with asyncio.TaskGroup() as group:
        for _ in range(width):
            group.create_task(_work_off(queue, asker, advance))


def _by_arm(found: Sequence[Item], todo: Sequence[Item]) -> dict[str, tuple[int, int]]:
    totals = Counter(unit.arm for unit, _, _ in found)
    open_ = Counter(unit.arm for unit, _, _ in todo)
    return {arm: (total, total - open_[arm]) for arm, total in totals.items()}


async def _work_off(queue: Iterator[Item], asker: Asker, advance: Callable[[Unit, Rest], None]) -> None:
    for unit, epoch, standing in queue:
        if asker.stopped:
            return
        advance(unit, await asker.settle(unit, epoch, standing))


def is_final(standing: Standing | None, settings: Settings) -> bool:
    """Whether a unit needs no further request."""
    if standing is None or standing.status == "error":
        return False
    return standing.status != "malformed" or standing.malformed_retries >= settings.malformed_retries


def teach(instrument: Instrument) -> Lexicon:
    """The names and texts of an instrument, for simulated respondents, beside those of the shipped packs."""
    from evenhand.respondents import Person, learn, shipped

    people = [
        Person(slot.name, slot.race, slot.gender) for unit in instrument.units for slot in unit.slots if slot.name
    ]
    return learn(people, _written(instrument)).joined(shipped())


def _written(instrument: Instrument) -> list[Written]:
    """Every text once, each with what it says apart from an irrelevant detail below it."""
    from evenhand.respondents import Written

    found: dict[tuple[str, str], Written] = {}
    for unit in instrument.units:
        if unit.source:
            continue
        for slot, text in zip(unit.slots, unit.contents(), strict=True):
            said = text.rpartition("\n")[0] if slot.attribute else text
            found[unit.domain, text] = Written(unit.domain, slot.scenario_id, slot.framing, text, said, slot.stratum)
    return list(found.values())
