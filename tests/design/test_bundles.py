"""Exact balances of the FairFund designs, over seeds (Lukk 2026, appendix G)."""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.design.designs import DESIGNS, compose
from evenhand.errors import DesignError
from evenhand.packs import load_pack

COUNTS = {
    "rate": (600, 1),
    "race_transparent": (60, 4),
    "race_disguised": (120, 4),
    "gender_transparent": (120, 2),
    "gender_disguised": (240, 2),
    "intersectional": (60, 4),
    "framing_transparent": (120, 5),
    "framing_disguised": (120, 5),
}
MULTIPLE = [name for name in COUNTS if name != "rate"]
TRANSPARENT = [name for name in MULTIPLE if DESIGNS[name].mode == "transparent"]
seeds = st.integers(0, 2**32)


@cache
def aid():
    return load_pack("aid")


def slots(name, seed):
    return [(i, s, bundle) for bundle in compose(name, aid(), seed=seed) for i, s in enumerate(bundle.stimuli, start=1)]


def value(stimulus, factor):
    return {
        "race": stimulus.name.race,
        "gender": stimulus.name.gender,
        "framing": stimulus.profile.framing,
        "scenario": stimulus.profile.scenario_id,
        "category": stimulus.profile.category,
        "name": stimulus.name.full,
    }[factor]


def equal(counts):
    return len(set(counts.values())) == 1


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_counts_and_unique_ids(name, seed):
    bundles = compose(name, aid(), seed=seed)
    units, size = COUNTS[name]
    assert len(bundles) == units
    assert {len(bundle.stimuli) for bundle in bundles} == {size}
    assert len({bundle.unit_id for bundle in bundles}) == units
    assert len({tuple(s.stimulus_id for s in bundle.stimuli) for bundle in bundles}) == units


@pytest.mark.parametrize("name", MULTIPLE)
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_focal_levels_and_scenarios_meet_every_position_equally(name, seed):
    found = slots(name, seed)
    size = COUNTS[name][1]
    for factor in (*DESIGNS[name].contrasts, "scenario"):
        counts = Counter((value(s, factor), position) for position, s, _ in found)
        assert equal(counts), factor
        assert len(counts) == size * len({value(s, factor) for _, s, _ in found})


@pytest.mark.parametrize("name", MULTIPLE)
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_focal_levels_meet_every_scenario_equally(name, seed):
    found = slots(name, seed)
    for factor in DESIGNS[name].contrasts:
        counts = Counter((value(s, factor), value(s, "scenario")) for _, s, _ in found)
        assert equal(counts)
        assert len(counts) == 15 * len({value(s, factor) for _, s, _ in found})


