"""From a plan to its instrument: packs loaded, arms checked, bundles composed, prompts worded, totals held."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evenhand import formats
from evenhand.design.designs import DESIGNS, compose
from evenhand.design.stimuli import assemble
from evenhand.errors import DesignError, StudyError
from evenhand.instrument import Instrument, Slot, Unit
from evenhand.packs import Pack, load_pack
from evenhand.probes import deal_rotations, first_of, make_probes
from evenhand.soundness import find_faults

if TYPE_CHECKING:
    from evenhand.design.bundles import Bundle
    from evenhand.design.stimuli import Stimulus
    from evenhand.plan import Arm, Plan


def build_instrument(plan: Plan, *, sound: bool = True) -> Instrument:
    """Build the instrument of a plan: the same plan and packs give the same bytes.

    Args:
        plan: The plan.
        sound: Whether faults of prompts and bundles are refused; a check lists them instead.

    Raises:
        StudyError: An arm names an unknown format, design or wording, a format and design that do not go
            together, or the units do not add up to the plan's totals.
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
    for arm in plan.arms:
        _check_arm(arm, packs[arm.pack])
    made = _compose_arms(plan, packs)
    for arm in plan.arms:
        if formats.is_probe(arm.format):
            made[arm.name] = make_probes(arm, packs[arm.pack], made[_probed(arm, plan).name], seed=plan.seed)
        elif not arm.allow_confounded:
            _require_sound(Instrument(made[arm.name]))
    units = [unit for arm in plan.arms for unit in made[arm.name]]
    _require_other_names(packs)
    instrument = Instrument(tuple(deal_rotations(units, packs={pack.name: pack for pack in packs.values()})))
    _require_unique(instrument)
    _require_sound_pools(instrument, plan)
    if sound:
        _require_whole(instrument)
    _require_totals(instrument, plan)
    return instrument


def _compose_arms(plan: Plan, packs: dict[str, Pack]) -> dict[str, tuple[Unit, ...]]:
    """The units of every arm but the probes'; arms that share pack, design, number and draw share their bundles."""
    composed: dict[tuple[str, str, int | None, str], tuple[Bundle, ...]] = {}
    made: dict[str, tuple[Unit, ...]] = {}
    for arm in plan.arms:
        if formats.is_probe(arm.format):
            continue
        pack, key = packs[arm.pack], (arm.pack, arm.design, arm.count, arm.draw)
        if key not in composed:
            composed[key] = compose(arm.design, pack, seed=plan.seed, count=arm.count, draw=arm.draw)
        made[arm.name] = tuple(_unit(arm, pack, bundle) for bundle in first_of(composed[key], arm))
    return made


def _probed(arm: Arm, plan: Plan) -> Arm:
    """The arm whose requests a probe shows: of the same pack, no probe itself, and put to the same models."""
    source = next((other for other in plan.arms if other.name == arm.probes), None)
    where = f"arm {arm.name}"
    if source is None or formats.is_probe(source.format):
        raise StudyError(
            f"the arm probes {arm.probes!r}, which is no arm that puts applications to models",
            where=where,
            mend="Name in probes the arm whose requests are asked about",
        )
    if source.pack != arm.pack:
        raise StudyError(
            f"the arm has the pack {arm.pack!r}, the arm that it probes {source.pack!r}",
            where=where,
            mend="Give both the same pack",
        )
    if source.reasoning and not arm.reasoning:
        raise StudyError(
            "the arm probes requests that only some models are put",
            where=where,
            mend='Write reasoning = "on" in the probe too',
        )
    return source


def _require_other_names(packs: dict[str, Pack]) -> None:
    by_name: dict[str, Pack] = {}
    for pack in packs.values():
        other = by_name.setdefault(pack.name, pack)
        if other.folder.resolve() != pack.folder.resolve():
            raise StudyError(
                f"two packs are named {pack.name!r}",
                where=f"{other.folder}, {pack.folder}",
                mend="Change name in one's pack.toml",
            )


def _require_sound_pools(instrument: Instrument, plan: Plan) -> None:
    """Refuse arms that an analysis would join although together they are confounded."""
    allowed = {arm.name for arm in plan.arms if arm.allow_confounded}
    for check in instrument.check_pools():
        if check.status == "confounded" and not allowed & set(check.arms):
            raise DesignError(
                f"joined, {check.contrast} is confounded with {check.factor} ({check.pattern})",
                where=f"arms {check.arm}",
                mend="Give one of them another wording or design, or accept it with allow_confounded = true in one",
            )


