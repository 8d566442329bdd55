"""The rank-ordered logit: against R, against sums over all orders written out, its laws, recovery, and input that is wrong."""

import itertools
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.statistics.clustered import FOR_THESE_ONLY
from evenhand.statistics.rank_likelihood import evaluate, lay_out_orders, take
from evenhand.statistics.rank_logit import fit_rank_logit

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "rank_like.coxph.json").read_text(encoding="utf-8"))["fits"]
ARGUMENTS = {
    "strict_pooled": ("rank_strict ~ race + position", {}),
    "strict_m00": ("rank_strict ~ race + position", {}),
    "ties_efron": ("rank ~ race + position", {"ties": "efron"}),
    "ties_breslow": ("rank ~ race + position", {"ties": "breslow"}),
    "ties_exact_marginal": ("rank ~ race + position", {"ties": "exact"}),
    "strict_race_by_model": ("rank_strict ~ race*model + position", {}),
    "top2_censored": ("rank_strict ~ race + position", {"top": 2}),
}


@pytest.fixture(scope="module")
def calls():
    table = pl.read_csv(DATA / "rank_like.csv.gz")
    return table.with_columns(
        pl.col("race").cast(pl.Enum(["white", "black", "hispanic", "asian"])),
        call=pl.concat_str("bundle", "model", separator=" "),
    )


