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
    recognition,
    recovery,
    robustness,
    validity,
    variants,
    variation,
    verdict,
)
from evenhand.analysis.preparing import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from evenhand.analysis.material import Material


def _unanswered(material: Material) -> pl.DataFrame:
    return validity.unanswered_by_group(material.outcomes, seed=material.setting.seed)


BLOCKS: Mapping[str, Callable[[Material], pl.DataFrame]] = {
    "primary_endpoint": interactions.primary_endpoint,
    "recovery": recovery.planted_recovery,
    "placebo": recovery.placebo,
    "verdict": verdict.planned_contrasts,
    "contrasts": verdict.contrasts,
    "left_out": verdict.left_out,
    "decisions": verdict.decision_checks,
    "floors": detection.detection_floors,
    "interactions": interactions.interactions,
    "robustness": robustness.robustness,
    "position": audit_effects.position_effect,
    "wording": variants.wording_effects,
    "tools": variants.tool_effects,
    "audit_against_demographics": audit_effects.audit_against_demographics,
    "ties": audit_effects.tie_rates,
    "recognition": recognition.recognition,
    "precision": extensions.precision,
    "reasoning": extensions.reasoning_rerun,
    "aid_replication": extensions.aid_replication,
    "fairfund_focal": fairfund_contrasts.focal_contrasts,
    "fairfund_framing": fairfund_contrasts.framing_contrasts,
    "equal_splits": fairfund_tables.equal_splits,
    "dollar_gaps": fairfund_tables.dollar_gaps,
    "dollars_by_framing": fairfund_tables.dollars_by_framing,
    "validity": fairfund_tables.response_validity,
    "wording_variants": fairfund_tables.wording_contrasts,
    "unanswered": _unanswered,
    "impact_ratios": impact.impact_ratios,
    "run_variance": variation.run_variance,
    "arity_null": variation.arity_null,
}
"""By name, in the order in which they are answered and read."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analysis found.

    Attributes:
        blocks: Tidy rows by block; empty ones are left out.
        statuses: What may be said of each planned contrast.
        scope: What that covers: models, domains, formats, wordings and groups.
        seconds: By block, how long it took.
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
        processes: How many processes fit; by default one a core where it is worth it.
        progress: Called with what is answered next, in words.
    """
    blocks: dict[str, pl.DataFrame] = {}
    began = time.perf_counter()
    refits = prepare(material, processes=processes, progress=progress)
    seconds = {"fits": time.perf_counter() - began}
    for name, block in BLOCKS.items():
        if progress is not None:
            progress(name)
        began = time.perf_counter()
        # The refits are made already, with the fits.
        rows = robustness.summarise(refits, material) if block is robustness.robustness else block(material)
        seconds[name] = time.perf_counter() - began
        if not rows.is_empty():
            blocks[name] = rows
    return Analysis(blocks, verdict.statuses(material), verdict.scope(material), seconds)
