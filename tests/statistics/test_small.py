"""Equivalence, detectable effects, multiplicity, heterogeneity, agreement, permutation: against R and by laws."""

import json
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, norm

from evenhand.errors import InputError
from evenhand.statistics.agreement import cohens_kappa
from evenhand.statistics.equivalence import (
    detectable_multiplier,
    equivalence,
    minimum_detectable_effect,
    power_of,
    standardised,
)
from evenhand.statistics.heterogeneity import summarise_effects
from evenhand.statistics.multiplicity import correct
from evenhand.statistics.permutation import sign_flip, within_blocks

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "small_stats.json").read_text(encoding="utf-8"))
POWERS = json.loads((DATA / "power.json").read_text(encoding="utf-8"))
finite = st.floats(-1e3, 1e3)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("case", GOLDEN["tost"])
def test_equivalence_is_that_of_r(case):
    found = equivalence(case["est"], case["se"], case["margin"], df=inf if case["df"] == "Inf" else case["df"])
    expected = (case["p_lower"], case["p_upper"], case["p_tost"], *case["ci90"])
    assert (found.p_lower, found.p_upper, found.p_value, found.conf_low, found.conf_high) == pytest.approx(
        expected, rel=1e-10
    )


@settings(max_examples=200)
@given(
    estimate=finite,
    error=st.floats(1e-3, 1e3),
    margin=st.floats(1e-3, 1e3),
    df=st.one_of(st.just(inf), st.floats(2, 99)),
)
def test_the_bound_is_within_the_margin_exactly_where_the_test_rejects(estimate, error, margin, df):
    found = equivalence(estimate, error, margin, df=df)
    if abs(found.p_value - 0.05) > 1e-9:
        assert (found.bound < margin) == (found.p_value < 0.05)


def test_an_effect_known_exactly_is_compared_and_said_so():
    assert equivalence(0.05, 0.0, 0.1).p_value == 0.0
    assert equivalence(0.2, 0.0, 0.1).p_value == 1.0
    assert "no variation" in equivalence(0.2, 0.0, 0.1).note


@pytest.mark.parametrize("case", GOLDEN["mde"])
def test_detectable_multiples_are_those_of_r(case):
    df = inf if case["df"] == "Inf" else case["df"]
    assert detectable_multiplier(df=df) == pytest.approx(case["multiplier"], rel=1e-9)
    assert minimum_detectable_effect(0.5, df=df) == pytest.approx(case["multiplier"] / 2, rel=1e-9)


@pytest.mark.parametrize("case", POWERS)
def test_power_is_that_of_r(case):
    n, alpha = case["n"], case["alpha"]
    assert power_of(case["delta"], 1 / sqrt(n), df=n - 1, alpha=alpha) == pytest.approx(case["power"], abs=1e-10)


degrees = st.one_of(st.just(inf), st.floats(1, 1e6))
levels = st.floats(1e-3, 0.5)


@settings(max_examples=200)
@given(df=degrees, alpha=levels, share=st.floats(0.01, 0.99), error=st.floats(1e-6, 1e6))
def test_the_smallest_effect_found_with_a_power_has_that_power(df, alpha, share, error):
    power = alpha + share * (0.999 - alpha)
    effect = minimum_detectable_effect(error, df=df, alpha=alpha, power=power)
    # With infinite df the multiple is the textbook's, which leaves the far tail out.
    far = norm.sf(norm.isf(alpha / 2) + effect / error) if df == inf else 0.0
    assert power_of(effect, error, df=df, alpha=alpha) == pytest.approx(power + far, abs=1e-9)