def drawn(seed, *, rankings=80, sizes=(4,), effect=0.5, per_cluster=4):
    """Rankings by x and by group, from Gumbel's utilities: the model itself."""
    rng = np.random.default_rng(seed)
    size = rng.choice(sizes, rankings)
    q = np.repeat(np.arange(rankings), size)
    x = rng.standard_normal(len(q))
    g = rng.choice(["a", "b", "c"], len(q))
    u = effect * x - 0.3 * (g == "b") + rng.gumbel(size=len(q))
    table = pl.DataFrame({"q": q, "x": x, "g": g, "u": u, "cluster": q // per_cluster})
    return table.with_columns(rank=pl.col("u").rank("min", descending=True).over("q"))


def coarse(table, step=1.0):
    """The same with scores rounded, so that ranks tie."""
    rounded = (pl.col("u") / step).round()
    return table.with_columns(rank=rounded.rank("min", descending=True).over("q"))


# Reference values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARGUMENTS)
def test_estimates_errors_and_likelihoods_are_those_of_r(calls, name):
    formula, arguments = ARGUMENTS[name]
    golden = GOLDEN[name]
    data = calls.filter(pl.col("model") == "m00") if name == "strict_m00" else calls
    fit = fit_rank_logit(
        data, formula, ranking="call", cluster="bundle", reference={"position": "1"}, breaks=0, **arguments
    )
    assert fit.converged
    assert set(fit.coef_names) == set(golden["coef_names"])
    order = [fit.coef_names.index(term) for term in golden["coef_names"]]
    model = np.array(golden["se_model"])
    np.testing.assert_allclose(fit.beta[order] / model, np.array(golden["beta"]) / model, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fit.model_errors[order], model, rtol=1e-6)
    np.testing.assert_allclose(fit.std_errors[order], golden["se_robust"], rtol=1e-6)
    assert fit.log_likelihood == pytest.approx(golden["loglik"], abs=1e-6)
    if "loglik0" in golden:
        assert fit.log_likelihood_null == pytest.approx(golden["loglik0"], abs=1e-6)
    if "vcov_robust" in golden:
        np.testing.assert_allclose(fit.vcov[np.ix_(order, order)], golden["vcov_robust"], rtol=1e-6, atol=1e-12)
    assert (fit.n, fit.rankings, fit.clusters) == (len(data), data["call"].n_unique(), 750)


def test_what_is_the_same_for_all_of_a_ranking_is_named_and_left_out(calls):
    fit = fit_rank_logit(calls, "rank_strict ~ race*model", ranking="call", cluster="bundle")
    assert fit.not_identified == ("(Intercept)", "modelm01", "modelm02", "modelm03", "modelm04")
    assert "not identified: modelm01, modelm02, modelm03, modelm04" in fit.notes


def test_ties_are_counted_and_broken_at_random_beside_the_fit(calls):
    arguments = {"ranking": "call", "cluster": "bundle", "reference": {"position": "1"}}
    fit = fit_rank_logit(calls, "rank ~ race + position", **arguments)
    tied = calls.group_by("call").agg(pl.col("rank").is_duplicated().any())["rank"].mean()
    assert fit.tie_rate == pytest.approx(tied)
    assert fit.tied_items == pytest.approx(calls.select(pl.col("rank").is_duplicated().over("call").mean()).item())
    # A share of a place added breaks ties and nothing else.
    again = [
        fit_rank_logit(
            calls.with_columns(rank=calls["rank"] + np.random.default_rng(seed).random(len(calls))),
            "rank ~ race + position",
            **arguments,
        ).beta
        for seed in range(10)
    ]
    spread = np.std(again, axis=0, ddof=1)
    # Two means of ten refits each, four of their standard errors apart at most.
    np.testing.assert_array_less(np.abs(fit.random_break - np.mean(again, axis=0)), 4 * spread * np.sqrt(2 / 10) + 1e-9)
    assert (fit.random_break_sd > spread / 3).all()
    assert (fit.random_break_sd < spread * 3).all()
    same = fit_rank_logit(calls, "rank ~ race + position", **arguments, seed=1)
    np.testing.assert_array_equal(same.random_break, fit.random_break)


# The likelihood written out ------------------------------------------------------------------------------------------


def log_of_order(weights, order, read):
    """The logarithm of the chance of one strict order of which the first places are read."""
    rest = [weights[k] for k in order]
    return sum(np.log(rest[k] / sum(rest[k:])) for k in range(read))


def written_out(weights, places, *, ties, top):
    """One ranking's log likelihood, straight from the definitions."""
    groups = [[k for k, own in enumerate(places) if own == place] for place in sorted(set(places))]
    if ties == "exact":
        read = sum(len(group) for group in groups if top is None or places[group[0]] <= top)
        chances = [
            np.exp(log_of_order(weights, list(itertools.chain(*parts)), read))
            for parts in itertools.product(*(itertools.permutations(group) for group in groups))
        ]
        # Orders of what is not read are one order each.
        unread = [len(group) for group in groups if top is not None and places[group[0]] > top]
        repeats = np.prod([float(np.prod(range(1, size + 1))) for size in unread]) if unread else 1.0
        return np.log(sum(chances) / repeats)
    total = 0.0
    for number, group in enumerate(groups):
        if top is not None and places[group[0]] > top:
            break
        own = sum(weights[k] for k in group)
        below = sum(weights[k] for later in groups[number:] for k in later)
        for step in range(len(group)):
            total += np.log(weights[group[step]]) - np.log(below - own * step / len(group) * (ties == "efron"))
    return total


def competition(order):
    return [1 + sum(other < own for other in order) for own in order]


places = st.lists(st.integers(1, 4), min_size=2, max_size=6).map(sorted).map(competition)


@settings(max_examples=60, deadline=None)
@given(
    rankings=st.lists(places, min_size=1, max_size=5),
    ties=st.sampled_from(["exact", "efron", "breslow"]),
    top=st.sampled_from([None, 1, 2, 3]),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([0.3, 3.0]),
)
def test_the_likelihood_and_its_derivatives_are_those_of_its_definition(rankings, ties, top, seed, scale):
    rng = np.random.default_rng(seed)
    sizes = [len(ranking) for ranking in rankings]
    starts = np.cumsum([0, *sizes[:-1]])
    flat = np.concatenate(rankings)
    heads = np.append(True, flat[1:] != flat[:-1])
    heads[starts] = True
    x = rng.standard_normal((2, len(flat)))
    beta = scale * rng.standard_normal(2)
    sample = take(lay_out_orders(starts, heads, ties=ties, top=top), x)

    def defined(b):
        weights = np.exp(b @ x)
        pieces = [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]
        return np.array(
            [written_out(weights[p], own, ties=ties, top=top) for p, own in zip(pieces, rankings, strict=True)]
        )

    found = evaluate(beta, sample, by_ranking=True)
    assert found.log_likelihood == pytest.approx(defined(beta).sum(), abs=1e-10)
    steps = 1e-5 * np.eye(2)
    slopes = np.array([(defined(beta + step) - defined(beta - step)) / 2e-5 for step in steps])
    np.testing.assert_allclose(found.scores, slopes, atol=1e-7)
    np.testing.assert_allclose(found.gradient, slopes.sum(axis=1), atol=1e-7)
    bends = [(evaluate(beta + step, sample).gradient - evaluate(beta - step, sample).gradient) / 2e-5 for step in steps]
    np.testing.assert_allclose(found.information, -np.array(bends), atol=1e-6)


@given(places=places, ties=st.sampled_from(["exact", "efron", "breslow"]), seed=st.integers(0, 1000))
def test_weights_beyond_all_numbers_do_no_harm(places, ties, seed):
    x = np.random.default_rng(seed).standard_normal((1, len(places)))
    heads = np.append(True, np.diff(places) != 0)
    sample = take(lay_out_orders(np.array([0]), heads, ties=ties), x)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        found = evaluate(np.array([5000.0]), sample, by_ranking=True)
    assert np.isfinite(found.log_likelihood)
    assert np.isfinite(found.gradient).all()
    assert np.isfinite(found.information).all()


# Laws ----------------------------------------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)
methods = st.sampled_from(["exact", "efron", "breslow"])
few = settings(max_examples=15, deadline=None)


@few
@given(seed=seeds, ties=methods)
def test_labels_of_rankings_and_the_order_of_rows_do_not_matter(seed, ties):
    table = coarse(drawn(seed, sizes=(2, 3, 4, 5)))
    arguments = {"ranking": "q", "cluster": "cluster", "ties": ties, "breaks": 0}
    fit = fit_rank_logit(table, "rank ~ x + g", **arguments)
    names = {k: f"call {name}" for k, name in enumerate(np.random.default_rng(seed).permutation(80))}
    relabelled = table.with_columns(pl.col("q").replace_strict(names)).sample(
        fraction=1, shuffle=True, seed=seed % 1000
    )
    other = fit_rank_logit(relabelled, "rank ~ x + g", **arguments)
    assert fit.converged
    np.testing.assert_allclose(other.beta, fit.beta, atol=1e-9)
    np.testing.assert_allclose(other.std_errors, fit.std_errors, rtol=1e-8)


@few
@given(seed=seeds)
def test_of_two_items_the_reverse_order_turns_the_sign(seed):
    table = drawn(seed, sizes=(2,))
    fit = fit_rank_logit(table, "rank ~ x", ranking="q", cluster="cluster")
    turned = fit_rank_logit(table, "rank ~ x", ranking="q", cluster="cluster", best="highest")
    np.testing.assert_allclose(turned.beta, -fit.beta, atol=1e-9)
    np.testing.assert_allclose(turned.std_errors, fit.std_errors, rtol=1e-8)


@few
@given(seed=seeds, top=st.sampled_from([None, 1, 2]))
def test_without_ties_all_treatments_of_ties_are_one(seed, top):
    table = drawn(seed, sizes=(2, 3, 6))
    exact, efron, breslow = (
        fit_rank_logit(table, "rank ~ x + g", ranking="q", ties=ties, top=top) for ties in ("exact", "efron", "breslow")
    )
    np.testing.assert_allclose(efron.beta, exact.beta, atol=1e-9)
    np.testing.assert_allclose(breslow.beta, exact.beta, atol=1e-9)
    assert exact.tie_rate == exact.tied_items == 0
    np.testing.assert_array_equal(exact.random_break, exact.beta)
    assert not exact.random_break_sd.any()


@few
@given(seed=seeds, unit=st.sampled_from([1e-6, 1e6]), shift=st.sampled_from([0.0, 1000.0]))
def test_units_scale_and_rankings_own_levels_drop_out(seed, unit, shift):
    table = coarse(drawn(seed))
    fit = fit_rank_logit(table, "rank ~ x + g", ranking="q", cluster="cluster", breaks=0)
    other = table.with_columns(x=unit * (pl.col("x") + shift * pl.col("q").sin()))
    scaled = fit_rank_logit(other, "rank ~ x + g", ranking="q", cluster="cluster", breaks=0)
    np.testing.assert_allclose(scaled.beta[0] * unit, fit.beta[0], rtol=1e-7)
    np.testing.assert_allclose(scaled.std_errors[0] * unit, fit.std_errors[0], rtol=1e-7)
    np.testing.assert_allclose(scaled.beta[1:], fit.beta[1:], atol=1e-7)


def test_scores_and_their_ranks_are_the_same_order():
    table = drawn(1, sizes=(3, 5))
    ranks = fit_rank_logit(table, "rank ~ x", ranking="q")
    scores = fit_rank_logit(table, "u ~ x", ranking="q", best="highest")
    assert scores.beta[0] == pytest.approx(ranks.beta[0], abs=1e-12)
    assert ranks.beta[0] > 0


# Recovery ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"cluster": "cluster"}, {"top": 2}], ids=["model", "clustered", "top 2"])
def test_planted_effects_are_found_and_covered(arguments):
    rounds = 200
    fits = [
        fit_rank_logit(
            drawn(seed, rankings=120, sizes=(3, 4, 5), per_cluster=2), "rank ~ x + g", ranking="q", **arguments
        )
        for seed in range(rounds)
    ]
    truth = np.array([0.5, -0.3, 0.0])
    found = np.array([fit.beta for fit in fits])
    errors = np.array([fit.std_errors for fit in fits])
    # Four Monte Carlo errors; the estimate itself is off by a few parts in a hundred of its error at this size.
    allowed = 4 * found.std(axis=0) / np.sqrt(rounds)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - truth), allowed)
    covered = (np.abs(found - truth) < 1.96 * errors).mean(axis=0)
    np.testing.assert_array_less(np.abs(covered - 0.95), 4 * np.sqrt(0.95 * 0.05 / rounds))


