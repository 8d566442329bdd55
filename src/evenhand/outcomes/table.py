"""From ledger and instrument to the outcomes table: every slot of every unit, whatever became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.design.fairfund import RELEASED_DESIGNS
from evenhand.formats.types import Answer
from evenhand.instrument import asked_of
from evenhand.outcomes.schema import COLUMNS, SCHEMA, VALUE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evenhand.collection.ledger import Ledger
    from evenhand.formats.types import Reply
    from evenhand.instrument import Instrument, Slot, Unit

MISSING = Answer(status="malformed", reason="no reply was collected")


def tabulate(instrument: Instrument, ledger: Ledger, *, study: str, epochs: int) -> pl.DataFrame:
    """Build the outcomes of a run.

    The last attempt of each unit counts. Its raw reply is read again, so a table always shows how the present
    parsers read it. A unit that was never sent is there with the status `missing`.

    Args:
        instrument: The units and slots.
        ledger: The attempts.
        study: The study's name.
        epochs: Repetitions of each unit that the study asks for; where more were collected, those count.

    Returns:
        One row per slot per respondent per epoch, in the order of the instrument, in the schema's columns.
    """
    columns: dict[str, list[Any]] = {column.name: [] for column in COLUMNS}
    for respondent in ledger.respondents():
        last = {
            (unit, epoch): (status, retries, reply)
            for unit, epoch, status, retries, reply in ledger.last_replies(respondent)
        }
        units = asked_of(instrument.units, {key for key, _ in last})
        for epoch in range(1, max(epochs, ledger.epochs(respondent)) + 1):
            for unit in units:
                status, retries, reply = last.get((unit.key, epoch), ("missing", 0, None))
                answer = read_reply(unit, status, reply)
                status = answer.status if reply is not None else status
                head = _unit_cells(unit, study=study, model=respondent, epoch=epoch)
                head |= _answer_cells(answer, status=status, retries=retries)
                for row in _slot_rows(unit, answer):
                    for name, values in columns.items():
                        values.append((row if name in row else head)[name])
    return pl.DataFrame(columns, schema=SCHEMA)


def blank(instrument: Instrument, *, study: str, respondents: Sequence[str]) -> pl.DataFrame:
    """The outcomes of a run before anything is sent: every slot of every unit, its status `missing`.

    Args:
        instrument: The units and slots.
        study: The study's name.
        respondents: Whom the units would be put to.
    """
    columns: dict[str, list[Any]] = {column.name: [] for column in COLUMNS}
    for respondent in respondents:
        for unit in asked_of(instrument.units, ()):
            head = _unit_cells(unit, study=study, model=respondent, epoch=1)
            head |= _answer_cells(MISSING, status="missing", retries=0)
            for row in _slot_rows(unit, MISSING):
                for name, values in columns.items():
                    values.append((row if name in row else head)[name])
    return pl.DataFrame(columns, schema=SCHEMA)


def read_reply(unit: Unit, status: str, reply: Reply | None) -> Answer:
    """Read a unit's raw reply; where there is none, the answer is the reason why."""
    if reply is not None:
        return unit.read(reply)
    return MISSING if status == "missing" else Answer(status="error", reason="the request failed")


def _unit_cells(unit: Unit, *, study: str, model: str, epoch: int) -> dict[str, Any]:
    # As released where the released designs are; elsewhere two arms may share unit ids.
    job = [model, unit.format, unit.unit_id if unit.bundle_type in RELEASED_DESIGNS and not unit.source else unit.key]
    job += [unit.wording] if unit.wording != "base" else []
    job += [f"e{epoch}"] if epoch > 1 else []
    return {
        "job_id": "__".join(job),
        "model": model,
        "task": unit.format,
        "wording_variant": unit.wording,
        "bundle_type": unit.bundle_type,
        "comparison_context": "multi" if len(unit.slots) > 1 else "single",
        "mode": unit.mode,
        "focal_axis": unit.focal_axis,
        "unit_id": unit.unit_id,
        "bundle_size": len(unit.slots),
        "study": study,
        "arm": unit.arm,
        "tag": unit.tag,
        "domain": unit.domain,
        "epoch": epoch,
        # Of formats that ask for them; no format asks for a decision and a score.
        **dict.fromkeys([*VALUE_COLUMNS.values(), "score"]),
    }


def _answer_cells(answer: Answer, *, status: str, retries: int) -> dict[str, Any]:
    valid, refused = status == "answered", status == "refused"
    return {
        "valid": valid,
        "refused": refused,
        # As in the released codebook: whatever is neither a value nor a refusal; `status` tells them apart.
        "malformed": not valid and not refused,
        "safety_disclaimer": "safety_disclaimer" in answer.flags,
        "parse_reason": answer.reason,
        "retry_count": retries,
        "missing": status == "missing",
        "status": status,
        "tied": "tied" in answer.flags,
    }


def _slot_rows(unit: Unit, answer: Answer) -> Iterator[dict[str, Any]]:
    for slot in unit.slots:
        yield {
            "position": slot.position,
            "stimulus_id": slot.stimulus_id,
            "category": slot.category or None,
            "scenario_id": slot.scenario_id or None,
            "name_rank": slot.name_rank or None,
            "race": slot.race or None,
            "gender": slot.gender or None,
            "framing": slot.framing or None,
            "name": slot.name or None,
            "stratum": slot.stratum,
            "pseudo_group": slot.pseudo_group,
            "attribute": slot.attribute,
            VALUE_COLUMNS[unit.format]: _slot_value(unit, answer, slot),
        }


def _slot_value(unit: Unit, answer: Answer, slot: Slot) -> Any:
    if isinstance(answer.value, tuple):
        return answer.value[slot.position - 1]
    if unit.options and isinstance(answer.value, str):
        # The canonical option, whatever letter it was shown under.
        return unit.options[ord(answer.value) - ord("A")]
    return answer.value
