"""Running estimates: those of the estimator itself, of the planned cells alone, and nothing that tests."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, material, ordering, person, rated, row, singles
from verdict_audits import placebo_rows, verdict_material

from evenhand.analysis.interim import CONTRAST, SHARE, interim_contrasts
from evenhand.analysis.setting import Family
from evenhand.statistics import fit_clustered


@pytest.fixture(scope="module")
def whole():
    return verdict_material(rating={"Black": -8.0}, domains=("hiring", "lending"), models=("m1", "m2"))


def of(found, estimand, **wanted):
    return found.filter(pl.col("estimand") == estimand, *(pl.col(name) == value for name, value in wanted.items()))


@pytest.mark.parametrize(
    ("format", "terms", "cluster"),
    [("rate", ("stratum",), "stimulus"), ("rank_ties", ("position", "stratum"), "unit")],
)
def test_they_are_those_of_least_squares_with_clustered_errors(whole, format, terms, cluster):
    cell = next(c for c in whole.planned if (c.domain, c.format) == ("lending", format))
    # Positions and strata are factors: naming a level makes them so.
    reference = {"race": "White", "gender": "Male"} | dict.fromkeys(terms, "1")
    formula = f"y ~ race + gender + {' + '.join(terms)} + model"
    fit = {r["term"]: r for r in fit_clustered(cell.rows, formula, cluster=cluster, reference=reference).rows()}
    found = of(interim_contrasts(whole), CONTRAST, domain="lending", format=format).to_dicts()
    assert [(r["term"], r["group"]) for r in found] == list(cell.compared)
    for r in found:
        direct = fit[f"{r['term']}{r['group']}"]
        for name in ("estimate", "std_error", "df", "conf_low", "conf_high", "n"):
            assert r[name] == pytest.approx(direct[name], rel=1e-12), name
        assert f"against {cell.references[r['term']]}" in r["method"]


def test_nothing_in_them_is_a_test_or_a_status(whole):
    found = interim_contrasts(whole)
    assert found["p_value"].null_count() == found["q_value"].null_count() == found.height
    said = " ".join(found["method"].to_list() + found["note"].to_list() + found["estimand"].to_list())
    assert not any(word in said for word in ("disparity", "equivalent", "not_resolved", "p ="))


def test_a_share_is_of_all_that_is_planned_and_says_why_the_rest_is_not_there():
    rng = np.random.default_rng(1)
    rows = singles("rate", rated(rng), models=("m1",)) + bundles("rank_ties", ordering(rng), models=("m1",), count=20)
    half = [
        r | ({} if k % 2 else {"rating": None, "valid": False, "status": "missing", "missing": True})
        for k, r in enumerate(rows)
    ]
    half[1] |= {"rating": None, "valid": False, "status": "refused", "refused": True}
    # A planned cell of which nothing came yet counts too.
    half += [
        r | {"domain": "lending", "arm": "lending-rate", "rating": None, "valid": False, "status": "error"}
        for r in singles("rate", rated(rng), models=("m1",))
    ]
    found = of(interim_contrasts(material(half)), SHARE)
    total, *cells = found.to_dicts()
    assert [(r["domain"], r["format"]) for r in cells] == [
        ("hiring", "rate"),
        ("hiring", "rank_ties"),
        ("lending", "rate"),
    ]
    assert total["n"] == len(half) == sum(r["n"] for r in cells)
    assert total["estimate"] * total["n"] == pytest.approx(sum(r["estimate"] * r["n"] for r in cells))
    singles_asked = cells[0]["n"]
    assert cells[0]["estimate"] == pytest.approx((singles_asked // 2 - 1) / singles_asked)
    assert f"{singles_asked // 2:,} of {singles_asked:,} slots wait" in cells[0]["note"]
    assert "1 came without an answer that can be scored" in cells[0]["note"]
    assert cells[2]["estimate"] == 0.0


def test_what_cannot_be_estimated_yet_has_its_row_and_says_why():
    cells = [person(0, ("White", "Male", 1)), person(0, ("Black", "Male", 1))]
    found = of(interim_contrasts(material([row("rate", **cell, rating=4) for cell in cells])), CONTRAST)
    [black] = found.to_dicts()
    assert black["estimate"] is None or black["std_error"] is None
    assert black["note"]


def test_only_planned_cells_are_estimated():
    rng = np.random.default_rng(2)
    rows = singles("rate", rated(rng), models=("m1",)) + placebo_rows(rng)
    rows += [r | {"tag": "extension:wording", "arm": "more"} for r in singles("decide", lambda *_: 1, models=("m1",))]
    found = interim_contrasts(material(rows, families=(Family("one", ("rate", "decide", "rank_ties")),)))
    assert set(of(found, CONTRAST)["format"]) == {"rate"}
    assert interim_contrasts(material(placebo_rows(rng))).is_empty()


def test_a_declared_confounding_is_told(whole):
    from dataclasses import replace

    arm = str(whole.planned[0].rows["arm"][0])
    told = replace(whole, setting=replace(whole.setting, confounded={arm: "race with profile"}))
    notes = of(interim_contrasts(told), CONTRAST, domain="hiring", format="rate")["note"]
    assert all("confounded: race with profile" in note for note in notes)
