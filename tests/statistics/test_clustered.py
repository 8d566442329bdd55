"""Formulas, design matrices, and least squares with cluster-robust errors: against R, and on input that is wrong."""

import json
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.statistics.clustered import FOR_THESE_ONLY, fit_clustered
from evenhand.statistics.formulas import Formula, RandomTerm, parse_formula
from evenhand.statistics.matrices import build_matrices

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


@pytest.mark.parametrize(
    ("formula", "change", "message"),
    [
        ("y ~ nobody", {}, "no column 'nobody'"),
        ("race ~ gender", {}, "the outcome 'race' is Enum"),
        ("y ~ race", {"y": pl.lit(float("inf"))}, "infinite"),
        ("y ~ race", {"y": pl.lit(None, pl.Float64)}, "no row is complete"),
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


def test_unknown_references_are_refused(rates):
    with pytest.raises(InputError, match="race has no level 'green'"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference={"race": "green"})
    with pytest.raises(InputError, match="'gender' is not in the formula"):
        fit_clustered(rates, "y ~ race", cluster="bundle", reference={"gender": "F"})
