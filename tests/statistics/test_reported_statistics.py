"""Situations that people reported of statistics like these: where each is tested, and tests of those with no other home.

The list is `cases/situations.jsonl` of the developers' shared folder (area stats).
"""

import ast
import json
import warnings
from itertools import permutations
from math import nan
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from evenhand import formats
from evenhand.analysis.validity import unanswered_by_group
from evenhand.errors import InputError
from evenhand.formats.types import Reply
from evenhand.statistics.association import rank_correlation
from evenhand.statistics.bootstrap import cluster_bootstrap, least_squares_draws
from evenhand.statistics.clustered import fit_clustered
from evenhand.statistics.simultaneous import simultaneous

TESTS = Path(__file__).parents[1]
HERE = "statistics/test_reported_statistics.py"

TESTED = {
    "stat-01": "statistics/test_mixed.py::test_names_nested_in_groups_without_variance_keep_their_group_effect",
    "stat-02": "statistics/test_mixed.py::test_warnings_on_the_way_do_not_count_but_the_end_does",
    "stat-03": "statistics/test_mixed.py::test_all_names_rated_alike_is_said_in_words_with_effects",
    "stat-06": "statistics/test_cluster_bootstrap.py::test_without_variation_the_interval_is_the_estimate_in_every_kind",
    "stat-08": f"{HERE}::test_tied_ranks_have_the_p_value_of_their_own_pairings",
    "stat-09": f"{HERE}::test_missing_pairs_are_dropped_before_ranking",
    "stat-11": f"{HERE}::test_a_rate_is_among_answers_with_refusals_beside_it",
    "stat-12": f"{HERE}::test_the_sign_follows_the_reference_and_not_the_labels",
    "stat-13": f"{HERE}::test_columns_may_be_named_as_they_please",
    "stat-14": "statistics/test_mixed.py::test_rows_without_an_outcome_are_counted_by_condition",
    "stat-15": f"{HERE}::test_shares_of_one_bundle_are_resampled_together",
    "stat-16": f"{HERE}::test_many_cells_without_variation_are_one_line",
}


def rng(seed=0):
    return np.random.default_rng(seed)


def test_every_reported_situation_has_its_test(shared):
    lines = (shared / "cases" / "situations.jsonl").read_text(encoding="utf-8").splitlines()
    reported = {case["id"] for case in map(json.loads, lines) if case["area"] == "stats"}
    assert reported == set(TESTED)


@pytest.mark.parametrize("place", sorted(set(TESTED.values())))
def test_the_tests_named_here_are_there(place):
    file, _, name = place.partition("::")
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


# Rank correlations


def test_missing_pairs_are_dropped_before_ranking():
    x, y = [1, 2, 2.5, 2, nan], [1, 3, 2.5, 4, nan]
    found = rank_correlation(x, y)
    assert found.estimate == pytest.approx(spearmanr(x[:4], y[:4]).statistic, abs=1e-12)
    assert found.estimate == pytest.approx(0.316, abs=5e-4)
    assert (found.n, found.dropped, found.note) == (4, 1, "1 pair with a missing value is left out")
    assert rank_correlation([1, 2, 2.5, 2, None], [1, 3, 2.5, 4, 7.0]) == found
    assert rank_correlation([*x, 5, None], [*y, None, 1]).estimate == found.estimate


def test_tied_ranks_have_the_p_value_of_their_own_pairings():
    """Nine in ten of one value: no limit is near, and the pairings can be counted by hand."""
    x = [0] * 36 + [1] * 4
    y = [0] * 35 + [1] + [0] * 3 + [1]
    # Of two 1s of y among 40 places, none, one or two meet one of four 1s of x; here one does.
    never, once, twice = 36 * 35 / 1560, 2 * 36 * 4 / 1560, 4 * 3 / 1560
    expected = min(1, 2 * (once + twice))
    for kind in ("kendall", "spearman"):
        found = rank_correlation(x, y, kind=kind, rng=rng(1))
        assert found.p_value == pytest.approx(expected, abs=0.03)
        assert found.method == "9,999 random pairings"
    assert never + once + twice == pytest.approx(1)
    limit = kendalltau(x, y).pvalue
    assert abs(limit - expected) > 0.1


