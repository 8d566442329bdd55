"""The four bundle cells and the singles of "The Audit Decides the Verdict": what is balanced, over seeds."""

import itertools
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng

from evenhand.design.arranging import arrange
from evenhand.design.balance import check_composition
from evenhand.design.cells import exact_counts
from evenhand.design.designs import compose
from evenhand.errors import DesignError
from evenhand.packs import load_pack

seeds = st.integers(0, 2**32)
RACES, GENDERS = ("White", "Black", "Hispanic", "Asian"), ("Female", "Male")
few = settings(max_examples=6, deadline=None)


@cache
def pack(name="hiring"):
    return load_pack(name)


def rows(design, seed, count=None):
    return [
        {
            "bundle": number,
            "position": position,
            "race": stimulus.name.race,
            "gender": stimulus.name.gender,
            "name": stimulus.name.full,
            "profile": stimulus.profile.profile_id,
            "stratum": stimulus.profile.stratum,
            "pseudo_group": stimulus.pseudo_group,
            "detail": stimulus.detail and stimulus.detail.detail_id,
            "kind": stimulus.detail and stimulus.detail.kind,
        }
        for number, bundle in enumerate(compose(design, pack(), seed=seed, count=count))
        for position, stimulus in enumerate(bundle.stimuli, start=1)
    ]


def spread(found, *columns):
    """Most minus least over every combination of the columns' levels."""
    counts = Counter(tuple(row[column] for column in columns) for row in found)
    levels = [sorted({row[column] for row in found}) for column in columns]
    cells = list(itertools.product(*levels))
    return max(counts[cell] for cell in cells) - min(counts[cell] for cell in cells)


def bundles(found):
    return [list(members) for _, members in itertools.groupby(found, key=lambda row: row["bundle"])]


@few
@given(seed=seeds)
@pytest.mark.parametrize("count", [40, 120, 150, 600])
def test_disguised_bundles_hold_every_race_every_stratum_and_two_of_each_gender(seed, count):
    for members in bundles(rows("demographic_disguised", seed, count)):
        assert sorted(row["race"] for row in members) == sorted(RACES)
        assert sorted(row["stratum"] for row in members) == [1, 2, 3, 4]
        assert Counter(row["gender"] for row in members) == {"Female": 2, "Male": 2}
        assert len({row["name"] for row in members}) == 4


@few
@given(seed=seeds)
@pytest.mark.parametrize("count", [120, 600])
def test_at_multiples_of_120_disguised_bundles_are_exact_in_every_pair(seed, count):
    found = rows("demographic_disguised", seed, count)
    factors = ("race", "gender", "profile", "stratum", "position")
    for one, other in itertools.combinations(factors, 2):
        if {one, other} != {"profile", "stratum"}:
            assert spread(found, one, other) == 0, (one, other)
    assert spread(found, "race", "gender", "profile") == 0
    assert spread(found, "name", "profile") == 0
    assert spread(found, "name") == 0


@few
@given(seed=seeds)
def test_at_60_pairs_with_names_and_profiles_are_exact(seed):
    found = rows("demographic_disguised", seed, 60)
    factors = ("race", "gender", "profile", "position")
    for one, other in itertools.combinations(factors, 2):
        assert spread(found, one, other) == 0
    assert spread(found, "name") == 0
    assert exact_counts(races=4, profiles=3, names=10) == (60, 120)


@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_at_150_the_two_bundles_left_over_keep_everything_within_one_and_off_quality(seed):
    found = rows("demographic_disguised", seed, 150)
    assert spread(found, "race", "position") == spread(found, "race", "stratum") == 1
    assert spread(found, "gender", "race") == spread(found, "gender", "stratum") == 0
    assert spread(found, "gender", "position") == 0
    assert spread(found, "race", "profile") <= 1
    for factor, levels in (("race", RACES), ("gender", GENDERS)):
        sums = {level: sum(row["stratum"] for row in found if row[factor] == level) for level in levels}
        assert len(set(sums.values())) == 1
    assert spread(found, "name") == 0


@few
@given(seed=seeds)
def test_the_first_40_bundles_are_balanced_by_themselves(seed):
    found = rows("demographic_disguised", seed, 150)[:160]
    assert spread(found, "race", "position") == spread(found, "race", "stratum") == 0
    assert (
        spread(found, "gender", "race")
        == spread(found, "gender", "stratum")
        == spread(found, "gender", "position")
        == 0
    )
    assert spread(found, "name") == 0
    by_race = {race: Counter(row["profile"] for row in found if row["race"] == race) for race in RACES}
    assert len({tuple(sorted(counts.items())) for counts in by_race.values()}) == 1


