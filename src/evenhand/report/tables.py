"""The tables of a report: a title, columns, and cells that a page shows and a file holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.formats.types import STATUSES
from evenhand.report.sources import SOURCES
from evenhand.report.words import PILLAR_WORDS, PILLARS, STATUS_WORDS, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.report.evidence import Evidence

HEADINGS = {
    "conf_low": "95% low",
    "conf_high": "95% high",
    "std_error": "SE",
    "p_value": "p",
    "q_value": "q",
    "d": "in SDs",
    "tost_p": "p (TOST)",
    "bound": "90% bound",
    "detectable": "seen with 80% power",
    "said": "in words",
    "n": "answers",
    "of": "of calls",
}
"""What the page calls a column, where its name is not a word."""

_SHARE = re.compile(r"\d+(\.\d+)?%")
MOST_ROWS = 100
"""Rows of a table on the page; its file has all."""


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
        columns: Their headings.
        records: Its rows as they are written to a file.
        open: Whether the page shows it at once.
        most: How many of its rows the page shows.
        anchor: What its rows are linked by, before their number from 1; empty where nothing links to them.
    """

    name: str
    title: str
    caption: str
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    open: bool = False
    most: int = MOST_ROWS
    anchor: str = ""

    @property
    def headings(self) -> list[tuple[str, str]]:
        """Columns, each by its name and by what the page calls it."""
        return [(name, heading(name)) for name in self.columns]

    @property
    def rows(self) -> list[list[Cell]]:
        """Rows of cells, as many as a page shows."""
        return [[cell(record.get(name), name) for name in self.columns] for record in self.records[: self.most]]

    @property
    def count(self) -> str:
        """How many rows there are, and how many of them a page shows."""
        shown = min(len(self.records), self.most)
        return f"{shown:,}" if shown == len(self.records) else f"{shown:,} of {len(self.records):,}"


def heading(name: str) -> str:
    """What the page calls a column."""
    pillar, _, end = name.partition("_")
    if pillar in PILLARS:
        return f"{PILLARS[pillar]} {_ENDS[end]}".rstrip()
    return HEADINGS.get(name, name.replace("_", " "))


_ENDS = {"": "", "lo": "95% low", "hi": "95% high", "floor": "floor"}


def cell(value: object, column: str = "") -> Cell:
    """A value as a page shows it; a share sorts by its number."""
    if column == "status" and isinstance(value, str):
        return Cell(STATUS_WORDS.get(value, value))
    if value is None or value == "":
        return Cell("")
    if isinstance(value, str) and _SHARE.fullmatch(value):
        return Cell(value, float(value.removesuffix("%")))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Cell(str(value))
    return Cell(f"{value:,}" if isinstance(value, int) else f"{value:.3f}", float(value))


_ROW = (
    "term",
    "group",
    "domain",
    "format",
    "model",
    "arm",
    "estimate",
    "std_error",
    "conf_low",
    "conf_high",
    "p_value",
    "q_value",
    "n",
    "method",
    "note",
)
_BLOCKS = {
    "recovery": ("Planted disparities", "What was planted into one domain's rankings, and what was found, in SDs."),
    "primary_endpoint": (
        "Primary endpoint",
        "Fixed before collection: rating less disguised ranking, in SDs.",
    ),
    "floors": ("Detection floors", "Standard errors, detectable effects, bounds and equivalence tests."),
    "interactions": (
        "Format-by-group interactions",
        "Rating less disguised ranking, in SDs; corrected.",
    ),
    "robustness": ("Robustness", "Every planned contrast in other ways."),
    "position": ("First position", "What being listed first is worth."),
    "wording": ("Wording", "Contrasts under other wordings, on shared applications, beside raw differences."),
    "tools": ("Tool calls", "Native tool calls against text."),
    "ties": ("Ties", "How often answers tie."),
    "placebo": ("Placebo", "Letters in the place of race: how often a test rejects where there is nothing."),
    "decisions": ("Decisions", "How many profiles are decided both ways, and permutation tests."),
    "recognition": ("Recognition", "Who says that it is a test."),
    "reasoning": ("Reasoning rerun", "The same applications with reasoning, beside the answers without."),
    "aid_replication": ("Aid replication", "The published contrasts on aid, with the values as published beside."),
    "validity": ("Response validity", "Shares of valid answers by task, as FairFund-Bench has them."),
    "arity_null": ("Spreads of groups", "Largest less smallest group, beside what groups that are alike would give."),
    "left_out": ("Rows left out", "Rows without a score, by reason and group."),
    "unanswered": ("Unanswered, by group", "Five ways of not answering; tested where a unit holds one group."),
    "impact_ratios": ("Impact ratios", "Selection rates as Local Law 144 tabulates them: no legal finding."),
    "run_variance": ("Between epochs", "How far contrasts move from run to run."),
    "fairfund_focal": ("Focal contrasts", "FairFund-Bench's demographic contrasts by format and presentation."),
    "fairfund_framing": ("Framing contrasts", "By task, as table 10 has them."),
    "equal_splits": ("Equal splits", "How often all claimants get the same."),
    "dollar_gaps": ("Gaps in dollars", "Mean absolute demographic gaps by presentation."),
    "dollars_by_framing": ("Dollars by framing", "What an appeal gets by how need is explained."),
    "wording_variants": ("Wording variants", "Whether models keep their order under other wordings."),
    "precision": ("Precision extension", "Commissioned after the fact; no part of the planned family."),
}
FAIRFUND = (
    "fairfund_focal", "fairfund_framing", "equal_splits", "dollar_gaps", "dollars_by_framing", "wording_variants",
    "validity",
)  # fmt: skip
"""Blocks that answer FairFund-Bench's own questions."""
ROBUSTNESS = (
    "floors", "interactions", "robustness", "position", "wording", "tools", "ties", "placebo", "recognition",
    "left_out", "unanswered", "decisions", "impact_ratios", "run_variance", "arity_null", "precision", "reasoning",
    "aid_replication",
)  # fmt: skip
"""Blocks that the page lists after the results."""


