"""The blocks of an analysis: each is one question, answered from the material in tidy rows.

A study has those blocks that its arms allow; a block without anything to read is empty and left out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.analysis import (
    audit_effects,
    detection,
    extensions,
    fairfund_contrasts,
    fairfund_tables,
    impact,
    interactions,
    power,
    recognition,
    recovery,
    robustness,
    validity,
    variants,
    variation,
    verdict,
)
from evenhand.analysis.preparing import prepare_cell
from evenhand.analysis.workers import workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from evenhand.analysis.material import Material
    from evenhand.analysis.robustness import CellRobustness


ROBUSTNESS = "robustness"


def _unanswered(material: Material) -> pl.DataFrame:
    return validity.unanswered_by_group(material.outcomes, seed=material.setting.seed)


@dataclass(frozen=True, slots=True)
class Block:
    """A question.

    Attributes:
        answer: From the material to tidy rows; None where its rows are made with the cells and summed up here.
        reads_fits: Whether it reads the fits of primary cells, and so waits for them.
    """

    answer: Callable[[Material], pl.DataFrame] | None
    reads_fits: bool = True


BLOCKS: Mapping[str, Block] = {
    "primary_endpoint": Block(interactions.primary_endpoint),
    "recovery": Block(recovery.planted_recovery),
    "placebo": Block(recovery.placebo, reads_fits=False),
    "verdict": Block(verdict.planned_contrasts),
    "contrasts": Block(verdict.contrasts),
    "left_out": Block(verdict.left_out, reads_fits=False),
    "decisions": Block(verdict.decision_checks, reads_fits=False),
    "floors": Block(detection.detection_floors),
    "power": Block(power.power_curves),
    "interactions": Block(interactions.interactions),
    ROBUSTNESS: Block(None),
    "position": Block(audit_effects.position_effect),
    "wording": Block(variants.wording_effects, reads_fits=False),
    "tools": Block(variants.tool_effects),
    "audit_against_demographics": Block(audit_effects.audit_against_demographics, reads_fits=False),
    "ties": Block(audit_effects.tie_rates, reads_fits=False),
    "recognition": Block(recognition.recognition, reads_fits=False),
    "precision": Block(extensions.precision),
    "reasoning": Block(extensions.reasoning_rerun, reads_fits=False),
    "aid_replication": Block(extensions.aid_replication, reads_fits=False),
    "fairfund_focal": Block(fairfund_contrasts.focal_contrasts, reads_fits=False),
    "fairfund_framing": Block(fairfund_contrasts.framing_contrasts, reads_fits=False),
    "equal_splits": Block(fairfund_tables.equal_splits, reads_fits=False),
    "dollar_gaps": Block(fairfund_tables.dollar_gaps, reads_fits=False),
    "dollars_by_framing": Block(fairfund_tables.dollars_by_framing, reads_fits=False),
    "validity": Block(fairfund_tables.response_validity, reads_fits=False),
    "wording_variants": Block(fairfund_tables.wording_contrasts, reads_fits=False),
    "unanswered": Block(_unanswered, reads_fits=False),
    "impact_ratios": Block(impact.impact_ratios, reads_fits=False),
    "run_variance": Block(variation.run_variance, reads_fits=False),
    "arity_null": Block(variation.arity_null, reads_fits=False),
}
"""By name, in the order in which they are answered and read."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analysis found.

    Attributes:
        blocks: Tidy rows by block; empty ones are left out.
        statuses: What may be said of each planned contrast.
        scope: What that covers: models, domains, formats, wordings and groups.
        seconds: By block, how long it took, in whatever process; `fits` is all cells together.
    """

    blocks: Mapping[str, pl.DataFrame]
    statuses: list[verdict.Status]
    scope: Mapping[str, list[str]]
    seconds: Mapping[str, float]


def analyse(
    material: Material, *, processes: int | None = None, progress: Callable[[str], None] | None = None
) -> Analysis:
    """Answer every question that the material allows.

    Args:
        material: Outcomes and the terms of their analysis.
        processes: How many processes answer; by default one a core where it is worth it.
        progress: Called with what is answered, in words.
    """
    told = progress or _silent
    with workers(material, processes) as crew:
        cells = {place: crew.give(prepare_cell, place) for place in _largest_first(material)}
        answers = {name: crew.give(answer) for name, answer in _answers(after_fits=False)}
        prepared: dict[int, CellRobustness] = {}
        seconds = {"fits": 0.0}
        for place, cell in enumerate(material.cells):
            done = cells[place].result()
            material.keep(cell, done.found.fits)
            if done.found.robustness is not None:
                prepared[place] = done.found.robustness
            seconds["fits"] += done.seconds
            told(f"{cell.domain} {cell.format} {cell.mode}")
        answers |= {name: crew.give(answer, fits=True) for name, answer in _answers(after_fits=True)}
        began = time.perf_counter()
        blocks = {ROBUSTNESS: robustness.summarise(list(prepared.values()), material)}
        seconds[ROBUSTNESS] = time.perf_counter() - began
        told(ROBUSTNESS)
        for name in answers:
            done = answers[name].result()
            blocks[name], seconds[name] = done.found, done.seconds
            told(name)
    kept = {name: blocks[name] for name in BLOCKS if not blocks[name].is_empty()}
    return Analysis(kept, verdict.statuses(material), verdict.scope(material), seconds)


def _silent(_: str) -> None:
    """Nobody is told."""


def _largest_first(material: Material) -> list[int]:
    """Cells in the order of what they cost, so that no process is left waiting for a large one at the end."""
    return sorted(range(len(material.cells)), key=lambda place: -material.cells[place].rows.height)


def _answers(*, after_fits: bool) -> Iterator[tuple[str, Callable[[Material], pl.DataFrame]]]:
    """The blocks that read fits, or those that do not."""
    for name, block in BLOCKS.items():
        if block.answer is not None and block.reads_fits == after_fits:
            yield name, block.answer