def test_squares_are_shuffled_anew():
    """A repeated square undercovers: over 30 squares few arrangements of race over stratum and position recur."""
    found = bundles(rows("demographic_disguised", 3, 120))
    squares = [
        frozenset(tuple((row["race"], row["stratum"]) for row in members) for members in found[i : i + 4])
        for i in range(0, 120, 4)
    ]
    assert len(set(squares)) >= 28


@few
@given(seed=seeds, count=st.sampled_from([120, 150]))
def test_matched_bundles_hold_one_profile_under_one_name_of_each_race(seed, count):
    found = rows("demographic_matched", seed, count)
    for members in bundles(found):
        assert sorted(row["race"] for row in members) == sorted(RACES)
        assert len({(row["profile"], row["gender"]) for row in members}) == 1
    assert spread(found, "race", "position") <= 1
    assert spread(found, "race", "gender", "position") <= 2
    assert spread(found, "profile") <= 4
    assert spread(found, "name") <= 1
    if count == 120:
        assert (
            spread(found, "race", "position")
            == spread(found, "profile", "gender")
            == spread(found, "name", "profile")
            == 0
        )


@few
@given(seed=seeds, count=st.sampled_from([120, 150]))
def test_irrelevant_bundles_vary_one_kind_of_detail_under_names_of_one_cell(seed, count):
    found = rows("irrelevant_matched", seed, count)
    for members in bundles(found):
        assert len({(row["profile"], row["race"], row["gender"], row["kind"]) for row in members}) == 1
        assert len({row["name"] for row in members}) == len({row["detail"] for row in members}) == 4
    for detail in {row["detail"] for row in found}:
        assert spread([row for row in found if row["detail"] == detail], "position") <= 1
    assert spread(found, "kind") <= 4
    for race, gender in itertools.product(RACES, GENDERS):
        cell = [row for row in found if (row["race"], row["gender"]) == (race, gender)]
        assert len({row["name"] for row in cell}) == 5
        assert spread(cell, "name") <= 2
        assert spread(cell, "name", "position") <= 2
    assert len({row["profile"] for row in found if row["kind"] == "hobby"}) == 12
    by_profile = Counter((row["profile"], row["kind"]) for row in found)
    assert max(by_profile.values()) - min(by_profile.values()) <= 4
    assert spread(found, "race", "gender") <= 8


@few
@given(seed=seeds, count=st.sampled_from([120, 150]))
def test_placebo_bundles_covary_as_the_disguised_do_under_names_of_one_cell(seed, count):
    found = rows("placebo_disguised", seed, count)
    for members in bundles(found):
        assert len({(row["race"], row["gender"]) for row in members}) == 1
        assert len({row["name"] for row in members}) == 4
        assert sorted(row["pseudo_group"] for row in members) == list("ABCD")
        assert sorted(row["stratum"] for row in members) == [1, 2, 3, 4]
    assert spread(found, "pseudo_group", "position") <= 1
    assert spread(found, "pseudo_group", "stratum") <= 1
    assert spread(found, "pseudo_group", "profile") <= 1
    # 15 to 19 bundles a cell; all 40 names stand in for every pseudo-group, five of a cell in turn.
    uses = Counter((row["name"], row["pseudo_group"]) for row in found)
    assert len(uses) == 160
    assert max(uses.values()) - min(uses.values()) <= (0 if count == 120 else 1)


@few
@given(seed=seeds)
def test_crossed_is_every_profile_under_every_name(seed):
    found = rows("crossed", seed)
    assert len(found) == len({(row["profile"], row["name"]) for row in found}) == 480


@few
@given(seed=seeds)
def test_the_quota_of_240_is_the_tool_arms(seed):
    """Per profile 5 a race, 10 a gender, 2 or 3 a cell; each name pair 6 times."""
    found = rows("quota", seed, 240)
    assert set(Counter((row["profile"], row["race"]) for row in found).values()) == {5}
    assert set(Counter((row["profile"], row["gender"]) for row in found).values()) == {10}
    assert set(Counter((row["profile"], row["race"], row["gender"]) for row in found).values()) == {2, 3}
    assert set(Counter(row["name"] for row in found).values()) == {6}
    assert len({(row["profile"], row["name"]) for row in found}) == 240


