"""What a planted disparity comes to on the scale that is observed.

A disparity planted in latent SDs is rounded to five ratings, cut at a threshold, or turned into ranks among the others
of a bundle. What an audit should find is therefore never the planted number: it is found here, by asking the rule about
every unit of an arm so often that chance no longer matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError
from evenhand.respondents import rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from evenhand.instrument import Unit
    from evenhand.respondents.lexicon import Lexicon
    from evenhand.respondents.rule import Behaviour, Floats

DRAWS = 2000


def _mid_ranks(utility: Floats) -> Floats:
    """What lots between equals come to on average: they share the mean of their places."""
    above = (utility[..., None, :] > utility[..., :, None]).sum(axis=-1)
    equal = (utility[..., None, :] == utility[..., :, None]).sum(axis=-1)
    return 1.0 + above + (equal - 1) / 2


_SCORES: Mapping[str, Callable[[Floats], Floats]] = {
    "rate": lambda utility: rule.ratings(utility).astype(np.float64),
    "decide": lambda utility: rule.decisions(utility).astype(np.float64),
    "tool_decide": lambda utility: rule.decisions(utility).astype(np.float64),
    "rank": lambda utility: -_mid_ranks(utility),
    "rank_ties": lambda utility: -rule.ranks(utility).astype(np.float64),
    "tool_rank": lambda utility: -rule.ranks(utility).astype(np.float64),
    "allocate": lambda utility: rule.allocations(utility).astype(np.float64),
}


@dataclass(frozen=True, slots=True)
class Truth:
    """A contrast on the observed scale.

    Attributes:
        contrast: Mean score of the group minus that of the reference, in rating points, ranks (negated: higher is
            treated better), shares of yes, or dollars.
        std_error: The simulation's, over draws.
        draws: How often every unit was asked.
    """

    contrast: float
    std_error: float
    draws: int


def observed_contrast(
    units: Sequence[Unit],
    behaviour: Behaviour,
    lexicon: Lexicon,
    *,
    factor: str,
    group: str,
    reference: str,
    draws: int = DRAWS,
    seed: int = 0,
) -> Truth:
    """The contrast that a respondent with this behaviour shows on these units, on the scale that is observed.

    Args:
        units: Of one arm: one format, bundles of one size.
        behaviour: What is planted; shares of refusals, malformed answers and talk are left aside.
        lexicon: The utilities of the texts.
        factor: race or gender.
        group: The level compared.
        reference: The level it is compared with.
        draws: How often every unit is asked, each time with fresh noise and fresh effects of names.
        seed: Of the draws.

    Raises:
        InputError: Units of several formats or sizes, a format without scores, or a level that does not occur.
    """
    formats, sizes = {unit.format for unit in units}, {len(unit.slots) for unit in units}
    if len(formats) != 1 or len(sizes) != 1 or not formats <= set(_SCORES):
        raise InputError(
            f"units of {', '.join(sorted(formats)) or 'no format'}",
            where="true contrast",
            mend=f"Give the units of one arm of {', '.join(_SCORES)}",
        )
    levels = np.array([[getattr(slot, factor) for slot in unit.slots] for unit in units])
    for level in (group, reference):
        if not (levels == level).any():
            raise InputError(
                f"{factor} {level!r} does not occur", where="true contrast", mend="Name a level of the arm"
            )
    score = _SCORES[formats.pop()]
    rng = np.random.default_rng(seed)
    utility_of = _utility(units, behaviour, lexicon)
    found = np.empty(draws)
    for draw in range(draws):
        scores = score(utility_of(rng))
        found[draw] = scores[levels == group].mean() - scores[levels == reference].mean()
    return Truth(float(found.mean()), float(found.std(ddof=1) / np.sqrt(draws)), draws)


def _utility(units: Sequence[Unit], behaviour: Behaviour, lexicon: Lexicon) -> Callable[[np.random.Generator], Floats]:
    """A function that draws the utilities of all slots, shape (units, slots)."""
    said = [[_said(text, lexicon) for text in unit.contents()] for unit in units]
    content = np.array([[utility for _, utility in row] for row in said])
    # In one prompt the same text has the same noise, as in a respondent.
    first = np.array([[[text for text, _ in row].index(text) for text, _ in row] for row in said])
    rows = np.arange(len(units))[:, None]
    names: list[str] = sorted({slot.name for unit in units for slot in unit.slots})
    name = np.array([[names.index(slot.name) for slot in unit.slots] for unit in units])
    arrays = {
        factor: np.array([[getattr(slot, factor) for slot in unit.slots] for unit in units])
        for factor in ("race", "gender", "framing")
    }

    def draw(rng: np.random.Generator) -> Floats:
        effects: NDArray[np.float64] = rng.standard_normal(len(names))[name]
        planted = rule.planted_effects(behaviour, **arrays, name_effect=effects)
        noise = rng.standard_normal(content.shape)[rows, first]
        utility = rule.utilities(behaviour, content=content, planted=planted, noise=noise)
        return _shared(utility, first) if behaviour.split_identical else utility

    return draw


def _said(text: str, lexicon: Lexicon) -> tuple[str, float]:
    if text not in lexicon.contents:
        raise InputError(
            "a text is not in the lexicon", where="true contrast", mend="Teach it the instrument that the units are of"
        )
    known = lexicon.contents[text]
    return known.said, known.utility


def _shared(utility: Floats, first: NDArray[np.int64]) -> Floats:
    """One mean for slots that say the same."""
    same = first[:, :, None] == first[:, None, :]
    return (same * utility[:, None, :]).sum(axis=2) / same.sum(axis=2)
