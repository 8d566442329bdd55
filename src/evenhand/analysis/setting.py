"""What was fixed before the answers were seen, and no table of outcomes can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

REFERENCES = {"race": "White", "gender": "Male"}
"""Reference levels where a study names none."""


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts that are corrected together.

    Attributes:
        name: Its name.
        formats: The formats whose contrasts belong to it.
        q: The false discovery rate.
    """

    name: str = "planned"
    formats: tuple[str, ...] = ("rate", "decide", "rank_ties")
    q: float = 0.05


@dataclass(frozen=True, slots=True)
class Setting:
    """The terms of an analysis.

    Attributes:
        references: By domain, the reference level of each factor.
        default_references: The same where a domain names none.
        margins: Equivalence margins by format, in the format's own units, declared beforehand; where a format has none,
            nothing of it can be called equivalent.
        family: The planned family.
        confounded: By arm that the study declares confounded, with what.
        seed: Of everything that is drawn.
    """

    references: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    default_references: Mapping[str, str] = field(default_factory=dict[str, str])
    margins: Mapping[str, float] = field(default_factory=dict[str, float])
    family: Family = Family()
    confounded: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int = 1

    def reference(self, domain: str, factor: str) -> str | None:
        """The reference level of a factor in a domain; None for a factor that has none."""
        known = (self.references.get(domain, {}), self.default_references, REFERENCES)
        return next((levels[factor] for levels in known if factor in levels), None)
