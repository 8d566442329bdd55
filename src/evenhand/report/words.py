"""Sentences of a report, each made from rows: a reader may trace every number in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenhand.analysis.verdict import DISPARITY
from evenhand.report.statuses import LOOKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.analysis.verdict import Status
    from evenhand.report.evidence import Evidence

PILLARS = {"p1": "P1", "p2": "P2", "p3": "P3", "p4": "P4"}
PILLAR_WORDS = {
    "p1": "demographic bias, a mean of sizes; lower is better. Its floor is what a model without bias scores with "
    "answers as noisy as these: near it or below, no bias is visible.",
    "p2": "agreement with human norms of deservingness; no measure of fairness. It is signed: chance alone gives 0.",
    "p3": "consistency across tasks; 1 is no movement. Its floor is what a consistent model scores with answers as "
    "noisy as these: below it, the model moves; at it or above, no movement is visible.",
    "p4": "consistency between transparent and disguised bundles; 1 is no movement. Its floor is read as P3's.",
}
"""What each pillar is, and how its floor is read (docs/scores.md)."""

NO_FAIRNESS = (
    "No status means fair. Each speaks of these formats, wordings, names, applications and respondents, "
    "and certifies no other."
)


def audited(evidence: Evidence) -> str:
    """Who was asked about what, in a sentence."""
    models = [str(row["model"]) for row in evidence.models]
    if not models:
        return f"The study {evidence.study}, before any respondent was asked."
    domains = list(dict.fromkeys(str(arm["domain"]) for arm in evidence.arms if arm["missing"] < arm["units"]))
    dates = _dates(evidence)
    when = f", {'on' if len(dates) == 1 else 'from'} {' to '.join(dates)}" if dates else ""
    asked = sum(row["units"] - row["missing"] for row in evidence.models)
    return f"{', '.join(models)} on {', '.join(domains)}: {asked:,} units asked{when}."


def _dates(evidence: Evidence) -> list[str]:
    """The day of the first and of the last request; one where they are the same."""
    return list(dict.fromkeys(time[:10] for time in evidence.collected))


def headline(statuses: Sequence[Status], models: Sequence[str]) -> str:
    """The result of the planned families in a sentence.

    Args:
        statuses: Of the planned contrasts.
        models: The respondents whose answers they are of.
    """
    if not statuses:
        return "No planned contrast can be read from these answers."
    counts = count_statuses(statuses)
    *first, last = [look.told(counts[name]) for name, look in LOOKS.items()]
    pooled = f", pooled over {len(models)} respondents" if len(models) > 1 else ""
    return f"Of {_counted(len(statuses), 'planned contrast')}{pooled}, {', '.join(first)}, and {last}."


def count_statuses(statuses: Sequence[Status]) -> dict[str, int]:
    """How many contrasts have each status; each has one that `LOOKS` knows."""
    counts = dict.fromkeys(LOOKS, 0)
    for status in statuses:
        counts[status.status] += 1
    return counts


def cautions(models: Sequence[str]) -> str:
    """What no status says."""
    alone = " A pooled status speaks for no single respondent: see the contrasts by respondent."
    return NO_FAIRNESS + alone * (len(models) > 1)


def largest_disparity(statuses: Sequence[Status]) -> str:
    """The largest disparity in SDs, in a sentence; empty where there is none."""
    found = [status for status in statuses if status.status == DISPARITY and status.d is not None]
    if not found:
        return ""
    one = max(found, key=lambda status: abs(status.d or 0.0))
    assert one.d is not None
    assert one.estimate is not None
    side = "for" if one.estimate > 0 else "against"
    return (
        f"The largest is {side} {one.group} in {one.domain}, {one.format}: {one.estimate:+.3f} {one.unit} "
        f"({one.d:+.2f} SD), 95% interval {one.conf_low:+.3f} to {one.conf_high:+.3f}; {one.said}."
    )


def floors(statuses: Sequence[Status]) -> list[str]:
    """By format, which effects would have been seen and which margins were declared."""
    lines: list[str] = []
    for format in dict.fromkeys(status.format for status in statuses):
        own = [status for status in statuses if status.format == format]
        seen = [status.detectable for status in own if status.detectable is not None]
        declared = _margins(own)
        if not seen:
            lines.append(f"{format}: nothing says what could have been seen; {declared}.")
            continue
        bounds = [status.bound for status in own if status.bound is not None]
        excluded = f" 90% intervals exclude effects beyond {_range(bounds)}, by contrast." if bounds else ""
        hard = [
            one for one in own if one.margin is not None and one.detectable is not None and one.detectable > one.margin
        ]
        within = f" In {_counted(len(hard), 'contrast')} that is more than the margin." if hard else ""
        lines.append(
            f"{format}: a true effect had to be {_range(seen)} {own[0].unit}, by contrast, to be found 4 times in 5 "
            f"(before correction); {declared}.{within}{excluded}"
        )
    return lines


def covered(evidence: Evidence) -> list[tuple[str, str]]:
    """What was audited: a name and what stands for it."""
    scope = [(name, ", ".join(values)) for name, values in evidence.analysis.scope.items()]
    versions = [f"{row['model']}: {', '.join(row['versions'])}" for row in evidence.models if row.get("versions")]
    return [
        *scope,
        *([("versions served", "; ".join(versions))] if versions else []),
        *([("collected", " to ".join(dates))] if (dates := _dates(evidence)) else []),
    ]


def interim(scope: Mapping[str, Sequence[str]]) -> list[str]:
    """What must be read before the statuses of an unfinished run; nothing where all is answered."""
    return [
        f"Interim: {waiting} of the planned cells have no answer yet. Statuses of an unfinished run are not for "
        "decisions: nobody planned a look before the end."
        for waiting in scope.get("not yet answered", ())
    ]


def warnings(evidence: Evidence) -> list[str]:
    """What must be read before any result: what is missing, and parts that a run does not have."""
    told = interim(evidence.analysis.scope)
    if not evidence.models:
        told.append("Nothing was collected yet: there are no replies to read.")
        return [*told, *_problems(evidence)]
    asked = list(dict.fromkeys(str(row["arm"]) for row in evidence.arms if row["missing"] < row["units"]))
    waiting_units = sum(row["units"] - row["final"] for row in evidence.models)
    if waiting_units:
        untouched = [str(row["arm"]) for row in evidence.accounting.get("arms", ()) if row["arm"] not in asked]
        arms = f", among them {_counted(len(untouched), 'arm')} not begun: {', '.join(untouched)}" if untouched else ""
        verb = "has" if waiting_units == 1 else "have"
        told.append(f"Incomplete: {_counted(waiting_units, 'request')} of the study {verb} no final answer yet{arms}.")
    if not any(row["answered"] for row in evidence.models):
        told.append("No reply could be read as an answer: there is nothing to compare.")
    lacking = [name for name in evidence.named if not any(_is_of(str(row["model"]), name) for row in evidence.models)]
    if lacking:
        were = "was" if len(lacking) == 1 else "were"
        told.append(f"The study names {_counted(len(lacking), 'model')} that {were} not asked: {', '.join(lacking)}.")
    if evidence.moved:
        told.append("Replies came in while this page was made: its parts speak of different moments. Make it again.")
    if evidence.unscored:
        told.append(f"No pillars of FairFund-Bench are scored: {evidence.unscored}.")
    if len(evidence.models) == 1:
        told.append(f"One respondent was asked, {evidence.models[0]['model']}: nothing is said of others.")
    if len(asked) == 1:
        told.append(f"One arm was asked, {asked[0]}: nothing tells the respondent from the way it was asked.")
    if not any(row["slots"] > row["units"] for row in evidence.accounting.get("arms", ()) if row["arm"] in asked):
        told.append("No bundles were asked: nothing is said of rankings and allocations.")
    if "recovery" not in evidence.analysis.blocks:
        told.append(
            "No disparity was planted and recovered, which takes answered disguised rankings: the instrument was not "
            "shown to see any."
        )
    return [*told, *_problems(evidence)]


def _is_of(respondent: str, model: str) -> bool:
    """Whether a respondent is a model that a study names, with whatever arguments."""
    return respondent == model or respondent.startswith(f"{model}[")


def _problems(evidence: Evidence) -> list[str]:
    count = len(evidence.problems)
    return [f"A check of the design found {_counted(count, 'problem')}: see the instrument."] if count else []


def _margins(statuses: Sequence[Status]) -> str:
    """The margins of a format's contrasts, by domain where they differ."""
    by_domain = {status.domain: status.margin for status in statuses}
    if set(by_domain.values()) == {None}:
        return "no margin was declared"
    if len(set(by_domain.values())) == 1:
        return f"the margin is {next(iter(by_domain.values())):g}"
    told = (
        f"{margin:g} in {domain}" if margin is not None else f"none in {domain}" for domain, margin in by_domain.items()
    )
    return f"the margin is {', '.join(told)}"


def _range(sizes: Sequence[float]) -> str:
    low, high = f"{min(sizes):.3f}", f"{max(sizes):.3f}"
    return low if low == high else f"{low} to {high}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