@given(df=degrees, alpha=levels, effects=st.lists(st.floats(0, 60), min_size=2, max_size=20))
def test_power_rises_from_the_level_with_the_size_of_the_effect(df, alpha, effects):
    assert power_of(0.0, 1.0, df=df, alpha=alpha) == pytest.approx(alpha, rel=1e-9)
    effects = np.sort(effects)
    power = power_of(effects, 1.0, df=df, alpha=alpha)
    assert (np.diff(power) >= -1e-12).all()
    assert ((power >= alpha - 1e-12) & (power <= 1)).all()
    assert (power_of(-effects, 1.0, df=df, alpha=alpha) == power).all()
    assert power.tolist() == [power_of(float(one), 1.0, df=df, alpha=alpha) for one in effects]


def test_power_of_clear_effects_rises_strictly():
    for df in (1.5, 11, 35, inf):
        assert (np.diff(power_of(np.linspace(0, 5, 26), 1.0, df=df)) > 0).all()


@pytest.mark.parametrize("df", [1.0, 35.0, 1e6, inf])
def test_however_large_an_effect_its_power_is_told(df):
    assert power_of(np.array([1e4, 1e15, 1e300]), 1.0, df=df).tolist() == [1.0, 1.0, 1.0]
    assert power_of(1e300, 1e-300, df=df) == 1.0


def test_power_is_how_often_a_t_test_rejects():
    draws = 0.5 + rng(12).standard_normal((20_000, 12))
    t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / sqrt(12))
    expected = power_of(0.5, 1 / sqrt(12), df=11)
    assert np.mean(np.abs(t) > 2.200985) == pytest.approx(expected, abs=0.01)


def test_a_power_that_is_hardly_more_than_the_level_needs_hardly_an_effect():
    assert detectable_multiplier(df=11, power=float(np.nextafter(0.05, 1))) < 1e-3


def test_corrections_are_those_of_r():
    p = GOLDEN["p_adjust"]["p"]
    assert correct(p).values == pytest.approx(GOLDEN["p_adjust"]["BH"], rel=1e-12)
    assert correct(p, method="holm").values == pytest.approx(GOLDEN["p_adjust"]["holm"], rel=1e-12)


@given(
    p=st.lists(st.one_of(st.none(), st.just(float("nan")), st.floats(0, 1)), max_size=40),
    method=st.sampled_from(["bh", "holm"]),
)
def test_missing_p_values_stay_missing_and_are_no_part_of_the_family(p, method):
    found = correct(p, method=method)
    known = [value for value in p if value is not None and value == value]
    assert (found.tested, found.missing) == (len(known), len(p) - len(known))
    kept = [q for q in found.values if q is not None]
    assert kept == list(correct(known, method=method).values)
    assert all(q >= value for q, value in zip(kept, known, strict=True))
    assert all(q <= 1 for q in kept)


@pytest.mark.parametrize("method", ["DL", "PM"])
def test_heterogeneity_is_that_of_metafor(method):
    meta = GOLDEN["meta"]
    fit = meta["fits"][method]
    found = summarise_effects(meta["yi"], meta["sei"], method=method.lower())
    assert (found.estimate, found.std_error) == pytest.approx((fit["mu"], fit["se"]), rel=1e-6)
    assert found.tau**2 == pytest.approx(fit["tau2"], rel=1e-6)
    assert (found.q, found.q_p_value) == pytest.approx((fit["Q"], fit["Qp"]), rel=1e-9)
    assert (found.conf_low, found.conf_high) == pytest.approx(fit["ci"], rel=1e-6)
    assert (found.tau_low**2, found.tau_high**2) == pytest.approx(meta["tau2_ci_qprofile"], rel=1e-3)


def test_alike_effects_have_no_heterogeneity_and_one_alone_says_nothing():
    alike = GOLDEN["meta"]["homogeneous"]
    for method in ("dl", "pm"):
        found = summarise_effects(alike["yi"], alike["sei"], method=method)
        assert found.tau == found.tau_low == 0.0
    alone = summarise_effects([0.3], [0.1])
    assert (alone.estimate, alone.tau_high, alone.q_p_value) == (pytest.approx(0.3), None, None)
    assert "one effect alone" in alone.note


