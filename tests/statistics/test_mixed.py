"""Mixed models: against lme4 and lmerTest, on data that are wrong, and by laws."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.statistics.mixed import WarmStart, fit_mixed, lay_out_mixed, leave_one_out

DATA = Path(__file__).parents[1] / "data"
LME4 = json.loads((DATA / "mixed" / "lme4.json").read_text(encoding="utf-8"))
LME4_ML = json.loads((DATA / "mixed" / "lme4_ml.json").read_text(encoding="utf-8"))
FILES = {
    "rate_balanced": "rate_balanced.csv.gz",
    "rank_like": "rank_like.csv.gz",
    "degenerate": "mixed/degenerate.csv.gz",
    "slopes": "mixed/slopes.csv.gz",
    "hard_065": "mixed/hard_065.csv.gz",
}
LEVELS = {
    "race": ["white", "black", "hispanic", "asian"],
    "gender": ["F", "M"],
    "stratum": ["low", "mid", "high"],
    "framing": ["neutral", "charged"],
}
FITS = [(data, name) for data in FILES for name in LME4[data]]
SPANNED = {"collinear_race": "(1|race_cell)", "one_name_per_cell": "(1|name)"}
SUBSETS = {
    "drop_name_n13": pl.col("name") != "n13",
    "drop_profile_p05": pl.col("profile") != "p05",
    "one_name_per_cell": pl.col("name").str.slice(1).cast(pl.Int64, strict=False) % 5 == 1,
}


def read(name):
    table = pl.read_csv(DATA / FILES[name])
    known = [pl.col(key).cast(pl.Enum(levels)) for key, levels in LEVELS.items() if key in table.columns]
    dummies = [(pl.col("race") == race).cast(int).alias(f"r{race[0]}") for race in LEVELS["race"][1:]]
    table = table.with_columns(*known, *dummies)
    if "position" in table.columns:
        call = pl.concat_str("bundle", "model", separator=" ")
        table = table.with_columns(pl.col("position").cast(pl.String), call=call)
    return table


@pytest.fixture(scope="module")
def tables():
    return {name: read(name) for name in FILES}


@pytest.mark.parametrize(("data", "name"), FITS)
def test_estimates_are_those_of_lme4(tables, data, name):
    golden = LME4[data][name]
    table = tables[data]
    fit = fit_mixed(table.filter(SUBSETS[name]) if name in SUBSETS else table, golden["formula"])
    assert fit.converged
    assert fit.criterion == pytest.approx(golden["reml_crit"], abs=1e-6)
    order = [fit.coef_names.index(term) for term in golden["coef_names"]]
    errors = np.array(golden["se"])
    if name not in SPANNED:
        np.testing.assert_allclose(fit.std_errors[order], errors, rtol=1e-4)
    smallest = np.minimum(errors, fit.std_errors[order])
    assert (np.abs(fit.beta[order] - golden["beta"]) <= 1e-5 * smallest).all()
    if "df_satterthwaite" in golden:
        np.testing.assert_allclose(fit.df_satterthwaite[order], golden["df_satterthwaite"], rtol=1e-3)
    assert fit.sigma == pytest.approx(golden["sigma"], rel=1e-5)


@pytest.mark.parametrize(("data", "name"), [item for item in FITS if item[1] not in SPANNED])
def test_variances_are_those_of_lme4(tables, data, name):
    golden = LME4[data][name]
    table = tables[data]
    fit = fit_mixed(table.filter(SUBSETS[name]) if name in SUBSETS else table, golden["formula"])
    alone = {
        row["grp"].split(".")[0]: row["vcov"]
        for row in golden["varcorr"]
        if row.get("var1") == "(Intercept)" and row.get("var2") is None
    }
    assert alone
    for group, variance in alone.items():
        assert fit.variances[group] == pytest.approx(variance, rel=1e-3, abs=1e-6)
    assert fit.singular == golden.get("is_singular", False)


@pytest.mark.parametrize("data", ["rate_balanced", "slopes"])
def test_full_likelihood_is_that_of_lme4(tables, data):
    golden = LME4_ML[data]
    fit = fit_mixed(tables[data], golden["formula"], reml=False)
    assert list(fit.coef_names) == golden["coef_names"]
    assert fit.criterion == pytest.approx(golden["criterion"], abs=1e-6)
    assert (np.abs(fit.beta - golden["beta"]) <= 1e-5 * fit.std_errors).all()
    np.testing.assert_allclose(fit.std_errors, golden["se"], rtol=1e-4)
    np.testing.assert_allclose(fit.df_satterthwaite, golden["df_satterthwaite"], rtol=1e-3)


@pytest.mark.parametrize("name", SPANNED)
def test_a_variance_that_the_fixed_effects_span_is_left_out_and_named(tables, name):
    table = tables["degenerate"]
    fit = fit_mixed(table.filter(SUBSETS[name]) if name in SUBSETS else table, LME4["degenerate"][name]["formula"])
    assert fit.not_identified == (SPANNED[name],)
    assert any("the fixed effects already span it" in note for note in fit.notes)
    assert SPANNED[name][3:-1] not in fit.variances
    if name == "collinear_race":
        golden = LME4["degenerate"]["no_name"]
        np.testing.assert_allclose(fit.std_errors, golden["se"], rtol=1e-4)


def test_a_singular_fit_is_named_in_words(tables):
    fit = fit_mixed(tables["degenerate"], LME4["degenerate"]["zero_name"]["formula"])
    assert fit.singular
    assert fit.variances["name"] == 0
    assert any("the variance of (1|name) is estimated at zero" in note for note in fit.notes)
    assert all("(1|name)" in note for note in fit.tidy()["note"])


def test_names_nested_in_groups_without_variance_keep_their_group_effect():
    """stat-01: a well-known estimator says converged here, with the group's effect at 0.0."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        name = np.repeat(np.arange(48), 6)
        group, condition = name % 2, np.tile(np.arange(6) % 2, 48)
        noise = rng.normal(size=288)
        noise -= np.array([noise[name == k].mean() for k in range(48)])[name]
        y = 3 + 0.5 * group + 0.2 * condition + noise
        table = pl.DataFrame({"y": y, "group": group, "cond": condition, "name": name})
        fit = fit_mixed(table, "y ~ group + cond + (1|name)")
        assert fit.converged
        assert fit.singular
        assert fit.beta[fit.coef_names.index("group")] == pytest.approx(0.5, abs=1e-9)


