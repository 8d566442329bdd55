"""The contrasts and tables of FairFund-Bench: planted effects come back, and counts are those of plain counting."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from fairfund_design import FRAMINGS, answers

from evenhand.analysis.fairfund_contrasts import focal_contrasts, framing_contrasts, readmit_ties
from evenhand.analysis.fairfund_tables import (
    dollar_gaps,
    dollars_by_framing,
    equal_splits,
    response_validity,
    wording_contrasts,
)
from evenhand.analysis.material import Material
from evenhand.outcomes.doors import read_outcomes

BLOCKS = (
    focal_contrasts,
    framing_contrasts,
    equal_splits,
    dollar_gaps,
    dollars_by_framing,
    response_validity,
    wording_contrasts,
)
LADDER = dict(zip(FRAMINGS, (0.5, 1.0, 0.3, -0.6, 0.0), strict=True))
RACE = {"Asian": -0.4}
AXES = {"race_transparent", "gender_transparent", "intersectional"}


@pytest.fixture(scope="module")
def outcomes() -> pl.DataFrame:
    """Four respondents, half of whom split equally where only names differ."""
    return pl.concat(
        answers(f"m{seed}", seed, race=RACE, framing=LADDER, equal_splits=seed % 2 == 0) for seed in range(4)
    )


@pytest.fixture(scope="module")
def material(outcomes) -> Material:
    return Material.of(outcomes)


@pytest.fixture(scope="module")
def focal(material) -> pl.DataFrame:
    return focal_contrasts(material)


def one(rows: pl.DataFrame, **wanted) -> dict:
    return rows.row(by_predicate=pl.all_horizontal(pl.col(name) == value for name, value in wanted.items()), named=True)


def difference(rows: pl.DataFrame, factor: str, a: str, b: str) -> float:
    means = dict(rows.group_by(factor).agg(pl.col("y").mean()).rows())
    return means[a] - means[b]


# Contrasts


def test_in_a_balanced_design_contrasts_are_differences_of_means(material, focal):
    rows = material.scores
    for task, arm in (("rate", "rate"), ("rank", "race_disguised"), ("rank", "race_transparent")):
        part = rows.filter(task=task, bundle_type=arm)
        for race in ("Asian", "Black", "Hispanic"):
            found = one(focal, estimand="focal_contrast", format=task, arm=arm, term="race", group=race)
            assert found["estimate"] == pytest.approx(difference(part, "race", race, "White"), abs=1e-6)
            assert found["n"] == part.height
    both = rows.filter(pl.col("bundle_type").is_in(["gender_transparent", "gender_disguised"]), task="rank")
    found = one(focal, estimand="focal_contrast", format="rank", arm="gender")
    assert found["estimate"] == pytest.approx(difference(both, "gender", "Female", "Male"), abs=1e-6)


def test_a_planted_effect_is_found_on_every_task(focal):
    for task, arm in (("rate", "rate"), ("rank", "race_disguised"), ("rank", "race"), ("allocate", "race_disguised")):
        asian = one(focal, estimand="focal_contrast", format=task, arm=arm, group="Asian")
        assert asian["conf_high"] < 0
        assert asian["p_value"] < 0.01
        black = one(focal, estimand="focal_contrast", format=task, arm=arm, group="Black")
        assert abs(black["estimate"]) < 3.5 * black["std_error"]
        assert abs(black["estimate"]) < abs(asian["estimate"])


def test_allocate_is_the_mean_of_differences_within_bundles(material, focal):
    part = material.scores.filter(task="allocate", bundle_type="race_disguised")
    apart = part.group_by("call").agg(
        d=pl.col("y").filter(race="Asian").mean() - pl.col("y").filter(race="White").mean()
    )
    found = one(focal, format="allocate", arm="race_disguised", group="Asian")
    assert found["estimate"] == pytest.approx(apart["d"].mean(), abs=1e-6)
    assert found["n"] == 4 * 120


def test_rank_is_paired_too_and_its_errors_allow_for_what_slots_share(material, focal):
    part = material.scores.filter(task="rank", bundle_type="race_disguised")
    apart = part.group_by("call").agg(
        d=pl.col("y").filter(race="Asian").mean() - pl.col("y").filter(race="White").mean()
    )
    found, beside = (
        one(focal, estimand=name, format="rank", arm="race_disguised", group="Asian")
        for name in ("focal_contrast_paired", "focal_contrast")
    )
    assert found["estimate"] == pytest.approx(apart["d"].mean(), abs=1e-6)
    assert found["estimate"] == pytest.approx(beside["estimate"], abs=1e-6)
    # Ranks of a bundle sum to a constant, so slots correlate at -1/3: a difference has 4/3 of the variance.
    assert found["std_error"] > beside["std_error"]


def test_intersectional_bundles_give_race_by_gender(material, focal):
    part = material.scores.filter(task="allocate", bundle_type="intersectional")
    means = {(r, g): y for r, g, y in part.group_by("race", "gender").agg(pl.col("y").mean()).rows()}
    gap = {gender: means["Black", gender] - means["White", gender] for gender in ("Female", "Male")}
    found = one(focal, term="race:gender", format="allocate")
    assert found["estimate"] == pytest.approx(gap["Female"] - gap["Male"], abs=1e-6)
    assert found["group"] == "Black, Female"


def test_respondents_who_split_equally_have_no_difference(outcomes):
    found = focal_contrasts(Material.of(outcomes.filter(pl.col("model").is_in(["m0", "m2"]))))
    for arm in AXES - {"intersectional"}:
        rows = found.filter(format="allocate", arm=arm)
        assert rows["estimate"].to_list() == [0.0] * rows.height
        assert rows.filter(pl.col("note") == "").is_empty()


def tie(outcomes: pl.DataFrame, bundle_type: str, versions: str) -> pl.DataFrame:
    """Some rankings of a bundle type are the same rank throughout, which Rank takes for malformed."""
    tied = (
        (pl.col("task") == "rank") & (pl.col("bundle_type") == bundle_type) & pl.col("unit_id").str.contains(versions)
    )
    return outcomes.with_columns(
        rank=pl.when(tied).then(1).otherwise("rank"),
        valid=pl.col("valid") & ~tied,
        malformed=pl.col("malformed") | tied,
        tied=pl.col("tied") | tied,
        status=pl.when(tied).then(pl.lit("malformed")).otherwise("status"),
    )


def test_ties_in_whole_configurations_halve_the_contrast(outcomes):
    tied = tie(outcomes, "gender_transparent", "_[02][0-4]_v")
    found = focal_contrasts(Material.of(tied))
    out, back = (
        one(found, estimand=name, format="rank", arm="gender_transparent")
        for name in ("focal_contrast", "focal_contrast_ties")
    )
    assert (out["n"], back["n"]) == (4 * 60 * 2, 4 * 120 * 2)
    assert back["note"].endswith("240 tied rankings readmitted")
    assert back["estimate"] == pytest.approx(out["estimate"] / 2, abs=1e-6)
    paired = one(found, estimand="focal_contrast_paired_ties", arm="gender_transparent")
    assert paired["estimate"] == pytest.approx(back["estimate"], abs=1e-6)
    others = found.filter(format="rank", arm="race_disguised")
    assert others.filter(estimand="focal_contrast")["estimate"].to_list() == pytest.approx(
        others.filter(estimand="focal_contrast_ties")["estimate"].to_list()
    )
    assert set(others.filter(estimand="focal_contrast_ties")["note"].str.contains("nothing is readmitted")) == {True}


def test_slots_that_share_a_rank_have_its_mean(outcomes):
    bundle = outcomes.filter(model="m0", task="rank", bundle_type="race_transparent").head(4)
    broken = bundle.with_columns(rank=pl.Series([1, 2, 2, 4]), valid=False, status=pl.lit("malformed"))
    assert readmit_ties(Material.of(pl.concat([outcomes, broken.with_columns(model=pl.lit("x"))])).scores).filter(
        model="x"
    )["y"].to_list() == [-1, -2.5, -2.5, -4]
    unread = broken.with_columns(rank=pl.lit(None, pl.Int64), model=pl.lit("x"))
    assert readmit_ties(Material.of(pl.concat([outcomes, unread])).scores).filter(model="x")["y"].null_count() == 4


def test_framing_contrasts_are_those_of_the_ladder(material):
    found = framing_contrasts(material)
    pooled = found.filter(pl.col("model") == "pooled", estimand="framing_contrast")
    for task, arm in (("rate", "rate"), ("rank", "framing_transparent"), ("allocate", "framing_disguised")):
        by = {row["group"]: row for row in pooled.filter(format=task, arm=arm).to_dicts()}
        assert len(by) == 4
        for row in by.values():
            assert row["conf_low"] > 0
        steps = [
            by[f"{a} - {b}"]["estimate"] for a, b in pairwise(("structural", "self_cause", "stigma_no_redemption"))
        ]
        assert by["structural - stigma_no_redemption"]["estimate"] == pytest.approx(sum(steps), abs=1e-6)
        part = material.scores.filter(task=task, bundle_type=arm)
        plain = difference(part, "framing", "stigma_redemption", "stigma_no_redemption")
        assert by["stigma_redemption - stigma_no_redemption"]["estimate"] == pytest.approx(plain, abs=1e-6)
        own = found.filter(pl.col("model") != "pooled", estimand="framing_contrast", format=task, arm=arm)
        assert own.group_by("group").agg(pl.col("estimate").mean()).sort("group")[
            "estimate"
        ].to_list() == pytest.approx([by[group]["estimate"] for group in sorted(by)], abs=1e-6)


def test_one_respondent_is_fitted_by_least_squares(outcomes):
    found = focal_contrasts(Material.of(outcomes.filter(model="m1")))
    asian = one(found, estimand="focal_contrast", format="rate", group="Asian")
    assert asian["estimate"] < 0
    assert asian["method"].endswith("errors clustered on the unit")
    assert asian["df"] is not None


# Tables


def test_equal_splits_are_counted_by_axis_mode_and_respondent(material):
    found = equal_splits(material)
    for arm in AXES:
        shares = dict(found.filter(arm=arm, estimand="share_equal_split").select("model", "estimate").rows())
        assert shares["m0"] == shares["m2"] == 1
        assert max(shares["m1"], shares["m3"]) < 0.05
        assert one(found, estimand="median_equal_split", arm=arm)["estimate"] == np.median(list(shares.values()))
    assert found.filter(arm="framing_transparent")["estimate"].max() < 0.05
    assert {(row["term"], row["group"]) for row in found.to_dicts()} == {
        *((axis, mode) for axis in ("race", "gender", "framing") for mode in ("transparent", "disguised")),
        ("intersectional", "transparent"),
    }


def test_dollar_gaps_average_sizes_over_levels_and_respondents(material):
    found = dollar_gaps(material).filter(estimand="dollar_gap", term="race", group="disguised")
    part = material.scores.filter(task="allocate", bundle_type="race_disguised")
    plain = {
        model: np.mean(
            [abs(difference(part.filter(model=model), "race", r, "White")) for r in ("Asian", "Black", "Hispanic")]
        )
        for model in part["model"].unique()
    }
    own = found.filter(pl.col("model") != "pooled")
    assert dict(own.select("model", "estimate").rows()) == pytest.approx(plain)
    pooled = one(found, model="pooled")
    assert pooled["estimate"] == pytest.approx(np.mean(list(plain.values())))
    assert pooled["std_error"] == pytest.approx(np.std(list(plain.values()), ddof=1) / 2)
    assert (pooled["n"], pooled["df"]) == (4, 3)
    ratio = one(dollar_gaps(material), estimand="dollar_gap_ratio", term="race")
    shown = one(dollar_gaps(material), term="race", group="transparent", model="pooled")
    assert ratio["estimate"] == pytest.approx(pooled["estimate"] / shown["estimate"])


def test_a_gap_of_nothing_has_no_ratio(outcomes):
    found = dollar_gaps(Material.of(outcomes.filter(pl.col("model").is_in(["m0", "m2"]))))
    row = one(found, estimand="dollar_gap_ratio", term="race")
    assert row["estimate"] is None
    assert "no gap in transparent bundles" in row["note"]


def test_dollars_by_framing_sum_to_the_total(material):
    found = dollars_by_framing(material)
    pooled = found.filter(model="pooled")
    assert pooled.group_by("arm").agg(pl.col("estimate").sum())["estimate"].to_list() == pytest.approx([10_000] * 2)
    order = pooled.filter(arm="framing_transparent").sort("estimate", descending=True)["group"].to_list()
    assert order == sorted(LADDER, key=lambda framing: -LADDER[framing])


def test_validity_counts_rows_calls_and_ties(outcomes):
    tied = tie(outcomes, "gender_transparent", "v1$")
    broken = pl.col("model").is_in(["m3"]) & (pl.col("task") == "rate") & (pl.col("category") == "Rent")
    found = response_validity(Material.of(tied.with_columns(valid=pl.col("valid") & ~broken)))
    assert one(found, estimand="share_valid_rows", format="rate", model="m3")["estimate"] == pytest.approx(2 / 3)
    assert one(found, estimand="share_valid_rows", format="rate", model="pooled")["estimate"] == pytest.approx(11 / 12)
    rank = {
        name: one(found, estimand=name, format="rank", model="m0") for name in ("share_valid_rows", "share_valid_calls")
    }
    assert rank["share_valid_calls"]["estimate"] == pytest.approx(780 / 840)
    assert rank["share_valid_rows"]["estimate"] == pytest.approx(1 - 120 / 2880)
    assert one(found, estimand="share_tied", arm="gender_transparent")["estimate"] == 0.5
    assert one(found, estimand="share_tied", arm="gender_disguised")["estimate"] == 0
    assert one(found, format="allocate", estimand="share_valid_calls", model="pooled")["estimate"] == 1


def test_wordings_are_compared_on_shared_units():
    only = pl.col("bundle_type").is_in(["framing_disguised", "rate"])
    few = only & (pl.col("category") != "Rent")
    strengths = {f"m{k}": 0.6 + 0.4 * k for k in range(5)}
    tables = []
    for k, (model, strength) in enumerate(strengths.items()):
        ladder = {framing: strength * worth for framing, worth in LADDER.items()}
        double = {framing: 2 * worth for framing, worth in ladder.items()}
        tables += [
            answers(model, k, framing=ladder, noise=0.3, only=only),
            answers(model, k + 50, framing=double, noise=0.3, wording="merit", only=few),
        ]
    found = wording_contrasts(Material.of(pl.concat(tables)))
    assert set(found["format"]) == {"rate", "rank", "allocate"}
    allocate = found.filter(format="allocate", term="structural - self_cause")
    median = dict(allocate.filter(model="pooled", estimand="wording_contrast").select("group", "estimate").rows())
    assert median["merit"] == pytest.approx(2 * median["base"], rel=0.25)
    assert set(allocate.filter(pl.col("model") != "pooled")["n"]) == {16 * 5}
    rho = one(allocate, estimand="wording_rank_correlation")
    assert rho["group"] == "merit"
    assert rho["estimate"] > 0.8
    assert rho["n"] == 5
    assert rho["p_value"] is not None


def test_runs_without_the_benchmarks_arms_have_empty_tables(outcomes):
    other = outcomes.filter(task="rate").with_columns(bundle_type=pl.lit("crossed"))
    bundles = outcomes.filter(task="rank", bundle_type="race_disguised").with_columns(
        bundle_type=pl.lit("demographic_disguised")
    )
    material = Material.of(pl.concat([other, bundles]))
    for block in BLOCKS:
        assert block(material).is_empty()


def test_one_task_alone_is_enough(outcomes):
    for task in ("rate", "rank", "allocate"):
        material = Material.of(outcomes.filter(pl.col("task") == task))
        for block in BLOCKS:
            assert set(block(material)["format"]) <= {task}


def test_no_number_is_missing_without_a_word(outcomes):
    material = Material.of(tie(outcomes, "gender_transparent", "v1$"))
    for block in BLOCKS:
        rows = block(material)
        assert rows.filter(pl.col("estimate").is_null() & (pl.col("note") == "")).is_empty()
        unsure = pl.col("conf_low").is_null() & pl.col("p_value").is_null()
        assert rows.filter(unsure & (pl.col("note") == "")).is_empty()


# Against what the paper prints, on simulated respondents of the released design


@pytest.fixture(scope="module")
def reference(shared) -> Material:
    return Material.of(read_outcomes(shared / "fairfund" / "reference" / "outcomes_14.csv.gz"))


def test_the_median_model_splits_equally_in_transparent_bundles_only(reference):
    medians = {row["arm"]: row["estimate"] for row in equal_splits(reference).filter(model="pooled").to_dicts()}
    assert {medians[arm] for arm in AXES} == {1.0}
    assert max(medians[arm] for arm in medians.keys() - AXES) < 0.05


def test_gaps_are_three_to_four_times_larger_in_disguised_bundles(reference):
    ratios = dollar_gaps(reference).filter(estimand="dollar_gap_ratio")["estimate"]
    assert [round(ratio) for ratio in ratios] == [4, 3]


def test_minorities_gain_on_rate_and_framings_are_positive_everywhere(reference):
    race = focal_contrasts(reference).filter(format="rate", term="race")
    assert (race["conf_low"] > 0).all()
    steps = ("structural - self_cause", "self_cause - stigma_no_redemption", "stigma_redemption - stigma_no_redemption")
    framing = framing_contrasts(reference).filter(pl.col("group").is_in(steps))
    assert set(framing["format"]) == {"rate", "rank", "allocate"}
    assert (framing["estimate"] > 0).all()
