"""`evenhand audit` from nothing to a verdict, again, interrupted and refused, as a user types it."""

import json
import shutil
import signal
import sqlite3
from contextlib import closing

import pytest

from evenhand.cli import progress
from evenhand.packs.loader import SHIPPED

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
"""
UNITS = 120
PRICES = '["sim/*"]\ninput = 2.0\noutput = 10.0\n'
BIASED = ("--model", "sim/biased")


def write(folder, text=STUDY, name="small.toml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def small(tmp_path):
    return write(tmp_path)


@pytest.fixture
def prices(tmp_path):
    return write(tmp_path, PRICES, "prices.toml")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The verdict of the commands one by one, on the same study and model."""
    from evenhand import study
    from evenhand.analysis.verdict import as_records
    from evenhand.cli.asking import make_respondents

    folder = tmp_path_factory.mktemp("expected")
    run = study.build(write(folder), folder / "run")
    study.collect(run, make_respondents(["sim/biased"]))
    found, _ = study.analyse(run.folder)
    return as_records(found.statuses)


def attempts(run):
    with closing(sqlite3.connect(run / "ledger.db")) as connection:
        return connection.execute("SELECT respondent, unit, epoch, attempt, reply FROM attempts").fetchall()


def each_unit_once(run):
    asked = [row[1] for row in attempts(run)]
    return len(asked) == len(set(asked)) == UNITS


def test_from_nothing_to_a_verdict(evenhand, small, tmp_path):
    code, out, err = evenhand("audit", small, *BIASED, "-o", tmp_path / "run")
    assert code == 0
    told = ("Composition", "No problem found.", f"Built in {tmp_path / 'run'}", "Still to come", "Status, in units")
    places = [out.index(text) for text in (*told, "The planned contrasts", "planned contrasts, ", "index.html")]
    assert places == sorted(places)
    said = ("Checking the design", "Building the instrument", "Estimating the cost", "Asking sim/biased")
    places = [err.index(text) for text in (*said, f"{UNITS} of {UNITS} units", "Analysing the replies")]
    assert places == sorted(places)
    assert each_unit_once(tmp_path / "run")
    assert (tmp_path / "run" / "results" / "manifest.json").is_file()


