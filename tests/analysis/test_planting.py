"""The planted control: its laws, its size by hand and over seeds, and what it refuses."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from evenhand.analysis.planting import SIZES, plant
from evenhand.errors import InputError, OutcomesError

RACES = ("White", "Black", "Asian", "Hispanic")
KEY = ["model", "task", "wording_variant", "unit_id", "epoch", "arm"]


def table(bundles, **columns):
    """`bundles`: for each, its slots as (race, rank); a bundle that has a None for a rank was not answered."""
    rows = [
        {
            "model": "m",
            "task": "rank",
            "wording_variant": "base",
            "unit_id": f"u{i}",
            "epoch": 1,
            "arm": "disguised",
            "position": position,
            "race": race,
            "gender": "F",
            "rank": rank,
            "valid": rank is not None,
            **columns,
        }
        for i, bundle in enumerate(bundles)
        for position, (race, rank) in enumerate(bundle, 1)
    ]
    schema = {"race": pl.String, "rank": pl.Int64, "arm": pl.String}
    return pl.DataFrame(rows, schema_overrides=schema)


def disguised(bundles, *, races=RACES, seed=0):
    """Bundles of one slot for each race, ranked at random."""
    rng = np.random.default_rng(seed)
    return table([list(zip(races, (rng.permutation(len(races)) + 1).tolist(), strict=True)) for _ in range(bundles)])


def black(outcomes, size, seed=0, **options):
    return plant(outcomes, size=size, group="Black", reference="White", seed=seed, **options)


def contrast(outcomes, *, column="race", group="Black", reference="White"):
    ranked = outcomes.filter("valid")
    means = [ranked.filter(pl.col(column) == level)["rank"].mean() for level in (group, reference)]
    return means[1] - means[0]


def all_swapped(outcomes, sign=1, seed=0):
    """Planted so large that a bundle stays as it was with a probability of one in a million."""
    probability = black(outcomes, sign * 1e-3, seed).probability
    return black(outcomes, sign * 1e-3 / probability * (1 - 1e-6), seed)


def ranks(planted):
    return planted.outcomes.group_by("unit_id", maintain_order=True).agg("rank")["rank"].to_list()


# By hand

BY_HAND = table(
    [
        [("White", 1), ("Black", 2), ("Asian", 3)],
        [("White", 3), ("Black", 2), ("Asian", 1)],
        [("White", 2), ("Black", 1), ("Asian", 3)],
        [("White", 1), ("Black", 3), ("Asian", 1)],
    ]
)


def test_a_small_example_by_hand():
    """Up: with White (2 steps of 1/4), with Asian (1), at the edge, below a tie. SD: squares 2 + 2.75 + 4, 12 - 3 df."""
    found = black(BY_HAND, 0.25)
    assert found.sd == pytest.approx(math.sqrt(8.75 / 9))
    assert found.target == found.expected_change == pytest.approx(0.25 * math.sqrt(8.75 / 9))
    assert found.full_change == 0.75
    assert found.probability == pytest.approx(0.25 * math.sqrt(8.75 / 9) / 0.75)
    planted = all_swapped(BY_HAND)
    assert ranks(planted) == [[2, 1, 3], [3, 1, 2], [2, 1, 3], [1, 3, 1]]
    assert (planted.swapped, planted.change) == (2, 0.75)


def test_a_penalty_by_hand():
    """Down: with Asian (1 step of 1/4), with White (2), with White (2), at the edge."""
    found = black(BY_HAND, -0.25)
    assert found.target == pytest.approx(-0.25 * math.sqrt(8.75 / 9))
    assert found.full_change == -1.25
    assert found.probability == pytest.approx(0.2 * math.sqrt(8.75 / 9))
    planted = all_swapped(BY_HAND, -1)
    assert ranks(planted) == [[1, 3, 2], [2, 3, 1], [1, 2, 3], [1, 3, 1]]
    assert (planted.swapped, planted.change) == (3, -1.25)


def test_groups_of_unequal_size_weigh_a_step_by_their_own_number_of_rows():
    outcomes = table([[("White", 1), ("Black", 2), ("White", 3)], [("Black", 1), ("White", 2), ("White", 3)]])
    assert black(outcomes, 0.01).full_change == 1 / 2 + 1 / 4


def test_a_partner_without_a_level_is_a_third_group():
    outcomes = table([[(None, 1), ("Black", 2), ("White", 3)], [("Black", 1), ("White", 2), (None, 3)]])
    found = black(outcomes, 0.01)
    assert found.full_change == 1 / 2
    assert found.sd == pytest.approx(math.sqrt((0.5 + 0.5) / 2))


def test_the_sizes_are_those_of_the_study():
    assert SIZES == (0.05, 0.1, 0.25, 0.5)


# Laws

slots = st.tuples(st.sampled_from([*RACES, None]), st.integers(1, 5))
bundles = st.lists(slots, min_size=1, max_size=6)
unanswered = st.lists(st.tuples(st.sampled_from(RACES), st.none()), min_size=1, max_size=4)
tables = st.lists(bundles | unanswered, min_size=3, max_size=8)
sizes = st.sampled_from([0.02, 0.2, -0.02, -0.2])


def planted_or_none(outcomes, size, seed=0):
    """None where the rows cannot carry the size."""
    try:
        return black(outcomes, size, seed)
    except InputError:
        return None


@settings(max_examples=60, deadline=None)
@given(tables, sizes, st.integers(0, 50))
def test_each_bundle_is_as_it_was_or_has_one_untied_group_slot_exchanged_with_its_neighbour(bundles, size, seed):
    outcomes = table(bundles)
    before = outcomes.clone()
    found = planted_or_none(outcomes, size, seed)
    assert_frame_equal(outcomes, before)
    if found is None:
        return
    assert_frame_equal(found.outcomes.drop("rank"), outcomes.drop("rank"))
    assert found.outcomes.columns == outcomes.columns
    swapped = 0
    for bundle, after in zip(bundles, ranks(found), strict=True):
        was = [rank for _, rank in bundle]
        if after == was:
            continue
        swapped += 1
        i, j = (k for k, rank in enumerate(after) if rank != was[k])
        moved, partner = (i, j) if (after[i] < was[i]) == (size > 0) else (j, i)
        assert bundle[moved][0] == "Black"
        assert (after[moved], after[partner]) == (was[partner], was[moved])
        assert was.count(was[moved]) == was.count(was[partner]) == 1
        assert not any(min(was[i], was[j]) < rank < max(was[i], was[j]) for rank in was)
    assert swapped == found.swapped
    assert found.change == pytest.approx(contrast(found.outcomes) - contrast(outcomes))
    assert 0 < found.probability <= 1
    assert found.expected_change == pytest.approx(found.target)


@settings(max_examples=25, deadline=None)
@given(tables, sizes, st.randoms(use_true_random=False))
def test_the_same_seed_plants_the_same_whatever_the_order_of_rows(bundles, size, shuffle):
    outcomes = table(bundles)
    found = planted_or_none(outcomes, size)
    order = list(range(outcomes.height))
    shuffle.shuffle(order)
    again = planted_or_none(outcomes[order], size)
    if found is None or again is None:
        assert found is again
        return
    assert_frame_equal(again.outcomes, found.outcomes[order])
    assert (again.probability, again.change) == (found.probability, found.change)


def test_seeds_differ():
    outcomes = disguised(60)
    assert len({tuple(black(outcomes, 0.25, seed).outcomes["rank"]) for seed in range(5)}) == 5


def test_a_larger_size_keeps_the_swaps_of_a_smaller_one():
    outcomes = disguised(200)
    moved = []
    for size in (0.05, 0.10, 0.25, 0.50):
        after = black(outcomes, size).outcomes
        moved.append(set(np.flatnonzero((after["rank"] != outcomes["rank"]).to_numpy()).tolist()))
    assert moved[0] < moved[1] < moved[2] < moved[3]


def test_size_zero_changes_nothing():
    outcomes = disguised(10)
    found = black(outcomes, 0)
    assert_frame_equal(found.outcomes, outcomes)
    assert (found.target, found.probability, found.expected_change, found.change, found.swapped) == (0, 0, 0, 0, 0)


def test_unanswered_and_invalid_rows_neither_count_nor_change():
    ranked = disguised(40)
    # A strict order that was answered with ties keeps its ranks, but is not valid.
    invalid = table([[("White", 1), ("Black", 2), ("Asian", 3)]] * 20).with_columns(
        pl.lit(value=False).alias("valid"), ("x" + pl.col("unit_id")).alias("unit_id")
    )
    lost = table([[("White", None), ("Black", None)]] * 20, arm="other")
    found, alone = black(pl.concat([invalid, ranked, lost]), 0.3), black(ranked, 0.3)
    assert found.probability == alone.probability
    assert_frame_equal(found.outcomes, pl.concat([invalid, alone.outcomes, lost]))


def test_of_several_slots_of_the_group_one_is_drawn_by_the_seed():
    slots = [("White", 1), ("Black", 2), ("White", 3), ("Black", 4), ("Asian", 5), ("Black", 6)]
    outcomes = table([slots] * 400)
    # The first and the second candidate pass White, the third passes Asian.
    outcome_of = {(2, 1, 3, 4, 5, 6): 0, (1, 2, 4, 3, 5, 6): 0, (1, 2, 3, 4, 6, 5): 0}
    for after in ranks(all_swapped(outcomes)):
        outcome_of[tuple(after)] += 1
    assert sum(outcome_of.values()) == 400
    assert all(100 < count < 167 for count in outcome_of.values())  # 133 expected, 3.5 SD


def test_a_candidate_that_cannot_move_is_not_replaced_by_another():
    outcomes = table([[("Black", 1), ("White", 2), ("Black", 3)]] * 400)
    assert 160 < all_swapped(outcomes).swapped < 240  # 200 expected, 4 SD


@pytest.mark.parametrize("column", KEY)
def test_bundles_are_told_apart_by_every_part_of_their_key(column):
    """Two bundles that share all but one part are neither merged nor drawn alike."""
    first = disguised(60)
    renamed = pl.lit(2, pl.Int64) if column == "epoch" else pl.col(column) + "x"
    found = black(pl.concat([first, first.with_columns(renamed.alias(column))]), 0.5).outcomes["rank"].to_list()
    assert {tuple(sorted(found[i : i + 4])) for i in range(0, 480, 4)} == {(1, 2, 3, 4)}
    assert found[:240] != found[240:]


def test_a_table_without_arms_is_planted_in():
    outcomes = disguised(40).with_columns(pl.lit(None, pl.String).alias("arm"))
    found = black(outcomes.drop("task", "wording_variant"), 0.3)
    assert found.swapped > 0
    assert found.change == pytest.approx(contrast(found.outcomes) - contrast(outcomes))


def test_models_are_pooled_into_one_probability():
    """A model that only ties can carry nothing, so the other is swapped twice as often as alone."""
    apart = disguised(40)
    ties = table([[(race, 1) for race in RACES]] * 40, model="ties")
    both = black(pl.concat([apart, ties]), 0.1)
    alone = black(apart, 0.1)
    assert both.full_change == pytest.approx(alone.full_change / 2)
    assert both.probability == pytest.approx(2 * alone.probability * both.sd / alone.sd)


def test_any_column_can_be_the_factor_whatever_its_type():
    outcomes = disguised(60).with_columns(
        pl.when(pl.col("race").is_in(["Black", "Asian"])).then(pl.lit("M")).otherwise(pl.lit("F")).alias("gender")
    )
    found = plant(outcomes, size=0.2, factor="gender", group="F", reference="M", seed=1)
    options = {"column": "gender", "group": "F", "reference": "M"}
    assert found.change == pytest.approx(contrast(found.outcomes, **options) - contrast(outcomes, **options))
    assert found.change > 0
    typed = outcomes.with_columns(pl.col("gender").cast(pl.Categorical), pl.col("rank").cast(pl.UInt8))
    again = plant(typed, size=0.2, factor="gender", group="F", reference="M", seed=1)
    assert again.outcomes.schema == typed.schema
    assert again.outcomes["rank"].to_list() == found.outcomes["rank"].to_list()


# Recovery


def assert_recovered(outcomes, size, seeds=200):
    planted = [black(outcomes, size, seed) for seed in range(seeds)]
    group, reference = ((outcomes["race"] == race).to_numpy() for race in ("Black", "White"))
    moves = [(outcomes["rank"] - each.outcomes["rank"]).to_numpy() for each in planted]
    changes = np.array([move[group].mean() - move[reference].mean() for move in moves])
    ranked = outcomes.filter(pl.col("race").is_in(RACES))
    residual = (ranked["rank"] - ranked.select(pl.col("rank").mean().over("race"))["rank"]).to_numpy()
    target = size * math.sqrt((residual**2).sum() / (len(residual) - ranked["race"].n_unique()))
    assert planted[0].target == pytest.approx(target)
    error = changes.std(ddof=1) / math.sqrt(seeds)
    assert error > 0
    assert abs(changes.mean() - target) < 3 * error


@pytest.mark.parametrize("size", [0.05, 0.10, 0.25, -0.25])
def test_the_contrast_changes_by_the_size_on_average_over_seeds(size):
    assert_recovered(disguised(40), size)


def test_the_size_is_recovered_where_every_partner_is_a_reference_slot():
    assert_recovered(disguised(30, races=("White", "Black")), 0.25, seeds=100)


def test_the_size_is_recovered_where_every_partner_is_of_a_third_group():
    held = disguised(30, races=("Black", "Asian"))
    apart = disguised(20, races=("White", "Asian")).with_columns(("w" + pl.col("unit_id")).alias("unit_id"))
    assert_recovered(pl.concat([held, apart]), 0.25, seeds=100)


# Refusals


def test_a_group_against_itself_is_refused():
    with pytest.raises(InputError, match=r"the group and the reference are both Black\. Name two levels"):
        plant(disguised(5), size=0.1, group="Black", reference="Black", seed=0)


@pytest.mark.parametrize("size", [math.nan, math.inf, -math.inf])
def test_a_size_that_is_no_finite_number_is_refused(size):
    with pytest.raises(InputError, match=r"race Black against White: the size is .* not a finite number"):
        black(disguised(5), size)


@pytest.mark.parametrize("column", ["model", "unit_id", "epoch", "arm", "position", "rank", "valid", "race"])
def test_a_missing_column_is_named(column):
    with pytest.raises(OutcomesError, match=rf"the column {column} is missing"):
        black(disguised(5).drop(column), 0.1)


def test_an_unknown_factor_is_refused():
    with pytest.raises(OutcomesError, match="the column caste is missing"):
        black(disguised(5), 0.1, factor="caste")


def test_ranks_that_are_not_whole_numbers_are_refused():
    with pytest.raises(OutcomesError, match="the column rank holds Float64, not whole numbers"):
        black(disguised(5).with_columns(pl.col("rank").cast(pl.Float64)), 0.1)


@pytest.mark.parametrize("absent", ["Black", "White"])
def test_a_group_without_a_ranked_row_is_named_with_those_that_have_some(absent):
    lost = table([[(absent, None)]]).with_columns(pl.lit("lost").alias("unit_id"))
    ranked = disguised(5, races=[race for race in RACES if race != absent])
    present = "Asian, Hispanic, White" if absent == "Black" else "Asian, Black, Hispanic"
    with pytest.raises(OutcomesError, match=rf"no row of {absent} has a rank.*levels with a rank: {present}"):
        black(pl.concat([ranked, lost]), 0.1)


def test_outcomes_without_any_rank_are_refused():
    outcomes = disguised(2).with_columns(pl.lit(None).alias("rank"))
    with pytest.raises(OutcomesError, match=r"no row of Black has a rank.*levels with a rank: none"):
        black(outcomes, 0.1)


def test_a_slot_that_stands_twice_is_refused():
    outcomes = disguised(2)
    with pytest.raises(OutcomesError, match=r"a slot has several ranks \(model m.*unit_id u0.*position 1\)"):
        black(pl.concat([outcomes, outcomes]), 0.1)


@pytest.mark.parametrize(
    "bundles",
    [
        [[(race, 1) for race in RACES]] * 4,  # all ties
        [[("White", 1), ("Black", 2)]] * 4,  # each level keeps its rank
        [[("White", 1), ("Black", 2)]],  # one row a level
    ],
)
def test_scores_that_do_not_vary_within_levels_are_refused(bundles):
    with pytest.raises(InputError, match="scores do not vary within the levels"):
        black(table(bundles), 0.1)


def test_a_size_is_refused_where_no_bundle_can_change():
    always_first = [[("Black", 1), ("White", 2), ("Asian", 3)], [("Black", 1), ("White", 3), ("Asian", 2)]]
    assert black(table(always_first), -0.1).probability > 0
    with pytest.raises(InputError, match="race Black against White: no bundle can change"):
        black(table(always_first), 0.1)


def test_a_constant_bundle_changes_no_contrast():
    outcomes = table([[("Black", 1), ("Black", 2)], [("White", 1), ("White", 2)]])
    with pytest.raises(InputError, match="no bundle can change"):
        black(outcomes, 0.1)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_size_too_large_is_refused_with_the_largest_that_can_be_planted(sign):
    outcomes = disguised(50)
    with pytest.raises(InputError, match=r"a size of -?5 SD is a change of .* Plant a size of -?0\.\d+ SD") as refused:
        black(outcomes, 5 * sign)
    largest = float(refused.value.mend.split()[4])
    assert black(outcomes, largest).probability == pytest.approx(1, abs=2e-3)
    with pytest.raises(InputError):
        black(outcomes, largest + sign * 1e-3)
