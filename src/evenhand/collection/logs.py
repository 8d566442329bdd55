"""Inspect's logs as a ledger: every model call of the audit's task, joined by unit and epoch over all logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.collection.adapter.wire import Wire, clean
from evenhand.collection.calls import Call, attempt_of, read_call
from evenhand.collection.failures import Failure
from evenhand.collection.models import Respondent
from evenhand.collection.monitor import Monitor
from evenhand.collection.requests import request_settings, standing_settings, unit_settings
from evenhand.collection.secrets import redact
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample

    from evenhand.collection.ledger import Ledger
    from evenhand.instrument import Instrument, Unit
    from evenhand.plan import Settings


@dataclass(frozen=True, slots=True)
class _Take:
    """One sample of one log: a unit put to a model, with all its calls."""

    unit: Unit
    epoch: int
    events: tuple[ModelEvent, ...]
    failed: str


def find_logs(paths: Sequence[Path]) -> list[Path]:
    """The log files among paths: files as they are, folders with all that lie in them, oldest first.

    Raises:
        InputError: A path that is not there, or none that holds a log.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", where=str(path), mend="Check the path")
        found += sorted(path.rglob("*.eval")) if path.is_dir() else [path]
    if not found:
        raise InputError(
            "no .eval log was found", where=", ".join(map(str, paths)), mend="Name Inspect's log files or their folder"
        )
    return list(dict.fromkeys(found))


def instrument_path(log: Path) -> str:
    """The run directory that a log's task was given.

    Raises:
        InputError: The log names none, or one that is no longer there.
    """
    named = str(_read(log, header_only=True).eval.task_args.get("instrument", ""))
    if not named or not Path(named).exists():
        raise InputError(
            f"the run that the log was made from is not there ({named or 'it names none'})",
            where=str(log),
            mend="Build the study with `evenhand build STUDY -o RUN`, then import into that RUN",
        )
    return named


def import_logs(
    logs: Sequence[Path], ledger: Ledger, instrument: Instrument, *, settings: Settings, label: str = ""
) -> dict[str, int]:
    """Record every model call of logs.

    A sample that several logs hold (Inspect copies finished samples when it retries an evaluation) is taken once;
    one that failed in an earlier log and came through in a later one keeps both, as attempts.

    Args:
        logs: Files of the audit's task.
        ledger: Open for writing; attempts it holds already stay.
        instrument: What was asked.
        settings: How it was asked.
        label: The model's id, for logs of one model.

    Returns:
        `logs`, `samples` and `attempts`.

    Raises:
        InputError: A file that is no log, a log of another task or instrument, or two different answers to one unit
            and epoch.
    """
    opened = sorted((_read(path) for path in logs), key=lambda log: log.eval.created)
    counts = {"logs": len(opened), "samples": 0, "attempts": 0}
    models = {respondent_of(log).id for log in opened}
    if label and len(models) > 1:
        raise InputError(
            "one label was given for several models", where="--as", mend="Import one model's logs at a time"
        )
    taken: dict[tuple[str, str, int], set[str]] = {}
    with ledger.whole():
        for log in opened:
            _check(log, instrument)
            respondent = respondent_of(log, label)
            _register(ledger, log, respondent, settings)
            for sample in log.samples or ():
                take = _take(sample, instrument, where=log.location)
                known = taken.setdefault((respondent.id, take.unit.key, take.epoch), set())
                if sample.uuid and sample.uuid in known:
                    continue
                counts["attempts"] += _record(take, ledger, respondent, settings, where=log.location)
                counts["samples"] += 1
                known.add(sample.uuid or "")
    return counts


def respondent_of(log: EvalLog, label: str = "") -> Respondent:
    """The model of a log under the id that `evenhand run` would give it."""
    arguments = {
        key: value for key, value in log.eval.model_args.items() if isinstance(value, str | int | float | bool)
    }
    return Respondent(log.eval.model, arguments, label)


def _read(path: Path, *, header_only: bool = False) -> EvalLog:
    from inspect_ai.log import read_eval_log

    try:
        return read_eval_log(str(path), header_only=header_only, resolve_attachments=True)
    except Exception as problem:
        # Inspect raises whatever its zip, JSON and schema readers do.
        raise InputError(
            f"not a log of Inspect ({' '.join(str(problem).split())[:200]})", where=str(path), mend="Name .eval files"
        ) from None


