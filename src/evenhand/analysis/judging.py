"""What may be said of a contrast once its family is corrected and a margin declared: one rule, and its sentence.

A contrast survives the correction; or it does not, and two one-sided tests reject sizes as large as the margin that was
declared beforehand; or neither, which is never "the same". Each question has its own words for the three.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evenhand.analysis.detection import ALPHA
from evenhand.analysis.focal import UNITS

if TYPE_CHECKING:
    from evenhand.analysis.families import Tested
    from evenhand.analysis.rows import Row

NOT_RESOLVED = "not_resolved"
_ORDER = (
    "domain", "format", "term", "group", "status", "first", "second", "estimate", "std_error", "df", "conf_low",
    "conf_high", "p_value", "q_value", "family", "d", "sd", "unit", "margin", "tost_p", "bound", "detectable", "shared",
    "only_first", "only_second", "said", "note",
)  # fmt: skip
"""The fields of every kind of `Judged`, in the order in which results hold them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What may be said of one planned contrast, pooled over respondents.

    Attributes:
        domain: The pack.
        format: How the answer was asked for.
        term: The factor.
        group: The level that is compared with the reference.
        status: One of the question's own words, or `not_resolved`.
        estimate: In the format's own unit; above 0 favours the group.
        std_error: Its standard error.
        df: Its degrees of freedom.
        conf_low: Lower end of the 95% interval.
        conf_high: Its upper end.
        p_value: Two-sided.
        q_value: Corrected within the family.
        family: The family that it is corrected in.
        unit: The format's unit.
        margin: Declared beforehand; None where there is none.
        tost_p: Of the equivalence test at the margin.
        bound: The far end of the 90% interval in size.
        detectable: The smallest size seen with 80% power at 5%, uncorrected; of a verdict, `mde` of the block `floors`.
        said: The status in words, with the size it speaks of.
        note: What else a reader must know.
    """

    domain: str
    format: str
    term: str
    group: str
    status: str
    estimate: float | None
    std_error: float | None
    df: float | None
    conf_low: float | None
    conf_high: float | None
    p_value: float | None
    q_value: float | None
    family: str
    unit: str
    margin: float | None
    tost_p: float | None
    bound: float | None
    detectable: float | None
    said: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """How one question says what was found.

    Attributes:
        found: The status of what survives the correction.
        bounded: The status of what lies within the margin.
        above: What survives with an estimate above 0, in words.
        below: The same below 0.
        its_size: "its size", or another word for it.
        open: What is neither, with `{size}` that would have been seen and `{margin}` in words.
        unknown: The same where nothing says what would have been seen.
    """

    found: str
    bounded: str
    above: str
    below: str
    its_size: str
    open: str
    unknown: str


def judge(
    row: Row,
    tested: Tested,
    words: Vocabulary,
    *,
    margin: float | None,
    tost_p: float | None,
    bound: float | None,
    detectable: float | None,
) -> Judged:
    """The status of a contrast.

    Args:
        row: The contrast, with its q value.
        tested: The same among the tests of its family.
        words: How the question says what was found.
        margin: Declared beforehand; None where there is none.
        tost_p: Of the equivalence test at the margin.
        bound: The far end of the 90% interval in size.
        detectable: The smallest size that would have been seen.
    """
    bounded = tost_p is not None and tost_p < ALPHA
    judged = Judged(
        domain=row.domain,
        format=row.format,
        term=row.term,
        group=row.group,
        status=words.found if tested.survives else words.bounded if bounded else NOT_RESOLVED,
        estimate=row.estimate,
        std_error=row.std_error,
        df=row.df,
        conf_low=row.conf_low,
        conf_high=row.conf_high,
        p_value=row.p_value,
        q_value=row.q_value,
        family=tested.family.name,
        unit=UNITS[row.format],
        margin=margin,
        tost_p=tost_p,
        bound=bound,
        detectable=detectable,
        said="",
        note=row.note,
    )
    return replace(judged, said=_said(judged, words))


def judged_record(judged: Judged) -> dict[str, Any]:
    """What was judged, as `--json` and `results/statuses.csv` hold it."""
    return dict(sorted(asdict(judged).items(), key=lambda item: _ORDER.index(item[0])))


def _said(judged: Judged, words: Vocabulary) -> str:
    """The status in words; each number is one of the record's."""
    low, high, margin, unit = judged.conf_low, judged.conf_high, judged.margin, judged.unit
    if judged.status == words.found and low is not None and high is not None:
        found = words.above if (judged.estimate or 0.0) > 0 else words.below
        if margin is None:
            return f"{found}; no margin was declared to judge {words.its_size} by"
        beyond = low > margin or high < -margin
        within = -margin < low and high < margin
        place = "beyond" if beyond else "within" if within else "undecided against"
        return f"{found}; {words.its_size} is {place} the margin of {margin:g} {unit}"
    if judged.status == words.bounded:
        return f"bounded at {judged.bound:.3f} {unit}, inside the margin of {margin:g}"
    declared = f"the margin is {margin:g}" if margin is not None else "no margin was declared"
    if judged.detectable is None:
        return words.unknown.format(margin=declared)
    return words.open.format(size=f"{judged.detectable:.3f} {unit}", margin=declared)
