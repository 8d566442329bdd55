"""Two sets of answers to the same applications: what changed is found, what did not is not, and what is lost is told."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, one, ordering, rated, row, singles, table

from evenhand.analysis.comparison import compare
from evenhand.analysis.setting import Setting
from evenhand.errors import InputError

ONE = ("m",)


def rates(seed, **options):
    return table(singles("rate", rated(np.random.default_rng(seed), spread=0.2, **options), models=ONE))


def ranks(seed, first=0, **options):
    return table(bundles("rank_ties", ordering(np.random.default_rng(seed), **options), models=ONE, first=first))


@pytest.fixture
def without_some():
    """A table without the rows of one race."""
    return lambda rows, race: rows.filter(pl.col("race") != race)


def test_without_a_change_few_intervals_exclude_nought():
    p = [change.p_value for seed in range(12) for change in compare(rates(seed), rates(100 + seed), Setting()).changes]
    assert len(p) == 48
    assert np.mean(np.array(p) < 0.05) <= 0.15


@pytest.mark.parametrize("seed", range(3))
def test_without_a_change_nothing_is_changed_and_the_margin_decides_between_the_others(seed):
    wide = compare(rates(seed), rates(100 + seed), Setting(margins={"rate": 10.0}))
    assert {change.status for change in wide.changes} == {"equivalent"}
    assert all(change.tost_p < 0.05 and change.bound < 10 for change in wide.changes)
    undeclared = compare(rates(seed), rates(100 + seed), Setting())
    assert {change.status for change in undeclared.changes} == {"not_resolved"}
    assert all("no margin was declared" in change.said and change.tost_p is None for change in undeclared.changes)


def test_a_planted_change_has_its_sign_size_and_interval():
    found = compare(rates(1), rates(2, groups={"Black": -1.0}), Setting(margins={"rate": 3.0}))
    change = next(change for change in found.changes if change.group == "Black")
    assert change.status == "changed"
    assert change.conf_low < -10 < change.conf_high < -3
    assert "favours the group less; the size is beyond the margin of 3 rating points" in change.said
    assert change.second - change.first == pytest.approx(change.estimate, abs=1e-6)
    assert {other.status for other in found.changes if other is not change} <= {"equivalent", "not_resolved"}
    back = compare(rates(2, groups={"Black": -1.0}), rates(1), Setting())
    assert one(back.rows, estimand="change", group="Black")["estimate"] == pytest.approx(-change.estimate)
    clustered = one(found.rows, estimand="change_clustered", group="Black")
    assert clustered["conf_low"] < -10 < clustered["conf_high"]
    assert "clustered on the stimulus" in clustered["method"]


def test_a_planted_change_of_rankings_is_found_slot_by_slot():
    found = compare(ranks(1), ranks(2, groups={"Black": -1.5}), Setting())
    changed = next(change for change in found.changes if change.group == "Black")
    assert (changed.status, changed.shared, changed.only_first) == ("changed", 192, 0)
    assert changed.conf_high < 0
    assert one(found.rows, estimand="change_score")["note"].startswith("the scores of a bundle sum to a constant")


def test_everyone_moves_and_no_group_does():
    found = compare(rates(1), rates(2, shift=2.0), Setting(margins={"rate": 5.0}))
    moved = one(found.rows, estimand="change_score")
    assert moved["conf_low"] < 20 < moved["conf_high"]
    assert {change.status for change in found.changes} == {"equivalent"}
    assert one(found.rows, estimand="answered_differently")["estimate"] > 0.95


def test_identical_answers_are_never_the_same_without_a_margin():
    found = compare(rates(1), rates(1), Setting())
    assert one(found.rows, estimand="answered_differently")["estimate"] == 0
    assert {(change.status, change.estimate) for change in found.changes} == {("not_resolved", 0.0)}
    assert all("both ways were answered alike" in change.note for change in found.changes)
    assert {c.said for c in found.changes} == {"every shared slot moved by the same; no margin was declared"}
    for step in (0, 1):
        moved = rates(1).with_columns(pl.col("rating") + step)
        declared = compare(rates(1), moved, Setting(margins={"rate": 0.1}))
        assert {(change.status, change.bound) for change in declared.changes} == {("equivalent", 0.0)}
        assert one(declared.rows, estimand="change_score")["estimate"] == step


def test_bundles_are_shared_by_their_applications_and_order_not_by_their_ids():
    renamed = ranks(1).with_columns(unit_id=pl.lit("other-") + pl.col("unit_id"))
    assert compare(ranks(2), renamed, Setting()).shared == 192
    turned = ranks(1).with_columns(position=5 - pl.col("position"))
    with pytest.raises(InputError, match="no slot has a score on both sides"):
        compare(ranks(2), turned, Setting())


def test_repeated_answers_are_one_row_a_shared_slot_and_counts_add_up():
    rng = np.random.default_rng(5)
    twice = table(singles("rate", rated(rng, spread=0.2), models=ONE, epochs=2))
    fewer = rates(1).filter(pl.col("scenario_id") != "p0")
    found = compare(twice, fewer, Setting())
    counts = {name: one(found.rows, estimand=name)["n"] for name in ("shared_slots", "only_first", "only_second")}
    assert counts == {"shared_slots": 120, "only_first": 24, "only_second": 0}
    assert set(found.rows.filter(estimand="change")["n"]) == {120}


def test_other_wordings_are_compared_on_the_same_stimuli_and_told():
    reworded = rates(2).with_columns(wording_variant=pl.lit("terse"))
    found = compare(rates(1), reworded, Setting())
    assert found.shared == 144
    assert any("the wordings differ (base on the first side, terse on the second)" in note for note in found.notes)


@pytest.mark.parametrize("missing", ["first", "second"])
def test_a_group_that_one_side_lacks_keeps_its_row(without_some, missing):
    sides = {"first": rates(1), "second": rates(2)}
    sides[missing] = without_some(sides[missing], "Asian")
    found = compare(sides["first"], sides["second"], Setting())
    lost = next(change for change in found.changes if change.group == "Asian")
    assert (lost.status, lost.estimate, lost.q_value) == ("not_resolved", None, None)
    assert f"no row of Asian has a score on the {missing} side" in lost.note
    assert sum(change.estimate is not None for change in found.changes) == 3
    assert "1 of 4 changes have no p value" in lost.note


def test_without_the_reference_all_rows_of_a_factor_say_so(without_some):
    found = compare(rates(1), without_some(rates(2), "White"), Setting())
    notes = [change.note for change in found.changes if change.term == "race"]
    assert len(notes) == 3
    assert all("no row of White has a score on the second side" in note for note in notes)


def test_a_domain_of_one_side_is_told_and_tested_nowhere():
    both = pl.concat([rates(1), table(singles("rate", lambda *_: 5, models=ONE, domain="lending"))])
    found = compare(both, rates(2), Setting(margins={"lending/rate": 1.0}))
    assert "lending rate (single): no score on the second side" in found.notes
    lending = [change for change in found.changes if change.domain == "lending"]
    assert len(lending) == 4
    assert all((change.estimate, change.shared, change.only_first) == (None, 0, 144) for change in lending)
    assert all(change.note for change in lending)


def test_refusals_of_one_group_are_found_where_units_hold_one_group():
    before = rates(1)
    refused = [
        row("rate", model="m", status="refused", **given)
        for given in before.filter(pl.col("race") == "Black", pl.col("name_rank") < 3).select(
            "unit_id", "bundle_type", "stimulus_id", "scenario_id", "race", "gender", "name_rank", "name", "stratum"
        ).to_dicts()
    ]  # fmt: skip
    after = pl.concat([rates(2).filter((pl.col("race") != "Black") | (pl.col("name_rank") == 3)), table(refused)])
    found = compare(before, after, Setting())
    change = {
        share["group"]: share["estimate"] for share in found.rows.filter(estimand="change_share_refused").to_dicts()
    }
    assert change["Black"] == pytest.approx(100 * 2 / 3)
    assert change["White"] == change["Asian"] == pytest.approx(0)
    assert one(found.rows, estimand="change_share_malformed")["note"] == "no slot was malformed on either side"
    assert one(found.rows, estimand="only_first")["n"] == len(refused)


def test_respondents_are_matched_by_name_or_as_they_are_named():
    rng = np.random.default_rng(3)
    several = table(singles("rate", rated(rng, spread=0.2), models=("a", "b")))
    again = table(singles("rate", rated(rng, spread=0.2), models=("b", "c")))
    found = compare(several, again, Setting())
    assert found.respondents == (("b", "b"),)
    assert found.notes == (
        "respondents of the first side that were not compared: a",
        "respondents of the second side that were not compared: c",
    )
    named = compare(several, again, Setting(), respondents=("a", "c"))
    assert (named.respondents, named.shared) == ((("a", "c"),), 144)
    alone = compare(rates(1), rates(2).with_columns(model=pl.lit("new")), Setting())
    assert alone.respondents == (("m", "new"),)
    both = compare(several, several.with_columns(rating=pl.col("rating") + 1), Setting())
    assert set(both.rows.filter(estimand="change")["model"]) == {"pooled", "a", "b"}


def test_what_cannot_be_compared_is_refused_with_a_mend():
    several = table(singles("rate", lambda *_: 5, models=("a", "b")))
    with pytest.raises(InputError, match="no respondent is on both sides") as refused:
        compare(several, rates(1), Setting())
    assert "--model A --model B" in refused.value.mend
    with pytest.raises(InputError, match="no respondent is called 'z'") as refused:
        compare(several, rates(1), Setting(), respondents=("z", "m"))
    assert (refused.value.where, refused.value.mend) == ("the first outcomes", "Name one of a, b")
    with pytest.raises(InputError, match="no slot has a score on both sides"):
        compare(ranks(1), ranks(1, first=100).with_columns(stimulus_id=pl.lit("x") + pl.col("stimulus_id")), Setting())


def test_headline_and_statuses_agree_with_the_rows():
    found = compare(
        pl.concat([rates(1), ranks(1)]),
        pl.concat([rates(2, groups={"Black": -1.0}), ranks(3)]),
        Setting(margins={"rate": 4.0}),
    )
    counts = {name: sum(c.status == name for c in found.changes) for name in ("changed", "equivalent", "not_resolved")}
    are = {name: f"{count} {'is' if count == 1 else 'are'}" for name, count in counts.items()}
    assert found.headline == (
        f"Of 8 planned contrasts on 336 shared slots, {counts['changed']} changed, {are['equivalent']} bounded inside the "
        f"margin, and {are['not_resolved']} not resolved."
    )
    for change in found.changes:
        wanted = {"domain": change.domain, "format": change.format, "group": change.group, "model": "pooled"}
        row = one(found.rows, estimand="change", **wanted)
        assert all(row[name] == getattr(change, name) for name in ("estimate", "conf_low", "q_value", "note"))
        assert (change.status == "changed") == (row["q_value"] < 0.05)
        assert one(found.rows, estimand="contrast_first", **wanted)["estimate"] == change.first
        assert one(found.rows, estimand="change_bound", **wanted)["estimate"] == change.bound
        seen = one(found.rows, estimand="change_detectable", **wanted)["estimate"]
        assert seen == change.detectable > 2.8 * change.std_error - 1e-9
    missing = found.rows.filter(pl.col("estimate").is_null())
    assert (missing["note"] != "").all()
