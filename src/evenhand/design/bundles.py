"""What a design makes: bundles of stimuli in their order, before they are worded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.errors import DesignError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from evenhand.design.stimuli import Stimulus
    from evenhand.packs import Pack


@dataclass(frozen=True, slots=True)
class Bundle:
    """One unit of a design before it is worded: its stimuli in order of position (one for a single)."""

    unit_id: str
    stimuli: tuple[Stimulus, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a design draws from.

    Attributes:
        pack: The domain.
        count: How many units; of no consequence to a design whose number is fixed.
        rng: The source of every shuffle.
    """

    pack: Pack
    count: int
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Design:
    """A named way to compose units.

    Attributes:
        name: The bundle type in the outcomes.
        mode: transparent, disguised, or None for singles.
        focal_axis: What the design compares in the first place, or None for singles.
        contrasts: The factors whose levels it compares, each free of everything else.
        compose: From a drawing to units.
        count: How many units it makes where an arm says nothing; None where the number is fixed.
        matched: Whether a bundle shows one text under several names, irrelevant details apart.
        stratified: Whether a bundle shows one profile of each quality stratum.
    """

    name: str
    mode: str | None
    focal_axis: str | None
    contrasts: tuple[str, ...]
    compose: Callable[[Drawing], Iterator[Bundle]]
    count: int | None = None
    matched: bool = False
    stratified: bool = False

    @property
    def context(self) -> str:
        """Whether a unit holds one slot (single) or several (multi)."""
        return "single" if self.mode is None else "multi"


def require(condition: bool, design: str, need: str) -> None:
    """Refuse a pack that a design cannot be built from.

    Raises:
        DesignError: The condition does not hold.
    """
    if not condition:
        raise DesignError(f"{design} needs {need}", mend="Change the pack or leave this design out")
