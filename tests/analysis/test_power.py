"""Power curves: where they meet the floors, how they rise, and what is said where there is none."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, one, ordering, singles, table
from verdict_audits import verdict_material

from evenhand.analysis import detection, power
from evenhand.analysis.blocks import BLOCKS, analyse
from evenhand.analysis.detection import detection_floors
from evenhand.analysis.material import Material
from evenhand.analysis.power import EFFECTS, power_curves
from evenhand.analysis.specifications import contrast_rows
from evenhand.statistics import power_of

KEYS = ["term", "group", "domain", "format"]
CURVES = ("power", "power_first_step")


@pytest.fixture(scope="module")
def study():
    return verdict_material(2)


@pytest.fixture(scope="module")
def found(study):
    return power_curves(study)


def with_effects(frame):
    effect = pl.col("arm").str.extract(r"^effect (\d\.\d\d) SD$").cast(pl.Float64)
    return frame.with_columns(effect=effect)


def test_each_planned_contrast_has_two_curves_over_the_same_effects(study, found):
    contrasts = sum(len(cell.compared) for cell in study.planned)
    assert contrasts == 12
    assert found.height == 2 * contrasts * len(EFFECTS)
    for _, curve in with_effects(found).group_by("estimand", *KEYS):
        assert curve["effect"].to_list() == pytest.approx(np.arange(0, 0.501, 0.02).tolist())
    assert found["estimate"].is_between(0, 1).all()


@pytest.mark.parametrize("format", ["rate", "decide", "rank_ties"])
def test_a_point_is_the_power_of_the_contrasts_own_test(study, found, format):
    cell = next(cell for cell in study.planned if cell.format == format)
    row = next(row for row in contrast_rows(cell, study.fitted(cell, "evenhand").fit, "evenhand") if row.term == "race")
    for estimand, alpha in zip(CURVES, (0.05, 0.05 / 12), strict=True):
        point = one(found, estimand=estimand, format=format, group=row.group, arm="effect 0.30 SD")
        expected = power_of(0.3 * cell.sd, row.std_error, df=row.df, alpha=alpha)
        assert point["estimate"] == pytest.approx(expected, rel=1e-12)
        assert (point["n"], point["df"], point["model"]) == (row.n, row.df, "pooled")
        assert f"SE achieved {row.std_error:.4g}" in point["method"]
        assert "noncentral t, two-sided, level" in point["method"]


def test_the_curve_is_at_80_percent_where_the_floor_is(study, found, monkeypatch):
    floors = detection_floors(study).filter(pl.col("method").str.starts_with("evenhand"))
    for which, estimand in (("mde_d", "power"), ("mde_first_step_d", "power_first_step")):
        curves = with_effects(found).filter(estimand=estimand)
        sizes = floors.filter(estimand=which)
        assert sizes.height == 12
        for floor in sizes.to_dicts():
            curve = curves.filter(**{key: floor[key] for key in KEYS}).sort("effect")
            below, above = curve.filter(pl.col("estimate") < 0.8), curve.filter(pl.col("estimate") > 0.8)
            assert below.is_empty() or below["effect"].max() < floor["estimate"]
            assert above.is_empty() or above["effect"].min() > floor["estimate"]
            monkeypatch.setattr(power, "EFFECTS", (floor["estimate"],))
            exact = power_curves(study).filter(estimand=estimand, **{key: floor[key] for key in KEYS})
            assert exact["estimate"].to_list() == pytest.approx([0.8], abs=1e-9)


def test_curves_rise_from_the_level(found):
    for (estimand, *_), curve in with_effects(found).group_by("estimand", *KEYS):
        estimates = curve.sort("effect")["estimate"]
        assert estimates[0] == pytest.approx(0.05 if estimand == "power" else 0.05 / 12, rel=1e-9)
        assert (estimates.diff().drop_nulls() >= 0).all()
        # Beyond this the steps are smaller than the digits.
        assert (estimates.filter(estimates < 0.999).diff().drop_nulls() > 0).all()


def test_the_first_step_asks_for_more(found):
    before, first = (found.filter(estimand=estimand) for estimand in CURVES)
    both = before.join(first, on=[*KEYS, "arm"], suffix="_first", validate="1:1")
    assert both.height == 12 * len(EFFECTS)
    assert (both["estimate_first"] <= both["estimate"]).all()
    short = both.filter(pl.col("estimate_first") < 0.999)
    assert short.height > 12
    assert (short["estimate_first"] < short["estimate"]).all()
    assert first["method"].str.contains("level 0.05/12 = 0.0042", literal=True).all()


def test_a_cell_that_does_not_vary_has_a_row_that_says_so_and_the_others_their_curves():
    rows = singles("rate", lambda *_: 3) + bundles("rank_ties", ordering(np.random.default_rng(1)))
    found = power_curves(Material.of(table(rows)))
    flat = found.filter(format="rate")
    for estimand in CURVES:
        row = one(flat, estimand=estimand, group="Black")
        assert (row["estimate"], row["arm"]) == (None, "")
        assert "there is no standard error" in row["note"]
        assert "nothing varies" in row["note"]
    assert flat.height == 2 * 4
    drawn = found.filter(format="rank_ties")
    assert drawn.height == 2 * 4 * len(EFFECTS)
    # The four contrasts without a p value are no part of the first step.
    assert drawn.filter(estimand="power_first_step")["method"].str.contains("level 0.05/4 ", literal=True).all()
    assert found.filter(pl.col("estimate").is_null() != (pl.col("arm") == "")).is_empty()
    assert found["estimate"].is_nan().sum() == 0


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"std_error": None, "df": None}, "there is no standard error"),
        ({"df": 0.4}, "0.4 degrees of freedom are too few"),
        ({"std_error": 0.0}, "the standard error is zero"),
    ],
)
def test_a_contrast_without_a_curve_is_one_row_with_a_note(study, monkeypatch, numbers, told):
    contrasts = detection.contrast_rows

    def troubled(*args, **options):
        for row in contrasts(*args, **options):
            mended = {key: numbers.get(key, getattr(row, key)) for key in ("std_error", "df")}
            yield power.replace(row, **mended) if row.group == "Black" else row

    monkeypatch.setattr(detection, "contrast_rows", troubled)
    found = power_curves(study)
    for estimand in CURVES:
        row = one(found, estimand=estimand, format="rate", group="Black")
        assert row["estimate"] is None
        assert row["note"].startswith(told)
        assert found.filter(estimand=estimand, format="rate", group="Female").height == len(EFFECTS)


def test_the_block_is_part_of_an_analysis(study, found):
    names = list(BLOCKS)
    assert names[names.index("floors") + 1] == "power"
    assert BLOCKS["power"].reads_fits
    answered = analyse(study, processes=1)
    assert answered.blocks["power"].equals(found)


def test_a_study_without_planned_cells_has_no_curves():
    rows = bundles("allocate", ordering(np.random.default_rng(3)))
    assert power_curves(Material.of(table(rows))).is_empty()
