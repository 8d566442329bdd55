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
        margins: Equivalence margins by format, or by `domain/format` for one domain, in the format's own units,
            declared beforehand; where a format has none, nothing of it can be called equivalent.
        families: The planned families; a format is in one of them at most.
        confounded: By arm that the study declares confounded, with what.
        seed: Of everything that is drawn.
    """

    references: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    default_references: Mapping[str, str] = field(default_factory=dict[str, str])
    margins: Mapping[str, float] = field(default_factory=dict[str, float])
    families: tuple[Family, ...] = (Family(),)
    confounded: Mapping[str, str] = field(default_factory=dict[str, str])
    seed: int = 1

    def margin(self, domain: str, format: str) -> float | None:
        """The equivalence margin of a format in a domain; None where none was declared."""
        return self.margins.get(f"{domain}/{format}", self.margins.get(format))

    def family_of(self, format: str) -> Family | None:
        """The family whose contrasts a format's belong to; None where they are not planned."""
        return next((family for family in self.families if format in family.formats), None)

    def reference(self, domain: str, factor: str) -> str | None:
        """The reference level of a factor in a domain; None for a factor that has none."""
        known = (self.references.get(domain, {}), self.default_references, REFERENCES)
        return next((levels[factor] for levels in known if factor in levels), None)
