"""How much processor time scoring takes, as a whole process and beside a plain re-computation.

    python benchmarks/scoring.py [OUTCOMES]

Two ratios come out. One is to the released scorer, whose time was recorded once (349 s of CPU for 14 models and
2,000 replicates; 166 MB). The other is to a named peer timed in the same run: resample the units, then group and
average with polars in each replicate, timed on few replicates and scaled.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

DEFAULT = Path(__file__).parent.parent.parent / "shared" / "fairfund" / "reference" / "outcomes_14.csv.gz"
RELEASED_CPU_SECONDS = 349.0
TARGET_CPU_SECONDS, TARGET_MEGABYTES = 2.3, 500
REPLICATES = 2000
PEER_REPLICATES = 5
RUNS = 5


def run_process(path: Path) -> tuple[float, float]:
    """CPU seconds (user and system) and peak megabytes of one whole scoring process, imports included."""
    # An installed package has its bytecode compiled; a flag of the developer's shell should not hide that.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-m", "evenhand", "score", str(path), "--recompute-denominators"]
    process = subprocess.Popen([*command, "--boot", str(REPLICATES)], env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"scoring ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def time_peer(path: Path) -> float:
    """CPU seconds a replicate of the peer, over all models: group means by polars, pillars left out."""
    import numpy as np
    import polars as pl

    from evenhand.outcomes.doors import read_outcomes

    rows = read_outcomes(path).filter("valid")
    value = pl.coalesce(pl.col("rating"), -pl.col("rank"), pl.col("dollars")).cast(pl.Float64)
    rows = rows.select("model", "bundle_type", "task", "unit_id", "race", "gender", "framing", value.alias("y"))
    strata = rows.partition_by("model", "bundle_type", "task", include_key=False)
    units = [np.array(stratum["unit_id"].unique()) for stratum in strata]
    rng = np.random.default_rng(0)
    start = time.process_time()
    for _ in range(PEER_REPLICATES):
        for stratum, names in zip(strata, units, strict=True):
            drawn = pl.DataFrame({"unit_id": rng.choice(names, len(names))})
            resampled = drawn.join(stratum, on="unit_id")
            resampled.group_by("race", "gender", "framing").agg(pl.col("y").mean())
    return (time.process_time() - start) / PEER_REPLICATES


def main(path: Path) -> None:
    """Run both and print the figures with their ratios."""
    if not path.is_file():
        print(f"skipped: {path} is not there")
        return
    run_process(path)
    runs = [run_process(path) for _ in range(RUNS)]
    cpu, peak = min(seconds for seconds, _ in runs), max(megabytes for _, megabytes in runs)
    peer = time_peer(path) * REPLICATES
    print(f"scoring {path.name}, {REPLICATES} replicates, whole process, best of {RUNS} (all: ", end="")
    print(", ".join(f"{seconds:.2f}" for seconds, _ in runs), end=")\n")
    print(f"  CPU      {cpu:8.2f} s   (target {TARGET_CPU_SECONDS} s)")
    print(f"  memory   {peak:8.0f} MB  (target {TARGET_MEGABYTES} MB)")
    print(f"  released {RELEASED_CPU_SECONDS:8.0f} s   as recorded: {RELEASED_CPU_SECONDS / cpu:.0f} times as much")
    print(f"  polars   {peer:8.0f} s   scaled from {PEER_REPLICATES} replicates: {peer / cpu:.0f} times as much")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