def test_the_verdict_is_that_of_the_commands_one_by_one(evenhand, small, tmp_path, expected):
    code, out, err = evenhand("audit", small, *BIASED, "-o", tmp_path / "run", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert list(found) == ["run", "check", "build", "cost", "status", "analysis", "report"]
    assert found["analysis"]["verdict"] == expected
    assert found == found | {"run": str(tmp_path / "run")}
    assert found["build"]["requests"] == found["cost"]["models"][0]["requests"] == UNITS
    assert found["status"]["models"][0]["final"] == UNITS
    for command, part in ((("check", small), "check"), (("analyse", tmp_path / "run"), "analysis")):
        alone = json.loads(evenhand(*command, "--json")[1])
        assert found[part] == {key: alone[key] for key in found[part]}
    assert json.loads(evenhand("build", small, "--json")[1]) == found["build"]


def test_given_again_nothing_is_sent_and_the_verdict_stands(evenhand, small, tmp_path):
    command = ("audit", small, *BIASED, "-o", tmp_path / "run", "--json")
    first, before = json.loads(evenhand(*command)[1]), attempts(tmp_path / "run")
    code, out, _ = evenhand(*command)
    again = json.loads(out)
    assert code == 0
    assert attempts(tmp_path / "run") == before
    assert again["cost"]["models"][0]["requests"] == 0
    assert {**again, "cost": None} == {**first, "cost": None}


def test_a_budget_stops_it_without_an_analysis_and_a_higher_one_ends_the_same(
    evenhand, small, prices, tmp_path, expected
):
    command = ("audit", small, *BIASED, "-o", tmp_path / "run", "--prices", prices)
    code, out, err = evenhand(*command, "--budget", "0.01")
    assert code == 3
    assert "the budget of $0.01 is used up" in err
    assert "run the same command again" in err
    assert "Status, in units" in out
    assert "contrasts" not in out
    assert not (tmp_path / "run" / "results").exists()
    kept = attempts(tmp_path / "run")
    assert 0 < len(kept) < UNITS
    code, out, _ = evenhand(*command, "--budget", "0.01", "--json")
    found = json.loads(out)
    assert (code, found["analysis"]) == (3, None)
    assert found["status"]["models"][0]["final"] == len(kept)
    code, out, _ = evenhand(*command, "--budget", "50", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["cost"]["models"][0]["requests"] == UNITS - len(kept)
    assert found["analysis"]["verdict"] == expected
    assert set(kept) < set(attempts(tmp_path / "run"))
    assert each_unit_once(tmp_path / "run")


def test_ctrl_c_in_the_middle_says_how_far_it_is_and_resumes_to_the_same(
    evenhand, small, tmp_path, monkeypatch, expected
):
    command = ("audit", small, *BIASED, "-o", tmp_path / "run")
    advance, seen = progress.CollectionBars.advance, []

    def interrupted(self, respondent, arm, rest):
        advance(self, respondent, arm, rest)
        seen.append(rest)
        if len(seen) == UNITS // 2:
            signal.raise_signal(signal.SIGINT)

    # A shell's background job ignores Ctrl-C, and pytest in it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(progress.CollectionBars, "advance", interrupted)
    code, out, err = evenhand(*command)
    monkeypatch.undo()
    signal.signal(signal.SIGINT, before)
    assert code == 3
    assert "the same command goes on" in err
    assert "Status, in units" in out
    assert "contrasts" not in out
    kept = attempts(tmp_path / "run")
    assert UNITS // 2 <= len(kept) < UNITS
    code, out, _ = evenhand(*command, "--json")
    assert code == 0
    assert json.loads(out)["analysis"]["verdict"] == expected
    assert each_unit_once(tmp_path / "run")


def test_a_run_begun_by_hand_is_gone_on_with(evenhand, small, tmp_path, expected):
    assert evenhand("build", small, "-o", tmp_path / "run")[0] == 0
    assert evenhand("run", tmp_path / "run", *BIASED, "--limit", "20")[0] == 0
    code, out, _ = evenhand("audit", small, *BIASED, "-o", tmp_path / "run", "--json")
    assert code == 0
    assert json.loads(out)["analysis"]["verdict"] == expected
    assert each_unit_once(tmp_path / "run")


def test_units_left_as_errors_are_incomplete(evenhand, small, tmp_path, monkeypatch):
    from tests.servers.faults import FaultServer, answer_in_form, refuse

    monkeypatch.setenv("FAULT_API_KEY", "fault-secret-key-1234")
    command = ("audit", small, "--model", "openai-api/fault/faulty", "--as", "m", "-o", tmp_path / "run")
    with FaultServer(answer=answer_in_form, fault=lambda n, _: refuse(400, "no") if n == 50 else None) as server:
        code, out, err = evenhand(*command, "-M", f"base_url={server.base_url}")
        assert code == 3
        assert "1 unit has no final answer yet, and nothing was analysed" in err
        assert "1 unit failed" in out
        assert "contrasts" not in out
        server.fault = lambda *_: None
        code, out, err = evenhand(*command, "-M", f"base_url={server.base_url}")
        assert code == 0, err
        assert "planned contrasts" in out
        assert len(server.journal) == UNITS + 1


def test_a_models_name_that_is_wrong_is_told_and_another_goes_on(evenhand, small, tmp_path):
    code, _, err = evenhand("audit", small, "--model", "sim/nobody", "-o", tmp_path / "run")
    assert code == 2
    assert "unknown simulated respondent 'nobody'. Use one of null, biased" in err
    code, out, _ = evenhand("audit", small, *BIASED, "-o", tmp_path / "run", "--json")
    assert code == 0
    assert [row["model"] for row in json.loads(out)["status"]["models"]] == ["sim/biased"]


def test_without_a_model_the_studys_own_are_asked_or_nothing_is_made(evenhand, small, tmp_path):
    code, _, err = evenhand("audit", small, "-o", tmp_path / "run")
    assert code == 2
    assert "no model was named" in err
    assert not (tmp_path / "run").exists()
    named = write(tmp_path, 'models = ["sim/null"]\n' + STUDY, "named.toml")
    code, out, _ = evenhand("audit", named, "-o", tmp_path / "run", "--json")
    assert code == 0
    assert [row["model"] for row in json.loads(out)["status"]["models"]] == ["sim/null"]


def test_a_folder_with_another_study_is_refused_and_left_alone(evenhand, small, tmp_path):
    assert evenhand("audit", small, *BIASED, "-o", tmp_path / "run")[0] == 0
    before = attempts(tmp_path / "run")
    other = write(tmp_path, STUDY.replace("seed = 1", "seed = 2"), "other.toml")
    code, _, err = evenhand("audit", other, *BIASED, "-o", tmp_path / "run")
    assert code == 2
    assert "the folder holds another run" in err
    assert "Choose another folder with -o" in err
    assert attempts(tmp_path / "run") == before


def confounded(more=""):
    return STUDY.replace('design = "quota"', f'design = "modular"\n{more}')


def test_a_confounded_arm_stops_it_before_anything_is_written(evenhand, tmp_path):
    path = write(tmp_path, confounded())
    code, out, err = evenhand("audit", path, *BIASED, "-o", tmp_path / "run")
    assert code == 1
    assert "is confounded with" in out
    assert "problems found." in out
    assert "Asking" not in err
    assert not (tmp_path / "run").exists()
    code, out, _ = evenhand("audit", path, *BIASED, "-o", tmp_path / "run", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["check"]["problems"] == json.loads(evenhand("check", path, "--json")[1])["problems"]
    assert [found[part] for part in ("run", "build", "cost", "status", "analysis", "report")] == [None] * 6


def test_a_confounded_arm_that_the_study_allows_goes_through_with_its_note(evenhand, tmp_path):
    path = write(tmp_path, confounded("allow_confounded = true"))
    code, out, _ = evenhand("audit", path, *BIASED, "-o", tmp_path / "run")
    assert code == 0
    assert "The study allows it." in out


def test_a_text_that_hints_at_a_gender_stops_it_though_a_build_takes_it(evenhand, tmp_path):
    shutil.copytree(SHIPPED / "hiring", tmp_path / "hinting")
    for file, old, new in (
        ("pack.toml", 'name = "hiring"', 'name = "hinting"'),
        ("profiles.toml", "Three former managers gave", "Her three former managers gave"),
    ):
        place = tmp_path / "hinting" / file
        text = place.read_text(encoding="utf-8")
        assert old in text
        place.write_text(text.replace(old, new, 1), encoding="utf-8")
    path = write(tmp_path, STUDY.replace('pack = "hiring"', 'pack = "./hinting"'))
    code, out, _ = evenhand("audit", path, *BIASED, "-o", tmp_path / "run")
    assert (code, "1 problem found." in out) == (1, True)
    assert not (tmp_path / "run").exists()
    assert evenhand("build", path, "-o", tmp_path / "run")[0] == 0


def test_fewer_epochs_than_the_studys_are_refused_and_more_are_asked(evenhand, tmp_path):
    path = write(tmp_path, "epochs = 2\n" + STUDY)
    code, _, err = evenhand("audit", path, *BIASED, "-o", tmp_path / "run", "--epochs", "1")
    assert code == 2
    assert "--epochs: 1 is fewer than the 2" in err
    assert not (tmp_path / "run").exists()
    code, out, _ = evenhand("audit", path, *BIASED, "-o", tmp_path / "run", "--epochs", "3", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["build"]["requests"] == found["status"]["models"][0]["final"] == 3 * UNITS


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere.toml",), "nowhere.toml"),
        (("fairfund", "--shard", "1/2"), "No such option"),
        (("fairfund", "--budget", "nan"), "is no amount"),
    ],
)
def test_wrong_use_is_one_message(evenhand, tmp_path, arguments, told):
    code, _, err = evenhand("audit", *arguments, *BIASED, "-o", tmp_path / "run")
    assert code == 2
    assert told in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()
