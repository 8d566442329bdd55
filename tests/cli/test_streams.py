"""Output that goes away does not change what a command does."""

import os
import subprocess
import sys

import pytest

EVENHAND = [sys.executable, "-m", "evenhand"]


def test_a_closed_pipe_leaves_the_exit_code_alone():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*EVENHAND, "check", "fairfund"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_collection_goes_on_without_anybody_to_tell(tmp_path):
    subprocess.run([*EVENHAND, "build", "fairfund", "-o", tmp_path / "run"], check=True, capture_output=True)
    reader, writer = os.pipe()
    os.close(reader)
    command = [*EVENHAND, "run", tmp_path / "run", "--model", "sim/null", "--limit", "40"]
    done = subprocess.run(command, stdout=writer, stderr=writer, check=False)
    os.close(writer)
    assert done.returncode == 0
    told = subprocess.run([*EVENHAND, "status", tmp_path / "run", "--json"], capture_output=True, text=True, check=True)
    assert '"answered": 40' in told.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")  # noqa: PTH110
def test_output_that_cannot_be_written_is_one_message():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*EVENHAND, "check", "fairfund"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