@settings(max_examples=40, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=3, max_size=5),
    kind=st.sampled_from(["kendall", "spearman"]),
)
def test_few_pairs_are_counted_in_every_pairing(pairs, kind):
    x, y = (list(side) for side in zip(*pairs, strict=True))
    found = rank_correlation(x, y, kind=kind)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert (found.estimate, found.p_value, found.note) == (None, None, "one side does not vary")
        return
    of = {"kendall": kendalltau, "spearman": spearmanr}[kind]
    drawn = np.array([of(order, y).statistic for order in permutations(x)])
    observed = of(x, y).statistic
    tails = [(drawn <= observed + 1e-9).mean(), (drawn >= observed - 1e-9).mean()]
    assert found.estimate == pytest.approx(observed)
    assert found.p_value == pytest.approx(min(1, 2 * min(tails)))
    assert found.method == "all pairings"


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 999),
    levels=st.integers(2, 6),
    n=st.integers(8, 60),
    kind=st.sampled_from(["kendall", "spearman"]),
)
def test_neither_order_of_pairs_nor_scale_matters_and_a_reversal_flips_the_sign(seed, levels, n, kind):
    x, y = rng(seed).integers(levels, size=n), rng(seed + 1).integers(levels, size=n)
    order = rng(seed + 2).permutation(n)
    found = rank_correlation(x.tolist(), y.tolist(), kind=kind, rng=rng(3))
    if found.estimate is None:
        return
    assert -1 <= found.estimate <= 1
    assert 0 < found.p_value <= 1
    moved = rank_correlation(np.exp(x[order]).tolist(), (-y[order]).tolist(), kind=kind, rng=rng(3))
    assert moved.estimate == pytest.approx(-found.estimate)
    assert moved.p_value == pytest.approx(found.p_value, abs=0.05)


def test_known_and_limiting_distributions_are_used_where_they_hold():
    x, y = rng(1).normal(size=30), rng(2).normal(size=30)
    exact = rank_correlation(x, y, kind="kendall")
    assert exact.p_value == kendalltau(x, y, method="exact").pvalue
    assert exact.method == "distribution of tau without ties"
    tied_x, tied_y = rng(3).integers(5, size=9000), rng(4).integers(5, size=9000)
    for kind in ("kendall", "spearman"):
        large = rank_correlation(tied_x, tied_y, kind=kind)
        assert large.method == "limiting distribution, variance with ties"
        # Limits and pairings agree in what both can judge.
        part = rank_correlation(tied_x[:2000], tied_y[:2000], kind=kind, rng=rng(5))
        of = {"kendall": kendalltau, "spearman": spearmanr}[kind]
        assert part.p_value == pytest.approx(of(tied_x[:2000], tied_y[:2000]).pvalue, abs=0.03)


def test_p_values_of_unrelated_ties_are_uniform_and_relations_are_found():
    low = [
        rank_correlation(
            rng(s).integers(3, size=25), rng(s + 999).integers(3, size=25), kind="kendall", rng=rng(s)
        ).p_value
        <= 0.1
        for s in range(100)
    ]
    assert 0.02 < np.mean(low) < 0.18
    x = rng(1).integers(5, size=60)
    assert rank_correlation(x, x + rng(2).integers(3, size=60), kind="kendall", rng=rng(3)).p_value < 0.001


