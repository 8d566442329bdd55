"""Robustness: refits against fits of the rows themselves, names that carry a contrast, and honest failures."""

import pickle

import numpy as np
import polars as pl
import pytest
from small_audits import NAMES, bundles, one, ordering, rated, singles, table
from verdict_audits import MODELS, verdict_material

from evenhand.analysis.material import Material
from evenhand.analysis.robustness import CellFits, robustness, robustness_of
from evenhand.analysis.specifications import SPECIFICATIONS, clustered_rows, contrast_rows, specify
from evenhand.statistics import correct, fit_rank_logit

ALONE = ("Black", "Female", 1)


@pytest.fixture(scope="module")
def study():
    return verdict_material(12, ranking={"Black": -0.6})


@pytest.fixture(scope="module")
def found(study):
    return robustness(study)


def of_method(frame, start):
    return frame.filter(pl.col("method").str.starts_with(start))


def contrasts(study, cell, specification="evenhand"):
    fitted = study.fitted(cell, specification)
    return {row.group: row for row in contrast_rows(cell, fitted.fit, specification)}


@pytest.mark.parametrize("format", ["rate", "rank_ties"])
@pytest.mark.parametrize("kind", ["name", "profile", "model"])
def test_the_largest_shift_is_that_of_fits_to_the_rows(study, found, format, kind):
    """Down-dated and warm-started, it is what a fit from scratch without the rows gives."""
    cell = next(cell for cell in study.planned if cell.format == format)
    levels = cell.rows[kind].unique().sort().to_list()
    whole = contrasts(study, cell)["Black"].estimate
    shifts = []
    for level in levels:
        specified = specify(cell, cell.rows.filter(pl.col(kind) != level), "evenhand")
        rows = contrast_rows(cell, specified.model.fit(), "evenhand")
        shifts.append(abs(next(row.estimate for row in rows if row.group == "Black") - whole))
    row = one(of_method(found, f"evenhand, leave one {kind}"), estimand="max_shift", format=format, group="Black")
    assert row["estimate"] == pytest.approx(max(shifts), rel=1e-3)
    assert row["n"] == len(levels)
    assert str(levels[int(np.argmax(shifts))]).split("\x1f")[0] in row["note"]
    d = one(of_method(found, f"evenhand, leave one {kind}"), estimand="max_shift_d", format=format, group="Black")
    assert d["estimate"] == pytest.approx(row["estimate"] / cell.sd)


def test_each_respondent_is_left_out_once(found):
    rows = found.filter(pl.col("method").str.contains("; without "), pl.col("format") == "rate")
    assert rows.height == len(MODELS) * 4
    assert {method.split("; without ")[1] for method in rows["method"]} == set(MODELS)
    assert rows["std_error"].null_count() == 0


def test_the_logit_reads_each_answer_as_a_ranking(study, found):
    cell = next(cell for cell in study.planned if cell.format == "rank_ties")
    rows = cell.rows.with_columns(race=pl.col("race").cast(pl.Enum(["White", "Black", "Hispanic", "Asian"])))
    fit = fit_rank_logit(
        rows,
        "rank ~ race + gender + position + stratum",
        ranking="call",
        cluster="unit",
        reference={"gender": "Male", "position": "1", "stratum": "1"},
    )
    ours = one(found, estimand="log_odds", group="Black")
    place = fit.coef_names.index("raceBlack")
    assert ours["estimate"] == pytest.approx(fit.beta[place], rel=1e-6)
    assert ours["std_error"] == pytest.approx(fit.std_errors[place], rel=1e-6)
    assert ours["estimate"] < 0
    assert ours["p_value"] < 0.01
    assert one(found, estimand="tie_rate")["estimate"] == 0.0
    assert one(found, estimand="log_odds_random_break", group="Black")["note"] == "there is no tie to break"


def test_ties_are_counted_and_broken():
    rng = np.random.default_rng(3)
    ranker = ordering(rng, noise=1.0)

    def tied(model, slots):
        ranks = ranker(model, slots)
        return [1 if rank <= 2 else rank for rank in ranks] if rng.random() < 0.5 else ranks

    found = robustness(Material.of(table(bundles("rank_ties", tied, models=MODELS))))
    assert 0.3 < one(found, estimand="tie_rate")["estimate"] < 0.7
    broken = one(found, estimand="log_odds_random_break", group="Black")
    assert broken["estimate"] != one(found, estimand="log_odds", group="Black")["estimate"]
    assert "SD" in broken["note"]


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_the_width_changes_in_percent(study, found, specification):
    cell = next(cell for cell in study.planned if cell.format == "rank_ties")
    clustered = next(row for row in clustered_rows(cell, cell.rows) if row.group == "Asian")
    before = contrasts(study, cell, specification)["Asian"]
    share = (clustered.conf_high - clustered.conf_low) / (before.conf_high - before.conf_low)
    row = one(
        found.filter(pl.col("method").str.contains(f"the {specification} interval")),
        estimand="interval_width_change", format="rank_ties", group="Asian",
    )  # fmt: skip
    assert row["estimate"] == pytest.approx(100 * (share - 1))


