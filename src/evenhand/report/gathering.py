"""From an opened run and what was made of it to the evidence that a report tells."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from evenhand.report.evidence import Evidence
from evenhand.report.replies import Shown, collect_replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evenhand.analysis.blocks import Analysis
    from evenhand.checking import Findings
    from evenhand.collection.attempts import Attempt
    from evenhand.collection.progress import RunStatus
    from evenhand.instrument import Unit
    from evenhand.runs import Run

_PACKAGES = ("evenhand", "inspect-ai", "numpy", "scipy", "polars", "altair", "vl-convert-python")


def gather(
    run: Run,
    *,
    analysis: Analysis,
    status: RunStatus,
    accounting: Mapping[str, Any],
    design: Findings,
    replies: Iterable[tuple[Unit, Attempt]],
    scores: Sequence[Mapping[str, Any]] = (),
    published: Sequence[Mapping[str, Any]] = (),
    unscored: str = "",
) -> Evidence:
    """The evidence of a run.

    Args:
        run: The run.
        analysis: What was answered.
        status: How far the run is, and what was served.
        accounting: Of the study.
        design: What a check of it found.
        replies: Every unit with the attempt that counts.
        scores: Pillar scores, where the run has the arms.
        published: The published models' scores.
        unscored: Why there are none, where there are allocations.
    """
    times: list[str] = []
    book = collect_replies(_shown(replies, times))
    return Evidence(
        study=run.plan.name,
        folder=str(run.folder),
        digest=run.instrument.digest,
        analysis=analysis,
        models=status.models,
        arms=status.arms,
        deviations=status.deviations,
        accounting=accounting,
        checks=[asdict(check) for check in design.checks],
        problems=design.problems,
        notes=design.notes,
        collected=(min(times), max(times)) if times else (),
        versions={"python": platform.python_version()} | {name: version(name) for name in _PACKAGES},
        replies=book,
        scores=scores,
        published=published,
        unscored=unscored,
        named=run.plan.models,
    )


def _shown(replies: Iterable[tuple[Unit, Attempt]], times: list[str]) -> Iterator[Shown]:
    for unit, attempt in replies:
        times.append(attempt.started)
        yield Shown(
            model=attempt.respondent,
            arm=unit.arm,
            unit=unit.unit_id,
            groups=tuple(" ".join(part for part in (slot.race, slot.gender) if part) for slot in unit.slots),
            status=attempt.status,
            prompt=unit.prompt,
            reply=_said(attempt),
            reading=_reading(unit, attempt),
        )


def _said(attempt: Attempt) -> str:
    reply = attempt.reply
    if reply is None:
        return attempt.error or ""
    calls = [f"{call.function}({call.arguments!r})" for call in reply.tool_calls]
    return "\n".join(part for part in (reply.text, *calls, reply.error or "") if part)


def _reading(unit: Unit, attempt: Attempt) -> str:
    if attempt.reply is None:
        return attempt.reason or "no reply"
    answer = unit.read(attempt.reply)
    if answer.coded is None:
        return answer.reason or answer.status
    value = ", ".join(map(str, answer.coded)) if isinstance(answer.coded, tuple) else str(answer.coded)
    return f"read as {value}" + (f" ({', '.join(answer.flags)})" if answer.flags else "")