def test_what_has_no_correlation_says_why_and_no_warning_leaks():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rank_correlation([4] * 9, list(range(9))).note == "one side does not vary"
        gone = rank_correlation([1, nan, nan, None], [1, 2, 3, 4])
        assert (gone.estimate, gone.n, gone.dropped) == (None, 1, 3)
        assert gone.note == "3 pairs with a missing value are left out; fewer than two pairs"
        assert rank_correlation([], []).note == "fewer than two pairs"
        silent = rank_correlation([1, 1, 2, 2, 3, 3, 4, 4], range(8))
        assert silent.p_value is None
        assert silent.estimate > 0.9
        assert "no generator is given" in silent.note
    with pytest.raises(InputError, match="2 and 3 values"):
        rank_correlation([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="no flat sequence"):
        rank_correlation(np.eye(2), np.eye(2))
    with pytest.raises(InputError, match="are no numbers"):
        rank_correlation(["a", "b"], [1, 2])
    with pytest.raises(InputError, match="rng is 3"):
        rank_correlation([1, 2], [1, 2], rng=3)
    assert "1 pair with a missing value is left out" in rank_correlation([1, 2, None], [1, 2, 3]).note
    with pytest.raises(InputError, match="unknown kind 'pearson'"):
        rank_correlation([1, 2], [1, 2], kind="pearson")


# Tables and models


def test_a_rate_is_among_answers_with_refusals_beside_it():
    replies = [Reply(text="1"), Reply(text="0"), Reply(text="I can't make decisions about people.")]
    answers = [formats.read("decide", reply) for reply in replies]
    head = {"model": "m", "arm": "a", "domain": "d", "task": "decide", "epoch": 1, "gender": "F"}
    told = [
        head | {"unit_id": f"u{i}{race}", "race": race, "decision": answer.value, "status": answer.status}
        for i, answer in enumerate(answers)
        for race in ("A", "B")
    ]
    table = pl.DataFrame(told)
    assert table["decision"].null_count() == 2
    fit = fit_clustered(table, "decision ~ 1", cluster="unit_id")
    assert (fit.beta[0], fit.n) == (pytest.approx(0.5), 4)
    assert any("2 rows with a missing value are left out" in note for note in fit.notes)
    beside = unanswered_by_group(table, factors=("race",)).filter(pl.col("estimand") == "share_refused")
    assert beside["estimate"].to_list() == pytest.approx([1 / 3, 1 / 3])


def graded(seed=0):
    """Black applicants are rated lower by 0.8."""
    group = np.tile(["White", "Black"], 100)
    y = 3 - 0.8 * (group == "Black") + 0.3 * rng(seed).normal(size=200)
    return pl.DataFrame({"y": y, "group": group, "unit": np.repeat(np.arange(50), 4)})


def test_the_sign_follows_the_reference_and_not_the_labels():
    data = graded()
    plain = fit_clustered(data, "y ~ group", cluster="unit", reference={"group": "White"})
    assert plain.coef_names[1] == "groupBlack"
    assert -0.9 < plain.beta[1] < -0.7
    # In the alphabet the reference now comes last, before it came last as well, and then first.
    for new in ("Zulu", "Anglo"):
        renamed = data.with_columns(pl.col("group").replace("White", new))
        again = fit_clustered(renamed, "y ~ group", cluster="unit", reference={"group": new})
        assert again.coef_names[1] == "groupBlack"
        assert again.beta[1] == pytest.approx(plain.beta[1])
    turned = fit_clustered(data, "y ~ group", cluster="unit", reference={"group": "Black"})
    assert turned.coef_names[1] == "groupWhite"
    assert turned.beta[1] == pytest.approx(-plain.beta[1])


@pytest.mark.parametrize("name", ["C", "Q", "I", "np", "y ~ x", "my group", "(Intercept)", "class", "1st"])
def test_columns_may_be_named_as_they_please(name):
    data = graded()
    plain = fit_clustered(data, "y ~ group", cluster="unit")
    renamed = data.rename({"group": name})
    for fit in (
        fit_clustered(renamed, f"y ~ `{name}`", cluster="unit"),
        fit_clustered(renamed, f"y ~ {name}", cluster="unit") if name.isidentifier() else plain,
    ):
        assert fit.beta.tolist() == plain.beta.tolist()
    assert fit_clustered(renamed, f"y ~ `{name}`", cluster="unit").coef_names[1] == f"{name}White"


def test_shares_of_one_bundle_are_resampled_together():
    """Four shares with a fixed sum: their mean is known, and a difference between slots varies more than rows say."""
    shares = np.array([4000.0, 3000.0, 2000.0, 1000.0])
    bundle = np.repeat(np.arange(60), 4)
    group = np.tile([True, True, False, False], 60)

    def given(seed):
        return np.concatenate([rng(seed * 1000 + b).permutation(shares) for b in range(60)])

    values = given(1)

    def statistic(weights):
        first, second = weights * group, weights * ~group
        return [weights @ values / weights.sum(), first @ values / first.sum() - second @ values / second.sum()]

    found = cluster_bootstrap(statistic, bundle, rng=rng(2), names=["mean", "difference"])
    table = found.intervals()
    assert table.row(0)[1:5] == (2500.0, 0.0, 2500.0, 2500.0)
    assert table["note"].to_list() == ["no variation", ""]
    sampled = np.std([given(seed)[group].mean() - given(seed)[~group].mean() for seed in range(100, 300)], ddof=1)
    # By arithmetic: in one bundle the difference has variance 4/3 times that of the shares, 1,250,000.
    assert sampled == pytest.approx(np.sqrt(4 / 3 * 1_250_000 / 60), rel=0.15)
    assert found.std_error[1] == pytest.approx(sampled, rel=0.25)
    as_rows = cluster_bootstrap(statistic, np.arange(240), rng=rng(2))
    assert as_rows.std_error[0] > 50
    assert as_rows.std_error[1] < 0.95 * sampled


def test_many_cells_without_variation_are_one_line():
    values = np.where(np.arange(200) < 50, rng(3).normal(size=(30, 200)), 4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cluster_bootstrap(
            lambda weights: weights @ values / weights.sum(), np.arange(30), replicates=200, rng=rng()
        )
        table = simultaneous(found)
        intervals = found.intervals(kind="bca")
    assert found.note == "no variation in 150 of 200 estimates"
    assert table["note"].value_counts(sort=True).rows() == [("no variation", 150), ("", 50)]
    assert table["p_stepdown"].null_count() == 150
    assert intervals["conf_low"].null_count() == 0
    some = values[:, 30:70]
    cells = {"y": some.ravel(), "cell": [f"{k:02}" for k in range(40)] * 30, "unit": np.repeat(np.arange(30), 40)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = least_squares_draws(pl.DataFrame(cells), "y ~ 0 + cell", cluster="unit", replicates=20, rng=rng())
    assert fitted.note.count("no variation") == 1
    assert fitted.note.endswith("no variation in 20 of 40 estimates")
