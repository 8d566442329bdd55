"""The cluster bootstrap and inference about several estimates: by laws, against scipy and CR1 errors, and its level."""

import json
from dataclasses import replace
from math import nan, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap, norm
from scipy.stats import t as student

from evenhand.errors import InputError
from evenhand.statistics.bootstrap import cluster_bootstrap, least_squares_draws, resampled_sums
from evenhand.statistics.clustered import fit_clustered
from evenhand.statistics.draws import BootstrapDraws
from evenhand.statistics.simultaneous import BIASED, difference_of_largest, largest, simultaneous

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "ols_cluster.json").read_text(encoding="utf-8"))["fits"]["rate"]
FORMULA = GOLDEN["formula"]
MANY = 10**6
P_VALUES = ("p_single_step", "p_stepdown")


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def rates():
    return pl.read_csv(DATA / "rate_balanced.csv.gz")


def mean_of(values):
    return lambda weights: weights @ values / weights.sum()


def family(draws, estimate, *, clusters=MANY):
    """Draws as if a bootstrap had made them."""
    k = draws.shape[1]
    names = tuple(f"e{j}" for j in range(k))
    without = np.broadcast_to(nan, (clusters, k))
    return BootstrapDraws(names, np.asarray(estimate, dtype=float), draws, np.ones(len(draws), bool), without, "same")


def families():
    shapes = st.tuples(
        st.integers(0, 10**6), st.integers(1, 6), st.integers(60, 150), st.floats(0, 3), st.sampled_from([5, 30, MANY])
    )
    return shapes.map(made)


def made(shape):
    seed, k, replicates, size, clusters = shape
    effects = size * rng(seed + 1).normal(size=k)
    return family(effects + rng(seed).normal(size=(replicates, k)), effects, clusters=clusters)


# What the draws are


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 999), clusters=st.integers(6, 15), labelled=st.booleans())
def test_cross_products_give_what_refitting_every_resample_gives(seed, clusters, labelled):
    cluster = np.repeat(np.arange(clusters), rng(seed).integers(1, 6, size=clusters))
    n = len(cluster)
    a, z = rng(seed + 1).integers(0, 2, size=n), rng(seed + 2).normal(size=n)
    a[cluster == 0], a[cluster == 1] = 0, 1
    y = 3 + a + z + rng(seed + 3).normal(size=n)
    names = [f"c{number:02}" for number in cluster] if labelled else cluster
    data = pl.DataFrame({"y": y, "a": a, "z": z, "cluster": names}).sample(fraction=1, shuffle=True, seed=seed)
    x = np.column_stack([np.ones(n), data["a"].to_numpy(), data["z"].to_numpy()])

    def refit(weights):
        root = np.sqrt(weights)[:, None]
        fit, _, rank, _ = np.linalg.lstsq(root * x, root[:, 0] * data["y"].to_numpy(), rcond=1e-10)
        return fit if rank == 3 else np.full(3, nan)

    plain = cluster_bootstrap(refit, data["cluster"], replicates=40, rng=rng(seed), names=["(Intercept)", "a", "z"])
    fast = least_squares_draws(data, "y ~ a + z", cluster="cluster", replicates=40, rng=rng(seed))
    assert plain.resamples == fast.resamples
    assert plain.names == fast.names
    np.testing.assert_array_equal(plain.kept, fast.kept)
    np.testing.assert_allclose(fast.estimate, plain.estimate, atol=1e-9)
    np.testing.assert_allclose(fast.draws, plain.draws, atol=1e-6)
    np.testing.assert_allclose(fast.without, plain.without, atol=1e-6)


def test_weights_are_whole_and_shared_within_clusters():
    cluster = np.array([3, 1, 1, 2, 3, 3])
    seen = []

    def keep(weights):
        seen.append(weights.copy())
        return weights.sum()

    cluster_bootstrap(keep, cluster, replicates=30, rng=rng())
    assert len(seen) == 1 + 30 + 3
    for weights in seen:
        assert all(np.ptp(weights[cluster == one]) == 0 for one in (1, 2, 3))
        np.testing.assert_array_equal(weights, weights.round())
    assert all(sum(weights[[1, 3, 0]]) == 3 for weights in seen[:31])
    assert [weights.tolist() for weights in seen[31:]] == [
        [1, 0, 0, 1, 1, 1],
        [1, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 0],
    ]


