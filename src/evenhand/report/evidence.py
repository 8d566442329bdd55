"""What a report is made from, put together in `gathering`; nothing here is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.blocks import Analysis
    from evenhand.report.replies import ReplyBook


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run, as a report tells of it.

    Attributes:
        study: The study's name.
        folder: The run's folder, as the commands name it.
        digest: Of the instrument.
        analysis: Blocks, statuses and scope.
        models: A row a respondent: counts of units, tokens, what the provider says it served.
        arms: A row a respondent and arm: counts of units by status.
        deviations: Where calls parted from what was asked for.
        accounting: Units, slots, requests and observations, by arm and in all.
        checks: Composition of every arm: arm, contrast, factor, status, pattern.
        problems: What a check of the design found.
        notes: What it says a reader should know.
        collected: The first and the last of the requests that count, ISO 8601 in UTC; empty where nothing was asked.
        versions: Versions of packages, by name.
        replies: Prompts and replies to browse.
        scores: Pillar scores of FairFund-Bench, a row a respondent; none where the run has no such arms.
        published: The published models' scores, to stand beside them.
        unscored: Why there are no scores where there are allocations; empty where there are.
        named: The models that the study names.
        moved: Whether replies came in while all this was gathered.
    """

    study: str
    folder: str
    digest: str
    analysis: Analysis
    models: Sequence[Mapping[str, Any]]
    arms: Sequence[Mapping[str, Any]]
    deviations: Sequence[Mapping[str, Any]]
    accounting: Mapping[str, Any]
    checks: Sequence[Mapping[str, Any]]
    problems: Sequence[str]
    notes: Sequence[str]
    collected: tuple[str, ...]
    versions: Mapping[str, str]
    replies: ReplyBook
    scores: Sequence[Mapping[str, Any]] = ()
    published: Sequence[Mapping[str, Any]] = ()
    unscored: str = ""
    named: Sequence[str] = ()
    moved: bool = False

    @property
    def respondents(self) -> list[str]:
        """The respondents whose answers the planned contrasts are of."""
        return list(self.analysis.scope.get("models", ()))

    def rows(self, block: str, **wanted: object) -> list[dict[str, Any]]:
        """Rows of a block with these values; none where the analysis has no such block."""
        table = self.analysis.blocks.get(block)
        if table is None:
            return []
        return [row for row in table.to_dicts() if all(row[name] == value for name, value in wanted.items())]
