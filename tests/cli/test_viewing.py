"""`evenhand view` as a user types it: the address at once, an orderly end, and errors that say the mend."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from evenhand import study

STUDY = """
name = "small"
seed = 1
[[arms]]
name = "hiring-rate"
pack = "hiring"
format = "rate"
design = "quota"
count = 120
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("viewing")
    (folder / "small.toml").write_text(STUDY, encoding="utf-8")
    return study.build(folder / "small.toml", folder / "run").folder


@pytest.fixture
def viewed(run):
    """The command in a process of its own, which is ended if the test did not."""
    started = []

    def start(*more):
        command = [sys.executable, "-m", "evenhand", "view", str(run), "--port", "0", *more]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot be asked to end a process")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_end(viewed, how):
    process = viewed("--json")
    told = json.loads(process.stdout.readline())
    assert told == {"url": f"http://127.0.0.1:{told['port']}/", "port": told["port"]}
    with urllib.request.urlopen(told["url"], timeout=20) as answer:
        assert b"Interim: not for decisions" in answer.read()
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_it_says_where_it_is_and_how_it_ends(viewed, run):
    process = viewed()
    first, second = process.stdout.readline(), process.stdout.readline()
    address = first.split()[-1]
    assert first == f"{run} is followed at {address}\n"
    assert second == "Ctrl-C stops it\n"
    with urllib.request.urlopen(f"{address}state.json", timeout=20) as answer:
        assert json.load(answer)["problems"] == []


def test_a_port_in_use_says_so(evenhand, run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = evenhand("view", run, "--port", port)
    assert (code, out) == (2, "")
    assert f"127.0.0.1:{port}: the port cannot be used" in err
    assert "--port (0 for any that is free)" in err


def test_what_is_no_run_is_wrong_use(evenhand, tmp_path, run):
    for folder in (tmp_path, tmp_path / "none", run / "study.toml"):
        code, _, err = evenhand("view", folder)
        assert code == 2
        assert "not a run directory" in err
        assert "evenhand build STUDY -o RUN" in err
    assert evenhand("view", run, "--port", "65536")[0] == 2
    assert evenhand("view")[0] == 2


def test_a_study_that_was_changed_is_refused(evenhand, tmp_path, run):
    import shutil

    shutil.copytree(run, tmp_path / "run")
    with (tmp_path / "run" / "study.toml").open("a", encoding="utf-8") as file:
        file.write("\n[margins]\nrate = 0.1\n")
    code, _, err = evenhand("view", tmp_path / "run")
    assert code == 2
    assert "study.toml" in err
