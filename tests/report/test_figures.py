"""Whoever reads a figure finds each series named where it is drawn, and each number as the rows have it."""

from collections import Counter

import pytest
from audits import evidence
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.analysis.simulation import World
from evenhand.report.drawing import interval_figure, panel_width
from evenhand.report.fairfund_figures import PUBLISHED, leaderboard_figure
from evenhand.report.figures import figures
from evenhand.report.theme import FLOOR, MARGIN, PAPER, SCREEN, config
from evenhand.report.writing import pictures, svg


@pytest.fixture(scope="module")
def planted():
    return evidence(World(groups={"Black": -0.5}))


@pytest.fixture(scope="module")
def drawn(planted):
    return {figure.name: figure for figure in figures(planted)}


def values(figure):
    [rows] = figure.spec["datasets"].values()
    return rows


ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from("xyz"), st.sampled_from(["s1", "s2", "s3"]), st.sampled_from("pq")
    ),
    min_size=1,
    unique=True,
)


@settings(max_examples=25, deadline=None)
@given(ROWS, st.booleans(), st.booleans())
def test_each_series_is_named_once_at_the_right_edge(places, by_column, by_row):
    rows = [
        {"panel": panel, "y": y, "series": series, "band": band, "d": 0.1, "low": 0.0, "high": 0.2, "n": 3}
        for panel, y, series, band in places
    ]
    figure = interval_figure(
        rows, "y", "d", "series", name="f", title="t", axis="SDs", caption="c", alt="a",
        column="panel" if by_column else None, row="band" if by_row else None,
    )  # fmt: skip
    beside = len({(r["y"], r["series"]) for r in rows}) > len({r["y"] for r in rows})
    named = [row for row in values(figure) if "label" in row]
    if not beside:
        assert named == []
        return
    last = list(dict.fromkeys(row["panel"] for row in rows))[-1]
    assert all(row["label"] == row["series"] for row in named)
    if by_column:
        assert {row["panel"] for row in named} == {last}
        told = Counter((by_row and row["band"], row["y"], row["series"]) for row in named if "n" not in row)
        assert set(told.values()) <= {1}
    assert {(by_row and r["band"], r["y"], r["series"]) for r in named} == {
        (by_row and r["band"], r["y"], r["series"]) for r in rows
    }
    assert [row for row in values(figure) if "n" in row and row.get("d") is None] == []
    assert figure.rows == rows


def test_respondents_are_named_in_the_file_itself(drawn):
    image = pictures(drawn["by_model"])[0].decode()
    contrasts = {(row["group"], row["format"], row["model"]) for row in drawn["by_model"].rows}
    for model in ("m1", "m2"):
        # Once a group and format; the marks' own descriptions say `model: m1`.
        assert image.count(f">{model}</text>") == sum(key[2] == model for key in contrasts)
    assert "role-legend" not in image


def test_curves_are_named_with_the_effect_that_they_reach(planted, drawn):
    labels = [row for row in values(drawn["power"]) if row.get("label")]
    curves = [row for row in values(drawn["power"]) if not row.get("label")]
    assert len(labels) == len(planted.analysis.statuses) > 0
    for status in planted.analysis.statuses:
        [label] = [r for r in labels if r["format"] == status.format and r["label"].startswith(f"{status.group} ")]
        reach = status.detectable / status.sd
        assert label["label"] == f"{status.group} {reach:.2f}"
        own = [r for r in curves if r["format"] == status.format and r["rank"] == label["rank"]]
        assert status.group in own[0]["groups"].split(", ")
        # The curve that is drawn for it passes 80% there, to within its steps of 0.02.
        below, above = (
            max(r["effect"] for r in own if r["power"] < 0.8),
            min(r["effect"] for r in own if r["power"] >= 0.8),
        )
        assert below - 0.006 <= reach <= above + 0.006
    assert len(drawn["power"].rows) > len(curves)


def test_the_forest_names_what_is_resolved_and_has_a_key_of_what_it_draws(planted, drawn):
    image = pictures(drawn["contrasts"])[0].decode()
    resolved = Counter(s.status for s in planted.analysis.statuses if s.status != "not_resolved")
    assert resolved["disparity"] > 0
    for name in ("disparity", "equivalent"):
        # Once more in the key.
        assert image.count(f">{name}</text>") == resolved[name] + 1
    for name in ("not resolved", MARGIN, FLOOR):
        assert image.count(f">{name}</text>") == 1


def test_without_a_margin_the_key_has_none(planted):
    import dataclasses

    told = [dataclasses.replace(status, margin=None) for status in planted.analysis.statuses]
    bare = dataclasses.replace(planted, analysis=dataclasses.replace(planted.analysis, statuses=told))
    [forest] = [figure for figure in figures(bare) if figure.name == "contrasts"]
    assert f">{MARGIN}</text>" not in pictures(forest)[0].decode()
    assert f">{FLOOR}</text>" in pictures(forest)[0].decode()


def test_models_stand_under_where_their_scores_are_from():
    score = {"p1": 0.1, "p1_lo": 0.0, "p1_hi": 0.2, "p1_floor": 0.05, "n_valid": 10}
    own = [{"model": "GPT-4o", **score}, {"model": "m2", **score, "p1_floor": None}]
    published = [{"model_label": "GPT-4o", "p1": 0.3}, {"model_label": "Opus", "p1": 0.4}]
    figure = leaderboard_figure(own, published, here="this run")
    assert [(row["model"], row["source"]) for row in figure.rows] == [
        ("GPT-4o", "this run"), ("m2", "this run"), (f"GPT-4o, {PUBLISHED}", PUBLISHED), ("Opus", PUBLISHED),
    ]  # fmt: skip
    odd = leaderboard_figure([{"model": PUBLISHED, **score}], published, here="this run")
    assert odd.rows[0]["model"] == f"{PUBLISHED}, this run"
    image = pictures(figure)[0].decode()
    shown = [image.index(f">{name}</text>") for name in ("this run", "GPT-4o", "m2", PUBLISHED, "Opus")]
    assert shown == sorted(shown)
    assert image.count('aria-roledescription="point"') == 4
    assert "role-legend" not in image


def test_figures_of_a_page_take_their_colours_from_it(drawn):
    on_page = svg(drawn["by_model"])
    assert 'fill="var(--ink)"' in on_page
    assert "var(" not in pictures(drawn["by_model"])[0].decode()
    assert config(PAPER)["axis"]["labelColor"] != config(SCREEN)["axis"]["labelColor"]


def test_panels_share_the_width():
    rows = [{"domain": name} for name in ("a", "b", "c")]
    assert [panel_width(rows[:k], "domain", 630, most=480) for k in (1, 2, 3)] == [480, 315, 210]
    assert panel_width([{"domain": str(k)} for k in range(40)], "domain", 630, most=480) == 120
    assert panel_width(rows, None, 630, most=480) == 480
