"""Cells of outcomes from other audits: scores beside decisions, and wordings of which none is the base."""

import numpy as np
import polars as pl
import pytest
from small_audits import material, singles

from evenhand.analysis.blocks import analyse
from evenhand.analysis.focal import scored
from evenhand.analysis.specifications import formula_of
from evenhand.analysis.verdict import planned_contrasts
from evenhand.errors import InputError
from evenhand.terms import EVERY_FORMAT

SCAFFOLDS = {"C0": 0.0, "C2": 20.0, "C3": -10.0}


def decided(scaffold="base", *, gain=0.0, lift=0.0, seed=1, domain="hiring", **options):
    """Decisions that came with a score: `gain` is what Black names gain, `lift` what the scaffold does."""
    rng = np.random.default_rng(seed)
    rows = singles("decide", lambda *who: int(rng.random() < 0.5), wording=scaffold, domain=domain, **options)
    return [
        row | {"arm": f"{domain}-{scaffold}",
               "score": 50.0 + 5 * row["stratum"] + lift + gain * (row["race"] == "Black") + rng.normal()}
        for row in rows
    ]  # fmt: skip


def shown(scaffold):
    """Black names are shown under C2 mostly, others under C0: without the wording they would seem to gain by it."""

    def chosen(profile, name):
        often = profile % 3 != 0
        return (name[0] == "Black") == often if scaffold == "C2" else (name[0] == "Black") != often or profile % 2 == 0

    return chosen


def contrast(found, group, format):
    [row] = planned_contrasts(found).filter(pl.col("group") == group, pl.col("format") == format).to_dicts()
    return row


def test_a_score_beside_a_decision_makes_a_cell_of_its_own():
    found = material(decided(gain=3.0), families=(EVERY_FORMAT,))
    assert [(cell.format, cell.mode) for cell in found.cells] == [("decide", "single"), ("score", "single")]
    decisions, scores = found.cells
    assert scores.rows["y"].to_list() == decisions.rows["score"].to_list()
    assert set(decisions.rows["y"]) == {0.0, 100.0}
    row = contrast(found, "Black", "score")
    assert row["conf_low"] < 3 < row["conf_high"]
    assert row["p_value"] < 1e-6
    assert "score points" in row["method"]
    assert contrast(found, "Female", "score")["conf_low"] < 0 < contrast(found, "Female", "score")["conf_high"]


def test_decisions_without_scores_make_no_cell_of_scores():
    rows = [row | {"score": None} for row in decided()]
    assert [cell.format for cell in material(rows).cells] == ["decide"]


def test_answers_without_a_score_are_counted_in_both_cells():
    lost = {"valid": False, "malformed": True, "status": "malformed", "decision": None, "score": None}
    rows = [row | lost if number < 5 else row for number, row in enumerate(decided())]
    assert [int(cell.left_out["n"].sum()) for cell in material(rows).cells] == [5, 5]
    unscored = [row | {"score": None} if number < 5 else row for number, row in enumerate(decided())]
    assert [int(cell.left_out["n"].sum()) for cell in material(unscored).cells] == [0, 5]


def test_an_invalid_answer_has_no_score():
    rows = decided()
    rows[0] |= {"valid": False, "malformed": True, "status": "malformed"}
    scores = scored(material(rows).outcomes).filter(pl.col("task") == "score")
    assert scores["y"].null_count() == 1


def test_where_no_wording_is_the_base_all_count_and_are_told_apart():
    rows = [row for scaffold, lift in SCAFFOLDS.items() for row in decided(scaffold, gain=3.0, lift=lift)]
    found = material(rows, families=(EVERY_FORMAT,))
    for cell in found.cells:
        assert cell.rows.height == len(rows)
        assert dict(cell.rows["wording_variant"].value_counts().iter_rows()) == dict.fromkeys(SCAFFOLDS, len(rows) // 3)
        for specification in ("evenhand", "paper"):
            assert "+ wording_variant +" in formula_of(cell, cell.rows, specification)
    assert contrast(found, "Black", "score")["estimate"] == pytest.approx(3.0, abs=0.5)


def test_a_wording_shown_to_one_group_more_often_is_not_taken_for_the_group():
    rows = [row for scaffold in ("C0", "C2")
            for row in decided(scaffold, lift=SCAFFOLDS[scaffold], chosen=shown(scaffold))]  # fmt: skip
    black = [row["score"] for row in rows if row["race"] == "Black"]
    others = [row["score"] for row in rows if row["race"] == "White"]
    assert np.mean(black) - np.mean(others) > 4
    row = contrast(material(rows, families=(EVERY_FORMAT,)), "Black", "score")
    assert abs(row["estimate"]) < 1
    assert row["conf_low"] < 0 < row["conf_high"]


def test_where_there_is_a_base_it_alone_counts():
    rows = [*decided(), *decided("C2", lift=20.0)]
    found = material(rows)
    for cell in found.cells:
        assert cell.rows["wording_variant"].unique().to_list() == ["base"]
        assert "wording" not in formula_of(cell, cell.rows, "evenhand")


def test_one_margin_serves_no_two_scales():
    rows = [*decided(), *decided(domain="lending")]
    with pytest.raises(InputError, match="the scores of hiring, lending stand each on a scale of its own") as caught:
        material(rows, margins={"score": 5.0})
    assert "as triage/score" in caught.value.mend
    assert material(decided(), margins={"score": 5.0}).cells
    assert material(rows, margins={"decide": 5.0}).cells


def test_every_block_takes_such_outcomes():
    rows = [row for scaffold, lift in SCAFFOLDS.items() for row in decided(scaffold, gain=3.0, lift=lift)]
    found = analyse(material(rows, families=(EVERY_FORMAT,), margins={"decide": 5.0, "score": 5.0}))
    assert {"verdict", "contrasts", "decisions", "floors", "robustness", "impact_ratios", "arity_null"} <= set(
        found.blocks
    )
    assert "wording" not in found.blocks
    assert {(one.format, one.group): one.status for one in found.statuses}["score", "Black"] == "disparity"
    for block in found.blocks.values():
        assert block.filter(pl.col("estimate").is_null() & (pl.col("note") == "")).is_empty()
