"""Whole commands as a user waits for them: `evenhand --help`, `evenhand build fairfund`.

    uv run python -m benchmarks.commands

Targets: --help in 0.5 s, building the instrument in 2 s. The peer is `inspect --help`, of the same field.
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


def main() -> None:
    """Measure and print each command with its ratio to the peer."""
    own_help = median_seconds(sys.executable, "-m", "evenhand", "--help")
    peer_help = median_seconds(sys.executable, "-m", "inspect_ai", "--help")
    with tempfile.TemporaryDirectory() as name:
        build: list[float] = []
        for number in range(REPEATS):
            folder = str(Path(name) / str(number))
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "evenhand", "build", "fairfund", "-o", folder],
                check=True,
                capture_output=True,
            )
            build.append(time.perf_counter() - start)
    print(f"evenhand --help: {own_help:.2f} s (target 0.5)")
    print(f"inspect --help: {peer_help:.2f} s; ratio {own_help / peer_help:.3f}")
    print(
        f"evenhand build fairfund: {statistics.median(build):.2f} s (target 2); "
        f"ratio to inspect --help {statistics.median(build) / peer_help:.2f}"
    )


if __name__ == "__main__":
    main()
