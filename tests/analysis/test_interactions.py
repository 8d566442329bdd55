"""Format-by-group interactions: the stacked fit against statsmodels, planted reversals, and what cannot be fitted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from small_audits import bundles, one, ordering, rated, singles, table
from verdict_audits import MODELS, verdict_material

from evenhand.analysis.interactions import interactions, primary_endpoint
from evenhand.analysis.material import Material
from evenhand.analysis.setting import Family, Setting
from evenhand.statistics import correct

STACKED = "stacked least squares"


@pytest.fixture(scope="module")
def reversed_study():
    """Black names gain when rated and lose when ranked."""
    return verdict_material(3, domains=("hiring", "triage"), rating={"Black": 0.5}, ranking={"Black": -0.6})


@pytest.fixture(scope="module")
def found(reversed_study):
    return interactions(reversed_study)


def of_method(frame, start):
    return frame.filter(pl.col("method").str.starts_with(start))


def test_every_domain_and_group_has_a_row_in_each_specification(found):
    counted = found.group_by("method").len()["len"].to_list()
    assert counted == [2 * 4] * 4
    assert set(found["estimand"]) == {"interaction"}
    assert set(found["format"]) == {"rate - rank_ties"}


def test_a_planted_reversal_is_found_and_nothing_else(found):
    survivors = of_method(found, STACKED).filter(pl.col("q_value") < 0.05)
    assert set(survivors["group"]) == {"Black"}
    assert (survivors["estimate"] > 0.3).all()
    assert survivors.height == 2


def test_specifications_agree_on_the_estimate(found):
    """Designs are nearly balanced: specifications differ in errors, hardly in estimates."""
    spread = found.group_by("domain", "group").agg(pl.col("estimate").max() - pl.col("estimate").min())
    assert spread["estimate"].max() < 0.1


def test_correction_is_within_a_specification(found):
    for _, family in found.group_by("method"):
        expected = correct(family["p_value"].to_list()).values
        assert family["q_value"].to_list() == pytest.approx(list(expected))


def test_the_stacked_fit_is_least_squares_of_all_terms_by_format(reversed_study, found):
    """statsmodels, with the same columns written out and errors clustered on the stimulus or the bundle."""
    rating = reversed_study.cell("hiring", "rate", "single")
    ranking = reversed_study.cell("hiring", "rank_ties", "disguised")
    parts = [
        cell.rows.select(
            "race", "gender", pl.col("y") / cell.sd, cluster=pl.concat_str(pl.lit(cell.format), repeats),
            rated=pl.lit(int(cell is rating)), model="model", profile="profile",
            position=pl.col("position") if cell is ranking else pl.lit(1, pl.Int64),
        )
        for cell, repeats in ((rating, "stimulus"), (ranking, "unit"))
    ]  # fmt: skip
    data = pd.DataFrame(pl.concat(parts).to_dict(as_series=False))
    data["profile_rated"] = np.where(data["rated"] == 1, data["profile"], data["profile"].min())
    data["profile_ranked"] = np.where(data["rated"] == 0, data["profile"], data["profile"].min())
    data["model_rated"] = np.where(data["rated"] == 1, data["model"], data["model"].min())
    formula = (
        "y ~ (C(race, Treatment('White')) + C(gender, Treatment('Male'))) * rated"
        " + C(position) + C(profile_rated) + C(profile_ranked) + C(model_rated)"
    )
    codes = data["cluster"].astype("category").cat.codes
    theirs = smf.ols(formula, data).fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    for group in ("Black", "Hispanic", "Asian"):
        term = f"C(race, Treatment('White'))[T.{group}]:rated"
        ours = one(of_method(found, STACKED), domain="hiring", group=group)
        assert ours["estimate"] == pytest.approx(theirs.params[term], rel=1e-8)
        assert ours["std_error"] == pytest.approx(theirs.bse[term], rel=1e-8)
        assert ours["p_value"] == pytest.approx(theirs.pvalues[term], rel=1e-6)


def test_the_respondent_has_no_effect_where_calls_sum_to_a_constant(reversed_study, found):
    """Shifting one respondent's ratings moves only its intercept, and the interaction stays as it is."""
    rate = pl.col("task") == "rate"
    moved = pl.when(rate & (pl.col("model") == "m1")).then(pl.col("rating") + 7).otherwise(pl.col("rating"))
    again = interactions(Material.of(reversed_study.outcomes.with_columns(rating=moved), reversed_study.setting))
    for group in ("Black", "Female"):
        before = one(of_method(found, STACKED), domain="hiring", group=group)
        after = one(of_method(again, STACKED), domain="hiring", group=group)
        # Only the SD by which ratings are divided has changed.
        assert np.sign(before["estimate"]) == np.sign(after["estimate"])
        assert after["estimate"] / after["std_error"] == pytest.approx(
            before["estimate"] / before["std_error"], rel=0.1
        )


