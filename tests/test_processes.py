"""Processes that work together end together."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from evenhand.errors import EvenhandError, InputError
from evenhand.processes import cores, spawned, wanted


def test_a_caller_decides_how_many():
    assert wanted(None, 3) == 3
    assert wanted(2, 3) == 2
    assert cores() >= 1
    with pytest.raises(InputError, match="0 processes"):
        wanted(0, 3)


def test_a_process_that_is_killed_is_told_in_words():
    with pytest.raises(EvenhandError, match="ended from outside"), spawned(1) as pool:
        pool.submit(os._exit, 9).result()
    assert not multiprocessing.active_children()


def test_work_that_is_stopped_ends_at_once():
    def stopped():
        with spawned(2) as pool:
            pool.submit(abs, -1).result()
            for _ in range(20):
                pool.submit(time.sleep, 30)
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert time.monotonic() - began < 20
    assert not multiprocessing.active_children()


_ALONE = """
import os, sys, time
from evenhand.processes import spawned
if __name__ == "__main__":
    with spawned(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_processes_do_not_outlive_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "alone.py"
    script.write_text(_ALONE, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the process outlived its parent")
