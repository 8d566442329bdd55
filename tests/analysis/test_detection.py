"""Detection floors: the formulas of table 3, laws between its columns, and what is said where there is no number."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, one, ordering, rated, singles, table
from verdict_audits import verdict_material

from evenhand.analysis.detection import detection_floors
from evenhand.analysis.material import Material
from evenhand.analysis.setting import Setting
from evenhand.analysis.specifications import contrast_rows
from evenhand.statistics import detectable_multiplier, equivalence

MARGINS = {"rate": 3.0, "rank_ties": 0.2}


@pytest.fixture(scope="module")
def study():
    return verdict_material(2, margins=MARGINS)


@pytest.fixture(scope="module")
def found(study):
    return detection_floors(study)


def pooled(frame, specification, **wanted):
    return frame.filter(pl.col("method").str.starts_with(specification), pl.col("model") == "pooled").filter(**wanted)


def contrast(study, format, specification, group):
    cell = next(cell for cell in study.planned if cell.format == format)
    fitted = study.fitted(cell, specification)
    return next(row for row in contrast_rows(cell, fitted.fit, specification) if row.group == group), cell


@pytest.mark.parametrize("format", ["rate", "decide", "rank_ties"])
def test_the_papers_floor_is_280_standard_errors(study, found, format):
    row, cell = contrast(study, format, "paper", "Black")
    wanted = {"format": format, "group": "Black"}
    assert one(pooled(found, "paper", **wanted), estimand="std_error_achieved")["estimate"] == row.std_error
    floor = one(pooled(found, "paper", **wanted), estimand="mde")["estimate"]
    assert floor == pytest.approx(2.801585 * row.std_error, rel=1e-6)
    assert one(pooled(found, "paper", **wanted), estimand="mde_d")["estimate"] == pytest.approx(floor / cell.sd)
    assert one(pooled(found, "paper", **wanted), estimand="d")["estimate"] == pytest.approx(row.estimate / cell.sd)


def test_the_floor_of_the_deciding_specification_knows_its_degrees_of_freedom(study, found):
    row, _ = contrast(study, "rank_ties", "evenhand", "Black")
    wanted = {"format": "rank_ties", "group": "Black"}
    floor = one(pooled(found, "evenhand", **wanted), estimand="mde")
    assert floor["estimate"] == pytest.approx(detectable_multiplier(df=row.df) * row.std_error)
    first = one(pooled(found, "evenhand", **wanted), estimand="mde_first_step")
    assert first["estimate"] == pytest.approx(detectable_multiplier(df=row.df, alpha=0.05 / 12) * row.std_error)
    assert "0.05/12" in first["method"]


def test_a_bound_lies_inside_the_margin_exactly_where_the_test_rejects(found):
    keys = ["term", "group", "format", "model", "method"]
    tests = found.filter(pl.col("estimand") == "tost", pl.col("format") != "decide")
    bounds = found.filter(pl.col("estimand") == "bound").with_columns(spec=pl.col("method").str.head(5))
    joined = tests.with_columns(spec=pl.col("method").str.head(5)).join(
        bounds, on=[*keys[:-1], "spec"], suffix="_bound"
    )
    assert joined.height == tests.height > 40
    margin = joined["format"].replace_strict(MARGINS, return_dtype=pl.Float64)
    inside, rejected = joined["estimate_bound"] < margin, joined["p_value"] < 0.05
    assert inside.to_list() == rejected.to_list()
    assert inside.any()
    assert not inside.all()
    assert joined["estimate_bound"].to_list() == pytest.approx(
        joined.select(pl.max_horizontal(pl.col("conf_low").abs(), pl.col("conf_high").abs()))["conf_low"].to_list()
    )


def test_the_equivalence_test_is_that_of_the_contrast(study, found):
    row, _ = contrast(study, "rate", "evenhand", "Female")
    expected = equivalence(row.estimate, row.std_error, MARGINS["rate"], df=row.df)
    tost = one(pooled(found, "evenhand", format="rate", group="Female"), estimand="tost")
    assert tost["p_value"] == pytest.approx(expected.p_value)
    assert (tost["conf_low"], tost["conf_high"]) == pytest.approx((expected.conf_low, expected.conf_high))


def test_without_a_margin_nothing_is_equivalent(found):
    rows = found.filter(pl.col("estimand") == "tost", pl.col("format") == "decide")
    assert rows["p_value"].null_count() == rows.height > 0
    assert rows["note"].str.contains("no margin was declared for decide").all()
    bounds = found.filter(pl.col("estimand") == "bound", pl.col("format") == "decide")
    assert bounds["estimate"].null_count() == 0


def test_each_respondent_has_its_own_test(found):
    alone = found.filter(pl.col("estimand") == "tost", pl.col("model") != "pooled")
    assert alone.height == 5 * 3 * 4
    wider = (
        alone.filter(format="rate", group="Black")["conf_high"] - alone.filter(format="rate", group="Black")["conf_low"]
    )
    whole = one(pooled(found, "evenhand", format="rate", group="Black"), estimand="tost")
    assert wider.mean() > whole["conf_high"] - whole["conf_low"]


def test_tau_is_of_the_respondents(found):
    rows = found.filter(pl.col("estimand") == "tau")
    assert rows.height == 2 * 3 * 4
    assert (rows["conf_low"] <= rows["conf_high"]).all()
    assert rows["note"].str.contains("tau leans to zero").all()


def test_respondents_that_differ_have_a_tau():
    rng = np.random.default_rng(8)
    rows = []
    for model, gain in (("m1", -0.6), ("m2", 0.0), ("m3", 0.6), ("m4", 0.0)):
        rows += singles("rate", rated(rng, groups={"Black": gain}), models=(model,))
    found = detection_floors(Material.of(table(rows)))
    tau = one(found.filter(pl.col("method").str.starts_with("DerSimonian")), estimand="tau", group="Black")
    # In ten points a unit; the SD of the four true contrasts is 4.9.
    assert 2.5 < tau["estimate"] < 8.0
    assert tau["conf_low"] > 0
    assert tau["p_value"] < 0.001
    other = one(found.filter(pl.col("method").str.starts_with("DerSimonian")), estimand="tau", group="Hispanic")
    assert other["estimate"] < tau["estimate"]


def test_the_name_intercept_is_found():
    rng = np.random.default_rng(9)
    gains = {}

    def value(_, profile, name, __):
        gain = gains.setdefault(name, rng.normal(0, 8))
        return round(10 * profile + gain + rng.normal())

    found = detection_floors(Material.of(table(singles("rate", value))))
    spread = one(pooled(found, "evenhand"), estimand="name_sd")
    assert 5 < spread["estimate"] < 12
    d = one(pooled(found, "evenhand"), estimand="name_sd_d")
    cell = Material.of(table(singles("rate", value))).cells[0]
    assert d["estimate"] == pytest.approx(spread["estimate"] / cell.sd, rel=0.2)


def test_answers_that_do_not_vary_have_no_floor():
    rows = singles("rate", lambda *_: 3) + bundles("rank_ties", ordering(np.random.default_rng(1)))
    found = detection_floors(Material.of(table(rows), Setting(margins=MARGINS)))
    flat = found.filter(pl.col("format") == "rate", pl.col("estimand") != "d")
    assert flat["estimate"].is_null().sum() > 0
    lacking = flat.filter(pl.col("estimate").is_null())
    assert (lacking["note"] != "").all()
    assert pooled(found, "evenhand", format="rank_ties", estimand="mde")["estimate"].null_count() == 0


def test_a_number_is_missing_only_with_a_note(found):
    assert found.filter(pl.col("estimate").is_null(), pl.col("note") == "").is_empty()