def _require_sound(arm: Instrument) -> None:
    """Refuse an arm that shows its groups different applications or places."""
    confounded = next((check for check in arm.check() if check.status == "confounded"), None)
    if confounded:
        raise DesignError(
            f"{confounded.contrast} is confounded with {confounded.factor} ({confounded.pattern})",
            where=f"arm {confounded.arm}",
            mend="Give the pack numbers of levels, or the arm a number of units, that this design can balance "
            "(docs/designs.md lists them), or accept it with allow_confounded = true in the arm",
        )


def _check_arm(arm: Arm, pack: Pack) -> None:
    where = f"arm {arm.name}"
    if arm.format not in formats.FORMATS:
        raise StudyError(f"unknown format {arm.format!r}", where=where, mend=f"Use one of {', '.join(formats.FORMATS)}")
    _check_wording(arm, pack, where=where)
    if formats.is_probe(arm.format):
        if arm.design != "probe" or not arm.probes:
            raise StudyError(
                f"{arm.format} asks what another arm's request was for",
                where=where,
                mend='Write design = "probe" and name the arm in probes',
            )
        return
    if arm.design not in DESIGNS:
        raise StudyError(f"unknown design {arm.design!r}", where=where, mend=f"Use one of {', '.join(DESIGNS)}, probe")
    if arm.probes:
        raise StudyError(
            f"the format {arm.format!r} is no probe", where=where, mend="Leave probes out, or use a purpose format"
        )
    if arm.count is not None and DESIGNS[arm.design].count is None:
        raise StudyError(
            f"the design {arm.design!r} has a fixed number of units",
            where=where,
            mend="Leave count out, or take the `first` so many",
        )
    bundle = DESIGNS[arm.design].context == "multi"
    if formats.is_bundle(arm.format) != bundle:
        raise StudyError(
            f"the format {arm.format!r} does not go with the design {arm.design!r}",
            where=where,
            mend=f"Give a format for {'several slots' if bundle else 'single slots'}",
        )


def _check_wording(arm: Arm, pack: Pack, *, where: str) -> None:
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
        slots=tuple(_slot(position, stimulus) for position, stimulus in enumerate(bundle.stimuli, start=1)),
        reasoning=arm.reasoning,
    )


def _slot(position: int, stimulus: Stimulus) -> Slot:
    return Slot(
        position=position,
        stimulus_id=stimulus.stimulus_id,
        category=stimulus.profile.category,
        scenario_id=stimulus.profile.scenario_id,
        framing=stimulus.profile.framing,
        name=stimulus.name.full,
        name_rank=stimulus.name.rank,
        race=stimulus.name.race,
        gender=stimulus.name.gender,
        stratum=stimulus.profile.stratum,
        pseudo_group=stimulus.pseudo_group or None,
        attribute=f"{stimulus.detail.kind}: {stimulus.detail.item}" if stimulus.detail else None,
    )


def _require_unique(instrument: Instrument) -> None:
    if len(instrument.by_key) == len(instrument.units):
        return
    repeated = next(key for key, times in Counter(unit.key for unit in instrument.units).items() if times > 1)
    raise StudyError(
        f"the unit {repeated!r} occurs twice", where="instrument", mend="Give each arm one design, and fewer units"
    )


def _require_whole(instrument: Instrument) -> None:
    faults = find_faults(instrument)
    if faults:
        raise DesignError(
            faults[0] if len(faults) == 1 else f"{faults[0]} ({len(faults) - 1} more like it)",
            where="instrument",
            mend="Change the pack's texts or names, or give the arm another number of units, draw or seed",
        )


def _require_totals(instrument: Instrument, plan: Plan) -> None:
    wrong = wrong_totals(instrument, plan)
    if wrong:
        raise StudyError(wrong[0], where="totals", mend="Mend the arms, or the total they are held against")


def wrong_totals(instrument: Instrument, plan: Plan) -> list[str]:
    """Where the units or slots do not come to what the plan says, in words."""
    wrong: list[str] = []
    for total in plan.totals:
        covered = [row for row in instrument.accounting() if total.covers(row["arm"], row["tag"])]
        for what, expected in (("units", total.units), ("slots", total.slots)):
            counted = sum(row[what] for row in covered)
            if expected is not None and counted != expected:
                wrong.append(f"{total.name} comes to {counted:,} {what} a model, not {expected:,}")
    return wrong
