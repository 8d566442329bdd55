"""What may be said of planned contrasts: on audits drawn with known effects."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from evenhand import study
from evenhand.analysis import verdict
from evenhand.analysis.blocks import BLOCKS, analyse
from evenhand.analysis.material import Material
from evenhand.analysis.results import MANIFEST, read_results, write_results
from evenhand.analysis.setting import Family, Setting
from evenhand.analysis.simulation import Stage, World
from evenhand.analysis.specifications import formula_of
from evenhand.outcomes.doors import validate
from evenhand.outcomes.table import blank
from evenhand.statistics import detectable_multiplier

STUDY = """
name = "small"
seed = 1
[[arms]]
name = "hiring-rate"
pack = "hiring"
format = "rate"
design = "crossed"
[[arms]]
name = "hiring-decide"
pack = "hiring"
format = "decide"
design = "crossed"
[[arms]]
name = "hiring-rank"
pack = "hiring"
format = "rank_ties"
design = "demographic_disguised"
count = 60
[[arms]]
name = "hiring-placebo"
pack = "hiring"
format = "rank_ties"
design = "placebo_disguised"
count = 24
"""
MARGINS = {"rate": 0.3, "rank_ties": 0.3}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "small.toml"
    path.write_text(STUDY, encoding="utf-8")
    plan, instrument = study.design(path)
    return Stage(blank(instrument, study=plan.name, respondents=["one", "two", "three"]))


def material(stage, world, seed=1, **setting):
    return Material.of(stage.draw(world, np.random.default_rng(seed)), Setting(**{"margins": MARGINS, **setting}))


def by_group(found):
    return {(status.format, status.group): status for status in found}


def test_drawn_audits_are_outcomes(stage):
    validate(stage.draw(World(malformed=0.2), np.random.default_rng(0)))


def test_cells_leave_probes_and_placebos_out(stage):
    found = material(stage, World())
    assert [(cell.format, cell.mode) for cell in found.cells] == [
        ("rate", "single"),
        ("decide", "single"),
        ("rank_ties", "disguised"),
    ]
    rank = found.cells[2]
    assert rank.rows.height == 60 * 4 * 3
    assert rank.rows["y"].max() == -1


def test_the_specifications_are_those_that_are_documented(stage):
    rate, _, rank = material(stage, World()).cells
    assert formula_of(rate, rate.rows, "paper") == "y ~ race + gender + (1|model) + (1|profile) + (1|name)"
    assert formula_of(rate, rate.rows, "evenhand").endswith("(1|name) + (1|stimulus)")
    assert formula_of(rank, rank.rows, "paper") == (
        "y ~ race + gender + position + stratum + (1|model) + (1|profile) + (1|name) + (1|unit)"
    )
    assert formula_of(rank, rank.rows, "evenhand") == (
        "y ~ race + gender + position + stratum + (1|profile) + (1|name) + (1|slot)"
    )
    alone = rank.of_model("one")
    assert "slot" not in formula_of(rank, alone, "evenhand")


def test_a_large_effect_is_a_disparity_beyond_its_margin(stage):
    found = by_group(verdict.statuses(material(stage, World(groups={"Black": -1.5}))))
    rate = found["rate", "Black"]
    assert rate.status == "disparity"
    assert rate.estimate < -0.6
    assert rate.said == "survives correction; its size is beyond the margin of 0.3 rating points"
    assert found["rank_ties", "Black"].status == "disparity"
    assert found["decide", "Black"].said == "survives correction; no margin was declared to judge its size by"


def test_no_effect_is_equivalent_where_a_margin_was_declared_and_never_without(stage):
    found = by_group(verdict.statuses(material(stage, World(profile_sd=0.1, slot_sd=0.1), margins={"rate": 0.5})))
    rate = found["rate", "Black"]
    assert rate.status == "equivalent"
    assert rate.bound < 0.5
    assert rate.said == f"bounded at {rate.bound:.3f} rating points, inside the margin of 0.5"
    others = [status for key, status in found.items() if key[0] != "rate"]
    assert {status.status for status in others} == {"not_resolved"}
    assert all(f"effects of {status.detectable:.3f}" in status.said for status in others)
    assert all(status.tost_p is None for status in others)


def test_the_numbers_of_a_status_are_those_of_its_row(stage):
    found = material(stage, World(groups={"Black": -0.3}, name_sd=0.1))
    rows = verdict.planned_contrasts(found)
    assert rows.height == 12
    for row, status in zip(rows.to_dicts(), verdict.statuses(found), strict=True):
        assert (status.estimate, status.q_value, status.group) == (row["estimate"], row["q_value"], row["group"])
        assert status.detectable == pytest.approx(detectable_multiplier(df=row["df"]) * row["std_error"])
        assert row["q_value"] >= row["p_value"]
    assert rows["q_value"].null_count() == 0


def test_contrasts_stand_in_both_specifications_pooled_and_by_respondent(stage):
    rows = verdict.contrasts(material(stage, World()))
    counts = dict(rows.group_by("estimand").len().iter_rows())
    assert counts == {"contrast": 2 * 12 * 4, "contrast_d": 2 * 12 * 4}
    assert set(rows["model"]) == {"pooled", "one", "two", "three"}
    paper = rows.filter(pl.col("method").str.starts_with("paper"))
    assert paper["df"].null_count() == paper.height
    pair = rows.filter(pl.col("model") == "pooled", pl.col("group") == "Black", pl.col("format") == "rate")
    evenhand = pair.filter(pl.col("method").str.starts_with("evenhand"))
    d = evenhand.filter(pl.col("estimand") == "contrast_d")["estimate"][0]
    assert d == pytest.approx(evenhand["estimate"][0] / material(stage, World()).cells[0].sd)
    assert (
        rows.filter(pl.col("model") != "pooled")["q_value"].null_count()
        == rows.filter(pl.col("model") != "pooled").height
    )


def test_answers_that_never_vary_are_said_in_words(stage):
    same = stage.draw(World(), np.random.default_rng(0)).with_columns(
        rating=pl.lit(4, pl.Int64), decision=pl.lit(1, pl.Int64)
    )
    found = verdict.statuses(Material.of(same, Setting(margins=MARGINS)))
    rate = by_group(found)["rate", "Black"]
    assert (rate.status, rate.estimate, rate.said) == (
        "not_resolved",
        0.0,
        "nothing says what could have been seen: see the note",
    )
    assert "the outcome is constant at 4" in rate.note
    assert verdict.contrasts(Material.of(same, Setting())).filter(pl.col("estimand") == "contrast_d").height


def test_rows_left_out_are_counted_by_group(stage):
    drawn = stage.draw(World(), np.random.default_rng(0))
    hit = (pl.col("race") == "Black") & (pl.col("task") == "rate")
    drawn = drawn.with_columns(
        valid=pl.when(hit).then(False).otherwise("valid"),
        status=pl.when(hit).then(pl.lit("refused")).otherwise("status"),
        rating=pl.when(hit).then(None).otherwise("rating"),
    )
    rows = verdict.left_out(Material.of(drawn, Setting()))
    row = rows.filter(pl.col("group") == "Black").row(0, named=True)
    assert (row["estimand"], row["estimate"], row["n"]) == ("left_out_refused", 1.0, 120 * 3)
    found = by_group(verdict.statuses(Material.of(drawn, Setting())))
    lost = found["rate", "Black"]
    assert (lost.status, lost.estimate) == ("not_resolved", None)
    assert "no row of Black has a score" in lost.note
    assert ("rate", "Asian") in found


def test_decisions_say_how_many_profiles_are_mixed(stage):
    rows = verdict.decision_checks(material(stage, World(groups={"Black": -2.0})))
    mixed = rows.filter(pl.col("estimand") == "mixed_profiles").row(0, named=True)
    assert mixed["n"] == 12 * 3
    assert 0 < mixed["estimate"] <= 1
    black = rows.filter(pl.col("group") == "Black").row(0, named=True)
    assert black["p_value"] < 0.01
    assert black["estimate"] < 0


def test_a_confounded_arm_says_so_in_every_row(stage):
    found = material(stage, World(), confounded={"hiring-rate": "race with scenario"})
    rows = verdict.planned_contrasts(found)
    assert all("confounded: race with scenario" in note for note in rows.filter(pl.col("format") == "rate")["note"])


def test_results_are_written_with_a_manifest(stage, tmp_path):
    setting = Setting(margins=MARGINS, families=(Family(formats=("rate",)),))
    drawn = stage.draw(World(), np.random.default_rng(2))
    names: list[str] = []
    found = analyse(Material.of(drawn, setting), progress=names.append)
    assert names[:3] == ["hiring rate single", "hiring decide single", "hiring rank_ties disguised"]
    assert sorted(names[3:]) == sorted(BLOCKS)
    assert list(found.blocks) == [name for name in BLOCKS if name in found.blocks]
    files = write_results(found, tmp_path / "results", setting=setting, source={"study": "small"})
    assert files[-1].name == MANIFEST
    back = pl.read_parquet(tmp_path / "results" / "verdict.parquet")
    assert back.equals(found.blocks["verdict"])
    assert back.height == 4
    statuses = pl.read_csv(tmp_path / "results" / "statuses.csv")
    assert set(statuses["status"]) <= {"disparity", "equivalent", "not_resolved"}
    assert all(status.status != "fair" for status in found.statuses)

    def again(**terms):
        return read_results(tmp_path / "results", **({"setting": setting, "source": {"study": "small"}} | terms))

    kept = again()
    assert kept is not None
    assert (kept.statuses, dict(kept.scope)) == (found.statuses, dict(found.scope))
    assert list(kept.blocks) == list(found.blocks)
    assert all(kept.blocks[name].equals(found.blocks[name]) for name in found.blocks)
    # Of other outcomes, on other terms, or changed by hand: no analysis to read.
    assert again(source={"study": "other"}) is None
    assert again(setting=dataclasses.replace(setting, margins={})) is None
    for name in ("statuses.csv", "verdict.parquet"):
        path = tmp_path / "results" / name
        whole = path.read_bytes()
        path.write_bytes(b"changed")
        assert again() is None
        path.unlink()
        assert again() is None
        path.write_bytes(whole)
        assert again() is not None
    (tmp_path / "results" / MANIFEST).write_text("[]", encoding="utf-8")
    assert again() is None


def test_a_setting_is_frozen_and_has_the_usual_references():
    setting = Setting()
    assert setting.reference("hiring", "gender") == "Male"
    assert Setting(references={"hiring": {"race": "Asian"}}).reference("hiring", "race") == "Asian"
    with pytest.raises(dataclasses.FrozenInstanceError):
        setting.seed = 2


@pytest.mark.slow
def test_several_processes_find_what_one_finds(stage):
    drawn = stage.draw(World(groups={"Black": -0.2}), np.random.default_rng(4))
    alone, together = (analyse(Material.of(drawn), processes=count) for count in (1, 2))
    assert list(alone.blocks) == list(together.blocks)
    assert all(alone.blocks[name].equals(together.blocks[name]) for name in alone.blocks)
    assert alone.statuses == together.statuses


@pytest.mark.slow
def test_a_null_world_rejects_seldom(stage):
    """Twenty null audits: the chance of more than four rejections at 5% is about 0.3%."""
    rejected = 0
    for seed in range(20):
        rows = verdict.planned_contrasts(material(stage, World(name_sd=0.2), seed=seed))
        rejected += bool((rows["q_value"] < 0.05).any())
    assert rejected <= 4
