"""The verdict study as a user types it, at a smaller scale: build, run, status, outcomes, check."""

import csv
import json

import polars as pl
import pytest

PLANTED = ("--model", "sim/biased")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    from evenhand import study

    folder = tmp_path_factory.mktemp("verdict") / "run"
    study.build("verdict", folder)
    return folder


@pytest.fixture
def small(tmp_path):
    """All kinds of arms of one domain, few units each."""
    path = tmp_path / "small.toml"
    arm = '[[arms]]\nname = "{}"\npack = "hiring"\nformat = "{}"\ndesign = "{}"\n{}\n'
    cells = ("demographic_matched", "irrelevant_matched", "demographic_disguised", "placebo_disguised")
    arms = [arm.format("hiring-rate", "rate", "quota", "count = 48")]
    arms += [arm.format(f"hiring-rank_ties-{cell}", "rank_ties", cell, "count = 24") for cell in cells]
    arms += [arm.format("hiring-tool_decide", "tool_decide", "quota", "count = 48")]
    arms += [arm.format("hiring-tool_rank", "tool_rank", "demographic_disguised", "count = 12")]
    probes = 'probes = "hiring-rank_ties-demographic_matched"\ncount = 5'
    arms += [arm.format("hiring-purpose_choice-transparent", "purpose_choice", "probe", probes)]
    arms += [arm.format("hiring-purpose_open-transparent", "purpose_open", "probe", probes)]
    arms += [arm.format("hiring-rate-reasoning", "rate", "quota", 'count = 48\ntag = "extension:r"\nreasoning = "on"')]
    path.write_text('name = "small"\n' + "\n".join(arms), encoding="utf-8")
    return path


def test_the_accounting_is_printed_and_in_json(evenhand, tmp_path):
    code, out, _ = evenhand(
        "build", "verdict", "-o", tmp_path / "run", "--models", 5, "--reasoning-models", 2, "--json"
    )
    assert code == 0
    counted = json.loads(out)
    assert (counted["requests"], counted["observations"]) == (40_726, 88_576)
    assert {"arm", "tag", "units", "slots", "requests", "observations"} <= set(counted["arms"][0])
    code, out, _ = evenhand("build", "verdict", "-o", tmp_path / "run", "--models", 5, "--reasoning-models", 2)
    assert code == 0
    assert "40,726" in out
    assert "88,576" in out
    code, out, _ = evenhand("build", "verdict", "--json")
    assert code == 0
    assert (json.loads(out)["requests"], json.loads(out)["observations"]) == (7_934, 17_504)
    assert "Nothing was written" in evenhand("build", "verdict")[1]
    code, _, err = evenhand("build", "verdict", "-o", tmp_path / "run", "--reasoning-models", 2)
    assert code == 2
    assert "--reasoning-models" in err


def test_check_names_the_published_artifact_and_says_where_balance_is_exact(evenhand):
    code, out, _ = evenhand("check", "verdict", "--json")
    assert code == 0
    found = json.loads(out)
    bad = {(row["arm"], row["factor"]) for row in found["arms"] if row["status"] == "confounded"}
    assert ("hiring-rate-wording-one", "profile") in bad
    assert found["problems"] == []
    assert any("congruent to i mod 4" in note and "The study allows it" in note for note in found["notes"])
    assert any("at 150 bundles" in note and "multiples of 60" in note and "120" in note for note in found["notes"])
    assert found["baseline"] is None


def test_the_whole_flow_on_every_kind_of_arm(evenhand, small, tmp_path):
    run = tmp_path / "run"
    assert evenhand("build", small, "-o", run)[0] == 0
    code, _, err = evenhand("run", run, "--model", "sim/null", *PLANTED)
    assert code == 0
    assert "48 units ask for reasoning and wait for models named with --reasoning-model" in err
    code, out, _ = evenhand("status", run, "--json")
    models = json.loads(out)["models"]
    assert {row["model"]: (row["units"], row["answered"]) for row in models} == {
        "sim/null": (214, 214),
        "sim/biased": (214, 214),
    }
    code, _, _ = evenhand("outcomes", run, "-o", tmp_path / "out.csv")
    assert code == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * (48 + 4 * 96 + 48 + 48 + 5 + 5)
    table = pl.read_parquet(run / "outcomes.parquet")
    null = table.filter(pl.col("model") == "sim/null")
    tied = dict(
        null.filter(pl.col("task") == "rank_ties").group_by("bundle_type").agg(pl.col("tied").mean()).iter_rows()
    )
    assert tied == {
        "demographic_matched": 1.0,
        "irrelevant_matched": 1.0,
        "demographic_disguised": 0.0,
        "placebo_disguised": 0.0,
    }
    assert set(null["stratum"].drop_nulls()) == {1, 2, 3, 4}
    assert set(null["pseudo_group"].drop_nulls()) == {"A", "B", "C", "D"}
    assert {kind.partition(":")[0] for kind in null["attribute"].drop_nulls()} == {"hobby", "neighborhood"}
    probes = table.filter(pl.col("task") == "purpose_choice")
    assert set(probes["choice"]) <= {"routine", "fairness"}
    assert probes["stimulus_id"].str.starts_with("hiring-rank_ties-demographic_matched/").all()
    assert probes["race"].null_count() == probes.height
    code, out, _ = evenhand("check", run, "--json")
    gaps = json.loads(out)["baseline"]
    assert gaps
    assert all(abs(row["estimate"]) < 1e-9 for row in gaps if row["format"] in {"rate", "tool_decide"})


