"""Data and models that the estimators' benchmark compares engines on, and larger data drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evenhand.statistics import MixedFit, MixedModel

DATA = Path(__file__).parents[1] / "tests" / "data"
REFERENCE = {"race": "white", "gender": "F", "stratum": "low", "category": "c1", "framing": "neutral"}
WITH_MODEL = {**REFERENCE, "model": "m00"}
WITH_POSITION = {**WITH_MODEL, "position": "1"}
FIXED = "race + gender + stratum + category + framing"
CROSSED = "(1|profile) + (1|name) + (1|bundle)"
RATE = f"y ~ {FIXED} + model"
RANK = f"score ~ {FIXED} + position + model"


@dataclass(frozen=True, slots=True)
class Case:
    """A mixed model to fit.

    Attributes:
        label: What the tables call it.
        data: The rows.
        formula: The model.
        reference: Reference levels.
        stored: Where `lme4.json` has the fit; empty where it has none.
        target: Seconds it may take; None where there is no target.
        crossed: The intercepts that statsmodels is to fit; empty for none.
        slow: Whether statsmodels takes minutes.
    """

    label: str
    data: pl.DataFrame
    formula: str
    reference: Mapping[str, str]
    stored: tuple[str, ...] = ()
    target: float | None = None
    crossed: tuple[str, ...] = ()
    slow: bool = False


def mixed_cases() -> tuple[Case, ...]:
    """Every fit that is compared."""
    rank, groups = read("rank_like"), ("profile", "name", "bundle")
    called = rank.with_columns(call=pl.concat_str("bundle", "model", separator=" "))
    large = large_table()
    ranked, sloped = f"{RANK} + {CROSSED}", f"y ~ {FIXED} + {CROSSED} + (1 + race|model)"
    return (
        Case("rate_balanced, 2,400 rows", read("rate_balanced"), f"{RATE} + {CROSSED}", WITH_MODEL,
             ("rate_balanced", "full"), crossed=groups),
        Case("rank_like, 15,000 rows", rank, ranked, WITH_POSITION, ("rank_like", "full"), 0.1, groups, slow=True),
        Case("rank_like with (1\\|call)", called, f"{ranked} + (1|call)", WITH_POSITION, ("rank_like", "call"), 0.1),
        Case("slopes, (1 + race\\|model), 6,720 rows", read("mixed/slopes"), sloped, REFERENCE, ("slopes", "full")),
        Case("generated, 84,000 rows", large, ranked, WITH_POSITION, target=0.3),
        Case("generated with (1\\|call)", large, f"{ranked} + (1|call)", WITH_POSITION, target=0.3),
    )  # fmt: skip


def simulated(model: MixedModel, fit: MixedFit, rng: np.random.Generator) -> NDArray[np.float64]:
    """An outcome drawn from a fit with random intercepts, shape (n,)."""
    drawn = model.design @ fit.beta + fit.sigma * rng.standard_normal(len(model.y))
    for block in model.blocks:
        drawn += np.sqrt(fit.variances[block.group]) * rng.standard_normal(block.size)[block.codes]
    return drawn


def large_table(*, bundles: int = 750, models: int = 14, seed: int = 84_000) -> pl.DataFrame:
    """Scores of 4 applications, one of each race, in every bundle, model and framing: 84,000 rows.

    A bundle has one profile (12, in 3 strata of 4 categories), one gender, and 4 names of 5 for each race and gender.
    """
    rng = np.random.default_rng(seed)
    races, race_effects = np.array(["white", "black", "hispanic", "asian"]), np.array([0.0, -0.3, -0.15, 0.1])
    profile, gender = rng.integers(12, size=bundles), rng.integers(2, size=bundles)
    # Names are numbered by race, then gender, then place.
    name = np.arange(4) * 10 + gender[:, None] * 5 + rng.integers(5, size=(bundles, 4))
    bundle, model, framing, race = (part.ravel() for part in np.indices((bundles, models, 2, 4)))
    call = (bundle * models + model) * 2 + framing
    position = rng.permuted(np.tile(np.arange(4), (bundles * models * 2, 1)), axis=1).ravel()
    stratum, category = profile[bundle] // 4, profile[bundle] % 4
    score = 5 + race_effects[race] - 0.12 * gender[bundle] - 0.25 * framing - 0.1 * position + 0.35 * model
    score += np.array([0.0, 0.8, 1.7])[stratum] + np.array([0.0, 0.25, -0.2, 0.1])[category]
    for sd, codes in ((0.4, profile[bundle]), (0.15, name[bundle, race]), (0.5, bundle), (0.3, call)):
        score += sd * rng.standard_normal(codes.max() + 1)[codes]
    score += 0.8 * rng.standard_normal(len(score))
    numbered = {"model": ("m", model), "bundle": ("b", bundle), "profile": ("p", profile[bundle])}
    numbered |= {"name": ("n", name[bundle, race]), "call": ("k", call)}
    return pl.DataFrame(
        {column: [f"{letter}{code:02d}" for code in codes.tolist()] for column, (letter, codes) in numbered.items()}
        | {
            "race": races[race],
            "gender": np.array(["F", "M"])[gender[bundle]],
            "category": np.array(["c1", "c2", "c3", "c4"])[category],
            "stratum": np.array(["low", "mid", "high"])[stratum],
            "framing": np.array(["neutral", "charged"])[framing],
            "position": position + 1,
            "score": score.round(3),
        }
    )


def read(name: str) -> pl.DataFrame:
    """A table of `tests/data`."""
    return pl.read_csv(DATA / f"{name}.csv.gz")