@few
@given(seed=seeds)
def test_the_quota_of_120_is_the_redealt_arms(seed):
    """Per profile 3 White, 3 Black, 2 Hispanic, 2 Asian, 5 women, 5 men; names within one per race."""
    found = rows("quota", seed, 120)
    for profile in {row["profile"] for row in found}:
        own = [row for row in found if row["profile"] == profile]
        assert Counter(row["race"] for row in own) == {"White": 3, "Black": 3, "Hispanic": 2, "Asian": 2}
        assert Counter(row["gender"] for row in own) == {"Female": 5, "Male": 5}
    for race in RACES:
        uses = Counter(row["name"] for row in found if row["race"] == race)
        assert len(uses) == 10
        assert max(uses.values()) - min(uses.values()) <= 1


def test_the_published_schedule_ties_each_profile_to_one_race():
    found = rows("modular", 1, 120)
    order = [profile.profile_id for profile in pack().profiles()]
    assert [row["profile"] for row in found] == [order[i % 12] for i in range(120)]
    assert [row["race"] for row in found] == [RACES[i % 4] for i in range(120)]
    assert Counter((row["profile"], row["race"]) for row in found) == {(order[p], RACES[p % 4]): 10 for p in range(12)}
    assert set(Counter(row["name"] for row in found).values()) == {3}
    assert set(Counter(row["gender"] for row in found).values()) == {60}


def test_designs_say_what_they_need():
    with pytest.raises(DesignError, match="quality stratum"):
        compose("demographic_disguised", load_pack("aid"), seed=1)
    with pytest.raises(DesignError, match="details"):
        compose("irrelevant_matched", load_pack("aid"), seed=1)
    with pytest.raises(DesignError, match="framings"):
        compose("race_transparent", pack(), seed=1)
    with pytest.raises(DesignError, match="even number of units, 4 or more, for each of 12 profiles"):
        compose("quota", pack(), seed=1, count=100)
    with pytest.raises(DesignError, match="number of units is fixed"):
        compose("crossed", pack(), seed=1, count=100)


@pytest.mark.parametrize(("races", "profiles"), [(8, 3), (5, 3), (3, 2), (7, 1)])
def test_other_orders_end_and_keep_each_group_and_stratum_once(races, profiles):
    genders = races % 2 == 0
    rows_ = arrange(2 * races * profiles + 1, order=races, profiles=profiles, genders=genders, rng=default_rng(1))
    for row in rows_:
        assert sorted(place.group for place in row) == sorted(place.stratum for place in row) == list(range(races))
        assert sum(place.gender for place in row) == (races // 2 if genders else 0)


def test_odd_bundles_left_over_line_up_with_quality_and_are_called_confounded():
    """At 121 bundles one is left over: whoever has the strongest profile in it has one more of them."""
    found = rows("demographic_disguised", 1, 121)
    slots = [row | {"unit_id": row["bundle"]} for row in found]
    by_factor = {check.factor: check for check in check_composition("a", slots, contrasts=("race",))}
    assert by_factor["stratum"].status == "confounded"
    assert "within one of its proportion, but it lines up with quality" in by_factor["stratum"].pattern
    even = [row | {"unit_id": row["bundle"]} for row in rows("demographic_disguised", 1, 150)]
    by_factor = {check.factor: check for check in check_composition("a", even, contrasts=("race",))}
    assert by_factor["stratum"].status == "quota"
    assert by_factor["stratum"].pattern.endswith("unrelated to quality")
    bare = [{key: value for key, value in row.items() if key != "stratum"} for row in even]
    by_factor = {check.factor: check for check in check_composition("a", bare, contrasts=("race",))}
    assert by_factor["profile"].status == "confounded"
    assert "without strata" in by_factor["profile"].pattern


def test_another_draw_is_fresh_and_the_same_draw_is_not():
    drawn = [compose("demographic_disguised", pack(), seed=1, count=40, draw=draw) for draw in ("", "", "precision")]
    assert drawn[0] == drawn[1] != drawn[2]


def test_cells_of_too_few_names_are_refused():
    fewer = replace(pack(), names=tuple(name for name in pack().names if name.rank <= 3))
    for cell in ("placebo_disguised", "irrelevant_matched"):
        with pytest.raises(DesignError, match="4 names or more in each race x gender cell"):
            compose(cell, fewer, seed=1)
    assert len(compose("demographic_disguised", fewer, seed=1)) == 120
