"""Costs, budgets, shards, merging, settings files and keys, as a user types them."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.servers.faults import FaultServer, answer_in_form, refuse

from evenhand.cli import main

PRICES = '["openai-api/fault/*"]\ninput = 2.0\noutput = 10.0\nbatch = 0.5\n'


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collecting") / "run"
    with pytest.raises(SystemExit) as stopped:
        main(["build", "fairfund", "-o", str(folder)])
    assert stopped.value.code == 0
    return folder


@pytest.fixture
def run(built, tmp_path):
    shutil.copytree(built, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("FAULT_API_KEY", "fault-secret-key-1234")
    with FaultServer(answer=answer_in_form) as opened:
        yield opened


def ask(server, *more):
    return ("--model", "openai-api/fault/faulty", "-M", f"base_url={server.base_url}", "--as", "m", *more)


def attempts(run, columns="unit, epoch, status"):
    with closing(sqlite3.connect(run / "ledger.db")) as connection:
        return connection.execute(f"SELECT {columns} FROM attempts").fetchall()


def test_a_cost_is_told_before_anything_is_spent(evenhand, run, tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    code, out, _ = evenhand("cost", run, "--model", "openai-api/fault/faulty", "--prices", prices, "--json")
    [row] = json.loads(out)["models"]
    assert code == 0
    assert (row["requests"], row["measured"], row["spent"]) == (2280, False, 0.0)
    expected = (row["input_tokens"] * 2.0 + row["output_tokens"] * 10.0) / 1e6
    assert row["dollars"] == pytest.approx(expected)
    assert row["dollars_most"] == pytest.approx((row["input_tokens"] * 2.0 + 2280 * 4000 * 10.0) / 1e6)
    assert not (run / "ledger.db").exists()
    code, out, _ = evenhand(
        "cost", run, "--model", "openai-api/fault/x", "--prices", prices, "--epochs", "3", "--batch", "--json"
    )
    assert json.loads(out)["models"][0]["dollars"] == pytest.approx(expected * 3 / 2)


def test_a_model_without_a_price_says_so(evenhand, run):
    code, out, _ = evenhand("cost", run, "--model", "openai/some-model")
    assert code == 0
    assert "no price" in out
    code, _, err = evenhand("run", run, "--model", "openai/some-model", "--budget", "1")
    assert code == 2
    assert "no price is known for openai/some-model" in err


def test_what_was_measured_replaces_what_was_assumed(evenhand, run, server):
    (run / "prices.toml").write_text(PRICES, encoding="utf-8")
    assert evenhand("run", run, *ask(server, "--arm", "aid-rate", "--limit", "20"))[0] == 0
    _, out, _ = evenhand("cost", run, *ask(server, "--arm", "aid-rate"), "--json")
    [row] = json.loads(out)["models"]
    assert (row["requests"], row["measured"]) == (580, True)
    assert row["spent"] > 0
    characters = sum(len(seen.prompt) for seen in server.journal)
    tokens = sum(len(seen.prompt) // 4 for seen in server.journal)
    assert row["input_tokens"] / 580 == pytest.approx(tokens / characters * characters / 20, rel=0.2)
    assert row["output_tokens"] == 580


def test_a_budget_stops_cleanly_and_a_higher_one_goes_on(evenhand, run, server):
    (run / "prices.toml").write_text(PRICES, encoding="utf-8")
    code, _, err = evenhand("run", run, *ask(server, "--arm", "aid-rate", "--budget", "0.01", "--max-connections", "2"))
    assert code == 3
    assert "the budget of $0.01 is used up" in err
    assert "Traceback" not in err
    spent = sum(len(seen.prompt) // 4 * 2.0 + 10.0 for seen in server.journal) / 1e6
    assert 0.008 < spent <= 0.01
    before = len(server.journal)
    assert len(attempts(run)) == before
    code, _, _ = evenhand("run", run, *ask(server, "--arm", "aid-rate", "--budget", "0.01"))
    assert code == 3
    assert len(server.journal) == before, "money that was spent before was forgotten"
    code, _, _ = evenhand("run", run, *ask(server, "--arm", "aid-rate", "--limit", "60", "--budget", "5"))
    assert code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["a/*"]\ninput = 1.0', "output: is missing"),
        ('["a/*"]\ninput = -1.0\noutput = 1.0', "greater than or equal to 0"),
        ('["a/*"]\ninput = "1"\noutput = 1.0', "number"),
        ("a = 1", "prices.a"),
        ("[[", "not a TOML file"),
    ],
)
def test_a_price_table_that_is_wrong_says_where(evenhand, run, text, said):
    (run / "prices.toml").write_text(text, encoding="utf-8")
    code, _, err = evenhand("cost", run, "--model", "sim/null")
    assert code == 2
    assert said in err
    assert "prices.toml" in err


def test_shards_share_an_instrument_and_merge_into_one_run(evenhand, built, tmp_path):
    machines = [tmp_path / f"machine{i}" for i in (1, 2, 3)]
    for number, machine in enumerate(machines, start=1):
        shutil.copytree(built, machine)
        code, out, _ = evenhand("run", machine, "--model", "sim/noisy", "--shard", f"{number}/3", "--json")
        assert code == 0
        assert json.loads(out)["models"][0]["units"] == 760
    code, out, _ = evenhand("merge", *machines, "-o", tmp_path / "joined", "--json")
    assert code == 0
    assert json.loads(out)["attempts"] == 2280
    shutil.copytree(built, tmp_path / "whole")
    assert evenhand("run", tmp_path / "whole", "--model", "sim/noisy")[0] == 0
    tables = []
    for folder in ("joined", "whole"):
        path = tmp_path / f"{folder}.csv"
        assert evenhand("outcomes", tmp_path / folder, "-o", path)[0] == 0
        tables.append(path.read_bytes())
    assert tables[0] == tables[1]
    code, out, _ = evenhand("run", tmp_path / "joined", "--model", "sim/noisy", "--json")
    assert code == 0
    assert len(attempts(tmp_path / "joined")) == 2280, "a merged run asked again"


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"])
def test_a_shard_that_is_none_is_wrong_use(evenhand, run, shard):
    code, _, err = evenhand("run", run, "--model", "sim/null", "--shard", shard)
    assert code == 2
    assert "i/k" in err


def test_merging_refuses_other_instruments_and_different_replies(evenhand, built, tmp_path):
    assert evenhand("build", "fairfund-wording", "-o", tmp_path / "other")[0] == 0
    code, _, err = evenhand("merge", built, tmp_path / "other", "-o", tmp_path / "joined")
    assert code == 2
    assert "different instruments" in err
    for name in ("a", "b"):
        shutil.copytree(built, tmp_path / name)
        assert evenhand("run", tmp_path / name, "--model", "sim/noisy", "--limit", "5")[0] == 0
    code, _, err = evenhand("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "twice")
    assert code == 2
    assert "in two of the runs, with different replies" in err
    code, _, err = evenhand("merge", tmp_path / "a", tmp_path / "a", "-o", tmp_path / "same")
    assert code == 0
    assert len(attempts(tmp_path / "same")) == 5
    code, _, err = evenhand("merge", tmp_path / "a", "-o", tmp_path / "same")
    assert code == 2
    assert "collected into already" in err


def test_a_failed_merge_leaves_no_half(evenhand, built, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(built, tmp_path / name)
        assert evenhand("run", tmp_path / name, "--model", "sim/noisy", "--limit", "5")[0] == 0
    assert evenhand("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "joined")[0] == 2
    assert not (tmp_path / "joined").exists()


def test_epochs_are_calls_of_their_own_and_the_outcomes_hold_them(evenhand, run, tmp_path):
    code, out, _ = evenhand(
        "run", run, "--model", "sim/noisy", "--arm", "aid-rate", "--limit", "10", "--epochs", "3", "--json"
    )
    assert code == 0
    assert json.loads(out)["models"][0]["units"] == 30
    seeds = {(epoch, json.loads(request)["seed"]) for epoch, request in attempts(run, "epoch, request")}
    assert seeds == {(1, 0), (2, 1000), (3, 2000)}
    assert evenhand("outcomes", run, "-o", tmp_path / "x.parquet")[0] == 0
    import polars as pl

    table = pl.read_parquet(tmp_path / "x.parquet")
    assert sorted(table.filter(table["status"] == "answered")["epoch"].unique()) == [1, 2, 3]
    # Answers to a repeated prompt differ: nothing was served twice from one call.
    spread = table.filter(table["status"] == "answered").group_by("unit_id").agg(pl.col("rating").n_unique())
    assert spread["rating"].max() > 1


def test_models_and_their_settings_come_from_a_file(evenhand, run, tmp_path):
    config = tmp_path / "models.toml"
    config.write_text(
        '["sim/biased"]\nlabel = "strong"\n["sim/biased".arguments]\n"race.Black" = -2.0\n["sim/null"]\n',
        encoding="utf-8",
    )
    code, out, _ = evenhand("run", run, "--config", config, "--limit", "5", "--json")
    assert code == 0
    assert [row["model"] for row in json.loads(out)["models"]] == ["strong", "sim/null"]


def test_a_key_in_the_env_file_is_used_and_kept_nowhere(built, tmp_path):
    """A process of its own, in a folder with a .env: the key goes to the server and to no file or line."""
    shutil.copytree(built, tmp_path / "run")
    secret = "dotenv-secret-0123456789"
    (tmp_path / ".env").write_text(f"FAULT_API_KEY={secret}\n", encoding="utf-8")
    said = f"Incorrect API key provided: {secret}"
    environment = {key: value for key, value in os.environ.items() if key != "FAULT_API_KEY"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    with FaultServer(answer=answer_in_form, fault=lambda n, request: refuse(401, said) if n >= 3 else None) as server:
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", "run", "run", *ask(server, "--limit", "8", "--preflight", "0")],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert len(server.journal) > 3, done.stderr
    assert done.returncode == 3
    assert "Incorrect API key provided" in done.stderr
    assert secret not in done.stdout + done.stderr
    kept = [path for path in (tmp_path / "run").rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert kept == []


def test_the_status_lists_who_served_and_what_strayed(evenhand, run, server):
    server.fault = lambda n, request: refuse(400, "seed is not supported") if "seed" in request else None
    assert evenhand("run", run, *ask(server, "--arm", "aid-rate", "--limit", "6"))[0] == 0
    code, out, _ = evenhand("status", run, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["models"][0]["versions"] == ["faulty-1"]
    assert found["models"][0]["backends"] == ["fp_test"]
    assert found["refusals"][0]["parameter"] == "seed"
    assert [row["calls"] for row in found["deviations"]] == [6]
    _, out, _ = evenhand("status", run)
    assert "served by faulty-1, fp_test" in out
    assert "seed refused by the provider, left out" in out


def test_progress_without_a_terminal_is_plain_lines_with_rate_failures_tokens_and_cost(evenhand, run, server):
    (run / "prices.toml").write_text(PRICES, encoding="utf-8")
    server.answer = lambda request: "perhaps" if len(request["messages"][-1]["content"]) % 3 == 0 else "4"
    _, _, err = evenhand("run", run, *ask(server, "--arm", "aid-rate", "--limit", "40"))
    lines = [line for line in err.splitlines() if line.startswith("m: ")]
    assert len(lines) == 10
    assert lines[-1].startswith("m: 40 of 40 units; ")
    for part in ("a second", "malformed", "tokens", "$0."):
        assert part in lines[-1]
    assert "\x1b[" not in err


def test_bars_show_models_and_arms_in_a_terminal():
    import io

    from rich.console import Console
    from rich.progress import Progress, TextColumn

    from evenhand.cli.progress import CollectionBars
    from evenhand.collection.asker import Rest

    console = Console(file=io.StringIO(), force_terminal=True, width=120, height=40)
    bars = Progress(TextColumn("{task.description} {task.completed}/{task.total} {task.fields[said]}"), console=console)
    shown = CollectionBars(bars, console, quiet=False)
    shown.start("m", {"arm-a": (2, 1), "arm-b": (3, 0)})
    shown.advance("m", "arm-b", Rest("malformed", (10, 2), 0.5))
    said = {task.description: (task.completed, task.total, task.fields["said"]) for task in bars.tasks}
    assert {name: counts[:2] for name, counts in said.items()} == {"m": (2, 5), "  arm-a": (1, 2), "  arm-b": (1, 3)}
    assert "1 malformed, 12 tokens, $0.5000" in said["  arm-b"][2]


def test_a_clock_that_goes_back_changes_no_order(evenhand, run, monkeypatch):
    """Attempts and respondents are ordered by their arrival, whatever the time of day says."""
    from datetime import datetime, timedelta

    from evenhand.collection import ledger

    class Backwards:
        """Each look at it is a minute earlier."""

        looks = 0

        @classmethod
        def now(cls, zone):
            cls.looks += 1
            return datetime(2026, 1, 1, tzinfo=zone) - timedelta(minutes=cls.looks)

    monkeypatch.setattr(ledger, "datetime", Backwards)
    assert evenhand("run", run, "--model", "sim/unruly", "--model", "sim/null", "--limit", "40")[0] == 0
    started = [row[0] for row in attempts(run, "started")]
    assert started != sorted(started)
    _, out, _ = evenhand("status", run, "--json")
    assert [row["model"] for row in json.loads(out)["models"]] == ["sim/unruly", "sim/null"]
    with closing(sqlite3.connect(run / "ledger.db")) as connection:
        last = connection.execute(
            "SELECT COUNT(*) FROM attempts a WHERE attempt > 1 AND NOT EXISTS (SELECT 1 FROM attempts b "
            "WHERE b.unit = a.unit AND b.respondent = a.respondent AND b.attempt = a.attempt - 1 AND b.rowid < a.rowid)"
        ).fetchone()
    assert last == (0,)
    assert evenhand("run", run, "--model", "sim/unruly", "--model", "sim/null", "--limit", "40")[0] == 0
    assert len(attempts(run)) == len(started)


@pytest.mark.parametrize(
    "extra",
    [
        "extra_body = {d = nan}",
        "extra_body = {t = 12:00:00}",
        "arguments = {x = inf}",
        "arguments = {day = 2026-01-01}",
    ],
)
def test_a_setting_that_json_cannot_hold_is_refused_before_anything_is_written(evenhand, run, tmp_path, extra):
    config = tmp_path / "models.toml"
    config.write_text(f'["sim/noisy"]\n{extra}\n', encoding="utf-8")
    code, _, err = evenhand("run", run, "--config", config, "--limit", "1")
    assert code == 2
    assert "cannot be sent as JSON" in err
    assert not (run / "ledger.db").exists()


@pytest.mark.parametrize("value", ["seed=NaN", "seed=" + "[" * 100_000])
def test_an_argument_that_json_cannot_hold_is_refused(evenhand, run, value):
    code, _, err = evenhand("run", run, "--model", "sim/noisy", "-M", value, "--limit", "1")
    assert code == 2
    assert "Traceback" not in err
    assert len(err) < 500


@pytest.mark.parametrize("budget", ["nan", "inf"])
def test_a_budget_is_an_amount(evenhand, run, budget):
    code, _, err = evenhand("run", run, "--model", "sim/noisy", "--budget", budget)
    assert code == 2
    assert "is no amount" in err


@pytest.mark.parametrize("content", [b"\xff\xfe\x00bad=\xe9\n", b"A=a\x00b\n"])
def test_an_env_file_that_cannot_be_read_is_one_message(evenhand, run, tmp_path, monkeypatch, content):
    (tmp_path / ".env").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    code, _, err = evenhand("run", run, "--model", "sim/noisy", "--limit", "1")
    assert code == 2
    assert ".env" in err


def test_prices_beyond_reason_or_in_a_folder_are_refused(evenhand, run, tmp_path):
    prices = tmp_path / "p.toml"
    prices.write_text('["sim/*"]\ninput = 1e308\noutput = 1.0\n', encoding="utf-8")
    assert evenhand("cost", run, "--model", "sim/null", "--prices", prices)[0] == 2
    (run / "prices.toml").mkdir()
    code, _, err = evenhand("cost", run, "--model", "sim/null")
    assert code == 2
    assert "prices.toml" in err


def test_a_merge_that_is_refused_leaves_no_run(evenhand, built, tmp_path):
    for name, model in (("a", "sim/null"), ("b", "sim/noisy")):
        shutil.copytree(built, tmp_path / name)
        assert evenhand("run", tmp_path / name, "--model", model, "--as", "L", "--limit", "2")[0] == 0
    code, _, err = evenhand("merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "joined")
    assert code == 2
    assert str(tmp_path / "b") in err
    assert not (tmp_path / "joined").exists()
    assert evenhand("merge", tmp_path / "a", tmp_path / "a", "-o", tmp_path / "joined")[0] == 0
    code, _, err = evenhand("merge", built, built, "-o", tmp_path / "nothing")
    assert code == 2
    assert "nothing was collected" in err


def test_a_label_of_a_file_that_is_none_names_the_file(evenhand, run, tmp_path):
    config = tmp_path / "models.toml"
    config.write_text('["sim/noisy"]\nlabel = "a\\nb"\n', encoding="utf-8")
    code, _, err = evenhand("run", run, "--config", config)
    assert code == 2
    assert "models.toml: sim/noisy.label" in err


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot be asked to end a process")
def test_a_job_that_is_told_to_end_ends_cleanly_and_goes_on(built, tmp_path, server):
    import signal

    shutil.copytree(built, tmp_path / "run")
    command = [sys.executable, "-m", "evenhand", "run", str(tmp_path / "run"), *ask(server, "--limit", "400")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(server.journal) < 20:
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "what was collected is kept" in err
    # A background job of a shell, CI's perhaps, ignores Ctrl-C, and so asyncio's own orderly end is not to be had.
    assert "Traceback" not in err or signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    kept = len(attempts(tmp_path / "run"))
    assert kept >= 1
    assert len(server.journal) - kept <= 20, "more than what was in flight was lost"
