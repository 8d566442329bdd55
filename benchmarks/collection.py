"""Collection overhead on `sim/null` against the plain `inspect eval` loop, wall time a unit, in one run.

    uv run python -m benchmarks.collection [UNITS] [EVAL_UNITS]

Target: at most 2 ms a unit.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

from evenhand import study
from evenhand.collection.models import Respondent

RUNS = 5


def ours(folder: Path, units: int) -> list[float]:
    """Seconds a unit of `study.collect`, ledger and all, in each of some runs."""
    run = study.build("fairfund", folder / "run")
    study.collect(run, [Respondent("sim/noisy")], part=study.Part(limit=10))
    seconds: list[float] = []
    for seed in range(RUNS):
        start = time.perf_counter()
        study.collect(run, [Respondent("sim/null", {"seed": seed})], part=study.Part(limit=units))
        seconds.append((time.perf_counter() - start) / units)
    return seconds


def inspect_loop(folder: Path, units: int) -> float:
    """Seconds a sample of the plain evaluation loop on the same prompts."""
    instrument = study.build("fairfund", folder / "run").instrument
    samples = [Sample(input=unit.prompt, id=unit.key) for unit in instrument.units[:units]]
    task = Task(dataset=MemoryDataset(samples), solver=generate())
    start = time.perf_counter()
    eval(task, model="sim/null", log_dir=str(folder / "logs"), display="none", score=False)
    return (time.perf_counter() - start) / units


def main() -> None:
    """Measure both and print the ratio."""
    units = int(sys.argv[1]) if len(sys.argv) > 1 else 2280
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    with tempfile.TemporaryDirectory() as name:
        own, peer = ours(Path(name), units), inspect_loop(Path(name), samples)
    each = ", ".join(f"{seconds * 1e3:.2f}" for seconds in own)
    print(f"evenhand run, {units} units: {min(own) * 1e3:.2f} ms a unit, best of {RUNS} (all: {each}; target 2)")
    print(f"inspect eval loop, {samples} samples: {peer * 1e3:.2f} ms a sample")
    print(f"ratio: {min(own) / peer:.3f}")


if __name__ == "__main__":
    main()
