"""`evenhand fit` as a user types it."""

import json
from pathlib import Path

import polars as pl
import pytest

from evenhand.statistics import fit_mixed

DATA = Path(__file__).parents[1] / "data"
RATES = DATA / "rate_balanced.csv.gz"
RANKS = DATA / "rank_like.csv.gz"
MIXED = "y ~ race + gender + (1|profile) + (1|name)"


def fit(evenhand, *arguments):
    code, out, err = evenhand("fit", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_mixed_model_is_that_of_python(evenhand):
    found = fit(evenhand, RATES, "--formula", MIXED, "--reference", "race=white")
    same = fit_mixed(pl.read_csv(RATES), MIXED, reference={"race": "white"})
    assert found["coef_names"] == list(same.coef_names)
    assert found["beta"] == pytest.approx(same.beta.tolist())
    assert found["std_errors"] == pytest.approx(same.std_errors.tolist())
    assert found["criterion"] == pytest.approx(same.criterion)
    assert (found["converged"], found["singular"], found["not_identified"], found["notes"]) == (True, False, [], [])
    assert found["reference"] == {"race": "white", "gender": "F"}
    assert [row["df"] for row in found["rows"]] == pytest.approx(same.df_satterthwaite.tolist())


def test_each_method_is_reached(evenhand):
    clustered = fit(evenhand, RATES, "--formula", "y ~ race", "--cluster", "bundle", "--errors", "cr2")
    assert clustered["method"] == "clustered"
    ranked = fit(evenhand, RANKS, "--formula", "rank ~ race", "--ranking", "bundle:model", "--cluster", "bundle")
    assert ranked["method"] == "rank-logit"
    assert ranked["criterion"] > 0
    assert ranked["rows"][0]["tie_rate"] == pytest.approx(0.683, abs=0.001)
    full = fit(evenhand, RATES, "--formula", MIXED, "--ml", "--method", "mixed")
    assert full["criterion"] < fit(evenhand, RATES, "--formula", MIXED)["criterion"]


def test_calls_that_sum_to_a_constant_are_absorbed(evenhand):
    formula = "rank ~ race + position + (1|name)"
    found = fit(evenhand, RANKS, "--formula", formula, "--absorb", "bundle:model", "--where", "stratum=low")
    assert "(Intercept)" not in found["coef_names"]
    assert any("levels of bundle:model is taken out" in note for note in found["notes"])
    code, _, err = evenhand("fit", RATES, "--formula", "y ~ race", "--cluster", "bundle", "--absorb", "bundle")
    assert (code, "--absorb has no meaning for clustered" in err) == (2, True)


def test_people_read_a_table_with_its_notes(evenhand, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = evenhand(
        "fit", DATA / "mixed" / "degenerate.csv.gz", "--formula", "y ~ race + (1|name) + (1|race_cell)"
    )
    assert code == 0
    assert "raceblack" in out
    assert "(1|race_cell) is not identified and left out" in out
    assert "the variance of (1|name) is estimated at zero" in out
    assert "Reference: race = asian." in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--formula", "y ~ race"), "clustered needs --cluster"),
        (("--formula", "y ~ race", "--method", "rank-logit"), "rank-logit needs --ranking"),
        (("--formula", MIXED, "--cluster", "bundle"), "--cluster has no meaning for mixed"),
        (("--formula", "y ~ nobody + (1|name)"), "there is no column 'nobody'"),
        (("--formula", "y ~ race + (1|name)", "--reference", "race"), "is no pair"),
        (("--formula", MIXED, "--reference", "race=white", "--reference", "race=black"), "'race' is given twice"),
        (("--formula", MIXED, "--where", "model=m00", "--where", "model=m01"), "'model' is given twice"),
        (("--formula", MIXED, "--reference", "y=1"), "'y' is the outcome"),
        (("--formula", MIXED, "--reference", "name=n00"), "'name' is the outcome or a group alone"),
        (("--formula", "y ~ race + (1|name)", "--reference", "race=Green"), "race has no level 'Green'"),
        (("--formula", "y ~ race + (1|name)", "--where", "model=m99"), "no row has 'm99' in model"),
        (("--formula", "y ~ race + (1|name)", "--where", "race=white"), "one level"),
        (("--formula", "name ~ race + (1|profile)"), "'name' holds 'n00' in row 1"),
        (("--formula", "y ~ race + + (1|name)"), "is not expected at character"),
        (("--formula", "y ~ race", "--cluster", "nobody"), "there is no column 'nobody'"),
    ],
)
def test_wrong_use_is_one_message(evenhand, arguments, told):
    code, out, err = evenhand("fit", RATES, *arguments)
    assert code == 2
    assert out == ""
    assert told in err
    assert err.count("\n") == 1


