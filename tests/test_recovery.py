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
from evenhand.respondents import PRESETS, respond, rule, shipped

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


def truth(arm, planted, draws=40_000):
    """The gap on the observed scale, from the rule on arrays: contents drawn as they lie in the pack."""
    contents = np.array(sorted({content.utility for content in shipped().contents.values()}))
    rng = np.random.default_rng(0)
    slots = 1 if arm == "aid-rate" else 4
    content = rng.choice(contents, size=(draws, slots))
    if slots == 1:
        race = rng.choice(["White", "Black"], size=(draws, 1))
    else:
        # Within a category the four slots hold different scenarios.
        by_category = [contents[rng.permutation(15)][:4] for _ in range(draws)]
        content = np.array(by_category)
        race = np.array([rng.permutation(["White", "Black", "Hispanic", "Asian"]) for _ in range(draws)])
    none = np.full(race.shape, "")
    utility = rule.utilities(
        planted,
        content=content,
        planted=rule.planted_effects(planted, race=race, gender=none, framing=none),
        noise=rng.normal(size=race.shape),
    )
    outcome = {
        "aid-rate": rule.ratings,
        "aid-rank-race_disguised": lambda u: -rule.ranks(u),
        "aid-allocate-race_disguised": rule.allocations,
    }[arm](utility)
    return outcome[race == "Black"].mean() - outcome[race == "White"].mean()


@pytest.mark.slow
@pytest.mark.parametrize("arm", ["aid-rate", "aid-rank-race_disguised", "aid-allocate-race_disguised"])
def test_a_planted_effect_is_recovered_and_none_is_invented(units, arm):
    for planted in (PRESETS["null"], replace(PRESETS["null"], race={"Black": EFFECT})):
        expected = truth(arm, planted) if planted.race else 0.0
        gaps = np.array([gap(units[arm], planted, seed) for seed in SEEDS])
        error = gaps.std(ddof=1) / np.sqrt(len(gaps))
        # Scenarios of a category have fixed contents, so a ranking's truth depends a little on which meet.
        slack = 0.15 * abs(expected)
        assert abs(gaps.mean() - expected) < 4 * error + slack, (arm, expected, gaps.mean(), error)
        if expected:
            assert gaps.mean() / error < -4
