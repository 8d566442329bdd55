"""Planted sizes are recovered and placebo letters are not found; relabellings against a fit of each."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, one, table
from verdict_audits import MODELS, placebo_rows, verdict_material, with_rows

from evenhand.analysis.material import Material
from evenhand.analysis.planting import SIZES
from evenhand.analysis.recovery import placebo, planted_recovery
from evenhand.analysis.relabelling import lay_out_letters
from evenhand.analysis.setting import Setting
from evenhand.statistics import fit_clustered


@pytest.fixture(scope="module")
def study():
    return verdict_material(4, domains=("hiring", "triage"), count=96)


@pytest.fixture(scope="module")
def recovered(study):
    return planted_recovery(study)


def test_the_last_domain_is_planted_by_default(study, recovered):
    assert set(recovered["domain"]) == {"triage"}
    assert set(planted_recovery(study, domain="hiring")["domain"]) == {"hiring"}
    assert planted_recovery(study, domain="nowhere").is_empty()


def test_recovery_tracks_what_is_planted(recovered):
    rows = recovered.filter(estimand="recovered")
    assert rows["arm"].to_list() == [f"planted {size:.2f}" for size in SIZES]
    assert rows["estimate"].to_list() == pytest.approx(list(SIZES), abs=0.06)
    assert rows["estimate"].is_sorted()
    assert rows["p_value"][-1] < 0.001


def test_bundles_of_one_race_bear_nothing_on_what_is_planted(study):
    """Bundles of two genders hold one race: they dilute a raw contrast of races, and not the one that is fit."""
    bundle = pl.col("unit_id").rank("dense")
    single = (pl.col("task") == "rank_ties") & (bundle % 2 == 0)
    rows = study.outcomes.with_columns(race=pl.when(single).then(pl.lit("White")).otherwise("race"))
    found = planted_recovery(Material.of(rows, study.setting))
    estimates = found.filter(estimand="recovered")["estimate"].to_list()
    assert estimates == pytest.approx(list(SIZES), abs=0.1)


def test_the_interval_of_the_change_is_the_narrower(recovered):
    whole, paired = (recovered.filter(estimand=name) for name in ("recovered", "recovered_paired"))
    assert whole["estimate"].to_list() == paired["estimate"].to_list()
    widths = [rows["conf_high"] - rows["conf_low"] for rows in (whole, paired)]
    assert (widths[1] < 0.7 * widths[0]).all()


def test_the_check_counts_the_intervals_that_cover(recovered):
    for kind in ("recovered", "recovered_paired"):
        rows = recovered.filter(estimand=kind)
        sizes = pl.Series(SIZES)
        share = ((rows["conf_low"] <= sizes) & (sizes <= rows["conf_high"])).mean()
        checks = recovered.filter(pl.col("estimand") == "instrument_check", pl.col("method").str.ends_with(kind))
        assert checks["estimate"].to_list() == [share]
        assert "4 planted sizes" in checks["note"][0]


@pytest.mark.slow
def test_the_change_of_the_contrast_covers_at_its_level():
    """Over seeds of planting the paired interval covers the size, within what chance allows."""
    base = verdict_material(11, count=64, models=("m1", "m2"))
    outcomes = base.outcomes.filter(pl.col("task") == "rank_ties")
    covered = []
    for seed in range(25):
        rows = planted_recovery(Material.of(outcomes, Setting(seed=seed))).filter(
            estimand="recovered_paired", arm="planted 0.25"
        )
        covered.append(rows["conf_low"][0] <= 0.25 <= rows["conf_high"][0])
    # Of 25 intervals at 95%, fewer than 20 cover with a probability of 0.001.
    assert sum(covered) >= 20


def test_what_cannot_be_planted_is_told():
    rows = bundles("rank_ties", lambda *_: [1, 1, 1, 1], models=MODELS)
    found = planted_recovery(Material.of(table(rows)))
    planted = found.filter(pl.col("estimand") != "instrument_check")
    assert planted["estimate"].null_count() == planted.height == 8
    assert (planted["note"] != "").all()
    check = found.filter(estimand="instrument_check")
    assert check["estimate"].null_count() == 2
    assert check["note"].str.contains("could not be planted or estimated").all()


def test_without_rankings_there_is_nothing():
    study = verdict_material(1, models=("m1",))
    assert planted_recovery(Material.of(study.outcomes.filter(pl.col("task") == "rate"))).is_empty()
    assert placebo(study).is_empty()


@pytest.mark.parametrize("lost", [(), (3, 4, 11)])
def test_the_statistics_are_those_of_clustered_least_squares(lost):
    """Some relabellings one by one: rows of all answers, everything centred within calls."""
    rng = np.random.default_rng(5)
    outcomes = table(placebo_rows(rng, count=14, gain={"B": 0.7}))
    material = Material.of(outcomes)
    calls = material.scores["call"].unique(maintain_order=True).to_list()
    rows = material.scores.filter(~pl.col("call").is_in([calls[k] for k in lost]))
    letters = lay_out_letters(rows)
    assert letters.squares == 3 + 2
    dealt = letters.draw(4, rng)
    found = letters.statistics(dealt)
    units = sorted(rows["unit"].unique())
    for k, permutation in enumerate(dealt):
        moved = [
            "ABCD"[permutation[letters.square[units.index(unit)]]["ABCD".index(letter)]]
            for unit, letter in rows.select("unit", "pseudo_group").iter_rows()
        ]
        data = rows.with_columns(letter=pl.Series(moved))
        columns = {f"l{x}": (pl.col("letter") == x).cast(pl.Float64) for x in "BCD"}
        columns |= {f"p{x}": (pl.col("position") == x).cast(pl.Float64) for x in (2, 3, 4)}
        columns |= {f"s{x}": (pl.col("stratum") == x).cast(pl.Float64) for x in (2, 3, 4)}
        data = data.with_columns(**columns)
        data = data.with_columns(pl.col(name) - pl.col(name).mean().over("call") for name in (*columns, "y"))
        fit = fit_clustered(data, f"y ~ 0 + {' + '.join(columns)}", cluster="unit")
        expected = (fit.beta / fit.std_errors)[[fit.coef_names.index(f"l{x}") for x in "BCD"]]
        assert found[k] == pytest.approx(expected, rel=1e-8)


def test_placebo_letters_are_rejected_as_often_as_the_level_says(study):
    rng = np.random.default_rng(6)
    found = placebo(with_rows(study, placebo_rows(rng, count=40)))
    contrasts = found.filter(estimand="placebo_contrast")
    assert contrasts["group"].to_list() == ["B", "C", "D"]
    assert set(contrasts["term"]) == {"pseudo_group"}
    shares = found.filter(estimand="placebo_rejections", group="all")["estimate"]
    assert 0.0 < shares[0] < 0.12
    assert found["note"].str.contains("speaks for the design, not for the sampling of names").sum() == 4


def test_letters_that_matter_are_found(study):
    rng = np.random.default_rng(7)
    found = placebo(with_rows(study, placebo_rows(rng, count=40, gain={"C": 1.5})))
    assert one(found, estimand="placebo_contrast", group="C")["p_value"] < 0.001
    assert one(found, estimand="placebo_contrast", group="C")["estimate"] > 0.3
    assert one(found, estimand="placebo_rejections", group="C")["p_value"] < 0.01
    assert one(found, estimand="placebo_rejections", group="B")["p_value"] > 0.01


def test_the_same_seed_deals_the_same_letters(study):
    material = with_rows(study, placebo_rows(np.random.default_rng(8), count=16))
    assert placebo(material, relabellings=50).equals(placebo(material, relabellings=50))


def test_incomplete_answers_are_left_out_and_told(study):
    rows = placebo_rows(np.random.default_rng(9), count=16)
    rows[0] |= {"valid": False, "malformed": True, "status": "malformed", "rank": None}
    found = placebo(with_rows(study, rows), relabellings=20)
    assert "3 rows of incomplete answers left out" in one(found, estimand="placebo_rejections", group="B")["note"]


def test_answers_all_tied_have_nothing_to_relabel(study):
    rows = [r | {"rank": 1} for r in placebo_rows(np.random.default_rng(10), count=16)]
    found = placebo(with_rows(study, rows), relabellings=20)
    assert "no answer varies" in found.filter(estimand="placebo_rejections")["note"][0]
    assert found["estimate"].drop_nulls().is_in([0.0]).all()
