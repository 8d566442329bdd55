"""From a plan to its instrument: packs loaded, arms checked, bundles composed, prompts worded."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evenhand import formats
from evenhand.design.bundles import DESIGNS, compose
from evenhand.design.stimuli import assemble
from evenhand.errors import DesignError, StudyError
from evenhand.instrument import Instrument, Slot, Unit
from evenhand.packs import Pack, load_pack

if TYPE_CHECKING:
    from evenhand.design.bundles import Bundle
    from evenhand.plan import Arm, Plan


def build_instrument(plan: Plan) -> Instrument:
    """Build the instrument of a plan: the same plan and packs give the same bytes.

    Raises:
        StudyError: An arm names an unknown format, design or wording, or a format and design that do not go
            together.
        PackError: A pack cannot be loaded.
        DesignError: A design cannot be built from its pack, or is confounded there and the arm does not allow it.
    """
    if plan.imported:
        raise StudyError(
            f"the study {plan.name!r} holds imported materials",
            where="study",
            mend=f"Make its run with `evenhand import {plan.imported} PATH -o RUN`",
        )
    packs = {name: load_pack(name, beside=plan.folder) for name in dict.fromkeys(arm.pack for arm in plan.arms)}
    composed: dict[tuple[str, str], tuple[Bundle, ...]] = {}
    units: list[Unit] = []
    for arm in plan.arms:
        pack = packs[arm.pack]
        _check_arm(arm, pack)
        if (arm.design, arm.pack) not in composed:
            composed[arm.design, arm.pack] = compose(arm.design, pack, seed=plan.seed)
        found = [_unit(arm, pack, bundle) for bundle in composed[arm.design, arm.pack]]
        if not arm.allow_confounded:
            _require_sound(Instrument(tuple(found)))
        units.extend(found)
    instrument = Instrument(tuple(units))
    _require_unique(instrument)
    return instrument


def _require_sound(arm: Instrument) -> None:
    """Refuse an arm that shows its groups different applications or places."""
    confounded = next((check for check in arm.check() if check.status == "confounded"), None)
    if confounded:
        raise DesignError(
            f"{confounded.contrast} is confounded with {confounded.factor} ({confounded.pattern})",
            where=f"arm {confounded.arm}",
            mend="Give the pack numbers of levels that this design can balance (five scenarios a category, five "
            "framings, five names a cell), or accept it with allow_confounded = true in the arm",
        )


def _check_arm(arm: Arm, pack: Pack) -> None:
    where = f"arm {arm.name}"
    if arm.format not in formats.FORMATS:
        raise StudyError(f"unknown format {arm.format!r}", where=where, mend=f"Use one of {', '.join(formats.FORMATS)}")
    if arm.design not in DESIGNS:
        raise StudyError(f"unknown design {arm.design!r}", where=where, mend=f"Use one of {', '.join(DESIGNS)}")
    if arm.count is not None:
        raise StudyError(
            f"the design {arm.design!r} has a fixed number of units",
            where=where,
            mend="Leave count out",
        )
    bundle = DESIGNS[arm.design].context == "multi"
    if formats.is_bundle(arm.format) != bundle:
        raise StudyError(
            f"the format {arm.format!r} does not go with the design {arm.design!r}",
            where=where,
            mend=f"Give a format for {'several slots' if bundle else 'single slots'}",
        )
    wordings = pack.wordings.get(arm.format, {})
    if arm.wording not in wordings:
        raise StudyError(
            f"the pack {pack.name!r} has no wording {arm.wording!r} for {arm.format}",
            where=where,
            mend=f"Use one of {', '.join(wordings)}" if wordings else f"Add [wordings.{arm.format}] to the pack",
        )


def _unit(arm: Arm, pack: Pack, bundle: Bundle) -> Unit:
    design = DESIGNS[arm.design]
    texts = tuple(stimulus.text for stimulus in bundle.stimuli)
    instruction = formats.instruction(arm.format, pack.wordings[arm.format][arm.wording], slots=len(texts))
    return Unit(
        arm=arm.name,
        unit_id=bundle.unit_id,
        tag=arm.tag,
        domain=pack.name,
        format=arm.format,
        wording=arm.wording,
        bundle_type=design.name,
        mode=design.mode,
        focal_axis=design.focal_axis,
        label=pack.slot_label,
        prompt=assemble(instruction, texts, label=pack.slot_label),
        slots=tuple(
            Slot(
                position=position,
                stimulus_id=stimulus.stimulus_id,
                category=stimulus.profile.category,
                scenario_id=stimulus.profile.scenario_id,
                framing=stimulus.profile.framing,
                name=stimulus.name.full,
                name_rank=stimulus.name.rank,
                race=stimulus.name.race,
                gender=stimulus.name.gender,
            )
            for position, stimulus in enumerate(bundle.stimuli, start=1)
        ),
    )


def _require_unique(instrument: Instrument) -> None:
    if len(instrument.by_key) == len(instrument.units):
        return
    repeated = next(key for key, times in Counter(unit.key for unit in instrument.units).items() if times > 1)
    raise StudyError(f"the unit {repeated!r} occurs twice", where="instrument", mend="Give each arm one design")