def test_clustered_errors_hold_where_rankings_repeat_each_other():
    """The same ranking four times: the errors of the model halve, those by cluster stay."""
    table = drawn(5, rankings=200)
    copies = pl.concat([table.with_columns(q=pl.col("q") + 1000 * k, cluster=pl.col("q")) for k in range(4)])
    once = fit_rank_logit(table, "rank ~ x", ranking="q", cluster="q")
    four = fit_rank_logit(copies, "rank ~ x", ranking="q", cluster="cluster")
    assert four.std_errors[0] == pytest.approx(once.std_errors[0], rel=1e-8)
    assert four.model_errors[0] == pytest.approx(once.model_errors[0] / 2, rel=1e-8)


# What cannot be had --------------------------------------------------------------------------------------------------


def bare(fit, note):
    """No number but the null likelihood, and the reason in words."""
    assert not fit.converged
    for values in (fit.beta, fit.std_errors, fit.model_errors, fit.vcov, fit.random_break, fit.random_break_sd):
        assert np.isnan(values).all()
    assert np.isnan(fit.log_likelihood)
    assert any(note in own for own in fit.notes)
    row = fit.tidy().row(0, named=True)
    assert row["estimate"] is row["std_error"] is row["conf_low"] is row["p_value"] is row["random_break"] is None
    assert note in row["note"]


