"""Wordings and interfaces on shared applications, beside the plain differences that composition makes."""

import numpy as np
import pytest
from small_audits import RACES, bundles, material, one, ordering, rated, singles

from evenhand.analysis.variants import tool_effects, wording_effects

ARM = {"arm": "reworded", "tag": "extension:wording", "wording": "one"}


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def tied_to_profile(profile, name):
    """Each profile under names of one race alone, the better ones under White names."""
    return RACES[3 - profile % 4] == name[0]


def test_composition_makes_a_raw_difference_and_no_interaction(rng):
    value = rated(rng, spread=0.2)
    rows = singles("rate", value) + singles("rate", value, chosen=tied_to_profile, **ARM)
    found = wording_effects(material(rows, confounded={"reworded": "race with profile"}))
    wanted = {"arm": "reworded", "model": "pooled", "group": "Black"}
    raw, gap = (one(found, estimand=name, **wanted) for name in ("raw_difference", "baseline_quality_gap"))
    assert raw["estimate"] == pytest.approx(-10, abs=3)
    assert gap["estimate"] == pytest.approx(raw["estimate"], abs=2.5)
    interactions = found.filter(estimand="wording_interaction", **wanted).to_dicts()
    assert len(interactions) == 2
    assert all(abs(row["estimate"]) < 5 for row in interactions)
    assert all("confounded: race with profile" in row["note"] for row in (raw, gap, *interactions))


def test_an_arm_of_equal_quotas_has_no_gap(rng):
    rows = singles("rate", rated(rng)) + singles("rate", rated(rng), **ARM)
    found = wording_effects(material(rows))
    gap = one(found, estimand="baseline_quality_gap", model="pooled", group="Black")
    assert gap["estimate"] == pytest.approx(0.0, abs=1e-9)
    assert "confounded" not in gap["note"]


def test_a_planted_interaction_is_found_in_units_also_where_groups_and_profiles_are_tied(rng):
    value = rated(rng, groups={"Black": -2.0}, shift=1.0, spread=0.1)
    rows = singles("rate", rated(rng, spread=0.1)) + singles("rate", value, chosen=tied_to_profile, **ARM)
    found = wording_effects(material(rows)).filter(estimand="wording_interaction", model="pooled")
    for row in found.filter(group="Black").to_dicts():
        assert row["estimate"] == pytest.approx(-20, abs=3)
        assert row["conf_high"] < -10
    for row in found.filter(group="Asian").to_dicts():
        assert row["estimate"] == pytest.approx(0, abs=3)


def test_distributions_stand_for_each_instruction_as_in_table_4(rng):
    given = material(singles("rate", rated(rng)) + singles("rate", rated(rng, shift=0.5), **ARM))
    found = wording_effects(given)
    means = {row["arm"]: row["estimate"] for row in found.filter(estimand="mean_score", term="").to_dicts()}
    base = given.cells[0].rows["y"]
    assert means["hiring-rate"] == pytest.approx(base.mean())
    assert one(found, estimand="sd_score", arm="hiring-rate")["estimate"] == pytest.approx(base.std())
    assert means["reworded"] - means["hiring-rate"] == pytest.approx(5, abs=1.5)
    assert one(found, estimand="mean_score", arm="hiring-rate", group="White")["n"] == 72


def test_bundles_are_shared_slot_by_slot(rng):
    same = ordering(rng, noise=0.0)
    rows = bundles("rank_ties", same) + bundles("rank_ties", same, count=24, **ARM)
    found = wording_effects(material(rows)).filter(estimand="wording_interaction", model="pooled")
    assert found.height == 8
    assert found["estimate"].to_list() == pytest.approx([0.0] * 8, abs=1e-9)
    assert all("both ways were answered alike" in note for note in found["note"])


def test_without_a_shared_application_the_row_says_so(rng):
    rows = bundles("rank_ties", ordering(rng)) + bundles("rank_ties", ordering(rng), first=100, count=24, **ARM)
    found = wording_effects(material(rows)).filter(estimand="wording_interaction", model="pooled")
    assert found["estimate"].null_count() == found.height == 4
    assert set(found["note"]) == {"no application was put to a respondent both ways"}


def test_tools_are_compared_with_text_by_group(rng):
    def decides(penalty):
        return lambda model, profile, name, epoch: int(rng.random() < 0.5 - (penalty if name[0] == "Black" else 0.0))

    rows = singles("decide", decides(0.0)) + singles("tool_decide", decides(0.45))
    found = tool_effects(material(rows))
    assert set(found.filter(estimand="contrast")["format"]) == {"decide", "tool_decide"}
    for row in found.filter(estimand="interface_interaction", model="pooled", group="Black").to_dicts():
        assert row["conf_low"] < -45 < row["conf_high"]
        assert row["conf_high"] < 0
        assert "tool_decide less decide" in row["method"]


def test_repeated_answers_in_text_are_averaged_before_they_are_taken_off(rng):
    decide = lambda model, profile, name, epoch: epoch % 2  # noqa: E731
    rows = singles("decide", decide, epochs=2) + singles("tool_decide", lambda *_: 1)
    found = tool_effects(material(rows)).filter(estimand="interface_interaction", model="pooled")
    assert found["n"].max() == 2 * 6 * 24


def test_a_tool_arm_without_its_text_arm_is_told_and_other_studies_have_no_rows(rng):
    found = tool_effects(material(bundles("tool_rank", ordering(rng))))
    assert found.filter(estimand="interface_interaction")["estimate"].null_count() == 4 * 3
    assert tool_effects(material(singles("rate", rated(rng)))).is_empty()
    assert wording_effects(material(singles("rate", rated(rng)))).is_empty()