def test_reasoning_arms_are_asked_of_the_models_named_for_them(evenhand, small, tmp_path):
    run = tmp_path / "run"
    evenhand("build", small, "-o", run)
    code, _, err = evenhand("run", run, "--model", "sim/null", "--reasoning-model", "sim/noisy")
    assert code == 2
    assert "not among the models" in err
    arm = ("--arm", "hiring-rate*")
    assert evenhand("run", run, "--model", "sim/null", *PLANTED, "--reasoning-model", "sim/biased", *arm)[0] == 0
    table_rows = json.loads(evenhand("status", run, "--json")[1])["arms"]
    answered = {(row["model"], row["arm"]): row["answered"] for row in table_rows}
    assert answered["sim/biased", "hiring-rate-reasoning"] == 48
    assert ("sim/null", "hiring-rate-reasoning") not in answered
    evenhand("export", run, "-o", tmp_path / "all.jsonl")
    attempts = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = {(a["unit"].partition("/")[0], a["request"]["reasoning"]) for a in attempts}
    assert asked == {("hiring-rate", "off"), ("hiring-rate-reasoning", "on")}


def test_arms_may_be_built_in_another_format(evenhand, tmp_path):
    code, out, _ = evenhand(
        "build", "verdict", "-o", tmp_path / "strict", "--arm-format", "aid-rank_ties-*=rank", "--json"
    )
    assert code == 0
    assert "aid-rank-race_disguised" in {arm["arm"] for arm in json.loads(out)["arms"]}
    assert evenhand("build", "verdict", "-o", tmp_path / "x", "--arm-format", "nothing-*=rank")[0] == 2
    assert evenhand("build", "verdict", "-o", tmp_path / "x", "--arm-format", "aid")[0] == 2
    assert evenhand("build", "verdict", "-o", tmp_path / "x", "--arm-format", "aid-rank_ties-*=rate")[0] == 2


def test_profiles_of_agentfairbench_come_as_packs_alone(evenhand, tmp_path):
    code, _, err = evenhand("import", "agentfairbench", tmp_path, "-o", tmp_path / "packs")
    assert code == 2
    assert "--as pack" in err
    code, _, err = evenhand("import", "fairfund", tmp_path)
    assert code == 2
    assert "-o RUN" in err
    code, _, err = evenhand("import", "fairfund", tmp_path, "-o", tmp_path / "x", "--strata", tmp_path / "s.csv")
    assert code == 2
    assert "--strata" in err


@pytest.mark.slow
def test_all_7934_units_a_model(evenhand, built):
    assert evenhand("run", built, "--model", "sim/null", *PLANTED)[0] == 0
    rows = json.loads(evenhand("status", built, "--json")[1])["models"]
    assert [(row["units"], row["answered"]) for row in rows] == [(7_934, 7_934)] * 2
    groups = json.loads(evenhand("status", built, "--json")[1])["groups"]
    noted = {row["arm"] for row in groups if "confounded: race with profile" in row["note"]}
    assert noted == {"hiring-rate-wording-one", "hiring-rate-wording-two"}
    gaps = json.loads(evenhand("check", built, "--json")[1])["baseline"]
    wording = [row for row in gaps if row["arm"].startswith("hiring-rate-wording") and row["term"] == "race"]
    assert all(row["estimate"] < -0.2 and row["note"].startswith("confounded") for row in wording)
    others = [row for row in gaps if not row["arm"].startswith("hiring-rate-wording")]
    assert max(abs(row["estimate"]) for row in others) < 0.02