def test_a_constant_outcome_is_honest_json(evenhand, tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("y,g,name\n" + "".join(f"4,{'ab'[k % 2]},{k % 5}\n" for k in range(40)), encoding="utf-8")
    found = fit(evenhand, path, "--formula", "y ~ g + (1|name)")
    assert found["converged"] is False
    assert found["std_errors"] == [None, None]
    assert "the outcome is constant at 4" in found["notes"][-1]
    clustered = fit(evenhand, path, "--formula", "y ~ g", "--cluster", "name")
    assert clustered["rows"][1]["estimate"] == pytest.approx(0)
    assert clustered["rows"][1]["p_value"] is None
    assert "the outcome is constant" in clustered["notes"]


def test_a_run_and_its_outcomes_are_read_with_their_own_rules(evenhand, tmp_path):
    study = tmp_path / "small.toml"
    study.write_text(
        'name = "small"\nseed = 1\n[[arms]]\nname = "rate"\npack = "aid"\nformat = "rate"\ndesign = "rate"\n',
        encoding="utf-8",
    )
    run = tmp_path / "run"
    assert evenhand("build", study, "-o", run)[0] == 0
    assert evenhand("run", run, "--model", "sim/biased")[0] == 0
    assert evenhand("outcomes", run, "-o", tmp_path / "o.csv")[0] == 0
    formula = "rating ~ race + gender + (1|scenario_id) + (1|name)"
    from_run = fit(evenhand, run, "--formula", formula, "--reference", "race=White")
    from_file = fit(evenhand, tmp_path / "o.csv", "--formula", formula, "--reference", "race=White")
    assert from_run == from_file
    assert from_run["reference"]["race"] == "White"


@pytest.mark.parametrize(
    ("content", "told"),
    [("y,g,c\n", "there is no row"), ("y,g,c\n" + ",a,1\n,b,2\n" * 3, "there is no value in y")],
)
def test_tables_without_data_are_told_apart(evenhand, tmp_path, content, told):
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8")
    code, out, err = evenhand("fit", path, "--formula", "y ~ g", "--cluster", "c")
    assert (code, out) == (2, "")
    assert told in err


def test_truth_values_are_the_same_in_csv_and_parquet(evenhand, tmp_path):
    table = pl.DataFrame({"y": [float(k * k % 7) for k in range(40)], "v": [k % 3 > 0 for k in range(40)], "w": [k % 2 > 0 for k in range(40)], "c": [k % 8 for k in range(40)]})  # fmt: skip
    table.write_parquet(tmp_path / "t.parquet")
    table.with_columns(pl.col("v", "w").cast(pl.String).str.to_uppercase()).write_csv(tmp_path / "t.csv")
    arguments = ("--formula", "y ~ v", "--cluster", "c", "--where", "w=TRUE")
    found = fit(evenhand, tmp_path / "t.csv", *arguments)
    assert found == fit(evenhand, tmp_path / "t.parquet", *arguments)
    assert (found["coef_names"], found["n"]) == (["(Intercept)", "v"], 20)


def test_clusters_without_a_part_are_left_out_and_counted(evenhand, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{k * k % 7},{k % 3},{'' if k < 5 else k % 4},{k % 2}" for k in range(40)]
    path.write_text("y,x,a,b\n" + "\n".join(rows), encoding="utf-8")
    found = fit(evenhand, path, "--formula", "y ~ x", "--cluster", "a:b")
    assert found["n"] == 35
    assert "5 rows with a missing value are left out (of 40)" in found["notes"]


def test_one_row_more_than_none_is_no_plural(evenhand, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    path = tmp_path / "t.csv"
    path.write_text("rank,x,q\n1,0.5,a\n2,0.7,a\n3,0.2,a\n", encoding="utf-8")
    code, out, _ = evenhand("fit", path, "--formula", "rank ~ x", "--ranking", "q")
    assert code == 0
    assert "1 ranking, 0.0% of them" in out
