"""Whole commands as a user waits for them: `evenhand --help`, `evenhand build` of both studies.

    uv run python -m benchmarks.commands

Targets: --help in 0.5 s, building `fairfund` in 2 s. The peer is `inspect --help`, of the same field.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 5


def median_seconds(*command: str) -> float:
    """The median wall time of a command over some runs, after one that is not counted."""
    times: list[float] = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def build_seconds(study: str) -> float:
    """The median wall time of building a study into a new folder."""
    times: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        for number in range(REPEATS):
            command = [sys.executable, "-m", "evenhand", "build", study, "-o", str(Path(name) / str(number))]
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Measure and print each command with its ratio to the peer."""
    own_help = median_seconds(sys.executable, "-m", "evenhand", "--help")
    peer_help = median_seconds(sys.executable, "-m", "inspect_ai", "--help")
    print(f"evenhand --help: {own_help:.2f} s (target 0.5)")
    print(f"inspect --help: {peer_help:.2f} s; ratio {own_help / peer_help:.3f}")
    for study, units in (("fairfund", "2,280 units, target 2"), ("verdict", "8,462 units")):
        built = build_seconds(study)
        print(f"evenhand build {study}: {built:.2f} s ({units}); ratio to inspect --help {built / peer_help:.2f}")


if __name__ == "__main__":
    main()
