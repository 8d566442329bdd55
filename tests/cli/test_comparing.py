"""`evenhand compare` as a user types it."""

import json

import pytest

STUDY = """
name = "small"
seed = {seed}
[margins]
rate = {margin}
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


@pytest.fixture
def make(evenhand, tmp_path):
    """Build and collect a small run."""

    def made(name, *options, seed=1, margin=0.5):
        study = tmp_path / f"{name}.toml"
        study.write_text(STUDY.format(seed=seed, margin=margin), encoding="utf-8")
        assert evenhand("build", study, "-o", tmp_path / name)[0] == 0
        assert evenhand("run", tmp_path / name, *options)[0] == 0
        return tmp_path / name

    return made


@pytest.fixture
def runs(make):
    return make("a", "--model", "sim/null"), make("b", "--model", "sim/null", "-M", "race.Black=-1", "--as", "update")


def test_two_runs_are_compared_and_the_planted_change_is_found(evenhand, runs):
    code, out, _ = evenhand("compare", *runs, "--json")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {"headline", "respondents", "changes", "rows", "notes"}
    assert [pair["second"] for pair in found["respondents"]] == ["update"]
    assert found["notes"] == []
    assert len(found["changes"]) == 8
    black = {change["format"]: change for change in found["changes"] if change["group"] == "Black"}
    assert all(change["estimate"] < 0 for change in black.values())
    assert black["rate"]["status"] == "changed"
    assert (black["rate"]["shared"], black["rate"]["only_first"]) == (120, 0)
    assert json.loads(evenhand("compare", *runs, "--json")[1]) == found


def test_people_read_a_headline_what_is_shared_and_what_is_not_covered(evenhand, runs):
    code, out, _ = evenhand("compare", *runs)
    found = json.loads(evenhand("compare", *runs, "--json")[1])
    assert code == 0
    assert found["headline"] in out
    assert "shared slots were answered differently" in out
    assert "nor of whether either side is fair" in out
    assert "96, 0, 0" in out


def test_files_give_what_runs_give_and_models_of_one_file_are_compared(evenhand, runs, tmp_path):
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    for run, file in zip(runs, files, strict=True):
        assert evenhand("outcomes", run, "-o", file)[0] == 0
    of_runs = json.loads(evenhand("compare", *runs, "--json")[1])["changes"]
    of_files = json.loads(evenhand("compare", *files, "--margin", "rate=0.5", "--json")[1])["changes"]
    assert of_files == of_runs
    name = json.loads(evenhand("compare", *runs, "--json")[1])["respondents"][0]["first"]
    code, _, err = evenhand("compare", *files, "--model", name, "--model", "nobody")
    assert (code, "no respondent is called 'nobody'" in err) == (2, True)


def test_other_instruments_and_margins_are_told(evenhand, make):
    one = make("one", "--model", "sim/null")
    other = make("other", "--model", "sim/null", seed=2, margin=0.4)
    code, out, err = evenhand("compare", one, other, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert "the instruments differ" in found["notes"][0]
    assert "those of the first count" in found["notes"][1]
    assert {change["margin"] for change in found["changes"]} == {0.5, None}
    assert 0 < found["changes"][0]["shared"] <= 120


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--model", "x"), "1 names were given"),
        (("--margin", "rate=0.1"), "a run has the margins and references of its study"),
        (("--margin", "rate=much"), "'much' is no number"),
    ],
)
def test_wrong_use_is_one_message_with_its_mend(evenhand, runs, options, told):
    code, _, err = evenhand("compare", *runs, *options)
    assert (code, told in err, err.count("\n")) == (2, True, 1)


def test_a_run_is_not_compared_with_itself(evenhand, runs):
    code, _, err = evenhand("compare", runs[0], runs[0])
    assert (code, "both sides are the same answers" in err) == (2, True)