def test_errors_are_near_those_of_cr1(rates):
    found = least_squares_draws(rates, FORMULA, cluster="bundle", replicates=4000, rng=rng(3))
    fit = fit_clustered(rates, FORMULA, cluster="bundle")
    np.testing.assert_allclose(found.estimate, fit.beta, rtol=1e-10)
    # 120 clusters: both are estimates of one thing, and 4,000 draws know it to about 1%.
    np.testing.assert_allclose(found.std_error, fit.std_errors, rtol=0.06)
    assert found.clusters == GOLDEN["G"]
    assert found.caveats == fit.notes


@pytest.mark.parametrize(
    ("values", "level"),
    [
        (rng(5).exponential(size=40), 0.9),
        (rng(5).exponential(size=40), 0.95),
        (np.repeat([1.0, 2.0, 4.0], [20, 15, 5]), 0.95),
    ],
    ids=["90%", "95%", "draws tied with the estimate"],
)
def test_intervals_are_those_of_scipy_where_every_row_is_a_cluster(values, level):

    def skew(weights):
        middle = weights @ values / weights.sum()
        return [middle, (weights @ (values - middle) ** 3) / (weights @ (values - middle) ** 2) ** 1.5]

    def plain(sample, axis):
        middle = sample.mean(axis=axis, keepdims=True)
        third, second = (((sample - middle) ** power).sum(axis=axis) for power in (3, 2))
        return np.array([sample.mean(axis=axis), third / second**1.5])

    found = cluster_bootstrap(skew, np.arange(40), rng=rng(6))
    for kind, scipys in (("bca", "BCa"), ("percentile", "percentile")):
        table = found.intervals(level=level, kind=kind)
        for k, row in enumerate(table.iter_rows(named=True)):
            reference = bootstrap(
                (values,),
                lambda sample, axis, k=k: plain(sample, axis)[k],
                n_resamples=0,
                bootstrap_result=SimpleNamespace(bootstrap_distribution=found.draws[:, k]),
                confidence_level=level,
                method=scipys,
            )
            assert (row["conf_low"], row["conf_high"]) == pytest.approx(reference.confidence_interval, rel=1e-9)
            assert row["std_error"] == pytest.approx(reference.standard_error, rel=1e-12)


def test_bca_is_moved_by_whole_clusters():
    """Each cluster five times over is as much information as once."""
    values = rng(7).exponential(size=25)
    once = cluster_bootstrap(mean_of(values), np.arange(25), rng=rng(8))
    often = cluster_bootstrap(mean_of(np.repeat(values, 5)), np.repeat(np.arange(25), 5), rng=rng(8))
    columns = ["std_error", "conf_low", "conf_high"]
    for kind in ("percentile", "bca"):
        first, second = (draws.intervals(kind=kind).select(columns).row(0) for draws in (once, often))
        assert first == pytest.approx(second, rel=1e-12)


# What is not there is said


def test_without_variation_the_interval_is_the_estimate_in_every_kind():
    found = cluster_bootstrap(mean_of(np.full(30, 4.0)), np.arange(30), replicates=99, rng=rng())
    for kind in ("percentile", "bca"):
        row = found.intervals(kind=kind).row(0, named=True)
        assert (row["conf_low"], row["conf_high"], row["std_error"]) == (4.0, 4.0, 0.0)
        assert row["note"] == found.note == "no variation"
    row = simultaneous(found).row(0, named=True)
    assert (row["conf_low"], row["conf_high"], row["p_single_step"], row["critical"]) == (4.0, 4.0, None, None)
    assert row["note"] == "no variation"
    one = largest(found)
    assert (one.estimate, one.corrected, one.std_error, one.conf_low, one.conf_high) == (4.0, 4.0, 0.0, 4.0, 4.0)
    assert one.note == "no variation"


