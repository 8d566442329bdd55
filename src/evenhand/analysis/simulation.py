"""Whole audits drawn from the slots of an instrument, with effects that are known: no model is asked.

Each respondent holds a latent worth of every slot: the profile's, what the name's group adds, the name itself, the
slot, which all respondents see alike, its place, and noise of its own. Answers are read off it as a model's are: a
rating from 1 to 5, a yes above a threshold, ranks in which near worths tie.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

MIDDLE, MIDDLE_STRATUM = 3, 2.5
"""Of a scale from 1 to 5, and of the four strata that packs have; 1 is the best."""

RATES, DECISIONS, RANKS = ("rate",), ("decide", "tool_decide"), ("rank", "rank_ties", "tool_rank")


@dataclass(frozen=True, slots=True)
class World:
    """What is true in a simulated audit; sizes are in latent units, which are rating points before they are rounded.

    Attributes:
        groups: What a level of race or gender adds, by level.
        name_sd: SD between names.
        profile_sd: SD between profiles of a stratum.
        slot_sd: SD between slots (bundles) or stimuli (singles), shared by respondents.
        noise_sd: SD of a respondent's own noise.
        respondent_sd: SD between respondents' leniency.
        step: What a stratum of quality is worth.
        first: What the first place of a bundle is worth.
        grain: Worths in a bundle that are alike when rounded to it tie; 0 for no ties. Ratings are whole numbers from 1
            to 5 whatever it is.
        malformed: Share of calls without a readable answer.
    """

    groups: Mapping[str, float] = field(default_factory=dict[str, float])
    name_sd: float = 0.0
    profile_sd: float = 0.4
    slot_sd: float = 0.3
    noise_sd: float = 0.5
    respondent_sd: float = 0.3
    step: float = 0.7
    first: float = 0.0
    grain: float = 1.0
    malformed: float = 0.0


class Stage:
    """The slots of a study, their names and places as numbers, on which audits are drawn again and again."""

    def __init__(self, slots: pl.DataFrame) -> None:
        """Number what repeats.

        Args:
            slots: Outcomes before anything was sent (`outcomes.table.blank`), of the arms to draw.
        """
        self.slots = slots
        single = pl.col("position").cast(pl.String)
        bundled = pl.col("task").is_in(RANKS)
        place = pl.when(bundled).then(pl.concat_str("arm", "unit_id", single, separator="\x1f"))
        stimulus = pl.concat_str("domain", "stimulus_id", separator="\x1f")
        self._codes = {
            "name": _numbered(slots, pl.col("name")),
            "profile": _numbered(slots, pl.concat_str("domain", "scenario_id", separator="\x1f")),
            "slot": _numbered(slots, place.otherwise(stimulus)),
            "respondent": _numbered(slots, pl.col("model")),
            "call": _numbered(slots, pl.concat_str("arm", "unit_id", "model", separator="\x1f")),
        }
        self._levels = {name: slots[name].to_list() for name in ("race", "gender")}
        self._stratum = slots["stratum"].fill_null(0).to_numpy().astype(np.float64)
        self._first = ((slots["position"] == 1) & slots["task"].is_in(RANKS)).to_numpy()
        self._kind = {kind[0]: slots["task"].is_in(kind).to_numpy() for kind in (RATES, DECISIONS, RANKS)}

    def draw(self, world: World, rng: np.random.Generator) -> pl.DataFrame:
        """One audit: the slots with answers.

        Args:
            world: What is true.
            rng: Draws names, profiles, slots, respondents, noise and losses anew.
        """
        worth = self._worth(world, rng)
        calls = int(self._codes["call"].max()) + 1
        lost = (rng.random(calls) < world.malformed)[self._codes["call"]]
        grain = world.grain or 1e-9
        rating = np.clip(np.round(MIDDLE + worth), 1, 5)
        rank, tied = _ranked(np.round(worth / grain), self._codes["call"])
        kept = {kind: mask & ~lost for kind, mask in self._kind.items()}
        return self.slots.with_columns(
            rating=_where(kept["rate"], rating),
            decision=_where(kept["decide"], (worth > 0).astype(np.float64)),
            rank=_where(kept["rank"], rank),
            tied=pl.Series(tied & kept["rank"]),
            valid=pl.Series(~lost),
            malformed=pl.Series(lost),
            missing=pl.Series(np.zeros(len(lost), dtype=bool)),
            status=pl.Series(np.where(lost, "malformed", "answered")),
        )

    def _worth(self, world: World, rng: np.random.Generator) -> NDArray[np.float64]:
        sizes = {
            "name": world.name_sd,
            "profile": world.profile_sd,
            "slot": world.slot_sd,
            "respondent": world.respondent_sd,
        }
        worth = rng.normal(size=len(self._stratum)) * world.noise_sd
        for name, sd in sizes.items():
            codes = self._codes[name]
            worth += (rng.normal(size=int(codes.max()) + 1) * sd)[codes]
        graded = self._stratum > 0
        worth += np.where(graded, (MIDDLE_STRATUM - self._stratum) * world.step, 0.0)
        for levels in self._levels.values():
            worth += np.array([world.groups.get(level, 0.0) for level in levels])
        return worth + world.first * self._first


def _numbered(slots: pl.DataFrame, expression: pl.Expr) -> NDArray[np.int64]:
    return slots.select(expression.rank("dense")).to_series().fill_null(1).to_numpy().astype(np.int64) - 1


def _where(mask: NDArray[np.bool_], values: NDArray[np.float64]) -> pl.Series:
    return pl.Series(np.where(mask, values, np.nan)).fill_nan(None).cast(pl.Int64)


def _ranked(worth: NDArray[np.float64], calls: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Competition ranks within each call, 1 the best, and whether a call holds a tie."""
    frame = pl.DataFrame({"worth": worth, "call": calls})
    ranks = frame.select(
        rank=pl.col("worth").rank("min", descending=True).over("call").cast(pl.Float64),
        tied=(pl.col("worth").n_unique().over("call") < pl.len().over("call")),
    )
    return ranks["rank"].to_numpy(), ranks["tied"].to_numpy()
