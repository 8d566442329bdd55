"""Contrasts that are corrected together: each belongs to the family that names its format."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.statistics import correct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evenhand.analysis.setting import Family, Setting


@dataclass(frozen=True, slots=True)
class Tested:
    """A test among those of its family.

    Attributes:
        family: The family.
        q_value: Corrected by Benjamini and Hochberg; None where there is no p value.
        tests: How many the family has.
        missing: How many of them have no p value.
    """

    family: Family
    q_value: float | None
    tests: int
    missing: int

    @property
    def first_step(self) -> float:
        """The level that the smallest p value of the family is held against: q over the tests that could be made."""
        return self.family.q / max(self.tests - self.missing, 1)

    @property
    def survives(self) -> bool | None:
        """Whether it survives the correction; None where there is no p value."""
        return None if self.q_value is None else self.q_value < self.family.q


def correct_families(setting: Setting, formats: Sequence[str], p_values: Sequence[float | None]) -> list[Tested]:
    """Correct tests within their families.

    Args:
        setting: Whose families count.
        formats: The format of each test; one of a family.
        p_values: Of each; None where it could not be made.
    """
    members: dict[Family, list[int]] = defaultdict(list)
    for place, format in enumerate(formats):
        family = setting.family_of(format)
        assert family is not None, f"{format} is in no family"
        members[family].append(place)
    found: dict[int, Tested] = {}
    for family, places in members.items():
        corrected = correct([p_values[place] for place in places])
        for place, q in zip(places, corrected.values, strict=True):
            found[place] = Tested(family, q, len(places), corrected.missing)
    return [found[place] for place in range(len(formats))]
