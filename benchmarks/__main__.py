"""Run every benchmark, one after the other: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each module of this folder in a process of its own."""
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        print(f"== {path.stem}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{path.stem}"], check=True)


if __name__ == "__main__":
    main()
