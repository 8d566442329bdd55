"""Position, ties, and the audit against the demographics: what is planted is found, and what cannot be read is said."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, material, one, ordering

from evenhand.analysis.audit_effects import audit_against_demographics, position_effect, tie_rates


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def always(ranks):
    return lambda model, slots: ranks


def test_a_planted_first_position_is_found_in_both_manners_and_in_sds(rng):
    found = position_effect(material(bundles("rank_ties", ordering(rng, strata=0.2, first=1.5))))
    fitted = one(found, estimand="first_position", model="pooled", arm="")
    plain = one(found, estimand="first_position", model="pooled", arm="demographic_disguised")
    assert fitted["estimate"] > 1.0
    assert fitted["conf_low"] > 0
    # In balanced squares both estimate the same quantity.
    assert plain["estimate"] == pytest.approx(fitted["estimate"], abs=0.05)
    sd = np.std([1, 2, 3, 4] * 96, ddof=1)
    assert one(found, estimand="first_position_d", model="pooled", arm="")["estimate"] == pytest.approx(
        fitted["estimate"] / sd
    )
    assert set(found["model"]) == {"pooled", "m1", "m2"}


def test_the_effect_of_rank_one_for_whoever_is_first_is_known_exactly():
    found = position_effect(material(bundles("rank_ties", always([1, 2, 3, 4]))))
    row = one(found, estimand="first_position", model="pooled", arm="demographic_disguised")
    assert row["estimate"] == pytest.approx(2.0)
    assert row["conf_low"] is None
    assert "the clusters do not differ" in row["note"]


def test_where_all_is_tied_there_is_no_position_effect_and_the_note_says_so():
    found = position_effect(material(bundles("rank_ties", always([1, 1, 1, 1]))))
    assert found["estimate"].null_count() == found.height > 0
    assert all("nothing can be read of positions" in note for note in found["note"])


def test_placebo_arms_have_a_position_effect_although_they_are_no_demographic_cell(rng):
    placebo = bundles("rank_ties", ordering(rng, strata=0.2, first=1.5), kind="placebo_disguised", pseudo_group="a",
                      focal_axis="pseudo_group")  # fmt: skip
    found = position_effect(material(placebo))
    assert one(found, estimand="first_position", model="m1")["estimate"] > 1.0


def test_ties_are_counted_by_arm_and_unanswered_calls_are_told():
    rows = bundles("rank_ties", always([1, 1, 1, 1]), count=8, models=("m1",), arm="matched", kind="demographic_matched",
                   mode="transparent")  # fmt: skip
    rows += bundles("rank_ties", lambda m, s: [1, 2, 2, 3] if s[0]["race"] == "White" else [1, 2, 3, 4], count=8,
                    models=("m1",), arm="disguised")  # fmt: skip
    refused = bundles("rank_ties", always([None] * 4), count=2, first=8, models=("m1",), arm="disguised")
    rows += [row | {"valid": False, "status": "refused"} for row in refused]
    found = tie_rates(material(rows))
    assert one(found, arm="matched", estimand="share_fully_tied")["estimate"] == 1.0
    tied = one(found, arm="disguised", estimand="share_tied")
    assert (tied["estimate"], tied["n"]) == (0.25, 8)
    assert tied["conf_low"] < 0.25 < tied["conf_high"]
    assert "2 of 10 calls have no full answer" in tied["note"]
    assert one(found, arm="disguised", estimand="share_fully_tied")["estimate"] == 0.0


def both_domains(rng, **planted):
    rows = bundles("rank_ties", ordering(rng, strata=0.5, **planted))
    return rows + bundles("rank_ties", ordering(rng, strata=0.5), domain="triage")


def test_the_position_exceeds_the_largest_demographic_effect_where_it_is_planted(rng):
    rows = bundles("rank_ties", ordering(rng, strata=0.2, first=2.0))
    rows += bundles("rank_ties", ordering(rng, strata=0.2, first=2.0), domain="triage")
    found = audit_against_demographics(material(rows))
    first, largest = (one(found, estimand=name) for name in ("first_position_d", "largest_demographic_d"))
    gap, percentiles = found.filter(estimand="position_less_largest_d").to_dicts()
    assert gap["estimate"] == pytest.approx(abs(first["estimate"]) - largest["estimate"])
    assert gap["conf_low"] > 0
    assert percentiles["estimate"] == gap["estimate"]
    assert percentiles["conf_low"] <= percentiles["conf_high"]


def test_the_largest_demographic_effect_is_named_with_its_domain(rng):
    found = audit_against_demographics(material(both_domains(rng, groups={"Asian": -1.5})))
    terms = found.filter(estimand="contrast_d")
    assert set(terms.select("domain", "group").iter_rows()) == {
        (domain, group) for domain in ("hiring", "triage") for group in ("Asian", "Black", "Hispanic", "Female")
    }
    largest = one(found, estimand="largest_demographic_d")
    assert "the largest is hiring Asian, of 8" in largest["note"]
    assert largest["estimate"] == pytest.approx(terms["estimate"].abs().max())
    assert found.filter(estimand="position_less_largest_d")["conf_high"].max() < 0


def test_the_common_fit_is_least_squares_of_centred_answers(rng):
    rows = bundles("rank_ties", ordering(rng, strata=0.5, first=0.5))
    given = material(rows)
    found = audit_against_demographics(given)
    cell = given.cells[0]
    d = cell.rows.to_dummies(["race", "gender", "stratum"]).with_columns(
        first=(pl.col("position") == 1).cast(pl.Float64)
    )
    names = ["first", *(f"race_{r}" for r in ("Asian", "Black", "Hispanic")), "gender_Female",
             *(f"stratum_{k}" for k in (2, 3, 4))]  # fmt: skip
    x, y = (d.select(pl.col(c) - pl.col(c).mean().over("call") for c in cs).to_numpy() for cs in (names, ["y"]))
    beta = np.linalg.lstsq(x, y[:, 0] / cell.sd, rcond=None)[0]
    assert one(found, estimand="first_position_d")["estimate"] == pytest.approx(beta[0])
    assert one(found, estimand="contrast_d", group="Black")["estimate"] == pytest.approx(beta[2])


def test_a_study_without_disguised_rankings_has_empty_tables():
    for block in (audit_against_demographics, position_effect, tie_rates):
        assert block(material([])).is_empty()