def test_the_difference_of_the_fits_is_that_of_both_contrasts(reversed_study, found):
    rows = primary_endpoint(reversed_study)
    sides = rows.filter(estimand="primary_endpoint_side")
    assert sides.height == 2
    difference = sides["estimate"][0] - sides["estimate"][1]
    error = float(np.hypot(*sides["std_error"].to_list()))
    row = one(of_method(found, "hierarchical: difference"), domain="hiring", group="Black")
    assert row["estimate"] == pytest.approx(difference)
    assert row["std_error"] == pytest.approx(error)
    smaller, larger = sorted(sides["df"].to_list())
    assert smaller <= row["df"] <= smaller + larger


def test_the_endpoint_stands_first_uncorrected(reversed_study, found):
    rows = primary_endpoint(reversed_study)
    first = rows.row(0, named=True)
    same = one(of_method(found, STACKED), domain="hiring", group="Black")
    assert (first["estimand"], first["domain"], first["group"]) == ("primary_endpoint", "hiring", "Black")
    assert first["estimate"] == same["estimate"]
    assert first["q_value"] is None
    assert "fixed before collection" in first["note"]
    assert rows["method"].n_unique() >= 5


def test_another_study_says_that_its_endpoint_was_not_fixed():
    material = verdict_material(5, domains=("lending",), models=("m1", "m2"))
    first = primary_endpoint(material, group="Klingon").row(0, named=True)
    assert (first["domain"], first["group"]) == ("lending", "Asian")
    assert "no hiring Klingon" in first["note"]


def test_without_a_pair_of_formats_there_is_nothing():
    rng = np.random.default_rng(1)
    material = Material.of(table(singles("rate", rated(rng))))
    assert interactions(material).is_empty()
    assert primary_endpoint(material).is_empty()


def test_answers_that_do_not_vary_are_told_of():
    rng = np.random.default_rng(1)
    rows = singles("rate", lambda *_: 3, models=MODELS) + bundles("rank_ties", ordering(rng), models=MODELS)
    found = interactions(Material.of(table(rows)))
    assert found.height == 16
    assert found["estimate"].null_count() == 16
    assert found["note"].str.contains("do not vary").all()


def test_a_group_that_one_format_lacks_has_its_row():
    rng = np.random.default_rng(2)
    rows = singles("rate", rated(rng), chosen=lambda _, name: name[0] != "Asian", models=MODELS)
    rows += bundles("rank_ties", ordering(rng), models=MODELS)
    found = of_method(interactions(Material.of(table(rows))), STACKED)
    assert one(found, group="Asian")["estimate"] is None
    assert "not identified" in one(found, group="Asian")["note"]
    assert one(found, group="Black")["estimate"] is not None
    assert found["note"].str.contains("1 of 4 interactions have no p value").all()


def test_forced_rankings_are_paired_where_the_family_has_them():
    rng = np.random.default_rng(4)
    rows = singles("rate", rated(rng)) + bundles("rank", ordering(rng))
    material = Material.of(table(rows), Setting(families=(Family(formats=("rate", "rank")),)))
    assert set(interactions(material)["format"]) == {"rate - rank"}


def test_one_respondent_is_enough():
    material = verdict_material(6, models=("m1",))
    found = of_method(interactions(material), STACKED)
    assert found["estimate"].null_count() == 0
