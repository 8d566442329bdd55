"""`evenhand analyse` and `validate` as a user types them."""

import json

import pytest

STUDY = """
name = "small"
seed = 1
[margins]
rate = 0.5
[[arms]]
name = "hiring-rate"
pack = "hiring"
format = "rate"
design = "quota"
count = 120
[[arms]]
name = "hiring-rank"
pack = "hiring"
format = "rank_ties"
design = "demographic_disguised"
count = 24
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "small.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def run(evenhand, study, tmp_path):
    assert evenhand("build", study, "-o", tmp_path / "run")[0] == 0
    assert evenhand("run", tmp_path / "run", "--model", "sim/biased", "--model", "sim/null")[0] == 0
    return tmp_path / "run"


def test_a_run_is_analysed_and_its_results_are_kept(evenhand, run):
    code, out, _ = evenhand("analyse", run, "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"blocks", "verdict", "scope"}
    assert len(found["verdict"]) == len(found["blocks"]["verdict"]) == 8
    for status, row in zip(found["verdict"], found["blocks"]["verdict"], strict=True):
        assert status["status"] in {"disparity", "equivalent", "not_resolved"}
        assert (status["group"], status["estimate"]) == (row["group"], row["estimate"])
        assert (status["margin"] == 0.5) == (status["format"] == "rate")
    manifest = json.loads((run / "results" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["setting"]["margins"] == {"rate": 0.5}
    assert {"verdict.csv", "verdict.parquet", "statuses.csv"} <= set(manifest["files"])
    again = json.loads(evenhand("analyse", run, "--json")[1])
    assert again == found


def test_people_read_statuses_and_no_fairness(evenhand, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = evenhand("analyse", run)
    assert code == 0
    assert "Of 8 planned contrasts" in out
    assert "No status means fair" in out
    assert "manifest.json" in out


def test_a_file_of_outcomes_is_analysed_alike(evenhand, run, tmp_path):
    assert evenhand("outcomes", run, "-o", tmp_path / "o.csv")[0] == 0
    code, out, _ = evenhand("analyse", tmp_path / "o.csv", "--margin", "rate=0.5", "--json")
    assert code == 0
    of_file = json.loads(out)["verdict"]
    of_run = json.loads(evenhand("analyse", run, "--json")[1])["verdict"]
    assert [(row["group"], row["estimate"], row["status"]) for row in of_file] == [
        (row["group"], row["estimate"], row["status"]) for row in of_run
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--margin", "rate=0.1"), "a run has the margins and references of its study"),
        (("--margin", "rate"), "is no pair"),
        (("--margin", "rate=much"), "is no number"),
    ],
)
def test_terms_of_a_run_are_its_studys(evenhand, run, options, told):
    code, _, err = evenhand("analyse", run, *options)
    assert (code, told in err) == (2, True)


def test_files_without_answers_are_one_message(evenhand, run, tmp_path, study):
    assert evenhand("build", study, "-o", tmp_path / "unasked")[0] == 0
    code, _, err = evenhand("analyse", tmp_path / "unasked")
    assert code == 2
    assert err.count("\n") == 1
    assert evenhand("analyse", tmp_path / "none.csv")[0] == 2
    assert evenhand("outcomes", run, "-o", tmp_path / "o.csv")[0] == 0
    assert "is no margin" in evenhand("analyse", tmp_path / "o.csv", "--margin", "rank=-1")[2]
    assert "is no factor" in evenhand("analyse", tmp_path / "o.csv", "--reference", "age=young")[2]


@pytest.mark.slow
def test_audits_are_drawn_and_counted(evenhand, study, tmp_path):
    code, out, _ = evenhand(
        "validate",
        study,
        "--audits",
        "2",
        "--respondents",
        "2",
        "--scenario",
        "null*",
        "--processes",
        "1",
        "-o",
        tmp_path / "v.csv",
        "--json",
    )
    found = json.loads(out)
    rows, recovered = found["rows"], found["recovery"]
    assert code == 0
    assert {row["size"] for row in recovered} == {0.05, 0.1}
    assert all(row["audits"] + row["lost"] == 1 for row in recovered)
    assert (tmp_path / "v-recovery.csv").read_text(encoding="utf-8").count("\n") == len(recovered) + 1
    assert {row["specification"] for row in rows} == {"evenhand", "paper"}
    assert all(0 <= row["coverage"] <= 1 for row in rows)
    assert (tmp_path / "v.csv").read_text(encoding="utf-8").count("\n") == len(rows) + 1
