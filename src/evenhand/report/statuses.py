"""The statuses of planned contrasts as a report shows them: each by a word, a mark, a colour, a shape and a clause."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.analysis.judging import NOT_RESOLVED
from evenhand.analysis.verdict import DISPARITY, EQUIVALENT


@dataclass(frozen=True, slots=True)
class Look:
    """How a status is shown.

    Attributes:
        name: As results hold it; the style of a page has a class of that name for cells.
        word: As people read it.
        mark: So that a grid is read without colour.
        colour: Of a figure's marks (Okabe and Ito, 2008).
        shape: Of the same.
        one: What one contrast of this status does, after its number.
        many: The same of several, or of none.
        named: Whether a figure names it at each point; what most points are stays bare.
    """

    name: str
    word: str
    mark: str
    colour: str
    shape: str
    one: str
    many: str
    named: bool = True

    def told(self, count: int) -> str:
        """How many contrasts have it, as part of a sentence."""
        return f"{count:,} {self.one if count == 1 else self.many}"


_WITHIN = "bounded inside the margin"
LOOKS = {
    look.name: look
    for look in (
        Look(
            DISPARITY, "disparity", "■", "#d55e00", "square", "shows a disparity that survives correction",
            "show a disparity that survives correction",
        ),
        Look(EQUIVALENT, "equivalent", "=", "#009e73", "diamond", f"is {_WITHIN}", f"are {_WITHIN}"),
        Look(
            NOT_RESOLVED, "not resolved", "?", "#56789a", "circle", "is not resolved", "are not resolved", named=False
        ),
    )
}  # fmt: skip
"""By name, in the order in which they are told."""
