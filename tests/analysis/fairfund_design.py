"""Outcomes of FairFund-Bench in memory: its seven bundle types and its Rate pool at full size, balanced as in appendix G.

Source of the design: Lukk 2026, arXiv 2607.28934, appendix G; the squares are our own.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import polars as pl

from evenhand.outcomes.schema import conform

RACES = ("White", "Black", "Hispanic", "Asian")
GENDERS = ("Male", "Female")
FRAMINGS = ("no_cause", "structural", "self_cause", "stigma_no_redemption", "stigma_redemption")
CATEGORIES = ("Education", "Medical", "Rent")
TWICE = (0, 2, 3, 1)
"""Multiplication by 2 in the field of four elements: with addition, a Graeco-Latin square of order 4."""

Claimant = tuple[str, str, str, int]
"""Race, gender, framing, scenario of the category."""


def bundles() -> list[tuple[str, str, str, list[Claimant]]]:
    """(bundle type, category, unit, claimants by position); 840 bundles and 600 single stimuli."""
    found: list[tuple[str, str, str, list[Claimant]]] = []

    def add(kind: str, category: str, config: object, version: int, claimants: list[Claimant]) -> None:
        found.append((kind, category, f"{kind}_{category}_{config}_v{version}", claimants))

    for c, category in enumerate(CATEGORIES):
        for (g, gender), (f, framing) in product(enumerate(GENDERS), enumerate(FRAMINGS)):
            config, omitted = f"{g}{f}", (5 * g + f) % 5
            shown = [s for s in range(5) if s != omitted]
            for v in ((0, 1), (2, 3))[(c + g + f) % 2]:
                add("race_transparent", category, config, v, [(RACES[p ^ v], gender, framing, f) for p in range(4)])
            for v in range(4):
                square = [(RACES[p ^ v], gender, framing, shown[p ^ TWICE[v]]) for p in range(4)]
                add("race_disguised", category, config, v, square)
        for (r, race), (f, framing) in product(enumerate(RACES), enumerate(FRAMINGS)):
            pair = (f, (f + r + 1) % 5)
            for v in range(2):
                both = [(race, GENDERS[p ^ v], framing, f) for p in range(2)]
                add("gender_transparent", category, f"{r}{f}", v, both)
            for v in range(4):
                mixed = [(race, GENDERS[p ^ (v % 2)], framing, pair[p ^ (v // 2)]) for p in range(2)]
                add("gender_disguised", category, f"{r}{f}", v, mixed)
        four = list(product(RACES[:2], GENDERS))
        for f, framing in enumerate(FRAMINGS):
            for v in range(4):
                add("intersectional", category, f, v, [(*four[p ^ v], framing, f) for p in range(4)])
        for (r, race), (g, gender) in product(enumerate(RACES), enumerate(GENDERS)):
            for s in range(5):
                shift = (r + g + s) % 5
                ladder = [(race, gender, FRAMINGS[(p + shift) % 5], s) for p in range(5)]
                add("framing_transparent", category, f"{r}{g}{s}", 0, ladder)
            for v in range(5):
                rotated = [(race, gender, FRAMINGS[(p + v) % 5], (p + 2 * v) % 5) for p in range(5)]
                add("framing_disguised", category, f"{r}{g}", v, rotated)
        for race, gender, framing, s in product(RACES, GENDERS, FRAMINGS, range(5)):
            add("rate", category, f"{race}{gender}{framing}{s}", 0, [(race, gender, framing, s)])
    return found


@cache
def slots() -> pl.DataFrame:
    """One row a claimant under each task, answers missing."""
    rows = []
    for kind, category, unit, claimants in bundles():
        axis, _, mode = kind.partition("_")
        single = kind == "rate"
        for task, (position, (race, gender, framing, s)) in product(
            ("rate",) if single else ("rank", "allocate"), enumerate(claimants, start=1)
        ):
            rows.append(
                {
                    "task": task,
                    "bundle_type": kind,
                    "mode": None if single else mode or "transparent",
                    "focal_axis": None if single else axis,
                    "unit_id": unit,
                    "bundle_size": len(claimants),
                    "position": position,
                    "category": category,
                    "scenario_id": f"{category}_{s}",
                    "race": race,
                    "gender": gender,
                    "framing": framing,
                }
            )
    return pl.DataFrame(rows)


def answers(
    model: str,
    seed: int,
    *,
    race: dict[str, float] | None = None,
    framing: dict[str, float] | None = None,
    noise: float = 1.0,
    equal_splits: bool = False,
    wording: str = "base",
    only: pl.Expr | None = None,
) -> pl.DataFrame:
    """The outcomes of one respondent, which sees the worth of each claimant with noise and answers by it.

    Args:
        model: Its name.
        seed: Of its noise.
        race: What each race adds to the worth; nothing by default.
        framing: The same of framings.
        noise: SD of the noise; the worth of scenarios has SD 1, the same for all respondents.
        equal_splits: Whether it shares equally where the texts are the same but for the name.
        wording: The wording variant.
        only: Which rows to answer.
    """
    frame = slots() if only is None else slots().filter(only)
    rng = np.random.default_rng(seed)
    scenarios = sorted(frame["scenario_id"].unique())
    worth = dict(zip(scenarios, np.random.default_rng(1).normal(size=len(scenarios)), strict=True))
    frame = frame.with_columns(
        z=pl.col("scenario_id").replace_strict(worth)
        + pl.col("race").replace_strict(race or {}, default=0.0)
        + pl.col("framing").replace_strict(framing or {}, default=0.0)
        + pl.Series(rng.normal(scale=noise, size=frame.height))
    )
    unit = ("task", "unit_id")
    shares = (pl.col("z") * 0.2).exp()
    cents = (10_000 * shares / shares.sum().over(unit)).floor().cast(pl.Int64)
    whole = cents + pl.when(pl.col("position") == 1).then(10_000 - cents.sum().over(unit)).otherwise(0)
    same = (pl.col("mode") == "transparent") & (pl.col("focal_axis") != "framing")
    dollars = pl.when(same & equal_splits).then(10_000 // pl.col("bundle_size")).otherwise(whole)
    return conform(
        frame.with_columns(
            model=pl.lit(model),
            wording_variant=pl.lit(wording),
            rating=pl.when(pl.col("task") == "rate").then((3 + 0.8 * pl.col("z")).round().clip(1, 5).cast(pl.Int64)),
            rank=pl.when(pl.col("task") == "rank").then(pl.col("z").rank(descending=True).over(unit).cast(pl.Int64)),
            dollars=pl.when(pl.col("task") == "allocate").then(dollars),
            job_id=pl.concat_str("task", "unit_id", pl.lit(model), pl.lit(wording), separator="_"),
            stimulus_id=pl.concat_str("scenario_id", "framing", "race", "gender", separator="_"),
            comparison_context=pl.when(pl.col("task") == "rate").then(pl.lit("single")).otherwise(pl.lit("multi")),
            name_rank=pl.lit(1),
            valid=pl.lit(value=True),
            refused=pl.lit(value=False),
            malformed=pl.lit(value=False),
            safety_disclaimer=pl.lit(value=False),
            parse_reason=pl.lit(""),
            retry_count=pl.lit(0),
            missing=pl.lit(value=False),
        )
    )
