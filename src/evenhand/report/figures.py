"""The figures of a report: each from tidy rows, with a caption, and a text for those who do not see it.

One specification gives the figure of the page and the files on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evenhand.analysis.specifications import POOLED
from evenhand.report import contrast_figures, fairfund_figures
from evenhand.report.drawing import Figure, altair, interval_figure, legible, order, respondents, span
from evenhand.report.forest import forest
from evenhand.report.power_figure import power_curves
from evenhand.report.theme import LABEL_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evenhand.report.evidence import Evidence


def figures(evidence: Evidence) -> list[Figure]:
    """Every figure that the rows of a run allow."""
    return [figure for draw in _DRAWN if (figure := draw(evidence)) is not None]


def _audit(evidence: Evidence) -> Figure | None:
    """The first position against demographic effects on the same outcome (figure 2)."""
    rows: list[dict[str, Any]] = [
        {
            "what": "listed first" if row["estimand"] == "first_position_d" else f"{row['group']}, {row['domain']}",
            "kind": "the audit" if row["estimand"] == "first_position_d" else "the group",
            "d": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"],
        }
        for row in evidence.rows("audit_against_demographics")
        if row["estimand"] in {"first_position_d", "contrast_d"} and row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    largest = max(rows, key=lambda row: abs(row["d"]))
    return interval_figure(
        rows, "what", "d", "kind", name="audit", title="The audit's own effect beside demographic effects",
        axis="effect on the disguised ranking, SDs",
        caption=f"One fit of all disguised rankings ({rows[0]['n']} bundles), each domain over its SD; 95% intervals "
        f"from resampled bundles. {respondents(evidence).capitalize()}. The first line is the audit's own effect.",
        alt=f"{len(rows)} effects with intervals; the largest in size is {largest['what']} at {largest['d']:+.2f} SD.",
    )  # fmt: skip


def _recognition(evidence: Evidence) -> Figure | None:
    """Whether respondents say that it is a test, by presentation (figure 3)."""
    rows = [
        {
            "presentation": row["group"], "question": _QUESTIONS.get(row["format"], row["format"]),
            "share": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"],
        }
        for row in evidence.rows(
            "recognition", estimand="share_recognised", term="presentation", model=POOLED, domain=""
        )
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    shown = "; ".join(f"{row['presentation']} ({row['question']}) {row['share']:.0%}" for row in rows)
    return interval_figure(
        rows, "presentation", "share", "question", name="recognition", title="Recognition of the test by presentation",
        axis="share that says it is a test", percent=True,
        caption=f"Answers of {respondents(evidence)}, {span(rows)} a share; Wilson intervals at 95%.",
        alt=f"Shares of answers that recognise a test: {shown}.",
    )  # fmt: skip


_QUESTIONS = {"purpose_choice": "forced choice", "purpose_open": "in their own words"}


def _recovery(evidence: Evidence) -> Figure | None:
    """What was planted and what was found again (table 3)."""
    rows = [
        {"planted": row["arm"].removeprefix("planted "), "d": row["estimate"], "low": row["conf_low"],
         "high": row["conf_high"], "kind": _RECOVERED[row["estimand"]], "n": row["n"]}
        for row in evidence.rows("recovery")
        if row["estimand"] in _RECOVERED and row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    told = "; ".join(f"{row['planted']}: {row['d']:.3f}" for row in rows if row["kind"] == _RECOVERED["recovered"])
    return interval_figure(
        rows, "planted", "d", "kind", name="recovery", title="Planted disparities, recovered",
        axis="recovered, within-cell SDs", section="instrument",
        caption=f"Disparities planted into {rows[0]['n']:,} ranked slots by swaps, and found by the specification that "
        "decides; 95% intervals.",
        alt=f"Planted size and what was recovered, in SDs: {told}.",
    )  # fmt: skip


_RECOVERED = {"recovered": "as an audit of this size sees it", "recovered_paired": "interval of the change alone"}


def _shifts(evidence: Evidence) -> Figure | None:
    """How far one name, profile or respondent moves a contrast (appendix C)."""
    rows = [
        {"way": _LEFT_OUT.get(way := row["method"].split("leave one ")[-1].split(" out")[0], way),
         "what": f"{row['group']}, {row['domain']}", "format": row["format"], "d": row["estimate"], "n": row["n"],
         "note": row["note"]}
        for row in evidence.rows("robustness", estimand="max_shift_d")
        if row["estimate"] is not None and "leave one " in row["method"]
    ]  # fmt: skip
    if not rows:
        return None
    alt, rows = altair(), legible(rows)
    largest = {(row["way"], row["format"]): row for row in sorted(rows, key=lambda row: row["d"])}
    drawn = [{**row, "label": row["what"] * (largest[row["way"], row["format"]] is row)} for row in rows]
    base = alt.Chart(alt.InlineData(values=drawn)).encode(
        alt.X("d:Q", title="largest shift of the contrast, SDs"),
        alt.Y("format:N", title=None, sort=order(rows, "format")),
    )
    points = base.mark_point(filled=True, size=60, opacity=0.85).encode(
        tooltip=["what:N", "format:N", "note:N", alt.Tooltip("d:Q", format=".3f")]
    )
    labels = base.transform_filter("datum.label").mark_text(align="left", dx=8, fontSize=LABEL_SIZE)
    chart = (
        alt.layer(points, labels.encode(text="label:N"))
        .properties(width=560, height=alt.Step(26))
        .facet(row=alt.Row("way:N", title=None), spacing=8)
    )
    first = max(rows, key=lambda row: row["d"])
    return Figure(
        "shifts",
        "Leave one out",
        f"Largest shift of each of {len({(r['what'], r['format']) for r in rows})} planned contrasts when one name, "
        f"profile or respondent is left out; {span(rows)} refits a shift. The one that moves most is named.",
        f"Largest shifts in SDs; the largest is {first['d']:.3f} for {first['what']}, {first['format']}, without one "
        f"{first['way']}.",
        chart.to_dict(),
        rows,
        section="robustness",
    )


_LEFT_OUT = {"model": "respondent"}


_DRAWN: Sequence[Callable[[Evidence], Figure | None]] = (
    forest, *contrast_figures.DRAWN, power_curves, _audit, _recognition, _recovery, _shifts, *fairfund_figures.DRAWN,
)  # fmt: skip
