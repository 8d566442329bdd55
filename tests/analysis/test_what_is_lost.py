"""What outcomes lack: groups without an answer, references, names, wordings, answers to come. Nothing goes unsaid."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, material, one, ordering, singles, table

from evenhand.analysis import verdict
from evenhand.analysis.blocks import analyse
from evenhand.analysis.families import correct_families
from evenhand.analysis.impact import impact_ratios
from evenhand.analysis.material import Material
from evenhand.analysis.results import MANIFEST, write_results
from evenhand.analysis.setting import Family, Setting
from evenhand.analysis.validity import unanswered_by_group
from evenhand.errors import InputError
from evenhand.statistics import correct

RATED = 24 * 6


def ratings(seed=1, **options):
    rng = np.random.default_rng(seed)
    return singles("rate", lambda *who: int(rng.integers(1, 6)), **options)


def refused(rows, **cells):
    """The same rows, those with these cells refused."""
    lost = {"rating": None, "valid": False, "refused": True, "status": "refused"}
    return [row | lost if all(row[name] == value for name, value in cells.items()) else row for row in rows]


def test_a_group_that_was_refused_throughout_keeps_its_row():
    found = material(refused(ratings(), race="Black"))
    row = one(verdict.planned_contrasts(found), group="Black")
    assert row["estimate"] is None
    assert "no row of Black has a score" in row["note"]
    assert "1 of 4 planned contrasts have no p value" in row["note"]
    status = next(status for status in verdict.statuses(found) if status.group == "Black")
    assert (status.status, status.family) == ("not_resolved", "planned")
    assert analyse(found).blocks["robustness"].filter(group="Black").height > 0


def test_a_reference_without_a_score_is_named():
    rows = verdict.planned_contrasts(material(refused(ratings(), race="White")))
    races = rows.filter(pl.col("term") == "race")
    assert races["group"].to_list() == ["Asian", "Black", "Hispanic"]
    assert all("no row of the reference White has a score" in note for note in races["note"])


def test_other_spellings_of_the_levels_are_not_passed_over():
    rows = [row | {"race": row["race"].lower()} for row in ratings()]
    found = verdict.planned_contrasts(material(rows))
    assert {"white", "black", "Female"} <= set(found["group"])
    races = found.filter(pl.col("term") == "race")
    assert races["group"].to_list() == ["asian", "black", "hispanic", "white"]
    assert races["estimate"].null_count() == 4


def test_one_level_is_said_not_to_be_compared():
    found = material([row for row in ratings() if row["race"] == "White"])
    assert verdict.scope(found)["one level alone, not compared"] == ["hiring rate: race"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"default_references": {"race": "Klingon"}}, "Asian, Black, Hispanic, White"),
        ({"margins": {"hirng/rate": 0.1}}, "The domains are hiring"),
    ],
)
def test_terms_that_speak_of_nothing_are_refused(setting, said):
    with pytest.raises(InputError) as caught:
        material(ratings(), **setting)
    assert said in caught.value.mend


def test_margins_may_differ_by_domain():
    rows = ratings() + ratings(2, domain="triage")
    found = verdict.statuses(material(rows, margins={"rate": 0.2, "triage/rate": 5.0}))
    assert {status.domain: status.margin for status in found} == {"hiring": 0.2, "triage": 5.0}
    assert {status.status for status in found if status.domain == "triage"} == {"equivalent"}


def test_each_family_is_corrected_by_itself():
    setting = Setting(families=(Family("rates", ("rate",)), Family("rest", ("decide", "rank_ties"), q=0.5)))
    formats, p = ["rate", "decide", "rate", "rank_ties"], [0.01, 0.02, 0.04, None]
    found = correct_families(setting, formats, p)
    assert [found[0].q_value, found[2].q_value] == list(correct([0.01, 0.04]).values)
    assert [found[1].q_value, found[3].q_value] == [0.02, None]
    assert [(one.family.name, one.tests, one.missing) for one in found] == [("rates", 2, 0), ("rest", 2, 1)] * 2
    assert [one.survives for one in found] == [True, True, True, None]


def test_ds_are_over_the_sd_of_the_presentation():
    rng = np.random.default_rng(6)
    rows = bundles("rank_ties", ordering(rng, noise=1.0)) + [
        row | {"rank": 1 + (row["rank"] > 2)}
        for row in bundles("rank_ties", ordering(rng), mode="transparent", arm="open")
    ]
    found = material(rows)
    table = verdict.contrasts(found)
    for cell in found.cells:
        said = pl.col("method").str.contains(f"{cell.mode} bundles")
        own = table.filter(said, pl.col("method").str.starts_with("evenhand"), model="pooled", group="Black")
        size = {row["estimand"]: row["estimate"] for row in own.to_dicts()}
        assert size["contrast_d"] == pytest.approx(size["contrast"] / cell.sd)
    assert len({round(cell.sd, 6) for cell in found.cells}) == 2


@pytest.mark.parametrize("column", ["name", "scenario_id"])
@pytest.mark.parametrize("share", [0.1, 1.0])
def test_ratios_without_names_or_profiles_have_no_interval(column, share):
    rng = np.random.default_rng(3)
    rows = singles("decide", lambda *who: int(rng.random() < 0.5))
    rows = [row | {column: None, "name_rank": None} if rng.random() < share else row for row in rows]
    found = impact_ratios(material(rows))
    known = found.filter(~pl.col("note").str.contains("by definition"))
    assert found["estimate"].null_count() == 0
    assert known["conf_low"].null_count() == known.height
    assert all("is unknown" in note for note in known["note"])


def test_categories_that_are_written_alike_stay_apart():
    rng = np.random.default_rng(4)
    alike = {("White", "Female"): ("A", "B C"), ("Black", "Female"): ("A B", "C")}
    rows = singles("decide", lambda *who: int(rng.random() < 0.5))
    rows = [
        row | dict(zip(("race", "gender"), alike.get((row["race"], row["gender"]), ("X", "Y")), strict=False))
        for row in rows
    ]
    found = impact_ratios(material(rows)).filter(term="race x gender", estimand="selection_rate", model="pooled")
    assert sorted(found["group"]) == ["A B C", "A B C", "X Y"]


def test_wordings_of_one_application_are_units_of_their_own():
    base = ratings(models=("m",), arm="a")
    other = [row | {"wording_variant": "other"} for row in base]
    rows = table(base + refused(other, race="Black"))
    for order in (rows, rows.reverse()):
        found = unanswered_by_group(order).filter(estimand="share_refused", term="race", group="Black").to_dicts()
        assert [(row["estimate"], row["n"]) for row in found] == [(0.5, 2 * RATED // 4)]


def test_what_is_not_yet_answered_is_said():
    lost = {"rating": None, "valid": False, "missing": True, "status": "missing"}
    rows = [row | lost if k % 3 else row for k, row in enumerate(ratings(models=("m",)))]
    assert verdict.scope(material(rows))["not yet answered"] == ["96 of 144 slots"]
    assert "not yet answered" not in verdict.scope(material(ratings()))


def test_a_respondent_of_a_reserved_name_and_scores_beyond_sums_are_refused():
    with pytest.raises(InputError, match="pooled"):
        material(ratings(models=("pooled", "m")))
    with pytest.raises(InputError, match="too large"):
        material([row | {"score": 1e300} for row in ratings()])


def test_an_earlier_analysis_does_not_stay_beside_a_new_one(tmp_path):
    both = material(ratings() + singles("decide", lambda m, p, name, e: p % 2))
    source = {"study": "small"}
    write_results(analyse(both), tmp_path, setting=both.setting, source=source)
    assert (tmp_path / "impact_ratios.csv").exists()
    (tmp_path / "scores.csv").write_text("of another command")
    alone = Material.of(table(ratings()))
    found = analyse(alone)
    write_results(found, tmp_path, setting=alone.setting, source=source)
    assert {path.stem for path in tmp_path.glob("*.csv")} == {*found.blocks, "statuses", "scores"}
    assert (tmp_path / MANIFEST).exists()
