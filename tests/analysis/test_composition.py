"""Baseline-quality gaps: what each group was shown, in the models' own primary ratings."""

import polars as pl
import pytest

from evenhand.analysis.composition import baseline_gaps


def rows(arm, shown, *, task="rate", tag="extension:x", rated=None):
    return [
        {
            "model": "m",
            "domain": "hiring",
            "task": task,
            "arm": arm,
            "tag": tag,
            "scenario_id": profile,
            "framing": None,
            "race": race,
            "gender": "Female",
            "pseudo_group": None,
            "rating": rated[profile] if rated else None,
        }
        for profile, race in shown
    ]


PRIMARY = rows(
    "primary", [(p, r) for p in ("good", "bad") for r in ("White", "Black")], tag="primary", rated={"good": 4, "bad": 2}
)
CONTRASTS = {"primary": ("race", "gender"), "tied": ("race",), "crossed": ("race",)}


def gaps(table, **given):
    found = baseline_gaps(
        pl.DataFrame(table, infer_schema_length=None),
        contrasts=CONTRASTS,
        references={"hiring": {"race": "White"}},
        **given,
    )
    return {(row["arm"], row["group"]): row for row in found.to_dicts()}


def test_a_crossed_arm_has_no_gap_and_a_tied_one_has_the_difference_of_its_profiles():
    table = PRIMARY + rows("tied", [("good", "White"), ("bad", "Black")])
    found = gaps(table, confounded={"tied": "race with profile"})
    assert found["primary", "Black"]["estimate"] == pytest.approx(0.0)
    row = found["tied", "Black"]
    assert row["estimate"] == pytest.approx(-2.0)
    assert (row["estimand"], row["term"], row["n"]) == ("baseline_quality_gap", "race", 2)
    assert row["note"] == "confounded: race with profile"


def test_rankings_are_graded_by_ratings_and_arms_that_compare_nothing_are_left_out():
    table = PRIMARY + rows("crossed", [("good", "White"), ("good", "Black")], task="rank_ties")
    table += rows("other", [("good", "White"), ("bad", "Black")], task="rank_ties")
    found = gaps(table)
    assert set(found) == {("primary", "Black"), ("crossed", "Black")}
    assert found["crossed", "Black"]["format"] == "rank_ties"


def test_without_primary_ratings_there_are_no_rows():
    assert gaps(rows("tied", [("good", "White"), ("bad", "Black")])) == {}


def test_extension_ratings_are_no_baseline():
    table = PRIMARY + rows("tied", [("good", "White"), ("bad", "Black")], rated={"good": 1, "bad": 5})
    assert gaps(table)["tied", "Black"]["estimate"] == pytest.approx(-2.0)