SHOWN_OTHERWISE = ("verdict", "contrasts", "power", "audit_against_demographics")
"""Blocks that other tables or figures tell."""


def tables(evidence: Evidence) -> dict[str, Table]:
    """Every table of the page, by name."""
    found = [_accounting(evidence), _answers(evidence), _checks(evidence), _deviations(evidence), _statuses(evidence)]
    found += [_by_model(evidence), _leaderboard(evidence), _methods(evidence)]
    for name, (title, caption) in _BLOCKS.items():
        rows = evidence.rows(name)
        columns = ["estimand", *(column for column in _ROW if any(row[column] not in {None, ""} for row in rows))]
        found.append(Table(name, title, caption, columns, rows, open=name in {"recovery", "primary_endpoint"}))
    return {table.name: table for table in found}


def _accounting(evidence: Evidence) -> Table:
    columns = ("arm", "tag", "units", "slots", "requests", "observations")
    return Table(
        "accounting",
        "Accounting",
        "Units, slots, requests and observations of every arm.",
        columns,
        evidence.accounting.get("arms", ()),
    )


def _answers(evidence: Evidence) -> Table:
    rows = [
        {"model": row["model"], "arm": row["arm"], "units": row["units"]}
        | {status: percent(row, status) for status in STATUSES}
        for row in evidence.arms
    ]
    columns = ("model", "arm", "units", *STATUSES)
    return Table("answers", "Answers by arm", "What became of every unit, as shares.", columns, rows)


def _checks(evidence: Evidence) -> Table:
    columns = ("arm", "contrast", "factor", "status", "pattern")
    caption = "Whether contrasts are crossed with profiles, strata and positions, or confounded."
    return Table("checks", "Composition", caption, columns, evidence.checks)


def _deviations(evidence: Evidence) -> Table:
    columns = ("model", "format", "deviation", "calls", "of")
    caption = "Where calls parted from what was asked for."
    return Table("deviations", "Parity deviations", caption, columns, evidence.deviations)


def _statuses(evidence: Evidence) -> Table:
    from dataclasses import asdict

    columns = (
        "domain", "format", "group", "status", "estimate", "conf_low", "conf_high", "unit", "d", "q_value", "margin",
        "tost_p", "bound", "detectable", "said", "note",
    )  # fmt: skip
    rows = [asdict(status) for status in evidence.analysis.statuses]
    caption = "Pooled over respondents, in the format's own unit; intervals at 95%, q within the family."
    return Table(
        "statuses", "Planned contrasts", caption, columns, rows, open=True, most=max(MOST_ROWS, len(rows)),
        anchor="planned-",
    )  # fmt: skip


def _by_model(evidence: Evidence) -> Table:
    rows = [
        row
        for row in evidence.rows("contrasts", estimand="contrast")
        if row["model"] != "pooled" and row["method"].startswith("evenhand")
    ]
    columns = (
        "model",
        "domain",
        "format",
        "group",
        "estimate",
        "conf_low",
        "conf_high",
        "p_value",
        "n",
        "method",
        "note",
    )
    return Table("contrasts", "Contrasts by respondent", "Each respondent alone, uncorrected.", columns, rows)


def _leaderboard(evidence: Evidence) -> Table:
    pillars = [f"{pillar}{end}" for pillar in PILLARS for end in ("", "_lo", "_hi", "_floor")]
    rows = [{"from": "this run", **row} for row in evidence.scores]
    rows += [{"from": "published", **row} for row in evidence.published] if rows else []
    caption = "Four pillars with 95% intervals and noise floors; published rows carry none. " + " ".join(
        f"{label}: {PILLAR_WORDS[pillar]}" for pillar, label in PILLARS.items()
    )
    return Table("leaderboard", "Leaderboard", caption, ("model", "from", *pillars), rows, open=True)


def _methods(evidence: Evidence) -> Table:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, table in evidence.analysis.blocks.items():
        formula, source = SOURCES[name]
        for row in table.select("estimand", "method").unique(maintain_order=True).to_dicts():
            told = {"block": name, **row, "formula": formula, "source": source}
            rows.setdefault((name, row["estimand"]), told)
    if evidence.scores:
        formula, source = SOURCES["pillars"]
        told = {"block": "pillars", "estimand": "P1 to P4", "method": "released method"}
        rows["pillars", ""] = told | {"formula": formula, "source": source}
    caption = (
        "How each kind of number was estimated, by which formula, and where that is from; docs/analysis.md has all."
    )
    columns = ("block", "estimand", "method", "formula", "source")
    return Table("methods", "Estimators", caption, columns, list(rows.values()))