def _check(log: EvalLog, instrument: Instrument) -> None:
    digest = (log.eval.metadata or {}).get("evenhand_digest")
    if digest is None:
        raise InputError(
            f"the log is of the task {log.eval.task!r}, not of evenhand/audit",
            where=log.location,
            mend="Make logs with `inspect eval evenhand/audit -T instrument=RUN`",
        )
    if digest != instrument.digest:
        raise InputError(
            f"the log belongs to the instrument {str(digest)[:12]}..., this run has {instrument.digest[:12]}...",
            where=log.location,
            mend="Import it into the run whose instrument it was made with",
        )


def _register(ledger: Ledger, log: EvalLog, respondent: Respondent, settings: Settings) -> None:
    ledger.register(
        respondent.id,
        model=respondent.model,
        arguments=dict(respondent.arguments),
        settings=standing_settings(settings, respondent),
        epochs=log.eval.config.epochs or 1,
    )


def _take(sample: EvalSample, instrument: Instrument, *, where: str) -> _Take:
    unit = instrument.by_key.get(str(sample.id))
    if unit is None:
        raise InputError(
            f"the sample {str(sample.id)!r} is no unit of this instrument", where=where, mend="Import the log elsewhere"
        )
    events = tuple(event for event in sample.events if event.event == "model" and not event.pending)
    return _Take(unit, sample.epoch, events, sample.error.message if sample.error else "")


def _record(take: _Take, ledger: Ledger, respondent: Respondent, settings: Settings, *, where: str) -> int:
    """Append a sample's calls after those the ledger holds of its unit and epoch."""
    standing = ledger.standings(respondent.id, take.unit.key).get((take.unit.key, take.epoch))
    number = standing.attempts if standing else 0
    if standing and standing.status != "error":
        if _repeats(take, ledger, respondent):
            return 0
        raise InputError(
            f"the unit {take.unit.key} (epoch {take.epoch}) has two different answers from {respondent.id}",
            where=where,
            mend="Repetitions are epochs; import another evaluation of the same model under a label with --as",
        )
    if standing and _repeats(take, ledger, respondent):
        return 0
    status = standing.status if standing else None
    malformed = standing.malformed_retries if standing else 0
    for call in _calls(take, respondent, settings, number=number, status=status, malformed=malformed):
        ledger.record(attempt_of(call, read_call(call, refused={}, monitor=Monitor()), respondent.id))
        number += 1
    return number - (standing.attempts if standing else 0)


def _repeats(take: _Take, ledger: Ledger, respondent: Respondent) -> bool:
    """Whether the ledger holds these very calls: logs imported before, or samples that Inspect copied."""
    rows = ledger.read(
        "SELECT started FROM attempts WHERE unit = ? AND respondent = ? AND epoch = ?",
        (take.unit.key, respondent.id, take.epoch),
    )
    return {_started(event) for event in take.events} <= {row[0] for row in rows}


def _calls(
    take: _Take, respondent: Respondent, settings: Settings, *, number: int, status: str | None, malformed: int
) -> Iterator[Call]:
    for event in take.events:
        cause = {None: "first", "error": "transport", "malformed": "malformed"}.get(status, "malformed")
        malformed += cause == "malformed"
        number += 1
        seed = settings.seed + 1000 * (take.epoch - 1) + malformed
        asked = unit_settings(take.unit, request_settings(settings, respondent, seed=seed), respondent)
        call = Call(take.unit, take.epoch, number, cause, asked, started=_started(event))
        call.latency = float(event.working_time or 0.0)
        call.wire = Wire(clean(event.call.request), clean(event.call.response)) if event.call else Wire()
        if event.error:
            call.failure = Failure("transient", None, "InspectError", redact(" ".join(event.error.split()))[:500])
            status = "error"
        else:
            call.output = event.output
            status = "malformed"
        yield call


def _started(event: Any) -> str:
    return event.timestamp.isoformat(timespec="microseconds")