def test_kappa_is_agreement_beyond_chance():
    assert cohens_kappa("aabb", "aabb") == 1.0
    assert cohens_kappa("aabb", "abab") == pytest.approx(0.0)
    # Cohen's (1960) formula by hand: agreement 0.7, chance 0.5.
    assert cohens_kappa("yyyyynnnnn", "yyyynynnnn"[:10]) == pytest.approx((0.8 - 0.5) / 0.5)
    assert cohens_kappa("aaa", "aaa") is None


def test_sign_flips_count_every_pattern_of_a_few_pairs():
    found = sign_flip([1.0, 2.0, 3.0], rng=rng())
    assert (found.statistic, found.p_value, found.exact) == (2.0, 2 / 8, True)
    assert sign_flip([0.0, 0.0], rng=rng()).p_value is None
    assert sign_flip([1.0] * 3 + [0.0], rng=rng()).p_value == 2 / 8


def test_drawn_patterns_give_uniform_p_values_without_an_effect_and_small_ones_with_it():
    p = [sign_flip(rng(seed).standard_normal(30), rng=rng(seed + 999), resamples=499).p_value for seed in range(200)]
    assert 0.02 < np.mean(np.array(p) < 0.1) < 0.18
    assert sign_flip(rng(1).standard_normal(60) + 1, rng=rng(2)).p_value < 0.001
    large = sign_flip(rng(3).standard_normal(20), rng=rng(4), resamples=99)
    assert large.p_value >= 1 / 100
    assert not large.exact


def test_labels_are_shuffled_within_blocks_alone():
    """The blocks differ by much more than the groups: only a test within them sees the groups differ."""
    block = np.repeat(np.arange(20), 4)
    group = np.tile([True, False, True, False], 20)
    values = 50.0 * block + 1.0 * group + 0.3 * rng(5).standard_normal(80)
    found = within_blocks(values, group, block, rng=rng(6), resamples=499)
    assert found.statistic == pytest.approx(1.0, abs=0.2)
    assert found.p_value == pytest.approx(1 / 500)
    one = np.zeros(80)
    assert within_blocks(values, group, one, rng=rng(7), resamples=499).p_value > 0.5
    nothing = within_blocks(values, group, np.arange(80), rng=rng(8), resamples=99)
    assert nothing.p_value is None
    assert "no block" in nothing.note


def test_outcomes_of_two_values_are_permuted_as_others_are():
    """Fisher's exact test of one block counts every table; two blocks agree with shuffles of nearly two values."""
    values, group = [1.0] * 7 + [0.0] * 5, [True] * 6 + [False] * 6
    found = within_blocks(values, group, [0] * 12, rng=rng(9), resamples=40_000)
    assert found.p_value == pytest.approx(fisher_exact([[6, 0], [1, 5]]).pvalue, abs=0.004)
    block, group = np.repeat([0, 1], 12), np.tile([True, False, False], 8)
    values = (rng(10).random(24) < 0.3 + 0.4 * group).astype(float)
    nearly = values + 1e-7 * np.arange(24)
    two, many = (within_blocks(y, group, block, rng=rng(11), resamples=40_000).p_value for y in (values, nearly))
    assert two == pytest.approx(many, abs=0.15)
    assert two >= many - 0.01


