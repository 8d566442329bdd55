"""What a table of a report is: columns with headings, records as files hold them, and cells as a page shows them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.report.statuses import LOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_ROWS = 100
"""Rows of a table on the page; its file has all."""
_SMALLEST_P = 0.001
_P_VALUES = {"p_value", "q_value", "tost_p"}
SHARE = "_share"
"""How the name of a column ends that holds a share; the page shows it in percent."""

COLUMNS = {
    "domain": ("domain", "the pack: hiring, lending, ..."),
    "format": ("format", "how the answer was asked for"),
    "group": ("group", "the level that is compared with the reference, or that a share is of"),
    "term": ("term", "the factor: race, gender, ..."),
    "model": ("model", "the respondent, or `pooled`"),
    "arm": ("arm", "the part of the design"),
    "estimand": ("estimand", "what is estimated"),
    "estimate": ("estimate", "the number, in the unit that its method names; of a contrast, above 0 favours the group"),
    "std_error": ("SE", "its standard error"),
    "conf_low": ("95% low", "lower end of its 95% interval"),
    "conf_high": ("95% high", "upper end of its 95% interval"),
    "p_value": ("p", "two-sided p value of the test that the method names"),
    "q_value": ("q", "the p value corrected within its family (Benjamini and Hochberg, 1995)"),
    "n": ("n", "how many the number rests on: answers, bundles, respondents or refits, as the method has it"),
    "method": ("method", "the estimator or test, with its unit"),
    "note": ("note", "what a reader must know; never empty where a number is missing"),
    "status": ("status", "what may be said of a planned contrast"),
    "family": ("family", "the contrasts that it is corrected with"),
    "unit": ("unit", "of the estimate, the margin, the bound and the effect that would have been seen"),
    "d": ("in SDs", "the estimate over the raw SD of the cell"),
    "margin": ("margin", "the equivalence margin of the study"),
    "tost_p": ("p (TOST)", "larger p value of the two one-sided tests at the margin"),
    "bound": ("90% bound", "far end of the 90% interval in size: `equivalent` where it is inside the margin"),
    "detectable": ("seen with 80% power", "the size of a true effect that is found 4 times in 5, before correction"),
    "said": ("in words", "the status, with the size that it speaks of"),
    "calls": ("calls", "calls that strayed"),
    "of": ("of calls", "all calls of the respondent and format"),
}
"""By the name of a column in files: its heading on the page, and what it holds."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the number behind it for sorting."""

    text: str
    number: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        name: Of its file.
        title: Its heading.
        caption: What it holds.
        columns: What the page shows; each is a key of a record.
        records: Its rows as they are written to a file.
        open: Whether the page shows it at once.
        most: How many of its rows the page shows.
        anchor: What its rows are linked by, before their number from 1; empty where nothing links to them.
        headings: Of columns that this table calls by other names than `COLUMNS`.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    open: bool = False
    most: int = MOST_ROWS
    anchor: str = ""
    headings: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """No column is shown that no record has.

        Raises:
            ValueError: There is one.
        """
        known = {name for record in self.records for name in record}
        if self.records and (stray := [name for name in self.columns if name not in known]):
            raise ValueError(f"table {self.name} has no column {', '.join(stray)}")

    @property
    def heads(self) -> list[tuple[str, str]]:
        """Columns, each by its name and by what the page calls it."""
        return [(name, self.headings.get(name) or heading(name)) for name in self.columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """Rows of cells, as many as a page shows."""
        return [[cell(record.get(name), name) for name in self.columns] for record in self._shown]

    @property
    def _shown(self) -> Sequence[Mapping[str, Any]]:
        """The records that a page shows: where they are too many, some of every domain, in their order."""
        if len(self.records) <= self.most:
            return self.records
        by_domain: dict[object, list[int]] = defaultdict(list)
        for place, record in enumerate(self.records):
            by_domain[record.get("domain")].append(place)
        dealt = sorted((turn, place) for places in by_domain.values() for turn, place in enumerate(places))
        return [self.records[place] for place in sorted(place for _, place in dealt[: self.most])]

    @property
    def cut(self) -> bool:
        """Whether a page leaves rows out."""
        return len(self.records) > self.most

    @property
    def count(self) -> str:
        """How many rows there are, and how many of them a page shows."""
        return f"{self.most:,} of {len(self.records):,}" if self.cut else f"{len(self.records):,}"


def heading(name: str) -> str:
    """What the page calls a column."""
    return COLUMNS[name][0] if name in COLUMNS else name.removesuffix(SHARE).replace("_", " ")


def cell(value: object, column: str = "") -> Cell:
    """A value as a page shows it under a column."""
    if value is None or value == "":
        return Cell("")
    if column == "status" and value in LOOKS:
        return Cell(LOOKS[str(value)].word)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell(str(value))
    return Cell(_number(value, column), float(value))


def _number(value: float, column: str) -> str:
    if column.endswith(SHARE):
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    if column in _P_VALUES and value < _SMALLEST_P:
        return f"<{_SMALLEST_P}"
    # What is not zero is not shown as zero.
    return f"{value:.3f}" if not value or abs(value) >= _SMALLEST_P else f"{value:.1g}"