@pytest.mark.parametrize("ties", ["exact", "efron", "breslow"])
def test_where_all_is_tied_nothing_is_told(ties):
    table = drawn(1).with_columns(rank=pl.lit(1))
    bare(fit_rank_logit(table, "rank ~ x + g", ranking="q", cluster="cluster", ties=ties), "nothing is ordered")


@pytest.mark.parametrize("ties", ["exact", "efron", "breslow"])
@pytest.mark.parametrize("place", [0, 99])
def test_a_group_that_is_always_first_or_last_has_no_estimate_and_is_named(ties, place):
    table = coarse(drawn(2)).with_columns(
        rank=pl.when(pl.col("g") == "b").then(place + pl.col("rank") / 100).otherwise(pl.col("rank"))
    )
    fit = fit_rank_logit(table, "rank ~ x + g", ranking="q", cluster="cluster", ties=ties)
    bare(fit, "no maximum in gb:")


def test_a_number_that_settles_the_order_has_no_estimate():
    table = drawn(3).with_columns(rank=-pl.col("x"))
    bare(fit_rank_logit(table, "rank ~ x", ranking="q"), "no maximum in x:")


def test_more_coefficients_than_the_order_can_tell_have_no_estimate():
    table = drawn(3, rankings=2).with_columns(z=pl.col("u").sin(), v=pl.col("u").cos(), w=pl.col("x").cos())
    fit = fit_rank_logit(table.with_columns(k=pl.int_range(pl.len()) ** 2), "rank ~ x + z + v + w + k", ranking="q")
    bare(fit, "no maximum in")