def test_rounding_is_no_variation(rates):
    constant = rates.with_columns(y=pl.lit(4.3))
    found = least_squares_draws(constant, "y ~ race*gender", cluster="bundle", replicates=50, rng=rng())
    assert not found.varies.any()
    assert found.note.endswith("no variation")
    # One race is rated alike everywhere: its mean does not move, the others' differences do.
    mixed = rates.with_columns(y=pl.when(pl.col("race") == "asian").then(4.3).otherwise(pl.col("y")))
    found = least_squares_draws(mixed, "y ~ race", cluster="bundle", replicates=50, rng=rng())
    assert found.varies.tolist() == [False, True, True, True]
    assert "no variation in 1 of 4 estimates" in found.note
    table = simultaneous(found)
    first, second = table.row(0, named=True), table.row(1, named=True)
    assert first["conf_low"] == first["conf_high"] == pytest.approx(4.3)
    assert first["p_stepdown"] is None
    assert first["note"].endswith("no variation")
    assert second["p_stepdown"] is not None
    assert "no variation" not in second["note"]


def test_replicates_without_a_group_are_counted_and_left_out():
    group = np.array([True, True, False, False, False, False])
    values = np.arange(6.0)

    def difference(weights):
        ones, others = weights * group, weights * ~group
        return ones @ values / ones.sum() - others @ values / others.sum()

    found = cluster_bootstrap(difference, np.arange(6), replicates=3000, rng=rng(1))
    # Chance that neither of two of six is drawn, or none of the other four.
    lacking = (4 / 6) ** 6 + (2 / 6) ** 6
    assert (~found.kept).mean() == pytest.approx(lacking, abs=4 * sqrt(lacking / 3000))
    assert np.isfinite(found.draws).all()
    left = int((~found.kept).sum())
    assert found.note == f"{left} of 3000 replicates are left out: an estimate is not defined in them"
    assert found.intervals()["replicates"].to_list() == [3000 - left]
    assert found.intervals()["note"].to_list() == [found.note]


def test_where_bca_is_not_defined_the_row_says_why():
    group = np.array([True, False, False, False, False])

    def difference(weights):
        return (weights * group) @ np.arange(5.0) / (weights * group).sum() - (weights * ~group) @ np.arange(5.0)

    found = cluster_bootstrap(difference, np.arange(5), replicates=200, rng=rng())
    row = found.intervals(kind="bca").row(0, named=True)
    assert row["conf_low"] is row["conf_high"] is None
    assert "not defined without one of the clusters" in row["note"]
    # Never are all twelve drawn, so every draw is below the estimate.
    distinct = cluster_bootstrap(lambda weights: (weights > 0).sum(), np.arange(12), replicates=200, rng=rng())
    row = distinct.intervals(kind="bca").row(0, named=True)
    assert row["conf_low"] is row["conf_high"] is None
    assert "all draws are on one side" in row["note"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"clusters": ["a"] * 4}, "2000 resamples of 1 cluster have no spread"),
        ({"clusters": []}, "of 0 clusters"),
        ({"clusters": ["a", "b", None, "c"]}, "rows without a cluster"),
        ({"clusters": [1.0, 2.0, nan, 3.0]}, "rows without a cluster"),
        ({"replicates": 1}, "1 resample of 4 clusters has"),
        ({"names": ["a", "b"]}, "2 names for 1 estimate"),
        ({"replicates": 0}, "replicates is 0"),
        ({"replicates": 2.5}, "replicates is 2.5"),
        ({"rng": None}, "rng is None"),
        ({"rng": 3}, "rng is 3"),
        ({"clusters": [1, "a", 2, 3]}, "values of kind int, str"),
        ({"clusters": np.eye(4)}, "no flat sequence"),
        ({"clusters": 4}, "no flat sequence"),
        ({"clusters": [1, 2, 3]}, "fails on 3 weights"),
        ({"statistic": lambda weights: np.ones(1 + int(weights[0] == 1))}, "gives 1 and 2 estimates in turn"),
        ({"statistic": lambda weights: []}, "an array of shape (0,)"),
        ({"statistic": lambda weights: np.ones((2, 2))}, "an array of shape (2, 2)"),
        ({"statistic": lambda weights: "a"}, "fails on 4 weights"),
        ({"statistic": lambda weights: nan}, "not finite in the sample"),
        ({"statistic": lambda weights: 1.0 if (weights == 1).all() else nan, "replicates": 2}, "finite in 0 of 2"),
    ],
)
def test_what_cannot_be_resampled_is_one_message(arguments, message):
    chosen = {"statistic": mean_of(np.arange(4.0)), "clusters": [1, 2, 3, 4], "rng": rng(0), **arguments}
    with pytest.raises(InputError) as caught:
        cluster_bootstrap(chosen.pop("statistic"), chosen.pop("clusters"), **chosen)
    assert message in str(caught.value)


