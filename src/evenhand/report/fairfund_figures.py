"""The figures of FairFund-Bench: the leaderboard among the published models, and what respondents do with dollars."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evenhand.report.drawing import Figure, altair, interval_figure, legible, legible_text, span
from evenhand.report.theme import FLOOR_COLOUR
from evenhand.report.words import PILLARS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.report.evidence import Evidence

PUBLISHED = "published (Lukk 2026)"


def _leaderboard(evidence: Evidence) -> Figure | None:
    return leaderboard_figure(evidence.scores, evidence.published, here="this run")


def leaderboard_figure(
    scores: Sequence[Mapping[str, Any]], published: Sequence[Mapping[str, Any]], *, here: str
) -> Figure | None:
    """Pillar scores with intervals and noise floors among the published models.

    Args:
        scores: A row a model, as `Scores.rows` has them; `label` is what it is called, where it is not `model`.
        published: The published rows.
        here: Where the scores are from, in words.
    """
    rows, places = _scored({here: scores, PUBLISHED: published})
    if not scores or not rows:
        return None
    alt, rows = altair(), legible(rows)
    # A row without a score is a heading among the models.
    headings = [{"model": source, "pillar": rows[0]["pillar"]} for source in (here, PUBLISHED) if source in places]
    base = alt.Chart(alt.InlineData(values=[*rows, *headings]))
    bold = {"condition": {"test": f"indexof({json.dumps([here, PUBLISHED])}, datum.value) >= 0", "value": "bold"}}
    place = alt.Y(
        "model:N", title=None, sort=[legible_text(one) for one in places],
        axis=alt.Axis(labelFontWeight={**bold, "value": "normal"}),
    )  # fmt: skip
    x = {"title": "score", "scale": alt.Scale(zero=False)}
    kept = alt.Scale(domain=[here, PUBLISHED])
    hue, shape = (channel("source:N", scale=kept, legend=None) for channel in (alt.Color, alt.Shape))
    heads = base.transform_filter("!datum.source").mark_text(text="").encode(place)
    drawn = base.transform_filter("datum.source")
    lines = drawn.mark_rule(strokeWidth=2).encode(alt.X("low:Q", **x), alt.X2("high:Q"), place, color=hue)
    points = drawn.mark_point(filled=True, size=60, opacity=1).encode(
        alt.X("score:Q", **x), place, color=hue, shape=shape,
        tooltip=["model:N", "pillar:N", alt.Tooltip("score:Q", format=".3f"), alt.Tooltip("floor:Q", format=".3f")],
    )  # fmt: skip
    # Where a pillar has no floor, nothing is seen at its score: a scale over no numbers is a warning.
    ticks = drawn.transform_calculate(at="datum.floor == null ? datum.score : datum.floor")
    floors = ticks.mark_tick(thickness=2, color=FLOOR_COLOUR, height=12).encode(
        alt.X("at:Q", **x), place, opacity=alt.condition("datum.floor == null", alt.value(0), alt.value(1))
    )
    chart = (
        alt.layer(heads, lines, floors, points)
        .properties(width=150, height=alt.Step(17))
        .facet(column=alt.Column("pillar:N", title=None), spacing=10)
        .resolve_scale(x="independent")
    )
    own = "; ".join(
        f"{row.get('label') or row['model']} "
        + ", ".join(f"{label} {row[p]:.3f}" for p, label in PILLARS.items() if row.get(p) is not None)
        for row in scores
    )
    beside = f" beside {len(published)} published models, which carry no floor" if published else ""
    return Figure(
        "leaderboard",
        "Pillar scores" + " among the published models" * bool(published),
        f"Scores of {len(scores)} respondent{'s' * (len(scores) != 1)} of {here}{beside}; 95% intervals; "
        f"{_rested(scores)}. Ticks: noise floors, what answers as noisy as these score where there is nothing to find.",
        f"Pillar scores: {own}.",
        chart.to_dict(),
        rows,
    )


def _scored(sources: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[dict[str, Any]], list[str]]:
    """A row a model and pillar, and what stands on the left from above: sources, each with its models below."""
    rows: list[dict[str, Any]] = []
    places: list[str] = []
    for source, models in sources.items():
        places += [source] if models else []
        for row in models:
            name = str(row.get("label") or row.get("model_label") or row["model"])
            name = f"{name}, {source}" if name in places or name in sources else name
            places.append(name)
            for pillar, label in PILLARS.items():
                if row.get(pillar) is not None:
                    ends = {"low": row.get(f"{pillar}_lo"), "high": row.get(f"{pillar}_hi")}
                    told = {"model": name, "pillar": label, "source": source, "score": row[pillar]}
                    rows.append({**told, **ends, "floor": row.get(f"{pillar}_floor")})
    return rows, places


def _rested(scores: Sequence[Mapping[str, Any]]) -> str:
    counts = sorted(row["n_valid"] for row in scores)
    return f"{counts[0]:,}" + (f" to {counts[-1]:,}" if counts[0] != counts[-1] else "") + " valid rows a respondent"


def _equal_splits(evidence: Evidence) -> Figure | None:
    """How often all claimants get the same (figure 5)."""
    rows = [
        {"what": f"{row['term']}, {row['group']}", "model": row["model"], "share": row["estimate"],
         "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("equal_splits", estimand="share_equal_split")
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    return interval_figure(
        rows, "what", "share", "model", name="equal_splits", title="Equal splits",
        axis="share of bundles split equally", percent=True,
        caption=f"Allocate, by what varies and how it is presented; {span(rows)} bundles a share, 95% intervals.",
        alt="Shares of equal splits: " + "; ".join(f"{r['model']}, {r['what']} {r['share']:.0%}" for r in rows) + ".",
    )  # fmt: skip


def _dollar_gaps(evidence: Evidence) -> Figure | None:
    """Mean absolute demographic gaps in dollars by presentation (figure 6)."""
    rows = [
        {"what": f"{row['term']}, {row['group']}", "model": row["model"], "dollars": row["estimate"],
         "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("dollar_gaps", estimand="dollar_gap")
        if row["estimate"] is not None
    ]  # fmt: skip
    return _dollars(
        rows, "dollar_gaps", "Demographic gaps in dollars", "mean absolute gap, dollars",
        "Mean absolute difference of a group's mean dollars from the reference: a mean of sizes, which chance alone "
        "keeps above zero.", "respondents a value",
    )  # fmt: skip


def _framing(evidence: Evidence) -> Figure | None:
    """Mean dollars by framing (figure 7)."""
    rows = [
        {"what": f"{row['group']}, {row['arm'].removeprefix('framing_')}", "model": row["model"],
         "dollars": row["estimate"], "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("dollars_by_framing", estimand="mean_dollars")
        if row["estimate"] is not None
    ]  # fmt: skip
    return _dollars(
        rows,
        "dollars_by_framing",
        "Dollars by framing",
        "mean dollars",
        "What an appeal gets by how need is explained.",
        "bundles a respondent, respondents where pooled",
    )


def _framing_tasks(evidence: Evidence) -> Figure | None:
    """Framing contrasts by task (table 10)."""
    rows: list[dict[str, Any]] = [
        {"contrast": row["group"], "task": _task(row), "model": row["model"], "difference": row["estimate"],
         "low": row["conf_low"], "high": row["conf_high"], "n": row["n"]}
        for row in evidence.rows("fairfund_framing", estimand="framing_contrast")
        if row["estimate"] is not None
    ]  # fmt: skip
    if not rows:
        return None
    largest = max(rows, key=lambda row: abs(row["difference"]))
    return interval_figure(
        rows, "contrast", "difference", "model", name="framing_tasks", title="Framing contrasts by task",
        axis="difference, in the task's unit", row="task", own_scales=True,
        caption=f"What an appeal of the first framing gets more than one of the second; {span(rows)} answers, 95% "
        "intervals.",
        alt=f"{len(rows)} framing contrasts; the largest in size is {largest['difference']:+.2f} ({largest['model']}, "
        f"{largest['task']}, {largest['contrast']}).",
    )  # fmt: skip


_TASK_UNITS = {"rate": "points", "rank": "positions", "allocate": "dollars"}


def _task(row: Mapping[str, Any]) -> str:
    shown = row["arm"].removeprefix("framing_") if row["format"] != "rate" else ""
    return ", ".join(part for part in (row["format"], shown, _TASK_UNITS.get(row["format"], "")) if part)


def _dollars(rows: list[dict[str, Any]], name: str, title: str, axis: str, caption: str, of: str) -> Figure | None:
    if not rows:
        return None
    largest = max(rows, key=lambda row: row["dollars"])
    return interval_figure(
        rows, "what", "dollars", "model", name=name, title=title, axis=axis,
        caption=f"{caption} 95% intervals where there is one; {span(rows)} {of}.",
        alt=f"{title}: {len(rows)} values; largest {largest['dollars']:.2f} ({largest['model']}, {largest['what']}).",
    )  # fmt: skip


DRAWN: Sequence[Callable[[Evidence], Figure | None]] = (
    _leaderboard,
    _equal_splits,
    _dollar_gaps,
    _framing,
    _framing_tasks,
)