def test_all_names_rated_alike_is_said_in_words_with_effects():
    """stat-03: a boundary fit is told, and fixed effects are still shown, with the method used."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {"y": np.tile(rng.normal(size=10), 8), "name": np.repeat(np.arange(8), 10), "x": np.tile(np.arange(10.0), 8)}
    )
    fit = fit_mixed(table, "y ~ x + (1|name)")
    assert fit.converged
    assert fit.singular
    rows = fit.tidy()
    assert rows["estimate"].is_not_null().all()
    assert set(rows["method"]) == {"linear mixed model, REML"}
    assert "estimated at zero" in rows["note"][0]


def test_warnings_on_the_way_do_not_count_but_the_end_does(tables):
    """stat-02: what is certified is the minimum; no intermediate step is a failure."""
    table = tables["hard_065"]
    fit = fit_mixed(table, LME4["hard_065"]["best"]["formula"])
    assert fit.converged
    assert fit.notes == ()


def test_rows_without_an_outcome_are_counted_by_condition(tables):
    """stat-14: rows with refusals are dropped first, with counts by condition."""
    table = tables["rate_balanced"]
    gone = (pl.col("race") == "black") & (pl.col("profile") == "p01")
    fit = fit_mixed(table.with_columns(y=pl.when(gone).then(None).otherwise("y")), "y ~ race + (1|profile) + (1|name)")
    assert fit.n == 2400 - 50
    assert fit.notes == (
        "50 rows with a missing value are left out (race: white 0 of 600, black 50 of 600, hispanic 0 of 600, asian 0 of 600)",
    )
    same = fit_mixed(table.filter(~gone), "y ~ race + (1|profile) + (1|name)")
    np.testing.assert_allclose(fit.beta, same.beta, rtol=1e-9)


def test_refits_without_a_level_are_fits_of_the_other_rows(tables):
    table = tables["rate_balanced"]
    formula = LME4["rate_balanced"]["full"]["formula"]
    model = lay_out_mixed(table, formula)
    fits = leave_one_out(model, model.fit(), "name")
    assert len(fits) == 40
    for name in ("n00", "n13", "n39"):
        fresh = fit_mixed(table.filter(pl.col("name") != name), formula)
        assert fits[name].criterion == pytest.approx(fresh.criterion, abs=1e-6)
        np.testing.assert_allclose(fits[name].beta, fresh.beta, atol=1e-5 * fresh.std_errors.min())
        np.testing.assert_allclose(fits[name].std_errors, fresh.std_errors, rtol=1e-4)
        np.testing.assert_allclose(fits[name].df_satterthwaite, fresh.df_satterthwaite, rtol=1e-3)
        assert fits[name].levels["name"] == 39


def test_a_refit_that_loses_a_level_has_no_coefficient_for_it(tables):
    model = lay_out_mixed(tables["rate_balanced"], "y ~ race + model + (1|profile) + (1|name)")
    fit = model.without("model", "m03")
    assert fit.coef_names == (
        "(Intercept)",
        "raceblack",
        "racehispanic",
        "raceasian",
        "modelm01",
        "modelm02",
        "modelm04",
    )
    assert fit.n == 1920
    nested = tables["rate_balanced"].with_columns(where=pl.concat_str("stratum", pl.lit("-"), "category"))
    lost = lay_out_mixed(nested, "y ~ race + where + (1|profile) + (1|name)").without("profile", "p05")
    assert lost.not_identified == ("(1|profile)", "wheremid-c2")


def test_refits_of_another_outcome_are_fits_of_it(tables):
    table = tables["rate_balanced"]
    formula = "y ~ race + gender + (1|profile) + (1|name)"
    model = lay_out_mixed(table, formula)
    y = np.random.default_rng(1).normal(size=table.height) + model.y
    refit = model.with_outcome(y).fit(model.fit().warm_start)
    fresh = fit_mixed(table.with_columns(y=pl.Series(y)), formula)
    assert refit.criterion == pytest.approx(fresh.criterion, abs=1e-6)
    np.testing.assert_allclose(refit.std_errors, fresh.std_errors, rtol=1e-4)


def test_a_contrast_of_coefficients_is_that_of_another_reference(tables):
    table = tables["rate_balanced"]
    fit = fit_mixed(table, "y ~ race + (1|profile) + (1|name)")
    row = fit.contrast({"raceblack": 1.0, "raceasian": -1.0}, name="black - asian").row(0, named=True)
    other = fit_mixed(table, "y ~ race + (1|profile) + (1|name)", reference={"race": "asian"})
    at = other.coef_names.index("raceblack")
    assert row["term"] == "black - asian"
    assert row["estimate"] == pytest.approx(other.beta[at])
    assert row["std_error"] == pytest.approx(other.std_errors[at], rel=1e-6)
    assert row["df"] == pytest.approx(other.df_satterthwaite[at], rel=1e-5)


@settings(deadline=None, max_examples=25)
@given(shift=st.floats(-1e6, 1e6), size=st.sampled_from([1e-6, 0.3, 1e5]), order=st.integers(0, 2**31))
def test_units_and_order_of_rows_are_no_matter(shift, size, order):
    rng = np.random.default_rng(5)
    name, profile = rng.integers(12, size=200), rng.integers(6, size=200)
    y = rng.normal(size=200) + rng.normal(size=12)[name] + rng.normal(size=6)[profile] * 0.5
    table = pl.DataFrame({"y": y, "race": [f"r{k % 3}" for k in name], "name": name, "profile": profile})
    formula = "y ~ race + (1|name) + (1|profile)"
    fit = fit_mixed(table, formula)
    moved = table.with_columns(y=shift * size + size * pl.col("y")).sample(fraction=1.0, shuffle=True, seed=order)
    other = fit_mixed(moved, formula)
    assert other.converged
    np.testing.assert_allclose(other.std_errors / size, fit.std_errors, rtol=1e-5)
    np.testing.assert_allclose(other.beta[1:] / size, fit.beta[1:], atol=1e-5 * fit.std_errors.min())
    np.testing.assert_allclose(other.df_satterthwaite, fit.df_satterthwaite, rtol=1e-3)


@pytest.mark.parametrize("frame", ["polars", "pandas"])
def test_either_frame_gives_the_same(tables, frame):
    table = tables["rate_balanced"]
    if frame == "pandas":
        pandas = pytest.importorskip("pandas")
        columns = {name: table[name].to_list() for name in ("y", "race", "profile", "name")}
        table = pandas.DataFrame(columns)
        table["race"] = pandas.Categorical(columns["race"], categories=LEVELS["race"])
    fit = fit_mixed(table, "y ~ race + (1|profile) + (1|name)")
    assert fit.coef_names == ("(Intercept)", "raceblack", "racehispanic", "raceasian")
    assert fit.beta[1] == pytest.approx(fit_mixed(tables["rate_balanced"], "y ~ race + (1|profile) + (1|name)").beta[1])


def test_columns_may_have_any_name():
    """stat-13, and names that other formula languages take for themselves."""
    rng = np.random.default_rng(2)
    names = ["C", "Q", "I", "np", "a b", "(Intercept)", "1"]
    table = pl.DataFrame(
        {name: rng.choice(["u", "v"], 120) for name in names}
        | {"y": rng.normal(size=120), "g": rng.integers(9, size=120)}
    )
    fit = fit_mixed(table, "y ~ C + Q + I + np + `a b` + `(Intercept)` + `1` + (1|g)")
    assert fit.coef_names[1:] == tuple(f"{name}v" for name in names)
    assert fit.converged


@pytest.fixture
def small():
    rng = np.random.default_rng(9)
    columns = {"y": rng.normal(size=60), "race": rng.choice(["a", "b"], 60), "name": rng.integers(6, size=60)}
    return pl.DataFrame(columns)


@pytest.mark.parametrize(
    ("change", "formula", "told"),
    [
        ({}, "y ~ race + (1|nobody)", "no column 'nobody'"),
        ({}, "y ~ race", "no random term"),
        ({"race": pl.lit("a")}, "y ~ race + (1|name)", "one level"),
        ({"y": pl.lit(float("inf"))}, "y ~ race + (1|name)", "infinite"),
        ({"y": pl.lit("four")}, "y ~ race + (1|name)", "no number"),
        ({"y": pl.lit(None, dtype=pl.Float64)}, "y ~ race + (1|name)", "no row is complete"),
        ({"race": pl.int_range(pl.len()).cast(pl.String)}, "y ~ race + (1|name)", "60 rows for 60 coefficients"),
        ({}, "y ~ race + (1|name", "the end"),
        ({}, "y ~ y + (1|name)", "both sides"),
    ],
)
def test_input_that_cannot_be_used_is_one_message(small, change, formula, told):
    with pytest.raises(InputError, match=told):
        fit_mixed(small.with_columns(**change), formula)


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (pl.lit(4.0), "the outcome is constant at 4"),
        (pl.when(pl.col("race") == "a").then(1.0).otherwise(2.0), "the fixed effects fit the outcome exactly"),
        (pl.col("name").cast(pl.Float64) * 1.5, "the effects leave no residual"),
    ],
)
def test_an_outcome_without_residual_is_an_honest_row(small, outcome, told):
    fit = fit_mixed(small.with_columns(y=outcome), "y ~ race + (1|name)")
    assert not fit.converged
    rows = fit.tidy()
    assert rows["std_error"].null_count() == rows.height
    assert all(told in note for note in rows["note"])


def test_a_constant_outcome_has_no_effects(small):
    fit = fit_mixed(small.with_columns(y=pl.lit(0.1)), "y ~ race + (1|name)")
    np.testing.assert_allclose(fit.beta, [0.1, 0.0])


@pytest.mark.parametrize(
    ("formula", "lost"),
    [
        ("y ~ race + (1|name) + (1|again)", "(1|again)"),
        ("y ~ race + (1|name) + (1|row)", "(1|row)"),
        ("y ~ race + (1|name) + (1|one)", "(1|one)"),
        ("y ~ race + (1|name) + (1|name)", "(1|name)"),
    ],
)
def test_terms_that_say_the_same_twice_are_left_out(small, formula, lost):
    table = small.with_columns(again=pl.col("name") * 10, row=pl.int_range(pl.len()), one=pl.lit("only"))
    fit = fit_mixed(table, formula)
    alone = fit_mixed(table, "y ~ race + (1|name)")
    assert fit.not_identified == (lost,)
    assert fit.criterion == pytest.approx(alone.criterion, abs=1e-6)


def test_slopes_that_nothing_tells_apart_give_no_number(small):
    """Each name has one race: how a race effect varies between names is not in the data."""
    table = small.with_columns(race=pl.col("name") % 2 == 0, name=pl.col("name").cast(pl.String))
    table = table.with_columns(
        pl.col("race").replace_strict({True: "a", False: "b"}), y=pl.col("y") + pl.col("name").cast(int)
    )
    fit = fit_mixed(table, "y ~ race + (1 + race|name)")
    assert not fit.converged
    assert any("do not tell the parameters of (1 + race | name) apart" in note for note in fit.notes)
    assert np.isnan(fit.beta).all()


@pytest.mark.slow
def test_intervals_cover_what_was_planted():
    """The race contrast with 40 names of SD 0.2: notes of the design say 95.5% for Satterthwaite in 600 simulations."""
    rng = np.random.default_rng(11)
    name, profile = np.tile(np.arange(40), 12), np.repeat(np.arange(12), 40)
    table = pl.DataFrame(
        {"race": [f"r{k // 10}" for k in name], "name": name, "profile": profile, "y": rng.normal(size=480)}
    )
    model = lay_out_mixed(table, "y ~ race + (1|name) + (1|profile)")
    covered, estimates = [], []
    for _ in range(600):
        y = (
            rng.normal(size=480) * 0.8
            + (rng.normal(size=40) * 0.2)[name]
            + (rng.normal(size=12) * 0.5)[profile]
            - 0.3 * (name // 10 == 1)
        )
        row = model.with_outcome(y).fit().tidy().row(1, named=True)
        covered.append(row["conf_low_satterthwaite"] <= -0.3 <= row["conf_high_satterthwaite"])
        estimates.append(row["estimate"])
    assert np.mean(covered) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 600))
    assert np.mean(estimates) == pytest.approx(-0.3, abs=3 * np.std(estimates) / np.sqrt(600))


ABSORBED = "score ~ race + position + (1|slot) + (1|name)"


@pytest.fixture(scope="module")
def ranked(tables):
    table = tables["rank_like"].filter(pl.col("bundle").str.slice(1).cast(pl.Int64) < 40)
    return table.with_columns(slot=pl.concat_str("bundle", "position", separator="-"))


@pytest.mark.parametrize("reml", [True, False])
def test_what_is_absorbed_is_a_fixed_effect_of_each_level(ranked, reml):
    fit = fit_mixed(ranked, ABSORBED, absorb="call", reml=reml)
    assert not fit.not_identified
    assert "a fixed effect for each of 200 levels of call is taken out" in fit.notes
    if not reml:
        # Full likelihood takes the answers' means out of the data beforehand, and so counts n - 1 values an answer.
        n, calls = ranked.height, ranked["call"].n_unique()
        restricted = fit_mixed(ranked, ABSORBED, absorb="call")
        assert fit.sigma < restricted.sigma
        assert fit.sigma**2 == pytest.approx(restricted.sigma**2 * (n - calls - 6) / (n - calls), rel=2e-2)
    if reml:
        written_out = fit_mixed(ranked, f"{ABSORBED} + call")
        at = [written_out.coef_names.index(term) for term in fit.coef_names]
        np.testing.assert_allclose(fit.beta, written_out.beta[at], atol=1e-9)
        np.testing.assert_allclose(fit.std_errors, written_out.std_errors[at], rtol=1e-6)
        np.testing.assert_allclose(fit.df_satterthwaite, written_out.df_satterthwaite[at], rtol=1e-5)
        assert fit.variances == pytest.approx(written_out.variances, abs=1e-9)
        assert fit.sigma == pytest.approx(written_out.sigma)


def test_what_is_constant_in_absorbed_levels_is_not_identified(ranked):
    fit = fit_mixed(ranked, "score ~ race + gender + (1|slot) + (1|profile)", absorb="call")
    assert fit.not_identified == ("(1|profile)", "genderM")
    same = ranked.with_columns(score=pl.col("score").first().over("call"))
    flat = fit_mixed(same, "score ~ race + (1|slot)", absorb="call")
    assert "the outcome is constant within the groups that are taken out" in flat.notes[-1]
    np.testing.assert_allclose(flat.beta, 0.0, atol=1e-12)


def test_refits_of_an_absorbed_model_are_fits_of_the_rows(ranked):
    model = lay_out_mixed(ranked, ABSORBED, absorb="call")
    fit = model.without("name", "n03", model.fit().warm_start)
    fresh = fit_mixed(ranked.filter(pl.col("name") != "n03"), ABSORBED, absorb="call")
    np.testing.assert_allclose(fit.beta, fresh.beta, atol=1e-6 * fresh.std_errors.min())
    y = np.random.default_rng(4).normal(size=ranked.height)
    refit = model.with_outcome(y).fit()
    again = fit_mixed(ranked.with_columns(score=pl.Series(y)), ABSORBED, absorb="call")
    np.testing.assert_allclose(refit.std_errors, again.std_errors, rtol=1e-5)


@pytest.mark.parametrize("absorbed", [True, False])
def test_refits_without_rows_are_fits_of_the_others(ranked, absorbed):
    formula, absorb = (ABSORBED, "call") if absorbed else (ABSORBED + " + (1|call)", None)
    model = lay_out_mixed(ranked, formula, absorb=absorb)
    start = model.fit().warm_start
    rng = np.random.default_rng(5)
    for share in (0.02, 0.3, 0.8):
        out = rng.random(ranked.height) < share
        refit = model.without_rows(out, start)
        fresh = fit_mixed(ranked.filter(~out), formula, absorb=absorb)
        assert refit.coef_names == fresh.coef_names
        np.testing.assert_allclose(refit.beta, fresh.beta, atol=1e-4 * fresh.std_errors.min())
        np.testing.assert_allclose(refit.std_errors, fresh.std_errors, rtol=1e-4)
        np.testing.assert_allclose(refit.df_satterthwaite, fresh.df_satterthwaite, rtol=1e-3)


def test_refits_without_a_reference_level_are_coded_anew(ranked):
    model = lay_out_mixed(ranked, ABSORBED, absorb="call")
    factor, known = next(iter(model.levels.items()))
    out = (ranked[factor].cast(pl.String) == known[0]).to_numpy()
    refit = model.without_rows(out)
    fresh = fit_mixed(ranked.filter(~out), ABSORBED, absorb="call")
    assert refit.coef_names == fresh.coef_names
    np.testing.assert_allclose(refit.beta, fresh.beta, atol=1e-6)


@pytest.mark.parametrize("out", [np.zeros(3, dtype=bool), np.ones(2, dtype=bool)])
def test_a_choice_of_rows_of_another_shape_is_refused(ranked, out):
    with pytest.raises(InputError, match="choice"):
        lay_out_mixed(ranked, ABSORBED, absorb="call").without_rows(out)


@pytest.mark.parametrize("noise", [0.05, 0.03, 0.01, 0.001])
def test_degrees_of_freedom_hold_where_groups_lie_far_apart(noise):
    """lmerTest gives 7 for the intercept of 8 groups, however small the residual is beside them."""
    rng = np.random.default_rng(2)
    g, e, x = np.repeat(np.arange(8), 5), rng.normal(size=40), rng.normal(size=40)
    fit = fit_mixed(pl.DataFrame({"y": g + noise * e, "g": g, "x": x}), "y ~ x + (1|g)")
    np.testing.assert_allclose(fit.df_satterthwaite, [7, 31], rtol=1e-3)
    contrast = fit.contrast({"(Intercept)": 1.0})
    assert contrast["df"][0] == pytest.approx(fit.df_satterthwaite[0])


@pytest.mark.parametrize("weights", [{}, {"x": 0.0}, {"x": float("nan")}, {"none": 1.0}])
def test_contrasts_without_a_weight_are_refused(small, weights):
    fit = fit_mixed(small.with_columns(x=pl.int_range(pl.len()) * 1.0), "y ~ x + (1|name)")
    with pytest.raises(InputError):
        fit.contrast(weights)


def test_slopes_of_years_need_no_centring_by_hand():
    rng = np.random.default_rng(6)
    a, year = rng.integers(10, size=300), rng.integers(2015, 2023, size=300)
    y = rng.normal(size=300) + rng.normal(size=10)[a] + 0.3 * rng.normal(size=10)[a] * (year - 2018)
    table = pl.DataFrame({"y": y, "year": year, "a": a, "since": year - 2018})
    plain = fit_mixed(table, "y ~ year + (1 + year|a)")
    centred = fit_mixed(table, "y ~ since + (1 + since|a)")
    assert plain.converged
    assert plain.criterion == pytest.approx(centred.criterion, abs=1e-6)
    assert plain.std_errors[1] == pytest.approx(centred.std_errors[1], rel=1e-6)
    assert plain.variances["year|a"] == pytest.approx(centred.variances["since|a"], rel=1e-4)


def test_refits_name_what_they_no_longer_identify():
    rng = np.random.default_rng(8)
    table = pl.DataFrame({"y": rng.normal(size=60), "x": rng.normal(size=60), "z": ["u"] * 30 + ["v"] * 30})
    model = lay_out_mixed(table, "y ~ x + (1|z)")
    for level, fit in leave_one_out(model, model.fit(), "z").items():
        fresh = fit_mixed(table.filter(pl.col("z") != level), "y ~ x + (1|z)")
        assert fit.not_identified == fresh.not_identified == ("(1|z)",)
        np.testing.assert_allclose(fit.std_errors, fresh.std_errors, rtol=1e-6)


def test_refits_without_the_reference_have_another(small):
    table = small.with_columns(race=pl.col("name").replace_strict({k: "pqr"[k % 3] for k in range(6)}))
    fit = lay_out_mixed(table, "y ~ race + (1|name)").without("race", "p")
    fresh = fit_mixed(table.filter(pl.col("race") != "p"), "y ~ race + (1|name)")
    assert fit.coef_names == fresh.coef_names == ("(Intercept)", "racer")
    assert fit.reference == {"race": "q"}
    np.testing.assert_allclose(fit.beta, fresh.beta, rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_refits_of_random_designs_are_fits_of_the_other_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 160))
    columns = {name: rng.integers(int(rng.integers(2, 9)), size=n) for name in ("a", "b", "c")}
    text = {name: [f"{name}{code}" for code in codes] for name, codes in columns.items()}
    table = pl.DataFrame({**text, "y": rng.normal(size=n) + rng.normal(size=9)[columns["b"]]})
    formula = "y ~ a + (1|b) + (1|c)"
    try:
        model = lay_out_mixed(table, formula)
    except InputError:
        pytest.skip("the factor has one level in this draw")
    for column in ("b", "c"):
        for level, fit in leave_one_out(model, model.fit(), column).items():
            fresh = fit_mixed(table.filter(pl.col(column) != level), formula)
            assert (fit.converged, fit.not_identified) == (fresh.converged, fresh.not_identified)
            np.testing.assert_allclose(fit.beta, fresh.beta, atol=1e-4 * np.nanmin(fresh.std_errors))


def test_nothing_is_printed_where_every_term_is_eliminated(small, capfd):
    fit = fit_mixed(small, "y ~ 1 + (1|name)", reml=False)
    assert fit.converged
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("start", [WarmStart(np.array([np.nan]), np.eye(1)), WarmStart(np.ones(3), np.eye(3))])
def test_a_start_that_does_not_fit_is_not_used(small, start):
    model = lay_out_mixed(small, "y ~ race + (1|name)")
    assert model.fit(start).criterion == pytest.approx(model.fit().criterion, abs=1e-6)


@pytest.mark.parametrize(("column", "level"), [("nobody", "a"), ("race", "z"), ("name", None)])
def test_levels_that_are_not_there_are_refused(small, column, level):
    with pytest.raises(InputError):
        lay_out_mixed(small, "y ~ race + (1|name)").without(column, level)


def test_an_empty_term_is_one_message(small):
    with pytest.raises(InputError, match="nothing varies"):
        fit_mixed(small, "y ~ race + (0|name)")


@pytest.mark.parametrize("seed", range(10))
def test_profiles_that_lie_far_apart_leave_the_rest_to_be_told(seed):
    """The profile's SD is a hundred times the residual's, as in triage at temperature 0."""
    rng = np.random.default_rng(seed)
    profile, name, model = (grid.ravel() for grid in np.meshgrid(range(6), range(24), range(2), indexing="ij"))
    y = 100 * profile + 4 * rng.normal(size=len(profile))
    table = pl.DataFrame({"y": y, "profile": profile, "name": name, "model": [f"m{k}" for k in model]})
    table = table.with_columns(race=pl.col("name") % 4, stimulus=pl.col("profile") * 100 + pl.col("name"))
    formula = "y ~ race + (1|model) + (1|profile) + (1|name) + (1|stimulus)"
    fit = fit_mixed(table, formula, reference={"race": "0"})
    assert fit.converged
    flat = fit_mixed(table.with_columns(y=pl.col("y") - 100 * pl.col("profile")), formula, reference={"race": "0"})
    np.testing.assert_allclose(fit.beta[1:], flat.beta[1:], atol=1e-3 * flat.std_errors[1:].min())
    # Without that distance the profile variance may be estimated at zero, which lends profiles' means some weight.
    np.testing.assert_allclose(fit.std_errors[1:], flat.std_errors[1:], rtol=2e-2)


@pytest.mark.parametrize("seed", range(12))
def test_refits_without_the_one_name_that_varies_say_so(seed):
    """A respondent at temperature 0 rates all names alike but one: without that one nothing is left to weigh by."""
    name, profile = np.tile(np.arange(8), 12), np.repeat(np.arange(12), 8)
    y = np.where(name == 0, np.random.default_rng(seed).integers(1, 6, 96), 4)
    table = pl.DataFrame({"y": y, "name": name, "profile": profile, "race": name % 2})
    model = lay_out_mixed(table, "y ~ race + (1|name) + (1|profile)")
    found = leave_one_out(model, model.fit(), "name")
    assert not found["0"].converged
    assert "the outcome is constant at 4" in found["0"].notes[-1]
    for level in range(1, 8):
        fresh = fit_mixed(table.filter(pl.col("name") != level), "y ~ race + (1|name) + (1|profile)")
        assert found[str(level)].converged == fresh.converged
        np.testing.assert_allclose(found[str(level)].std_errors, fresh.std_errors, rtol=1e-3)


@pytest.mark.parametrize("size", [1e2, 1e5, 1e8])
def test_refits_without_a_wild_level_are_those_of_the_tame(size):
    rng = np.random.default_rng(3)
    name, profile = np.tile(np.arange(8), 12), np.repeat(np.arange(12), 8)
    y = rng.normal(size=96) * np.where(name == 0, size, 1.0) + rng.normal(size=12)[profile]
    table = pl.DataFrame({"y": y, "name": name, "profile": profile, "race": name % 2})
    fit = lay_out_mixed(table, "y ~ race + (1|name) + (1|profile)").without("name", 0)
    fresh = fit_mixed(table.filter(pl.col("name") != 0), "y ~ race + (1|name) + (1|profile)")
    np.testing.assert_allclose(fit.std_errors, fresh.std_errors, rtol=1e-3)


def test_terms_of_like_names_are_told_apart(small):
    table = small.with_columns(pl.Series("a:b", [k % 7 for k in range(60)]), a=pl.Series([k % 3 for k in range(60)]))
    table = table.with_columns(b=pl.Series([k // 3 % 5 for k in range(60)]))
    fit = fit_mixed(table, "y ~ race + (1|a:b) + (1|`a:b`)")
    assert set(fit.variances) == {"a:b", "`a:b`"}
    assert set(fit.covariances) == {"(1|a:b)", "(1|`a:b`)"}


def test_covariances_of_slopes_are_those_of_lme4(tables):
    golden = LME4["slopes"]["full"]
    fit = fit_mixed(tables["slopes"], golden["formula"])
    found = fit.covariances["(1 + race | model)"]
    rows = [row for row in golden["varcorr"] if row["grp"] == "model"]
    names = ["(Intercept)", "raceblack", "racehispanic", "raceasian"]
    assert len(rows) == 10
    for row in rows:
        at = (names.index(row["var1"]), names.index(row.get("var2") or row["var1"]))
        assert found[at] == pytest.approx(row["vcov"], rel=1e-3, abs=1e-5)