def test_slopes_widen_the_interval_where_respondents_differ():
    rng = np.random.default_rng(4)
    rows = []
    for model, gain in zip(MODELS, (-0.8, -0.4, 0.0, 0.4, 0.8), strict=True):
        rows += singles("rate", rated(rng, groups={"Black": gain}), models=(model,))
        rows += bundles("rank_ties", ordering(rng, groups={"Black": gain}, strata=0.3, noise=0.5), models=(model,))
    study = Material.of(table(rows))
    found = robustness(study)
    for cell in study.planned:
        slopes = one(of_method(found, "random slopes of race"), estimand="contrast", format=cell.format, group="Black")
        plain = contrasts(study, cell)["Black"]
        assert slopes["std_error"] > 1.5 * plain.std_error
        assert slopes["df"] < 10
        assert slopes["estimate"] == pytest.approx(plain.estimate, abs=0.2 * cell.sd)
        tau = of_method(found, "DerSimonian").filter(format=cell.format, group="Black")["estimate"][0]
        assert slopes["std_error"] == pytest.approx(tau / np.sqrt(5), rel=0.5)


def test_slopes_take_respondents():
    study = verdict_material(2, models=("m1", "m2", "m3"))
    found = robustness(Material.of(study.outcomes.filter(pl.col("task") == "rate")))
    slopes = of_method(found, "random slopes").filter(estimand="contrast")
    assert slopes["estimate"].null_count() == slopes.height > 0
    assert slopes["note"].str.contains("3 respondents: slopes by respondent take 4").all()
    assert of_method(found, "random slopes: the family").is_empty()


def test_a_name_that_carries_the_contrast_is_named():
    """One name alone is treated better: without it the contrast is gone."""
    rng = np.random.default_rng(5)

    def value(_, profile, name, __):
        return round(100 * profile + 60 * (name == ALONE) + 3 * rng.normal())

    study = Material.of(table(singles("rate", value, models=MODELS)))
    found = robustness(study)
    label = " ".join(map(str, ALONE))
    shift = one(of_method(found, "evenhand, leave one name"), estimand="max_shift", group="Black")
    assert f"without {label}" in shift["note"]
    assert shift["estimate"] == pytest.approx(10, abs=2)


def test_status_changes_are_those_of_the_family_corrected_again(study, found):
    """By hand for respondents: p values of all refits without one, BH over the family, compared."""

    def survivors(leave=None):
        p = {}
        for cell in study.planned:
            rows = cell.rows.filter(pl.col("model") != leave) if leave else cell.rows
            fit = specify(cell, rows, "evenhand").model.fit()
            p |= {(row.format, row.group): row.p_value for row in contrast_rows(cell, fit, "evenhand")}
        return {key: q < 0.05 for key, q in zip(p, correct(list(p.values())).values, strict=True)}

    before, after = survivors(), [survivors(model) for model in MODELS]
    assert any(before.values())
    rows = of_method(found, "leave one model out: the 12 planned")
    for (format, group), was in before.items():
        row = one(rows, estimand="status_changes", format=format, group=group)
        assert row["estimate"] == sum(result[format, group] != was for result in after)
        assert row["n"] == len(MODELS)
        assert ("survives correction" in row["note"]) or not was
    total = one(rows, estimand="status_changes", group="", domain="")
    assert total["estimate"] == sum(result[key] != was for result in after for key, was in before.items())


def test_profiles_of_two_domains_are_not_one_profile():
    study = verdict_material(6, domains=("hiring", "triage"), models=("m1", "m2"))
    found = robustness(Material.of(study.outcomes.filter(pl.col("task") == "rate")))
    rows = of_method(found, "leave one profile out: the").filter(domain="", estimand="status_changes")
    assert rows["n"].to_list() == [2 * 6]
    names = of_method(found, "leave one name out: the").filter(domain="", estimand="status_changes")
    assert names["n"].to_list() == [len(NAMES)]


def test_a_cell_can_go_to_another_process(study):
    cell = study.planned[0]
    fits = CellFits(
        {name: study.fitted(cell, name) for name in SPECIFICATIONS},
        {model: study.fitted(cell, "evenhand", model) for model in cell.models},
    )
    here = robustness_of(cell, fits)
    there = robustness_of(*pickle.loads(pickle.dumps((cell, fits))))
    assert here == there


def test_answers_that_do_not_vary_are_told_of():
    rows = singles("rate", lambda *_: 3, models=MODELS) + bundles("rank_ties", lambda *_: [1] * 4, models=MODELS)
    found = robustness(Material.of(table(rows)))
    assert found.height > 0
    numbers = found.filter(~pl.col("estimand").is_in(["status_changes", "tie_rate", "contrast", "max_shift"]))
    assert found.filter(pl.col("estimate").is_null(), pl.col("note") == "").is_empty()
    assert numbers["std_error"].null_count() == numbers.height


def test_without_a_planned_cell_there_is_nothing():
    rows = singles("tool_decide", lambda _, profile, *__: int(profile > 2))
    assert robustness(Material.of(table(rows))).is_empty()


def test_a_number_is_missing_only_with_a_note(found):
    assert found.filter(pl.col("estimate").is_null(), pl.col("note") == "").is_empty()