def test_unknown_names_levels_and_kinds_are_refused():
    found = family(rng().normal(size=(50, 3)), np.zeros(3))
    with pytest.raises(InputError, match="no estimate 'e9'"):
        found.select(["e1", "e9"])
    with pytest.raises(InputError, match="no estimate is named"):
        found.select([])
    with pytest.raises(InputError, match="unknown interval 'basic'"):
        found.intervals(kind="basic")
    for call in (
        found.intervals,
        lambda level: simultaneous(found, level=level),
        lambda level: largest(found, level=level),
    ):
        with pytest.raises(InputError, match="no interval covers 95"):
            call(level=95)
    with pytest.raises(InputError, match=r"50 replicates say nothing about a level of 0.99.* Draw 100 or more"):
        simultaneous(found, level=0.99)


# Several estimates


@settings(max_examples=150, deadline=None)
@given(draws=families(), level=st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_intervals_and_p_values_tell_one_story(draws, level):
    table = simultaneous(draws, level=level)
    for row in table.iter_rows(named=True):
        leaves_zero_out = row["conf_low"] > 0 or row["conf_high"] < 0
        assert leaves_zero_out == (row["p_single_step"] <= 1 - level + 1e-12)
        assert 1 / (1 + row["replicates"]) <= row["p_stepdown"] <= row["p_single_step"] <= 1
    sizes = (table["estimate"] / table["std_error"]).abs().to_numpy()
    order = np.argsort(-sizes)
    for column in P_VALUES:
        assert (np.diff(table[column].to_numpy()[order]) >= 0).all()
    assert table[int(order[0]), "p_stepdown"] == table[int(order[0]), "p_single_step"]


@settings(max_examples=60, deadline=None)
@given(draws=families(), scale=st.floats(0.01, 100), seed=st.integers(0, 99))
def test_neither_units_nor_order_nor_signs_matter(draws, scale, seed):
    k = len(draws.names)
    order = rng(seed).permutation(k)
    factor = scale * rng(seed).choice([-1.0, 1.0], size=k)
    other = replace(draws, estimate=(draws.estimate * factor)[order], draws=(draws.draws * factor)[:, order])
    first, second = simultaneous(draws), simultaneous(other)
    for column in P_VALUES:
        np.testing.assert_allclose(first[column].to_numpy()[order], second[column].to_numpy(), atol=1e-12)
    assert largest(other).estimate == pytest.approx(scale * largest(draws).estimate)
    assert largest(other).conf_low == pytest.approx(scale * largest(draws).conf_low)


@settings(max_examples=60, deadline=None)
@given(draws=families())
def test_stepdown_is_the_plain_loop(draws):
    """Westfall and Young's algorithm, written out."""
    errors = draws.draws.std(axis=0, ddof=1)
    shrunk = np.abs(draws.estimate) / errors * sqrt(1 - 1 / draws.clusters)
    observed = norm.isf(student.sf(shrunk, draws.clusters - 1))
    drawn = np.abs(draws.draws - draws.estimate) / errors
    remaining, last, expected = set(range(len(observed))), 0.0, {}
    while remaining:
        top = max(remaining, key=lambda j: observed[j])
        reached = sum(max(row[j] for j in remaining) >= observed[top] for row in drawn)
        last = expected[top] = max(last, (1 + reached) / (1 + len(drawn)))
        remaining.remove(top)
    found = simultaneous(draws)["p_stepdown"].to_list()
    assert found == pytest.approx([expected[j] for j in range(len(observed))])


def test_the_critical_value_of_independent_estimates_is_the_known_one():
    k, replicates = 5, 60_000
    found = simultaneous(family(rng(9).normal(size=(replicates, k)), np.zeros(k)))
    # P(max |Z| <= c) = (2 Phi(c) - 1)^k.
    share = (1 + 0.95 ** (1 / k)) / 2
    exact = norm.ppf(share)
    density = k * (2 * share - 1) ** (k - 1) * 2 * norm.pdf(exact)
    assert found["critical"][0] == pytest.approx(exact, abs=4 * sqrt(0.95 * 0.05 / replicates) / density)


def test_one_estimate_alone_needs_no_correction():
    draws = family(1.5 + rng(2).normal(size=(999, 1)), [1.5])
    row = simultaneous(draws).row(0, named=True)
    assert row["p_single_step"] == row["p_stepdown"]
    plain = (1 + (np.abs(draws.draws - 1.5) >= 1.5).sum()) / 1000
    assert row["p_stepdown"] == pytest.approx(plain, abs=2 / 1000)


def test_with_few_clusters_intervals_widen_as_students_t_does():
    draws = 1.5 + rng(2).normal(size=(99_999, 1))
    wide = simultaneous(family(draws, [1.5], clusters=8)).row(0, named=True)
    # The SD of a mean's draws has n for its divisor, where Student's has n - 1.
    assert wide["critical"] == pytest.approx(student.ppf(0.975, 7) * sqrt(8 / 7), rel=0.02)
    assert wide["p_stepdown"] == pytest.approx(2 * student.sf(1.5 * sqrt(7 / 8), 7), rel=0.03)


def test_a_selection_is_a_family_of_the_same_resamples(rates):
    whole = least_squares_draws(rates, "y ~ race + gender", cluster="bundle", replicates=300, rng=rng(1))
    races = whole.select(["raceblack", "racehispanic", "racewhite"])
    assert races.resamples == whole.resamples
    np.testing.assert_array_equal(races.draws, whole.draws[:, 1:4])
    assert simultaneous(races)["critical"][0] < simultaneous(whole)["critical"][0]


def test_family_wise_error_is_kept_and_real_effects_are_found():
    """Six correlated means of 40 clusters; half of the effects are real in the second round."""
    runs, wrong, uncorrected, partly_wrong, found = 400, 0, 0, 0, 0
    real = np.array([1.5, 1.5, 1.5, 0, 0, 0])
    for seed in range(runs):
        noise = rng(seed).normal(size=(40, 6)) + rng(seed + 10_000).normal(size=(40, 1))
        drawn = resampled_sums(noise, replicates=199, rng=rng(seed)) / 40
        p = simultaneous(family(drawn.astype(float), noise.mean(axis=0), clusters=40))
        wrong += (p["p_stepdown"] <= 0.05).any()
        uncorrected += ((p["estimate"] / p["std_error"]).abs() > 1.96).any()
        p = simultaneous(family(drawn + real, noise.mean(axis=0) + real, clusters=40))["p_stepdown"] <= 0.05
        partly_wrong += p[3:].any()
        found += p[:3].sum()
    # The share's standard error is .011.
    assert 0.02 < wrong / runs < 0.08
    assert partly_wrong / runs < 0.08
    assert uncorrected / runs > 0.14
    assert found / (3 * runs) > 0.99


# The largest


def test_the_largest_of_one_family_and_the_difference_from_another_by_hand():
    draws = np.array([[1.0, -2.0, 0.5], [1.5, -1.0, 0.5], [0.5, -3.0, 0.5], [1.0, -2.0, 0.5]] * 30)
    whole = family(draws, [1.0, -2.0, 0.5])
    one = largest(whole.select(["e0", "e1"]))
    # Largest sizes 2, 1.5, 3, 2: on average 2.125.
    assert (one.terms, one.estimate, one.bias, one.corrected) == (("e1",), 2.0, 0.125, 1.875)
    assert one.std_error == pytest.approx(np.array([2, 1.5, 3, 2] * 30).std(ddof=1))
    assert one.note == BIASED
    gap = difference_of_largest(whole.select(["e0"]), whole.select(["e1"]))
    # -1, 0.5, -2.5, -1: on average -1.
    assert (gap.terms, gap.estimate, gap.corrected) == (("e0", "e1"), -1.0, -1.0)
    against_fixed = difference_of_largest(whole.select(["e1"]), whole.select(["e2"]))
    assert against_fixed.estimate == 1.5
    assert against_fixed.std_error == pytest.approx(draws[:, 1].std(ddof=1))


@settings(max_examples=80, deadline=None)
@given(first=families(), seed=st.integers(0, 999), k=st.integers(1, 5))
def test_differences_of_largest_are_antisymmetric_and_hold_the_estimate(first, seed, k):
    effects = rng(seed + 1).normal(size=k)
    second = family(effects + rng(seed).normal(size=(len(first.draws), k)), effects, clusters=first.clusters)
    there, back = difference_of_largest(first, second), difference_of_largest(second, first)
    assert there.conf_low <= there.estimate <= there.conf_high
    assert (there.estimate, there.bias, there.std_error) == pytest.approx((-back.estimate, -back.bias, back.std_error))
    assert (there.conf_low, there.conf_high) == pytest.approx((-back.conf_high, -back.conf_low))
    itself = difference_of_largest(first, first)
    assert (itself.estimate, itself.bias, itself.std_error) == (0.0, 0.0, 0.0)


@settings(max_examples=80, deadline=None)
@given(draws=families())
def test_the_interval_of_the_largest_is_read_off_the_simultaneous_ones(draws):
    table, one = simultaneous(draws), largest(draws)
    reach = (table["conf_high"] - table["estimate"]).to_numpy()
    sizes = np.abs(draws.estimate)
    assert (one.conf_low, one.conf_high) == pytest.approx((max(0.0, (sizes - reach).max()), (sizes + reach).max()))
    assert one.estimate == sizes.max()


def test_families_of_other_resamples_cannot_be_compared(rates):
    arguments = {"formula": "y ~ race", "cluster": "bundle", "replicates": 100}
    here = least_squares_draws(rates, **arguments, rng=rng(1))
    fewer = rates.filter(pl.col("bundle") != rates["bundle"][0])
    renamed = rates.with_columns(bundle=pl.col("bundle") + "x")
    others = [
        least_squares_draws(rates, **arguments, rng=rng(2)),
        least_squares_draws(rates, **(arguments | {"replicates": 99}), rng=rng(1)),
        least_squares_draws(fewer, **arguments, rng=rng(1)),
        least_squares_draws(renamed, **arguments, rng=rng(1)),
    ]
    for other in others:
        with pytest.raises(InputError, match=r"are not the same.* with one seed"):
            difference_of_largest(here, other)
    same = least_squares_draws(rates.with_columns(y=-pl.col("y")), **arguments, rng=rng(1))
    assert difference_of_largest(here, same).conf_high == pytest.approx(0.0, abs=1e-9)


def test_pairs_are_kept_where_a_replicate_is_left_out_in_one_family():
    base = rng(4).normal(size=(60, 1))
    first = family(base, [0.0])
    kept = np.arange(60) != 7
    second = replace(first, draws=base[kept], kept=kept)
    gap = difference_of_largest(first, second)
    assert (gap.replicates, gap.std_error) == (59, 0.0)
    assert "1 of 60 replicates" in gap.note


@pytest.mark.parametrize(
    ("first", "second", "clusters"),
    [([0.0] * 3, [0.0], 60), ([0.3] * 3, [0.3], 20), ([0.3] * 12, [0.3], 60), ([0.6, 0, 0], [0.2], 60)],
)
def test_the_interval_of_the_difference_covers_where_effects_are_equal(first, second, clusters):
    truth = max(np.abs(first)) - max(np.abs(second))
    runs, covered, covered_one, estimates, corrected = 150, 0, 0, [], []
    effects = np.array([*first, *second])
    for seed in range(runs):
        values = effects + 0.1 * sqrt(clusters) * rng(seed).normal(size=(clusters, len(effects)))
        drawn = resampled_sums(values, replicates=199, rng=rng(seed)) / clusters
        whole = family(drawn.astype(float), values.mean(axis=0), clusters=clusters)
        a, b = whole.select(whole.names[: len(first)]), whole.select(whole.names[len(first) :])
        gap, one = difference_of_largest(a, b), largest(a)
        covered += gap.conf_low <= truth <= gap.conf_high
        covered_one += one.conf_low <= max(np.abs(first)) <= one.conf_high
        estimates.append(gap.estimate - truth)
        corrected.append(gap.corrected - truth)
    # Four standard errors of .018 below 95%.
    assert min(covered, covered_one) / runs > 0.88
    if len(first) > 1 and np.ptp(first) == 0:
        assert 0 < np.mean(corrected) < np.mean(estimates)
