"""The command line as a user types it."""

import csv
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.cli import main


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A fairfund run with a simulated model, made by the commands."""
    run = tmp_path_factory.mktemp("cli") / "run"
    for arguments in (
        ["build", "fairfund", "-o", run],
        ["run", run, "--model", "sim/unruly"],
    ):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        assert stopped.value.code == 0
    return run


def test_build_accounts_for_every_request(evenhand, tmp_path):
    code, out, _ = evenhand("build", "fairfund", "-o", tmp_path / "run", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["units"], found["slots"], found["requests"], found["observations"]) == (
        2280,
        6360,
        2280,
        6360,
    )
    assert len(found["arms"]) == 15
    assert sum(arm["requests"] for arm in found["arms"]) == 2280
    code, out, _ = evenhand("build", "fairfund", "-o", tmp_path / "run", "--json", "--models", "14")
    assert (json.loads(out)["requests"], json.loads(out)["observations"]) == (31920, 89040)


def test_check_passes_on_the_shipped_studies(evenhand):
    code, out, _ = evenhand("check", "fairfund", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["problems"] == []
    assert {row["status"] for row in found["arms"]} == {"crossed"}
    assert {"arm", "contrast", "factor", "status", "pattern"} == set(found["arms"][0])


def test_check_finds_a_hint_in_a_pack(evenhand, tmp_path):
    import shutil

    from evenhand.packs.loader import SHIPPED

    pack = shutil.copytree(SHIPPED / "aid", tmp_path / "mine")
    manifest = pack / "pack.toml"
    manifest.write_text(manifest.read_text().replace('name = "aid"', 'name = "mine"'))
    path = pack / "templates" / "rent.toml"
    path.write_text(path.read_text().replace('closing = "', 'closing = "As a single mother, I ask. ', 1))
    study = tmp_path / "study.toml"
    study.write_text('name = "s"\n[[arms]]\nname = "a"\npack = "./mine"\nformat = "rate"\ndesign = "rate"\n')
    code, out, _ = evenhand("check", study)
    assert code == 1
    assert "single mother" in out
    assert "scenario rent_01" in out


def test_status_counts_units_by_what_became_of_them(evenhand, collected):
    code, out, _ = evenhand("status", collected, "--json")
    rows = {row["model"]: row for row in json.loads(out)["models"]}
    assert code == 0
    assert set(rows) == {"sim/unruly"}
    for row in rows.values():
        parts = [row[name] for name in ("answered", "refused", "malformed", "no_answer", "error", "missing")]
        assert sum(parts) == row["units"] == 2280
    assert rows["sim/unruly"]["malformed"] > 0
    assert rows["sim/unruly"]["refused"] > 20


def test_outcomes_in_the_released_columns_score_like_the_run(evenhand, collected, tmp_path):
    file = tmp_path / "outcomes.csv.gz"
    code, _, _ = evenhand("outcomes", collected, "-o", file, "--schema", "fairfund")
    assert code == 0
    with gzip.open(file, "rt", newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert len(rows) == 6360
    assert list(rows[0])[:3] == ["job_id", "model", "task"]
    assert len(rows[0]) == 28
    _, from_run, _ = evenhand("score", collected, "--boot", "50", "--json")
    _, from_file, _ = evenhand("score", file, "--boot", "50", "--json")
    assert json.loads(from_run) == json.loads(from_file)


def test_score_prints_its_contract(evenhand, collected):
    code, out, _ = evenhand("score", collected, "--boot", "20", "--json")
    found = json.loads(out)
    assert code == 0
    assert {"method", "boot", "rows", "denominators"} <= set(found)
    assert (found["method"], found["boot"]) == ("released", 20)
    assert {"model", "p1", "p2", "p3", "p4", "p1_se", "p4_se"} <= set(found["rows"][0])
    assert len(found["denominators"]) == 18
    assert set(found["denominators"][0]) == {"kind", "axis_a", "axis_b", "denom"}


def test_the_leaderboard_puts_scored_models_among_the_published(evenhand, collected):
    code, out, _ = evenhand("score", collected, "--boot", "20")
    assert code == 0
    assert "sim/unruly" in out
    assert "claude-opus-4-6" in out or "Opus 4.6" in out


def test_an_incomplete_run_exits_3_and_still_says_what_it_has(evenhand, tmp_path):
    from inspect_ai.model import ModelAPI, modelapi

    class BrokenAPI(ModelAPI):
        async def generate(self, input, tools, tool_choice, config):
            raise ConnectionError("no route to host")

    @modelapi(name="broken")
    def broken():
        return BrokenAPI

    run = tmp_path / "run"
    evenhand("build", "fairfund", "-o", run)
    code, out, err = evenhand("run", run, "--model", "broken/x", "--limit", "2", "--max-retries", "0", "--json")
    assert code == 3
    assert json.loads(out)["models"][0]["error"] == 2
    assert "Traceback" not in err
    code, out, _ = evenhand("replies", run, "--status", "error", "--json")
    assert {reply["error"] for reply in json.loads(out)["replies"]} == {"no route to host"}


def test_arms_and_limits_select_units(evenhand, tmp_path):
    run = tmp_path / "run"
    evenhand("build", "fairfund", "-o", run)
    code, out, _ = evenhand("run", run, "--model", "sim/null", "--arm", "aid-rank-*", "--limit", "7", "--json")
    assert code == 0
    assert json.loads(out)["models"][0]["answered"] == 7
    _, out, _ = evenhand("status", run, "--json")
    row = json.loads(out)["models"][0]
    assert (row["answered"], row["missing"]) == (7, 2273)
    code, _, err = evenhand("run", run, "--model", "sim/null", "--arm", "nothing-*")
    assert code == 2
    assert "aid-rate" in err


def test_the_released_materials_become_a_run(evenhand, shared, tmp_path):
    run = tmp_path / "run"
    code, out, _ = evenhand("import", "fairfund", shared / "fairfund", "-o", run, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["units"], found["slots"]) == (2280, 6360)
    code, out, _ = evenhand("check", run, "--json")
    assert code == 0
    assert {row["status"] for row in json.loads(out)["arms"]} == {"crossed"}


@pytest.mark.slow
def test_the_released_materials_are_run_and_scored(evenhand, shared, tmp_path):
    run = tmp_path / "run"
    evenhand("import", "fairfund", shared / "fairfund", "-o", run, "--json")
    code, out, _ = evenhand("run", run, "--model", "sim/biased", "--json")
    assert code == 0
    assert json.loads(out)["models"][0]["answered"] == 2280
    code, out, _ = evenhand("score", run, "--boot", "0", "--json")
    assert code == 0
    assert all(json.loads(out)["rows"][0][pillar] is not None for pillar in ("p1", "p2", "p3", "p4"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "nonsense", "-o", "RUN"], "no such study"),
        (["run", "RUN", "--model", "sim/null"], "not a run directory"),
        (["status", "RUN"], "not a run directory"),
        (["score", "RUN.csv"], "RUN.csv"),
        (["score", "RUN"], ""),
        (["import", "fairfund", "RUN", "-o", "RUN2"], "stimuli.csv"),
        (["outcomes", "RUN", "-o", "x.csv"], "not a run directory"),
        (["build"], "STUDY"),
        (["frobnicate"], "No such command"),
        (["score", "RUN.csv", "--boot", "-1"], "--boot"),
    ],
)
def test_wrong_use_is_one_message_and_exit_2(evenhand, tmp_path, arguments, message):
    arguments = [argument.replace("RUN", str(tmp_path / "nothing")) for argument in arguments]
    code, out, err = evenhand(*arguments)
    assert code == 2
    assert message.replace("RUN", str(tmp_path / "nothing")) in err
    assert "Traceback" not in err
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_wrong_orders_of_commands_say_what_comes_first(evenhand, tmp_path):
    run = tmp_path / "run"
    evenhand("build", "fairfund", "-o", run)
    code, out, _ = evenhand("status", run)
    assert code == 0
    assert "2,280 units wait" in out
    for command in (["score", run], ["outcomes", run, "-o", tmp_path / "x.csv"]):
        code, _, err = evenhand(*command)
        assert code == 2
        assert "evenhand run" in err
    code, _, err = evenhand("run", run)
    assert code == 2
    assert "--model" in err


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere, and Windows has no such folders"
)
def test_an_unwritable_folder_is_one_message(evenhand, tmp_path):
    tmp_path.chmod(0o555)
    try:
        code, _, err = evenhand("build", "fairfund", "-o", tmp_path / "run")
    finally:
        tmp_path.chmod(0o755)
    assert code == 2
    assert "cannot be written" in err


def script(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "evenhand", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from evenhand.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'polars', 'numpy', 'inspect_ai', 'pydantic', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout


@pytest.mark.slow
def test_the_demo_runs_to_a_leaderboard_and_says_where_its_files_are(tmp_path):
    started = time.monotonic()
    done = script("demo", "--out", "here", "--boot", "50", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 120
    for model in ("sim/null", "sim/biased", "sim/equal_splitter"):
        assert model in done.stdout
        assert f"{model}: 2280 of 2280 units" in done.stderr
    for line in done.stdout.split("Files:")[1].split():
        assert (tmp_path / line).exists(), line
    again = script("demo", "--out", "here", "--boot", "50", cwd=tmp_path)
    assert again.returncode == 0
    assert again.stdout == done.stdout
    assert "already final" in again.stderr


def test_a_killed_run_resumes_with_the_same_command(tmp_path):
    run = tmp_path / "run"
    script("build", "fairfund", "-o", run)
    command = ["run", str(run), "--model", "sim/null", "--arm", "aid-rate", "--arm", "aid-rank-race_*"]
    process = subprocess.Popen([sys.executable, "-m", "evenhand", *command], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()
    process.kill()
    process.wait()
    process.stderr.close()
    kept = json.loads(script("status", run, "--json").stdout)["models"][0]
    assert 0 < kept["answered"] < 780
    done = script(*command, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["models"][0]["answered"] == 780
    with closing(sqlite3.connect(run / "ledger.db")) as ledger:
        assert ledger.execute("SELECT COUNT(*), COUNT(DISTINCT unit) FROM attempts").fetchone() == (780, 780)


def test_project_files_name_what_they_ship():
    root = Path(__file__).parent.parent.parent
    citation = (root / "CITATION.cff").read_text()
    assert "2607.28934" in citation
    assert "The Audit Decides the Verdict" in citation
    assert "MIT License" in (root / "LICENSE").read_text()
    assert "Creative Commons" in (root / "src/evenhand/packs/aid/LICENSE").read_text()