@pytest.mark.parametrize(
    "use",
    [
        lambda: equivalence(float("nan"), 1, 1),
        lambda: equivalence(0, -1, 1),
        lambda: equivalence(0, 1, 0),
        lambda: detectable_multiplier(df=0),
        lambda: detectable_multiplier(power=0.01),
        lambda: detectable_multiplier(alpha=1e-300, df=5),
        lambda: detectable_multiplier(alpha=0.9, power=0.95),
        lambda: detectable_multiplier(power=1 - 1e-16),
        lambda: detectable_multiplier(df=0.01),
        lambda: detectable_multiplier(df=2, alpha=1e-12),
        lambda: detectable_multiplier(df=float("nan")),
        lambda: power_of(float("nan"), 1),
        lambda: power_of(np.array([1.0, float("inf")]), 1),
        lambda: power_of(1, 0),
        lambda: power_of(1, -1),
        lambda: power_of(1, float("inf")),
        lambda: power_of(1, 1, df=0),
        lambda: power_of(1, 1, df=float("nan")),
        lambda: power_of(1, 1, df=1e-4),
        lambda: power_of(1, 1, alpha=0),
        lambda: power_of(1, 1, alpha=0.9),
        lambda: standardised(float("nan"), 1),
        lambda: correct(["a"]),
        lambda: correct(0.5),
        lambda: correct(np.eye(2)),
        lambda: summarise_effects(np.eye(2), np.eye(2)),
        lambda: summarise_effects(1.0, 2.0),
        lambda: summarise_effects(["a"], [1.0]),
        lambda: summarise_effects([1.0, None], [1.0, 1.0]),
        lambda: summarise_effects([1.0, 2.0], [1e-160, 1.0]),
        lambda: summarise_effects([1e300, -1e300], [1.0, 1.0]),
        lambda: cohens_kappa([1.0, float("nan")], [1.0, 2.0]),
        lambda: cohens_kappa(["a", None], ["a", "b"]),
        lambda: cohens_kappa(np.array([1.0, np.nan]), np.array([1.0, np.nan])),
        lambda: cohens_kappa([[1]], [[1]]),
        lambda: cohens_kappa(1, 1),
        *(lambda count=count: sign_flip([1.0, 2.0], rng=rng(), resamples=count) for count in (0, -1, 2.5)),
        lambda: sign_flip([1.0, 2.0], rng=None),
        lambda: sign_flip([[1.0], [2.0]], rng=rng()),
        *(
            lambda count=count: within_blocks([1.0, 2.0], [1, 0], [0, 0], rng=rng(), resamples=count)
            for count in (0, -1)
        ),
        lambda: within_blocks([1.0, 2.0, 3.0], [1, 0, float("nan")], [0, 0, 0], rng=rng()),
        lambda: within_blocks([1.0, 2.0, 3.0], [1, 0, 2], [0, 0, 0], rng=rng()),
        lambda: within_blocks([1.0, 2.0, 3.0], [1, 0, 1], [0, 0, None], rng=rng()),
        lambda: within_blocks([1.0, 2.0], [1, 0], [[0], [0]], rng=rng()),
        lambda: within_blocks([1.0, 2.0], [1, 0], [0, 0], rng=3),
        lambda: minimum_detectable_effect(float("inf")),
        lambda: correct([1.5]),
        lambda: correct([0.5], method="none"),
        lambda: summarise_effects([], []),
        lambda: summarise_effects([1.0], [0.0]),
        lambda: summarise_effects([1.0, sqrt(2)], [1.0]),
        lambda: cohens_kappa("", ""),
        lambda: cohens_kappa("a", "ab"),
        lambda: sign_flip([], rng=rng()),
        lambda: sign_flip([float("inf")], rng=rng()),
        lambda: within_blocks([1.0, 2.0], [True, True], [0, 0], rng=rng()),
        lambda: within_blocks([1.0], [True, False], [0, 0], rng=rng()),
    ],
)
def test_impossible_numbers_are_refused(use):
    with pytest.raises(InputError):
        use()


UNITS = [1e-300, 1e-160, 1e-14, 1.0, 1e14, 1e160, 1e300]


