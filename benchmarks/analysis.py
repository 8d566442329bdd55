"""How long the whole analysis of a five-respondent `verdict` run takes, as a whole process.

    python -m benchmarks.analysis

The run is simulated without a model layer: answers are drawn on the study's own slots; probes have none. Peer:
statsmodels' mixed model of one of the nine planned cells, scaled to the 45 pooled and single-respondent fits that the
planned family alone needs in one specification.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings

RESPONDENTS = 5
TARGET_SECONDS, TARGET_MEGABYTES = 30, 1_000


def main() -> None:
    """Draw, analyse, and time one cell by the peer."""
    import numpy as np

    from evenhand import study
    from evenhand.analysis.blocks import analyse
    from evenhand.analysis.material import Material
    from evenhand.analysis.simulation import Stage, World
    from evenhand.outcomes.table import blank
    from evenhand.terms import of_plan

    plan, instrument = study.design("verdict")
    names = [f"respondent-{k + 1}" for k in range(RESPONDENTS)]
    slots = blank(instrument, study=plan.name, respondents=names)
    drawn = Stage(slots).draw(World(name_sd=0.1), np.random.default_rng(1))
    began = time.perf_counter()
    material = Material.of(drawn, of_plan(plan, plan.seed))
    found = analyse(material)
    seconds = time.perf_counter() - began
    scale = 1024 if sys.platform != "darwin" else 1024**2
    peaks = [resource.getrusage(who).ru_maxrss / scale for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    rows = sum(table.height for table in found.blocks.values())
    print(f"analysis of {drawn.height:,} rows: {seconds:.1f} s (target {TARGET_SECONDS}), {rows:,} rows of results")
    print(f"  memory {max(peaks):.0f} MB a process (target {TARGET_MEGABYTES})")
    for name, took in sorted(found.seconds.items(), key=lambda item: -item[1])[:8]:
        print(f"  {name:28s} {took:6.2f} s")
    peer = _peer(material)
    times = 45 * peer / seconds
    print(
        f"statsmodels, one pooled planned cell: {peer:.1f} s; 45 of them {45 * peer:.0f} s, {times:.0f} times as long"
    )


def _peer(material: object) -> float:
    """Seconds of one fit of the first planned cell by statsmodels, crossed effects as variance components."""
    import pandas as pd
    import statsmodels.formula.api as smf

    from evenhand.analysis.material import Material

    assert isinstance(material, Material)
    wanted = ("y", "race", "gender", "model", "profile", "name")
    rows = pd.DataFrame({name: material.planned[0].rows[name].to_list() for name in wanted})
    parts = {name: f"0 + C({name})" for name in ("model", "profile", "name")}
    began = time.perf_counter()
    with warnings.catch_warnings():
        # It warns at every optimiser it tries; whether it converged is printed.
        warnings.simplefilter("ignore")
        model = smf.mixedlm("y ~ race + gender", rows, groups=[1] * len(rows), vc_formula=parts, re_formula="0")
        print(f"statsmodels converged: {model.fit().converged}")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
