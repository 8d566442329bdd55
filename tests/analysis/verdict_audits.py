"""Small verdict studies: ratings, decisions, disguised and placebo rankings, with planted effects."""

from __future__ import annotations

import numpy as np
import polars as pl
from small_audits import GENDERS, RACES, bundles, ordering, person, rated, row, singles, table

from evenhand.analysis.material import Material
from evenhand.analysis.setting import Setting

MODELS = ("m1", "m2", "m3", "m4", "m5")


def verdict_material(seed=1, *, domains=("hiring",), rating=None, ranking=None, models=MODELS, count=48, **setting):
    """A study of ratings, decisions and disguised rankings; `rating` and `ranking` are what groups gain."""
    rng = np.random.default_rng(seed)
    rows = []
    for domain in domains:
        rater, ranker = rated(rng, groups=rating), ordering(rng, groups=ranking, strata=0.5, noise=0.7)
        rows += singles("rate", rater, models=models, domain=domain)
        rows += singles("decide", lambda *who, r=rater: int(r(*who) > 25), models=models, domain=domain)
        rows += bundles("rank_ties", ranker, models=models, domain=domain, count=count)
    return Material.of(table(rows), Setting(**setting))


def placebo_rows(rng, *, count=32, models=("m1", "m2"), gain=None, domain="hiring", strata=1.0):
    """Placebo bundles in Latin squares whose letters are dealt anew; `gain` is what each letter gains."""
    rows, dealt = [], "ABCD"
    for number in range(count):
        if number % 4 == 0:
            dealt = "".join(rng.permutation(list("ABCD")))
        race, gender = RACES[number % 4], GENDERS[number // 4 % 2]
        for model in models:
            slots = [
                person((at + 2 * number) % 4, (race, gender, 1 + at % 3))
                | {"position": at + 1, "pseudo_group": dealt[(at + number) % 4], "name": f"{race} {gender} {at}"}
                for at in range(4)
            ]
            score = [strata * s["stratum"] - (gain or {}).get(s["pseudo_group"], 0.0) + rng.normal() for s in slots]
            ranks = np.argsort(np.argsort(score)) + 1
            rows += [
                row(
                    "rank_ties",
                    model=model,
                    domain=domain,
                    arm=f"{domain}-placebo",
                    unit_id=f"placebo{number:03d}",
                    bundle_type="placebo_disguised",
                    mode="disguised",
                    focal_axis="pseudo_group",
                    bundle_size=4,
                    **(slot | {"rank": int(rank)}),
                )
                for slot, rank in zip(slots, ranks, strict=True)
            ]
    return rows


def with_rows(base: Material, rows) -> Material:
    """The same study with more rows."""
    return Material.of(pl.concat([base.outcomes, table(rows)]), base.setting)