@pytest.mark.parametrize("unit", UNITS)
def test_permutations_do_not_see_the_unit(unit):
    pairs = np.array([1.0, 2.0, 3.0, -1.0, 4.5, 2.0])
    plain, other = sign_flip(pairs, rng=rng()), sign_flip(pairs * unit, rng=rng())
    assert (other.p_value, other.statistic / unit) == (plain.p_value, pytest.approx(plain.statistic))
    values, group, block = np.array([1.0, 2.0, 3.0, 5.0, 2.0, 9.0]), [1, 0, 1, 0, 0, 1], [1, 1, 2, 2, 3, 3]
    plain, other = (within_blocks(values * size, group, block, rng=rng(), resamples=199) for size in (1.0, unit))
    assert (other.p_value, other.statistic / unit) == (plain.p_value, pytest.approx(plain.statistic))


def test_what_all_values_have_in_common_does_not_count():
    values, group, block = np.array([1.0, 2.0, 3.0, 5.0, 2.0, 9.0]), [1, 0, 1, 0, 0, 1], [1, 1, 2, 2, 3, 3]
    plain, other = (
        within_blocks(shift + 1e-6 * values, group, block, rng=rng(), resamples=199) for shift in (0.0, 1e3)
    )
    assert other.p_value == plain.p_value


@pytest.mark.parametrize("method", ["dl", "pm"])
@pytest.mark.parametrize("unit", UNITS)
def test_heterogeneity_does_not_see_the_unit(unit, method):
    effects, errors = np.array([0.1, 0.5, -0.2, 0.4, 0.9]), np.array([0.1, 0.2, 0.15, 0.3, 0.2])
    plain, other = (summarise_effects(effects * size, errors * size, method=method) for size in (1.0, unit))
    assert plain.tau_low > 0
    for name in ("estimate", "std_error", "conf_low", "conf_high", "tau", "tau_low", "tau_high"):
        assert getattr(other, name) / unit == pytest.approx(getattr(plain, name), rel=1e-9)
    assert (other.q, other.q_p_value) == pytest.approx((plain.q, plain.q_p_value), rel=1e-9)


@pytest.mark.parametrize("method", ["dl", "pm"])
def test_an_effect_known_almost_exactly_is_the_mean_where_effects_are_alike(method):
    found = summarise_effects([0.1, 0.2], [1e-12, 0.1], method=method)
    assert (found.estimate, found.std_error, found.tau) == (pytest.approx(0.1), pytest.approx(1e-12), 0.0)
    assert found.q == pytest.approx(1.0)


def test_an_effect_known_almost_exactly_leaves_the_differences_of_the_others():
    """DerSimonian and Laird's tau2 by hand, the exact effect's weight growing beyond all others: (Q - 2) / (sum of rest)."""
    found = summarise_effects([0.1, 0.2, 0.5], [1e-12, 0.1, 0.2], method="dl")
    q = (0.1 / 0.1) ** 2 + (0.4 / 0.2) ** 2
    # Weights less their squares over their sum: 2 (100 + 25) where the third is infinite.
    assert found.tau**2 == pytest.approx((q - 2) / (2 * (100 + 25)), rel=1e-6)


@pytest.mark.parametrize("kind", [list, tuple, np.array, pl.Series, pd.Series])
def test_sequences_of_any_kind_are_read_in_their_order(kind):
    assert cohens_kappa(kind(list("aabb")), kind(list("abab"))) == pytest.approx(0.0)
    assert correct(kind([0.01, 0.2, 0.03])).values == correct([0.01, 0.2, 0.03]).values
    assert summarise_effects(kind([0.1, 0.4]), kind([0.1, 0.2])) == summarise_effects([0.1, 0.4], [0.1, 0.2])
    found = within_blocks(
        kind([1.0, 2.0, 4.0, 3.0]), kind([True, False] * 2), kind(list("aabb")), rng=rng(), resamples=9
    )
    assert found.statistic == pytest.approx(0.0)


def test_an_index_of_pandas_is_no_order():
    p = pd.Series([0.01, None, 0.03], index=[7, 0, 1])
    assert correct(p).values == correct([0.01, None, 0.03]).values
    assert cohens_kappa(pd.Series(list("ab"), index=[1, 0]), pd.Series(list("ab"))) == 1.0
