"""Planted effects come through the whole text pipeline at their size; nothing comes through where nothing was planted.

The truth on the observed scale is found by a large simulation of the rule on arrays, never taken to be the latent one.
"""

from dataclasses import replace

import numpy as np
import pytest

from evenhand import formats
from evenhand.construction import build_instrument
from evenhand.formats.types import Reply
from evenhand.plan import load_plan
from evenhand.respondents import PRESETS, respond, shipped
from evenhand.respondents.truth import observed_contrast

SEEDS = range(12)
EFFECT = -0.5


@pytest.fixture(scope="module")
def units():
    instrument = build_instrument(load_plan("fairfund"))
    return {
        arm: [unit for unit in instrument.units if unit.arm == arm]
        for arm in ("aid-rate", "aid-rank-race_disguised", "aid-allocate-race_disguised")
    }


def gap(units, planted, seed):
    """Mean outcome of Black less White, higher meaning better treated."""
    values = {"Black": [], "White": []}
    for unit in units:
        said = respond(unit.prompt, who="recovery", behaviour=replace(planted, seed=seed))
        answer = formats.read(unit.format, Reply(said.text), slots=len(unit.slots))
        assert answer.status == "answered"
        value = answer.value if isinstance(answer.value, tuple) else (answer.value,)
        for slot, outcome in zip(unit.slots, value, strict=True):
            if slot.race in values:
                values[slot.race].append(-outcome if unit.format == "rank" else outcome)
    return np.mean(values["Black"]) - np.mean(values["White"])


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["aid-rate", "aid-rank-race_disguised", "aid-allocate-race_disguised"])
def test_a_planted_effect_is_recovered_and_none_is_invented(units, arm):
    for planted in (PRESETS["null"], replace(PRESETS["null"], race={"Black": EFFECT})):
        found = observed_contrast(
            units[arm], planted, shipped(), factor="race", group="Black", reference="White", draws=400
        )
        expected = found.contrast if planted.race else 0.0
        gaps = np.array([gap(units[arm], planted, seed) for seed in SEEDS])
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        assert abs(gaps.mean() - expected) < 4 * np.hypot(error, found.std_error), (arm, found, gaps.mean(), error)
        if expected:
            assert gaps.mean() / error < -4