@pytest.mark.parametrize("name", COUNTS)
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_names_are_used_equally_often(name, seed):
    counts = Counter(value(s, "name") for _, s, _ in slots(name, seed))
    names = 20 if name == "intersectional" else 40
    assert len(counts) == names
    assert set(counts.values()) == {COUNTS[name][0] * COUNTS[name][1] // names}


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_rate_uses_each_name_15_times_3_a_framing_5_a_category(seed):
    found = slots("rate", seed)
    assert set(Counter(value(s, "name") for _, s, _ in found).values()) == {15}
    assert Counter(Counter((value(s, "name"), value(s, "framing")) for _, s, _ in found).values()) == {3: 200}
    assert Counter(Counter((value(s, "name"), value(s, "category")) for _, s, _ in found).values()) == {5: 120}
    assert len({s.profile.profile_id + s.name.race + s.name.gender for _, s, _ in found}) == 600


@pytest.mark.parametrize("name", TRANSPARENT)
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_transparent_bundles_are_minimal_pairs(name, seed):
    varying = {
        "race": {"race"},
        "gender": {"gender"},
        "framing": {"framing"},
        "intersectional": {"race", "gender"},
    }
    for bundle in compose(name, aid(), seed=seed):
        levels = {
            factor: len({value(s, factor) for s in bundle.stimuli})
            for factor in ("race", "gender", "framing", "scenario", "category")
        }
        allowed = varying[DESIGNS[name].focal_axis]
        assert {factor for factor, count in levels.items() if count > 1} == allowed
        assert len({s.name.full for s in bundle.stimuli}) == len(bundle.stimuli)


@pytest.mark.parametrize("name", ["race_disguised", "gender_disguised", "framing_disguised"])
@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_disguised_bundles_show_every_focal_level_on_another_scenario(name, seed):
    focal = DESIGNS[name].focal_axis
    for bundle in compose(name, aid(), seed=seed):
        size = len(bundle.stimuli)
        assert len({value(s, "scenario") for s in bundle.stimuli}) == size
        assert len({value(s, focal) for s in bundle.stimuli}) == size
        assert len({value(s, "category") for s in bundle.stimuli}) == 1
        for fixed in {"race", "gender", "framing"} - {focal}:
            assert len({value(s, fixed) for s in bundle.stimuli}) == 1


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_each_scenario_sits_out_of_two_of_ten_race_disguised_configurations(seed):
    left_out = Counter()
    configurations = {}
    for bundle in compose("race_disguised", aid(), seed=seed):
        configuration = bundle.unit_id.rsplit("_v", 1)[0]
        configurations.setdefault(configuration, set()).update(value(s, "scenario") for s in bundle.stimuli)
    assert len(configurations) == 30
    scenarios = {s.scenario_id for s in aid().scenarios}
    for used in configurations.values():
        category = next(iter(used)).split("_")[0]
        left_out.update({s for s in scenarios if s.startswith(category + "_")} - used)
    assert set(left_out.values()) == {2}
    assert len(left_out) == 15


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_gender_disguised_uses_each_scenario_pair_equally(seed):
    pairs = Counter(
        tuple(sorted(value(s, "scenario") for s in bundle.stimuli))
        for bundle in compose("gender_disguised", aid(), seed=seed)
    )
    assert len(pairs) == 30
    assert set(pairs.values()) == {8}


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_race_transparent_orders_come_15_times_each(seed):
    """Within a category the orders are the four rotations of one cyclic order."""
    orders = Counter()
    for bundle in compose("race_transparent", aid(), seed=seed):
        races = [value(s, "race") for s in bundle.stimuli]
        orders[races.index("White")] += 1
    assert set(orders.values()) == {15}
    for category in ("Medical", "Rent", "Education"):
        rotations = {
            tuple(value(s, "race") for s in bundle.stimuli)
            for bundle in compose("race_transparent", aid(), seed=seed)
            if bundle.stimuli[0].profile.category == category
        }
        assert len(rotations) == 4


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_framing_transparent_rows_come_24_times_each(seed):
    """Within a category the orders are the five rotations of one cyclic order of framings; each comes 8 times."""
    for category in ("Medical", "Rent", "Education"):
        orders = Counter(
            tuple(value(s, "framing") for s in bundle.stimuli)
            for bundle in compose("framing_transparent", aid(), seed=seed)
            if bundle.stimuli[0].profile.category == category
        )
        assert len(orders) == 5
        assert set(orders.values()) == {8}
        first = next(iter(orders))
        assert set(orders) == {first[i:] + first[:i] for i in range(5)}


CONFIGURATIONS = {
    "race_transparent": (("category", "gender", "framing"), 30, 2),
    "race_disguised": (("category", "gender", "framing"), 30, 4),
    "gender_transparent": (("category", "race", "framing"), 60, 2),
    "gender_disguised": (("category", "race", "framing"), 60, 4),
    "intersectional": (("category", "framing"), 15, 4),
    "framing_transparent": (("category", "race", "gender", "scenario"), 120, 1),
    "framing_disguised": (("category", "race", "gender"), 24, 5),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
@settings(max_examples=5, deadline=None)
@given(seed=seeds)
def test_configurations_times_versions(name, seed):
    factors, configurations, versions = CONFIGURATIONS[name]
    counts = Counter(
        tuple(value(bundle.stimuli[0], factor) for factor in factors) for bundle in compose(name, aid(), seed=seed)
    )
    assert len(counts) == configurations
    assert set(counts.values()) == {versions}


@settings(max_examples=8, deadline=None)
@given(seed=seeds)
def test_framing_designs_balance_names_against_framing_and_position(seed):
    for name in ("framing_transparent", "framing_disguised"):
        found = slots(name, seed)
        for counts in (
            Counter((value(s, "name"), value(s, "framing")) for _, s, _ in found),
            Counter((value(s, "name"), position) for position, s, _ in found),
        ):
            assert set(counts.values()) == {3}
            assert len(counts) == 200


def test_seeds_change_the_bundles_and_nothing_else_does():
    assert compose("race_disguised", aid(), seed=1) == compose("race_disguised", aid(), seed=1)
    assert compose("race_disguised", aid(), seed=1) != compose("race_disguised", aid(), seed=2)


def test_an_unknown_design_lists_the_known_ones():
    with pytest.raises(DesignError, match="race_disguised"):
        compose("nonsense", aid(), seed=1)
