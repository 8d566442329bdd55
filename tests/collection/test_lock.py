"""One writer per run, and a dead one holds nothing."""

import subprocess
import sys

import pytest

from evenhand.collection.lock import writing
from evenhand.errors import RunError

HOLD = "import sys,time; from pathlib import Path; from evenhand.collection.lock import writing\nwith writing(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


def test_a_second_writer_is_told_and_a_killed_one_lets_go(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        with pytest.raises(RunError, match="another process"), writing(tmp_path):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with writing(tmp_path):
        pass


def test_the_lock_is_given_back(tmp_path):
    for _ in range(2):
        with writing(tmp_path):
            pass


def test_a_missing_folder_is_one_message(tmp_path):
    with pytest.raises(RunError, match="cannot be written"), writing(tmp_path / "nowhere"):
        pass
