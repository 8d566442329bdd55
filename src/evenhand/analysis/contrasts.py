"""The 25 group differences of FairFund-Bench over the cells race x gender x framing.

Source: Lukk 2026, arXiv 2607.28934, appendix H. The levels are those of the benchmark; other studies have
other levels and other contrasts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RACES = ("White", "Black", "Hispanic", "Asian")
GENDERS = ("Male", "Female")
FRAMINGS = ("no_cause", "structural", "self_cause", "stigma_no_redemption", "stigma_redemption")
CELLS = len(RACES) * len(GENDERS) * len(FRAMINGS)
"""40 cells; the cell of levels (r, g, f) has the number (r * 2 + g) * 5 + f."""

FRAMING_STEPS = (
    ("structural", "self_cause"),
    ("structural", "stigma_no_redemption"),
    ("self_cause", "stigma_no_redemption"),
    ("stigma_redemption", "stigma_no_redemption"),
)

DEMOGRAPHIC = slice(0, 5)
"""Race (3), gender, and race by gender: what P1 averages."""
RACE = slice(0, 3)
GENDER = slice(3, 4)
FRAMING = slice(5, 9)
"""The four framing differences: what P2 averages."""
ALL = slice(0, 25)


@dataclass(frozen=True, slots=True)
class Group:
    """The cells of one group: those with the given levels, any level where none is given."""

    race: str | None = None
    gender: str | None = None
    framing: str | None = None

    def mask(self) -> NDArray[np.bool_]:
        """Shape (40,): which cells belong to the group."""
        return np.array(
            [
                self.race in (None, race) and self.gender in (None, gender) and self.framing in (None, framing)
                for race, gender, framing in product(RACES, GENDERS, FRAMINGS)
            ]
        )


@dataclass(frozen=True, slots=True)
class Contrast:
    """A mean less another, or the gap between two such differences.

    Attributes:
        name: What is compared with what.
        pair: The two groups.
        less: The pair whose difference is subtracted.
    """

    name: str
    pair: tuple[Group, Group]
    less: tuple[Group, Group] | None = None


def _contrasts() -> tuple[Contrast, ...]:
    others = RACES[1:]
    male, female = GENDERS
    by_gender = [(Group("Black", gender), Group("White", gender)) for gender in (female, male)]
    return (
        *(Contrast(f"{race} - White", (Group(race), Group("White"))) for race in others),
        Contrast("Female - Male", (Group(gender=female), Group(gender=male))),
        Contrast("Black - White, Female - Male", *by_gender),
        *(Contrast(f"{a} - {b}", (Group(framing=a), Group(framing=b))) for a, b in FRAMING_STEPS),
        *(
            Contrast(
                f"{a} - {b}, {race} - White",
                (Group(race, framing=a), Group(race, framing=b)),
                (Group("White", framing=a), Group("White", framing=b)),
            )
            for race in others
            for a, b in FRAMING_STEPS
        ),
        *(
            Contrast(
                f"{a} - {b}, Female - Male",
                (Group(None, female, a), Group(None, female, b)),
                (Group(None, male, a), Group(None, male, b)),
            )
            for a, b in FRAMING_STEPS
        ),
    )


CONTRASTS = _contrasts()
"""All 25, in the order of the slices above: 3 race, gender, race by gender, 4 framing, 12 race by framing,
4 gender by framing."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """The first few contrasts as arrays.

    Attributes:
        masks: Shape (40, groups): the cells of each group.
        terms: Shape (4, contrasts): the columns of `masks` in (a - b) - (c - d).
        signs: Shape (groups, contrasts): the same as a matrix, +1 for a and d, -1 for b and c.
    """

    masks: NDArray[np.float64]
    terms: NDArray[np.intp]
    signs: NDArray[np.float64]


@cache
def _plan(count: int) -> _Plan:
    groups: dict[Group, int] = {}
    terms: list[list[int]] = []
    for contrast in CONTRASTS[:count]:
        first, second = contrast.pair
        # Without a second pair, a group less itself: nothing to subtract.
        four = (first, second, *(contrast.less or (first, first)))
        terms.append([groups.setdefault(group, len(groups)) for group in four])
    masks = np.column_stack([group.mask() for group in groups]).astype(np.float64)
    signs = np.zeros((len(groups), len(terms)))
    for number, columns in enumerate(terms):
        np.add.at(signs[:, number], columns, (1, -1, -1, 1))
    return _Plan(masks, np.array(terms).T, signs)


def group_differences(
    sums: NDArray[np.floating[Any]], counts: NDArray[np.floating[Any]], *, first: int = len(CONTRASTS)
) -> NDArray[np.float64]:
    """The differences between groups, each group's mean being the unweighted mean of its populated cells.

    Args:
        sums: Shape (replicates, 40): the sum of outcomes in each cell.
        counts: Shape (replicates, 40): the number of outcomes in each cell; 0 where a cell is not populated.
        first: How many of `CONTRASTS`, from the first, to compute.

    Returns:
        Shape (replicates, first); not a number where a group has no populated cell.
    """
    plan = _plan(first)
    masks = plan.masks.astype(sums.dtype)
    filled = counts > 0
    if filled.all():
        groups = (sums / counts @ masks / masks.sum(axis=0)).astype(np.float64)
        return groups @ plan.signs
    # A group without a cell must not spread to the differences that do not read it, as it would in a product.
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=filled)
    weights = filled @ masks
    with np.errstate(invalid="ignore"):
        groups = ((means @ masks) / weights).astype(np.float64)
    a, b, c, d = (groups[:, columns] for columns in plan.terms)
    return (a - b) - (c - d)


def difference_weights(filled: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What each cell's mean counts for in each difference.

    Args:
        filled: Shape (40,): which cells are populated.

    Returns:
        Shape (40, 25); zero in cells that are not populated. A group without a populated cell adds nothing.
    """
    plan = _plan(len(CONTRASTS))
    members = plan.masks * filled[:, None]
    return members / np.maximum(members.sum(axis=0), 1) @ plan.signs
