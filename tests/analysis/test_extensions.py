"""The extensions: one specification for three samples, reasoning with and without, the published contrasts."""

import numpy as np
import pytest
from small_audits import bundles, material, one, ordering, rated, row, singles

from evenhand.analysis.extensions import aid_replication, precision, published_contrasts, reasoning_rerun


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_three_samples_stand_under_one_specification_and_more_bundles_narrow_the_interval(rng):
    rank = ordering(rng, strata=0.3, noise=1.0)
    rows = bundles("rank_ties", rank) + bundles(
        "rank_ties", rank, first=48, count=192, tag="extension:precision", arm="more"
    )
    found = precision(material(rows, margins={"rank_ties": 0.3}))
    for method in ("evenhand", "least squares"):
        own = found.filter(model="pooled", estimand="contrast", group="Black").filter(
            found.filter(model="pooled", estimand="contrast", group="Black")["method"].str.starts_with(method)
        )
        widths = {r["arm"]: r["conf_high"] - r["conf_low"] for r in own.to_dicts()}
        assert widths["frozen"] > widths["extension"] > widths["pooled"]
        assert len(set(own["method"])) == 1
    after = found.filter(estimand="contrast", arm="frozen")["note"].to_list()
    assert not any("commissioned" in note for note in after)
    assert all(
        "commissioned after" in note for arm in ("extension", "pooled") for note in found.filter(arm=arm)["note"]
    )
    assert "240 bundles" in one(found, arm="pooled", model="m1", group="Black")["note"]


def test_the_bound_is_the_far_end_of_the_interval_and_within_the_margin_where_the_test_rejects(rng):
    rank = ordering(rng, strata=0.3, groups={"Black": -1.5}, noise=1.0)
    rows = bundles("rank_ties", rank) + bundles("rank_ties", rank, first=48, tag="extension:precision", arm="more")
    found = precision(material(rows, margins={"rank_ties": 0.4}))
    tested, bounds = (found.filter(estimand=name).to_dicts() for name in ("tost", "bound"))
    assert len(tested) == len(bounds) == 3 * 2 * 4
    for test, bound in zip(tested, bounds, strict=True):
        assert test["conf_low"] < test["estimate"] < test["conf_high"]
        assert bound["estimate"] == pytest.approx(max(abs(test["conf_low"]), abs(test["conf_high"])))
        assert (test["p_value"] < 0.05) == (bound["estimate"] < 0.4)
    assert min(test["p_value"] for test in tested if test["group"] == "Black") > 0.9
    assert precision(material(rows)).filter(estimand="tost").is_empty()


def test_an_extension_without_its_frozen_arm_stands_alone(rng):
    rows = bundles("rank_ties", ordering(rng), tag="extension:precision")
    assert set(precision(material(rows))["arm"]) == {"extension"}
    assert precision(material(bundles("rank_ties", ordering(rng)))).is_empty()


def choices(answers, **cells):
    return [
        row("purpose_choice", unit_id=f"u{i}", stimulus_id=f"u{i}", bundle_type="crossed", choice=answer, **cells)
        for i, answer in enumerate(answers)
    ]


def test_reasoning_is_compared_with_the_same_models_and_the_same_requests(rng):
    rerun = {"tag": "extension:reasoning", "arm": "rate-reasoning"}
    rows = singles("rate", rated(rng, groups={"Black": 1.0}), models=("m1", "m2", "m3"))
    rows += singles("rate", rated(rng), models=("m1", "m2"), **rerun)
    for model in ("m1", "m2"):
        rows += choices(["fairness", "routine", "routine", "fairness"], model=model)
        rows += choices(["fairness", "fairness"], model=model, tag="extension:reasoning", arm="probe-reasoning")
    rows += choices(["fairness"] * 4, model="m3")
    found = reasoning_rerun(material(rows))
    assert set(found["model"]) == {"pooled", "m1", "m2"}
    black = {"model": "pooled", "group": "Black"}
    assert one(found, estimand="contrast", arm="without", **black)["conf_low"] > 5
    assert abs(one(found, estimand="contrast", arm="with reasoning", **black)["estimate"]) < 3
    for r in found.filter(estimand="reasoning_interaction", **black).to_dicts():
        assert r["estimate"] == pytest.approx(-10, abs=2.5)
        assert r["conf_high"] < -5
    # Of the probes without reasoning only the requests that were asked again.
    shares = found.filter(estimand="share_recognised", model="pooled", group="all")
    assert {r["arm"]: (r["estimate"], r["n"]) for r in shares.to_dicts()} == {
        "with reasoning": (1.0, 4),
        "without": (0.5, 4),
    }
    assert all("exploratory" in note for note in found["note"])
    assert reasoning_rerun(material(singles("rate", rated(rng)))).is_empty()


def test_the_published_contrasts_are_those_of_the_paper():
    assert [(c["group"], c["reference"], c["estimate"]) for c in published_contrasts()] == [
        ("Black", "White", 0.090),
        ("Asian", "White", -0.067),
    ]


def test_the_replication_stands_beside_what_was_published(rng):
    aid = {"domain": "aid", "tag": "extension:aid"}
    rows = singles("rate", rated(rng, groups={"Black": 1.0}), **aid)
    rank = ordering(rng, strata=0.3, groups={"Asian": 1.0})
    rows += bundles("rank", rank, kind="race_disguised", arm="d", **aid)
    rows += bundles("rank", rank, kind="race_transparent", mode="transparent", arm="t", **aid)
    found = aid_replication(material(rows))
    assert found.filter(estimand="published")["estimate"].to_list() == [0.090, -0.067]
    rating = one(found, format="rate", estimand="contrast", model="pooled")
    assert rating["estimate"] == pytest.approx(10, abs=2.5)
    assert rating["note"].endswith("the published direction")
    ranks = found.filter(format="rank", estimand="contrast", model="pooled")
    assert ranks["arm"].to_list() == ["all presentations", "disguised", "transparent"]
    assert ranks["estimate"].min() > 0
    assert all(note.endswith("not the published direction") for note in ranks["note"])
    assert ranks["n"][0] == ranks["n"][1] + ranks["n"][2]


def test_primary_aid_rows_are_no_replication(rng):
    assert aid_replication(material(singles("rate", rated(rng), domain="aid"))).is_empty()
