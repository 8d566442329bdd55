"""Formulas, design matrices, and least squares with cluster-robust errors: against R, and on input that is wrong."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.statistics.clustered import FOR_THESE_ONLY, fit_clustered
from evenhand.statistics.formulas import Formula, RandomTerm, parse_formula
from evenhand.statistics.matrices import build_matrices
from evenhand.statistics.mixed import fit_mixed

DATA = Path(__file__).parents[1] / "data"
GOLDEN = json.loads((DATA / "ols_cluster.json").read_text(encoding="utf-8"))["fits"]["rate"]
LEVELS = {
    "race": ["white", "black", "hispanic", "asian"],
    "gender": ["F", "M"],
    "stratum": ["low", "mid", "high"],
    "framing": ["neutral", "charged"],
}
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.]{0,8}", fullmatch=True)


@pytest.fixture(scope="module")
def rates():
    table = pl.read_csv(DATA / "rate_balanced.csv.gz")
    return table.with_columns(pl.col(name).cast(pl.Enum(levels)) for name, levels in LEVELS.items())


@pytest.mark.parametrize("errors", ["cr1", "cr2"])
def test_estimates_and_errors_are_those_of_r(rates, errors):
    fit = fit_clustered(rates, GOLDEN["formula"], cluster="bundle", errors=errors)
    assert list(fit.coef_names) == GOLDEN["coef_names"]
    np.testing.assert_allclose(fit.beta, GOLDEN["beta"], rtol=1e-10)
    np.testing.assert_allclose(fit.std_errors, GOLDEN[f"se_{errors}"], rtol=1e-10)
    df = GOLDEN["df_cr2"] if errors == "cr2" else [GOLDEN["G"] - 1] * len(fit.beta)
    np.testing.assert_allclose(fit.df, df, rtol=1e-9)
    assert (fit.n, fit.clusters) == (GOLDEN["n"], GOLDEN["G"])


def test_tidy_rows_say_for_whom_they_speak(rates):
    table = fit_clustered(rates, "y ~ race", cluster="bundle").tidy()
    row = table.filter(pl.col("term") == "raceblack").row(0, named=True)
    assert row["conf_low"] < row["estimate"] < row["conf_high"]
    assert 0 < row["p_value"] < 1
    assert row["note"] == FOR_THESE_ONLY


def test_formulas_are_read_as_lme4_reads_them():
    assert parse_formula("rating ~ race + gender + (1|profile) + (1 + race | model)") == Formula(
        "rating",
        ((), ("race",), ("gender",)),
        (RandomTerm(((),), ("profile",)), RandomTerm(((), ("race",)), ("model",))),
    )
    assert parse_formula("y ~ a*b*c").terms == (
        *((), ("a",), ("b",), ("c",)),
        *(("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")),
    )
    assert parse_formula("y ~ 0 + a:b").terms == (("a", "b"),)
    assert parse_formula("y ~ a - 1").terms == (("a",),)
    assert parse_formula("y ~ (0 + x | g:h)").random == (RandomTerm((("x",),), ("g", "h")),)
    assert parse_formula("`my y` ~ `C` + Q + I").columns == ("my y", "C", "Q", "I")


@pytest.mark.parametrize(
    "text",
    ["", "y", "y ~", "y ~ +", "~ a", "y ~ a +", "y ~ a b", "y ~ (1|g", "y ~ (1 g)", "y ~ 2", "y ~ a - b", "y ~ a$b", "y ~ a ~ b",
     "y ~ (a)", "y ~ `a", "y ~ - 0", "y ~ a ^ 2"],
)  # fmt: skip
def test_what_is_no_formula_is_refused_with_its_place(text):
    with pytest.raises(InputError, match="at character"):
        parse_formula(text)


@settings(max_examples=200)
@given(text=st.text(alphabet="ab~+-*:()|01 `$", max_size=20))
def test_the_reader_of_formulas_never_fails_otherwise(text):
    with suppress(InputError):
        assert isinstance(parse_formula(text), Formula)


@given(columns=st.lists(names, min_size=2, max_size=5, unique=True))
def test_any_column_name_is_a_column_name(columns):
    outcome, *factors = columns
    assert parse_formula(f"{outcome} ~ {' + '.join(factors)}").columns == tuple(columns)


def test_factors_without_their_margin_get_every_level(rates):
    laid = build_matrices(rates, parse_formula("y ~ race:gender"))
    assert laid.coef_names[:3] == ("(Intercept)", "racewhite:genderF", "raceblack:genderF")
    assert len(laid.coef_names) == 9
    crossed = build_matrices(rates, parse_formula("y ~ race*gender"))
    assert crossed.coef_names[-3:] == ("raceblack:genderM", "racehispanic:genderM", "raceasian:genderM")
    assert np.linalg.matrix_rank(crossed.x) == 8


def test_the_reference_is_the_first_level_or_the_one_named(rates):
    assert build_matrices(rates, parse_formula("y ~ race")).levels["race"][0] == "white"
    text = rates.with_columns(pl.col("race").cast(pl.String))
    assert build_matrices(text, parse_formula("y ~ race")).levels["race"] == ("asian", "black", "hispanic", "white")
    chosen = build_matrices(text, parse_formula("y ~ race"), reference={"race": "hispanic"})
    assert chosen.coef_names == ("(Intercept)", "raceasian", "raceblack", "racewhite")


def test_numbers_are_factors_where_a_reference_is_named():
    table = pl.DataFrame({"y": [1.0, 2.0, 3.0, 4.0], "place": [1, 2, 1, 2]})
    assert build_matrices(table, parse_formula("y ~ place")).coef_names == ("(Intercept)", "place")
    assert build_matrices(table, parse_formula("y ~ place"), reference={"place": "2"}).coef_names == (
        "(Intercept)",
        "place1",
    )


def test_rows_with_a_missing_value_are_left_out_and_counted(rates):
    holes = rates.with_columns(y=pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("y")))
    fit = fit_clustered(holes, "y ~ race", cluster="bundle")
    assert fit.n == 2160
    assert any("240 rows with a missing value are left out" in note for note in fit.notes)


def test_what_others_determine_is_named_and_left_out(rates):
    doubled = rates.with_columns(race_again=pl.col("race"))
    fit = fit_clustered(doubled, "y ~ race + race_again", cluster="bundle")
    assert fit.not_identified == ("race_againblack", "race_againhispanic", "race_againasian")
    plain = fit_clustered(rates, "y ~ race", cluster="bundle")
    np.testing.assert_allclose(fit.beta, plain.beta, atol=1e-10)


def test_a_constant_outcome_is_said_and_has_no_error(rates):
    fit = fit_clustered(rates.with_columns(y=pl.lit(4.0)), "y ~ race", cluster="bundle")
    assert "the outcome is constant" in fit.notes
    row = fit.tidy().row(1, named=True)
    assert row["estimate"] == pytest.approx(0.0, abs=1e-12)
    assert row["std_error"] is row["p_value"] is None


@pytest.mark.parametrize(
    ("formula", "change", "message"),
    [
        ("y ~ nobody", {}, "no column 'nobody'"),
        ("race ~ gender", {}, "the outcome 'race' is Enum"),
        ("y ~ race", {"y": pl.lit(float("inf"))}, "infinite"),
        ("y ~ race", {"y": pl.lit(None, pl.Float64)}, "no row is complete: there is no value in y"),
        ("y ~ race", {"y": pl.lit(float("nan"))}, "there is no value in y"),
        ("y ~ race", {"y": pl.lit(None, pl.String)}, "there is no value in y"),
        ("y ~ race + none", {"none": pl.lit(None)}, "there is no value in none"),
        ("y ~ race", {"y": pl.col("y") * 1e200}, "y is of the size of"),
        ("y ~ race", {"y": pl.col("y") * 1e-200}, "another unit"),
        ("y ~ x", {"x": pl.int_range(pl.len()) * 1e160}, "x is of the size of"),
        ("y ~ x:z", {"x": pl.int_range(pl.len()) * 1e30, "z": pl.lit(1e30)}, "x:z is of the size of"),
        ("y ~ race", {"y": 2**53 + pl.int_range(pl.len())}, "y holds integers that cannot be told apart"),
        ("y ~ x", {"x": -(2**53) - pl.int_range(pl.len())}, "x holds integers that cannot be told apart"),
        (
            "y ~ race + racewhite",
            {"race": pl.col("race").cast(pl.String), "racewhite": pl.col("y")},
            "of race and of racewhite",
        ),
        ("y ~ x*z + `x:z`", {"x": pl.col("y"), "z": pl.col("y"), "x:z": pl.col("y")}, "of `x:z` and of x:z"),
        ("y ~ `a\nb`", {"a\nb": pl.lit(float("inf"))}, r"'a\nb' holds an infinite value"),
        ("y ~ one", {"one": pl.lit("same")}, "the factor 'one' has one level"),
        ("y ~ race", {"bundle": pl.lit("all")}, "in 1 cluster "),
        ("y ~ race + (1|name)", {}, "random terms"),
        ("y ~ name:profile", {"name": pl.int_range(pl.len()).cast(pl.String)}, "coefficients"),
    ],
)
def test_unusable_input_is_one_message(rates, formula, change, message):
    small = rates.head(60) if "name:profile" in formula else rates
    with pytest.raises(InputError) as caught:
        fit_clustered(small.with_columns(**change), formula, cluster="bundle")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_references_are_refused(rates):
    with pytest.raises(InputError, match="race has no level 'green'"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference={"race": "green"})
    with pytest.raises(InputError, match="'gender' is not in the formula"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference={"gender": "F"})
    with pytest.raises(InputError, match="'y' is the outcome or a group alone"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference={"y": "1"})
    with pytest.raises(InputError, match="'name' is the outcome or a group alone"):
        fit_mixed(rates, "y ~ race + (1|name)", reference={"name": "n00"})
    with pytest.raises(InputError, match="names no levels"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference=["race"])
    many = rates.with_columns(x=pl.int_range(pl.len()))
    with pytest.raises(InputError) as caught:
        fit_clustered(many, "y ~ x", cluster="bundle", reference={"x": "-1"})
    assert str(caught.value).count(",") == 12


def clustered(clusters=8, size=6, seed=1):
    rng = np.random.default_rng(seed)
    c = np.repeat(np.arange(clusters), size)
    x = rng.normal(size=len(c))
    return pl.DataFrame({"y": x + rng.normal(size=len(c)), "x": x, "c": c, "t": c % 2, "d": [f"c{k}" for k in c]})


@pytest.mark.parametrize("errors", ["cr1", "cr2"])
@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e6])
@pytest.mark.parametrize(
    ("formula", "change", "lacking", "why"),
    [
        ("y ~ t", {"c": pl.col("t")}, ["(Intercept)", "t"], "the clusters do not differ"),
        ("y ~ 0 + d", {}, [f"dc{k}" for k in range(8)], "the clusters do not differ"),
        ("y ~ x", {"y": 3 * pl.col("x") + 2020}, ["(Intercept)", "x"], "fits the outcome without error"),
        ("y ~ x", {"x": 2000.0 + pl.col("c"), "y": 7.0 * pl.col("c") + 0.1}, ["(Intercept)", "x"], "without error"),
        ("y ~ x + t", {"y": pl.lit(4.1)}, ["(Intercept)", "x", "t"], "without error"),
    ],
)
def test_rounding_is_no_standard_error(formula, change, lacking, why, unit, errors):
    data = clustered().with_columns(**change).with_columns(pl.col("y") * unit)
    fit = fit_clustered(data, formula, cluster="c", errors=errors)
    assert np.isnan(fit.std_errors).all()
    [note] = [note for note in fit.notes if note.startswith("no standard error")]
    assert note.startswith(f"no standard error for {', '.join(lacking)}: ")
    assert why in note
    assert fit.tidy()["p_value"].is_null().all()


@pytest.mark.parametrize("errors", ["cr1", "cr2"])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_small_errors_are_errors(shift, errors):
    """An outcome that varies by a billionth of its size still has the errors that its variation gives."""
    data = clustered()
    plain = fit_clustered(data, "y ~ x", cluster="c", errors=errors)
    moved = data.with_columns(y=1e-3 * pl.col("y") + shift)
    np.testing.assert_allclose(
        fit_clustered(moved, "y ~ x", cluster="c", errors=errors).std_errors, 1e-3 * plain.std_errors, rtol=1e-4
    )


@pytest.mark.parametrize("unit", [1e-34, 1e34])
def test_units_do_not_matter(unit):
    data = clustered()
    plain = fit_clustered(data, "y ~ x", cluster="c", errors="cr2")
    for column, power in (("y", 1), ("x", -1)):
        other = fit_clustered(data.with_columns(pl.col(column) * unit), "y ~ x", cluster="c", errors="cr2")
        np.testing.assert_allclose(other.std_errors[1], plain.std_errors[1] * unit**power, rtol=1e-9)
        np.testing.assert_allclose(other.df, plain.df, rtol=1e-9)


def test_few_clusters_are_said():
    fit = fit_clustered(clustered(clusters=3), "y ~ x + t", cluster="c")
    assert "3 clusters for 3 coefficients: standard errors are too small" in fit.notes
    assert not any("too small" in note for note in fit_clustered(clustered(), "y ~ x", cluster="c").notes)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 999))
def test_cr2_is_what_its_definition_gives(seed):
    """Bell and McCaffrey (2002): residuals of a cluster times the inverse root of I - H there, H whole."""
    data = clustered(clusters=5, size=4, seed=seed)
    fit = fit_clustered(data, "y ~ x + t", cluster="c", errors="cr2")
    x = np.column_stack([np.ones(data.height), data["x"].to_numpy(), data["t"].to_numpy()])
    bread = np.linalg.inv(x.T @ x)
    whole = np.eye(len(x)) - x @ bread @ x.T
    residuals = whole @ data["y"].to_numpy()
    meat, weights = np.zeros((3, 3)), []
    for one in range(5):
        rows = np.flatnonzero(data["c"].to_numpy() == one)
        values, vectors = np.linalg.eigh(whole[np.ix_(rows, rows)])
        safe = values > 1e-10
        half = (vectors[:, safe] / np.sqrt(values[safe])) @ vectors[:, safe].T
        score = x[rows].T @ half @ residuals[rows]
        meat += np.outer(score, score)
        weights.append(whole[:, rows] @ half @ x[rows] @ bread)
    np.testing.assert_allclose(fit.std_errors, np.sqrt(np.diag(bread @ meat @ bread)), rtol=1e-8)
    for k in range(3):
        columns = np.column_stack([weight[:, k] for weight in weights])
        products = columns.T @ columns
        assert fit.df[k] == pytest.approx(np.trace(products) ** 2 / (products**2).sum(), rel=1e-7)


def test_large_clusters_cost_no_more_than_their_rows():
    data = clustered(clusters=2, size=20_000)
    fit = fit_clustered(data.with_columns(c=pl.int_range(pl.len()) % 3), "y ~ x", cluster="c", errors="cr2")
    assert np.isfinite(fit.std_errors).all()


def test_repeated_factors_count_once_and_long_products_are_refused():
    assert parse_formula("y ~ " + "*".join("x" * 26)).terms == ((), ("x",))
    assert parse_formula("y ~ a:b*b:a").terms == ((), ("a", "b"))
    assert len(parse_formula("y ~ " + "*".join("abcdefghij")).terms) == 2**10
    with pytest.raises(InputError, match="a product of 11 columns"):
        parse_formula("y ~ " + "*".join("abcdefghijk"))


@pytest.mark.parametrize("formula", [None, 3, ["y ~ x"], b"y ~ x"])
def test_what_is_no_text_is_no_formula(formula):
    with pytest.raises(InputError, match="is no formula"):
        fit_clustered(clustered(), formula, cluster="c")


@pytest.mark.parametrize("cluster", [None, ["c"], 3, {"c"}])
def test_a_cluster_is_one_column(cluster):
    with pytest.raises(InputError, match=r"^cluster: .* is no column name"):
        fit_clustered(clustered(), "y ~ x", cluster=cluster)


@pytest.mark.parametrize(
    "data", [{"y": [1]}, clustered().lazy(), np.eye(3), None], ids=["dict", "lazy", "array", "none"]
)
def test_data_that_are_no_frame_are_refused(data):
    with pytest.raises(InputError, match=r"Give a polars or pandas frame|Collect it"):
        fit_clustered(data, "y ~ x", cluster="c")


def test_no_row_is_said():
    with pytest.raises(InputError, match="there is no row"):
        fit_clustered(clustered().clear(), "y ~ x", cluster="c")


def test_one_row_is_one_row():
    holed = clustered().with_columns(y=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("y")))
    assert "1 row with a missing value is left out (of 48)" in fit_clustered(holed, "y ~ x", cluster="c").notes


@pytest.mark.parametrize(
    ("values", "reference", "names"),
    [
        ([1e-5, 2.5, 1e22], 1e-5, ("v2.5", "v1e+22")),
        ([1e-5, 2.5, 1e22], "1e-05", ("v2.5", "v1e+22")),
        ([0.0, -0.0, 2.5], "-0.0", ("v2.5",)),
        ([0.0, 1.0, 2.5], "1", ("v0.0", "v2.5")),
        ([2**53, 2**53 + 1, 2**53 + 2], str(2**53 + 1), (f"v{2**53}", f"v{2**53 + 2}")),
        ([True, False, True], "TRUE", ("vfalse",)),
    ],
)
@pytest.mark.parametrize("frame", ["polars", "pandas"])
def test_levels_are_told_apart_by_value(values, reference, names, frame):
    data = clustered().with_columns(v=pl.Series(values * 16))
    data = data if frame == "polars" else pd.DataFrame(data.to_dict(as_series=False))
    fit = fit_clustered(data, "y ~ v", cluster="c", reference={"v": reference})
    assert fit.coef_names == ("(Intercept)", *names)


def test_levels_of_single_precision_are_written_as_they_are():
    data = clustered().with_columns(v=pl.Series([0.1, 0.2, 0.3] * 16, dtype=pl.Float32))
    fit = fit_clustered(data, "y ~ v", cluster="c", reference={"v": 0.2})
    assert fit.coef_names == ("(Intercept)", "v0.1", "v0.3")


def test_truth_values_are_numbers_unless_they_have_a_reference():
    data = clustered().with_columns(v=pl.col("x") > 0)
    numbers = fit_clustered(data.with_columns(pl.col("v").cast(pl.Int8)), "y ~ v", cluster="c")
    fit = fit_clustered(data, "y ~ v", cluster="c")
    assert fit.coef_names == ("(Intercept)", "v")
    np.testing.assert_array_equal(fit.beta, numbers.beta)
    assert fit_clustered(data, "y ~ v", cluster="c", reference={"v": "false"}).coef_names == ("(Intercept)", "vtrue")


@pytest.mark.parametrize(
    "dtype", [pl.Int128, pl.Decimal(10, 2), pl.Float32, pl.UInt8, pl.String, pl.Categorical, pl.Date]
)
def test_clusters_and_groups_may_be_of_any_kind_that_is_read(dtype):
    data = clustered()
    named = data.with_columns(pl.col("d").cast(dtype) if dtype == pl.Categorical else pl.col("c").cast(dtype))
    named = named if dtype != pl.Categorical else named.with_columns(c=pl.col("d"))
    plain, other = (fit_clustered(table, "y ~ x", cluster="c") for table in (data, named))
    np.testing.assert_allclose(other.std_errors, plain.std_errors, rtol=1e-12)
    assert fit_mixed(named, "y ~ x + (1|c)").n == 48


@pytest.mark.parametrize("errors", ["cr1", "cr2"])
def test_a_level_that_one_cluster_alone_holds_has_no_error(errors):
    rng = np.random.default_rng(1)
    cluster = np.repeat(np.arange(40), 5)
    level = np.where(cluster == 7, "only", np.where(cluster % 2, "a", "b"))
    y = rng.normal(size=200) + rng.normal(size=40)[cluster]
    fit = fit_clustered(
        pl.DataFrame({"y": y, "level": level, "cluster": cluster}), "y ~ level", cluster="cluster", errors=errors
    )
    assert fit.coef_names == ("(Intercept)", "levelb", "levelonly")
    assert np.isnan(fit.std_errors).tolist() == [False, False, True]
    assert "no standard error for levelonly: one cluster alone tells what it is" in fit.notes