def test_an_outlier_that_is_always_last_is_no_separation():
    table = drawn(4)
    worst = (pl.col("rank") == 4) & (pl.col("q") == 3)
    fit = fit_rank_logit(
        table.with_columns(x=pl.when(worst).then(-1e5).otherwise(pl.col("x"))), "rank ~ x", ranking="q"
    )
    assert fit.converged
    assert fit.beta[0] == pytest.approx(fit_rank_logit(table, "rank ~ x", ranking="q").beta[0], rel=0.1)


def test_refits_without_a_maximum_are_said():
    table = pl.DataFrame({"q": [1, 1, 2, 2, 3, 3], "x": [0.0, 1, 0, 1, 0, 1], "rank": [1, 1, 1, 1, 1, 2]})
    fit = fit_rank_logit(table, "rank ~ x", ranking="q", ties="efron")
    assert fit.converged
    assert np.isnan(fit.random_break).all()
    assert any("refits with ties broken at random have no maximum" in note for note in fit.notes)
    none = fit_rank_logit(table, "rank ~ x", ranking="q", ties="efron", breaks=0)
    assert "not refitted with ties broken at random" in none.notes


def test_rows_and_rankings_left_out_are_counted():
    table = drawn(5).with_columns(rank=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise(pl.col("rank")))
    single = (
        table.filter(pl.col("q") < 7).group_by("q").tail(1).with_columns(pl.col("q") + 1000, rank=pl.lit(1, pl.Float64))
    )
    fit = fit_rank_logit(
        pl.concat([table, single.select(table.columns)], how="vertical_relaxed"), "rank ~ x", ranking="q"
    )
    assert "64 rows with a missing value are left out (of 327)" in fit.notes
    assert "7 rankings of one item order nothing and are left out" in fit.notes
    assert (fit.n, fit.rankings) == (256, 80)
    plain = fit_rank_logit(table.drop_nulls(), "rank ~ x", ranking="q")
    np.testing.assert_allclose(fit.beta, plain.beta, atol=1e-12)


def test_what_others_determine_is_named_and_left_out():
    table = drawn(6).with_columns(again=2 * pl.col("x") + pl.col("q"), own=pl.col("q") * 0.1)
    fit = fit_rank_logit(table, "rank ~ x + again + own", ranking="q")
    assert fit.not_identified == ("(Intercept)", "again", "own")
    np.testing.assert_allclose(fit.beta, fit_rank_logit(table, "rank ~ x", ranking="q").beta, atol=1e-9)


def test_what_differs_in_fully_tied_rankings_alone_is_not_identified_by_exact_ties():
    tied = pl.col("q") < 10
    table = drawn(6).with_columns(
        rank=pl.when(tied).then(1).otherwise(pl.col("rank")), z=pl.when(tied).then(pl.col("u")).otherwise(0.0)
    )
    fit = fit_rank_logit(table, "rank ~ x + z", ranking="q")
    assert fit.not_identified == ("(Intercept)", "z")


def test_clusters_that_do_not_differ_and_few_clusters_are_said():
    table = drawn(7, rankings=20)
    copies = pl.concat([table.with_columns(q=pl.col("q") + 100 * k, cluster=pl.lit(k)) for k in range(3)])
    fit = fit_rank_logit(copies, "rank ~ x", ranking="q", cluster="cluster")
    assert fit.converged
    assert np.isnan(fit.std_errors).all()
    assert "no standard error for x: the clusters do not differ" in fit.notes
    halves = drawn(7).with_columns(cluster=pl.col("q") < 40)
    two = fit_rank_logit(halves, "rank ~ x + g", ranking="q", cluster="cluster")
    assert "2 clusters for 3 coefficients: standard errors are too small" in two.notes


