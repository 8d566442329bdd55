r"""How many short replies a second each format reads on one core, beside a naive `re.findall(r"\\d+")`.

Run it with `python benchmarks/parsing.py [SECONDS]`; SECONDS (0.5) is spent on each measurement.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.formats import FORMATS, Reply, read, reply_from_record

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).parent.parent / "tests" / "data" / "replies.jsonl"
PLAIN = {"rate": "4", "decide": "1", "rank": "3,1,4,2", "rank_ties": "1,1,3,4", "allocate": "4000,3000,2000,1000"}
PEER = re.compile(r"\d+")


def replies_a_second(work: Callable[[], object], count: int, seconds: float) -> float:
    """The best rate over rounds of at least `seconds` in all, in CPU time of this process: one core."""
    best, spent = 0.0, 0.0
    while spent < seconds:
        start = time.process_time()
        work()
        took = max(1e-9, time.process_time() - start)
        spent += took
        best = max(best, count / took)
    return best


def measure(name: str, format: str, jobs: list[tuple[Reply, dict[str, Any]]], seconds: float) -> float:
    """Print one row, and return replies a second."""

    def ours() -> None:
        for reply, question in jobs:
            read(format, reply, **question)

    def peer() -> None:
        for reply, _ in jobs:
            PEER.findall(reply.text)

    rate = replies_a_second(ours, len(jobs), seconds)
    naive = replies_a_second(peer, len(jobs), seconds)
    print(f"{format:15} {name:6} {len(jobs):5} {rate:12,.0f} {1e6 / rate:8.1f} {naive:14,.0f} {naive / rate:7.1f}")
    return rate


def main(seconds: float) -> None:
    """Measure every format on the cases, and on the plain replies that most replies are."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    print(f"{'format':15} {'kind':6} {'n':>5} {'replies/s':>12} {'us each':>8} {'findall/s':>14} {'ratio':>7}")
    slowest = float("inf")
    for format in FORMATS:
        jobs = [
            (reply_from_record(case["reply"]), {"slots": case["n"], "options": case.get("options", 5)})
            for case in cases
            if case["format"] == format
        ]
        slowest = min(slowest, measure("cases", format, jobs * 10, seconds))
        if format in PLAIN:
            question = {"slots": 1 if format in {"rate", "decide"} else 4}
            measure("plain", format, [(Reply(PLAIN[format]), question)] * 100, seconds)
    print(f"slowest format on its cases: {slowest:,.0f} replies a second")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.5)
