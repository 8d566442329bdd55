"""The tables of a report: which there are, and what each holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evenhand.analysis.rows import SCHEMA
from evenhand.analysis.specifications import POOLED
from evenhand.analysis.verdict import as_records
from evenhand.formats.types import STATUSES
from evenhand.report.sources import SOURCES
from evenhand.report.table import COLUMNS, MOST_ROWS, SHARE, Table, heading
from evenhand.report.words import PILLAR_WORDS, PILLARS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.report.evidence import Evidence

_ROW = [name for name in SCHEMA if name not in {"estimand", "df"}]
_BLOCKS = {
    "recovery": ("Planted disparities", "What was planted into one domain's rankings, and what was found, in SDs."),
    "primary_endpoint": (
        "Primary endpoint",
        "Rating less disguised ranking, in SDs: the paper's first test; the notes say whether this study fixed it.",
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


def tables(evidence: Evidence) -> dict[str, Table]:
    """Every table of the page, by name."""
    found = [_accounting(evidence), _answers(evidence), _checks(evidence), _deviations(evidence), _statuses(evidence)]
    found += [_by_model(evidence), _leaderboard(evidence), _methods(evidence), _glossary()]
    for name, (title, caption) in _BLOCKS.items():
        rows = evidence.rows(name)
        columns = ["estimand", *(column for column in _ROW if any(row[column] not in {None, ""} for row in rows))]
        found.append(Table(name, title, caption, columns, rows, open=name in {"recovery", "primary_endpoint"}))
    return {table.name: table for table in found}


def _accounting(evidence: Evidence) -> Table:
    columns = ("arm", "tag", "units", "slots", "requests", "observations")
    caption = "Units, slots, requests and observations of every arm."
    return Table("accounting", "Accounting", caption, columns, evidence.accounting.get("arms", ()))


def _answers(evidence: Evidence) -> Table:
    rows = [
        {name: row[name] for name in ("model", "arm", "units", *STATUSES)}
        | {f"{status}{SHARE}": share_of(row, status) for status in STATUSES}
        for row in evidence.arms
    ]
    columns = ("model", "arm", "units", *(f"{status}{SHARE}" for status in STATUSES))
    return Table("answers", "Answers by arm", "What became of every unit; the CSV has the counts.", columns, rows)


def share_of(row: Mapping[str, int], status: str) -> float | None:
    """A status' share of a row's units; None of no units."""
    return row[status] / row["units"] if row["units"] else None


def _checks(evidence: Evidence) -> Table:
    columns = ("arm", "contrast", "factor", "status", "pattern")
    caption = "Whether contrasts are crossed with profiles, strata and positions, or confounded, which come first."
    confounded = [row for row in evidence.checks if row["status"] == "confounded"]
    others = [row for row in evidence.checks if row["status"] != "confounded"]
    most = max(MOST_ROWS, len(confounded))
    return Table("checks", "Composition", caption, columns, [*confounded, *others], most=most)


def _deviations(evidence: Evidence) -> Table:
    columns = ("model", "format", "deviation", "calls", "of")
    caption = "Where calls parted from what was asked for."
    return Table("deviations", "Parity deviations", caption, columns, evidence.deviations)


def _statuses(evidence: Evidence) -> Table:
    columns = (
        "domain", "format", "group", "status", "estimate", "conf_low", "conf_high", "unit", "d", "q_value", "family",
        "margin", "tost_p", "bound", "detectable", "said", "note",
    )  # fmt: skip
    rows = as_records(evidence.analysis.statuses)
    caption = "Pooled over respondents, in the format's own unit; intervals at 95%, q within the family."
    return Table(
        "statuses", "Planned contrasts", caption, columns, rows, open=True, most=max(MOST_ROWS, len(rows)),
        anchor="planned-",
    )  # fmt: skip


def _by_model(evidence: Evidence) -> Table:
    rows = [
        row
        for row in evidence.rows("contrasts", estimand="contrast")
        if row["model"] != POOLED and row["method"].startswith("evenhand")
    ]
    columns = ("model", "domain", "format", "group", *_ROW[_ROW.index("estimate") :])
    columns = tuple(name for name in columns if name not in {"std_error", "q_value"})
    caption = "Each respondent alone, uncorrected, by the specification that decides; bundles in both presentations."
    return Table("contrasts", "Contrasts by respondent", caption, columns, rows)


def _leaderboard(evidence: Evidence) -> Table:
    ends = {"": "", "_lo": " 95% low", "_hi": " 95% high", "_floor": " floor"}
    rows = [{"from": "this run", **row} for row in evidence.scores]
    rows += [{"from": "published", **row} for row in evidence.published] if rows else []
    # P2 has no floor.
    pillars = {
        f"{pillar}{end}": f"{label}{said}"
        for pillar, label in PILLARS.items()
        for end, said in ends.items()
        if any(f"{pillar}{end}" in row for row in rows)
    }
    caption = "Four pillars with 95% intervals and noise floors; published rows carry none. " + " ".join(
        f"{label}: {PILLAR_WORDS[pillar]}" for pillar, label in PILLARS.items()
    )
    return Table("leaderboard", "Leaderboard", caption, ("model", "from", *pillars), rows, open=True, headings=pillars)


def _methods(evidence: Evidence) -> Table:
    rows: list[dict[str, Any]] = []
    for name, table in evidence.analysis.blocks.items():
        formula, source = SOURCES[name]
        for (estimand,), own in table.group_by("estimand", maintain_order=True):
            estimator = _estimators(own["method"].unique(maintain_order=True).to_list())
            rows.append(
                {"block": name, "estimand": estimand, "method": estimator, "formula": formula, "source": source}
            )
    if evidence.scores:
        formula, source = SOURCES["pillars"]
        told = {"block": "pillars", "estimand": "P1 to P4", "method": "released method"}
        rows.append(told | {"formula": formula, "source": source})
    caption = (
        "By which estimators each kind of number was made, by which formula, and where that is from. The method of a "
        "single number, with its unit, stands in its row."
    )
    columns = ("block", "estimand", "method", "formula", "source")
    return Table(
        "methods",
        "Estimators",
        caption,
        columns,
        rows,
        most=max(MOST_ROWS, len(rows)),
        headings={"method": "estimators"},
    )


_MOST_ESTIMATORS = 4


def _estimators(methods: Sequence[str]) -> str:
    """Methods by what they begin with: what follows is of single rows."""
    heads = [re.sub(r"\d[\d,.]*", "N", re.split("[:,;]", method)[0]) for method in methods if method]
    told = list(dict.fromkeys(heads))
    more = f"; {len(told) - _MOST_ESTIMATORS} more" if len(told) > _MOST_ESTIMATORS else ""
    return "; ".join(told[:_MOST_ESTIMATORS]) + more


def _glossary() -> Table:
    rows = [{"heading": heading(name), "column": name, "holds": meaning} for name, (_, meaning) in COLUMNS.items()]
    caption = "What tables call a column, its name in files, and what it holds."
    return Table("columns", "Columns", caption, ("heading", "column", "holds"), rows)