def test_ties_at_the_end_may_be_as_many_as_they_are():
    table = drawn(8, sizes=(9,)).with_columns(pl.col("rank").clip(upper_bound=3))
    last = fit_rank_logit(table, "rank ~ x", ranking="q", breaks=0)
    # The order of those who share the last place is not read: the same as reading the first two places.
    top = fit_rank_logit(drawn(8, sizes=(9,)), "rank ~ x", ranking="q", top=2)
    assert last.beta[0] == pytest.approx(top.beta[0], abs=1e-9)
    assert last.log_likelihood == pytest.approx(top.log_likelihood, abs=1e-9)


def test_tidy_rows_say_for_whom_they_speak():
    table = fit_rank_logit(coarse(drawn(9)), "rank ~ x + g", ranking="q", cluster="cluster").tidy()
    assert table.columns == [
        *("term", "estimate", "std_error", "conf_low", "conf_high", "p_value", "random_break", "random_break_sd"),
        *("tie_rate", "n", "note"),
    ]  # fmt: skip
    row = table.row(0, named=True)
    assert row["conf_low"] < row["estimate"] < row["conf_high"]
    assert row["conf_high"] - row["estimate"] == pytest.approx(1.959964 * row["std_error"], rel=1e-6)
    assert 0 < row["p_value"] < 1
    assert row["note"] == FOR_THESE_ONLY


@pytest.mark.parametrize(
    ("arguments", "change", "message"),
    [
        ({"ranking": "nobody"}, {}, "no column 'nobody'"),
        ({"ties": "cox"}, {}, "unknown ties 'cox'"),
        ({"best": "first"}, {}, "unknown best 'first'"),
        ({"top": 0}, {}, "top is 0"),
        ({"breaks": 1}, {}, "breaks is 1"),
        ({"formula": "rank ~ x + (1|g)"}, {}, "random terms"),
        ({"formula": "rank ~ 1"}, {}, "no coefficient is identified"),
        ({"formula": "rank ~ 0"}, {}, "names nothing that could move an item"),
        ({"top": "1"}, {}, "top is '1'"),
        ({"top": 1.5}, {}, "top is 1.5"),
        ({"breaks": 2.5}, {}, "breaks is 2.5"),
        ({"breaks": -1}, {}, "breaks is -1"),
        ({"seed": -1}, {}, "seed is -1"),
        ({"ranking": None}, {}, "ranking: None is no column name"),
        ({"ranking": ["q"]}, {}, "ranking: ['q'] is no column name"),
        ({"cluster": ["q"]}, {}, "cluster: ['q'] is no column name"),
        ({"formula": "rank ~ own"}, {"own": pl.col("q") * 0.1}, "no coefficient is identified: (Intercept), own are"),
        ({}, {"x": pl.col("x") * 1e200}, "another unit"),
        ({}, {"q": pl.int_range(pl.len())}, "no ranking has two items"),
        ({"cluster": "cluster"}, {"cluster": pl.lit("all")}, "80 rankings are in 1 cluster"),
        ({"cluster": "g"}, {}, "more than one cluster of 'g'"),
        ({}, {"rank": pl.when(pl.col("rank") < 8).then(1).otherwise(pl.col("rank"))}, "Use ties='efron'"),
    ],
)
def test_unusable_input_is_one_message(arguments, change, message):
    table = drawn(1, sizes=(9,)).with_columns(**change)
    with pytest.raises(InputError) as caught:
        fit_rank_logit(table, **{"formula": "rank ~ x", "ranking": "q", **arguments})
    assert message in str(caught.value)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum([str(k) for k in range(80)]), pl.Float64])
def test_rankings_may_be_named_by_any_kind_of_column(dtype):
    table = drawn(1)
    named = table.with_columns(pl.col("q").cast(pl.String).cast(dtype))
    fit, other = (fit_rank_logit(data, "rank ~ x", ranking="q", cluster="q") for data in (table, named))
    np.testing.assert_allclose(other.std_errors, fit.std_errors, rtol=1e-9)


def test_one_ranking_is_one_ranking():
    alone = pl.concat([drawn(1), drawn(1).head(1).with_columns(q=pl.lit(999, pl.Int64))])
    assert (
        "1 ranking of one item orders nothing and is left out" in fit_rank_logit(alone, "rank ~ x", ranking="q").notes
    )
