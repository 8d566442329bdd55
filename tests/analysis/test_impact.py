"""Impact ratios: plain shares, the most selected group, and no interval where there is none."""

import numpy as np
import polars as pl
import pytest
from small_audits import PROFILES, material, one, rated, singles

from evenhand.analysis.impact import NO_LEGAL_FINDING, impact_ratios


def by_race(shares, rng):
    return lambda model, profile, name, epoch: int(rng.random() < shares.get(name[0], 0.5))


def test_rates_and_ratios_are_shares_over_the_most_selected_group_by_sex_race_and_both():
    rows = singles("decide", by_race({"Black": 0.3, "Asian": 0.8}, np.random.default_rng(2)))
    found = impact_ratios(material(rows))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    for term, keys in {"race": ["race"], "gender": ["gender"], "race x gender": ["race", "gender"]}.items():
        rates = {" ".join(k): part["decision"].mean() for k, part in frame.group_by(keys)}
        own = found.filter(term=term, model="pooled")
        assert {r["group"]: r["estimate"] for r in own.filter(estimand="selection_rate").to_dicts()} == pytest.approx(
            rates
        )
        top = max(rates.values())
        ratios = own.filter(estimand="impact_ratio")
        assert {r["group"]: r["estimate"] for r in ratios.to_dicts()} == pytest.approx(
            {group: rate / top for group, rate in rates.items()}
        )
        assert all(NO_LEGAL_FINDING in note for note in ratios["note"])
    black = one(found, term="race", group="Black", estimand="impact_ratio", model="pooled")
    assert black["conf_low"] < black["estimate"] < black["conf_high"] < 0.8
    best = one(found, term="race", group="Asian", estimand="impact_ratio", model="pooled")
    assert (best["estimate"], best["conf_low"]) == (1.0, None)


def test_profiles_that_all_groups_share_widen_rates_and_not_ratios():
    """A crossed design compares groups within profiles: only what differs between them is noise of the ratio."""
    rows = singles("decide", lambda model, profile, name, epoch: int(profile < 3 or (profile == 3 and name[2] == 1)))
    found = impact_ratios(material(rows)).filter(term="gender", model="pooled")
    rate = one(found, estimand="selection_rate", group="Female")
    ratio = found.filter(estimand="impact_ratio")
    assert rate["conf_high"] - rate["conf_low"] > 0.5
    assert ratio["estimate"].to_list() == [1.0, 1.0]
    moving = next(r for r in ratio.to_dicts() if r["conf_low"] is not None)
    assert moving["conf_high"] - moving["conf_low"] < 0.5


def test_intervals_cover_the_true_ratio_as_often_as_they_say():
    covered = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        quality = rng.uniform(0.2, 0.6, PROFILES)
        value = lambda model, profile, name, epoch: int(  # noqa: E731
            rng.random() < quality[profile] * (1.5 if name[0] == "White" else 1.0)  # noqa: B023
        )
        rows = singles("decide", value, models=("m",), chosen=lambda p, name: name[0] in {"White", "Black"})
        found = impact_ratios(material(rows)).filter(term="race", estimand="impact_ratio")
        row = next(r for r in found.to_dicts() if "by definition" not in r["note"])
        truth = 1 / 1.5 if row["group"] == "Black" else 1.5
        if row["conf_low"] is not None:
            covered.append(row["conf_low"] < truth < row["conf_high"])
    assert len(covered) > 110
    assert np.mean(covered) > 0.90


def test_rates_of_nought_and_one_have_notes_instead_of_intervals():
    rows = singles("decide", lambda m, p, name, e: int(name[0] == "White" or (name[0] == "Asian" and p < 3)))
    found = impact_ratios(material(rows)).filter(term="race", model="pooled")
    none, every = (one(found, estimand="selection_rate", group=group) for group in ("Black", "White"))
    assert (none["estimate"], none["conf_low"], every["estimate"], every["conf_high"]) == (0.0, None, 1.0, None)
    assert "no application was selected" in none["note"]
    assert "every application was selected" in every["note"]
    ratio = one(found, estimand="impact_ratio", group="Black")
    assert (ratio["estimate"], ratio["conf_low"]) == (0.0, None)
    assert "no application of this group was selected" in ratio["note"]
    assert one(found, estimand="impact_ratio", group="Asian")["conf_low"] is not None


def test_where_nobody_is_selected_there_is_no_ratio():
    found = impact_ratios(material(singles("decide", lambda *_: 0))).filter(estimand="impact_ratio")
    assert found["estimate"].null_count() == found.height > 0
    assert all("nobody was selected" in note for note in found["note"])


def test_where_all_are_selected_ratios_are_one_without_error():
    found = impact_ratios(material(singles("decide", lambda *_: 1))).filter(estimand="impact_ratio", model="pooled")
    assert set(found["estimate"]) == {1.0}
    assert found["conf_low"].null_count() == found.height


def test_refusals_are_told_and_formats_that_decide_nothing_have_no_rows():
    rows = singles("decide", lambda *_: 1, models=("m",))
    rows[0] |= {"status": "refused", "valid": False, "refused": True, "decision": None}
    found = impact_ratios(material(rows))
    assert all("1 applications without a decision" in note for note in found["note"])
    assert impact_ratios(material(singles("rate", rated(np.random.default_rng(1))))).is_empty()
