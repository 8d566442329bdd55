"""The report says what the rows say, holds nothing but text of models, and has a page for every kind of run."""

import csv
import dataclasses
import json
import re

import pytest
from audits import HOSTILE, evidence, shown
from hypothesis import given
from hypothesis import strategies as st

from evenhand.analysis.blocks import BLOCKS
from evenhand.analysis.simulation import World
from evenhand.report import words
from evenhand.report.drawing import legible_text
from evenhand.report.figures import figures
from evenhand.report.page import PLACES, SECTIONS, embedded, grid, render
from evenhand.report.replies import LONGEST, ReplyBook, collect_replies
from evenhand.report.sources import SOURCES
from evenhand.report.tables import FAIRFUND, MOST_ROWS, ROBUSTNESS, SHOWN_OTHERWISE, cell, tables
from evenhand.report.writing import PAGE, SUMMARY, summary, write_report


@pytest.fixture(scope="module")
def planted():
    return evidence(World(groups={"Black": -0.5}))


def test_the_headline_counts_the_rows(planted):
    statuses = planted.analysis.statuses
    counts = [sum(s.status == name for s in statuses) for name in ("disparity", "equivalent", "not_resolved")]
    assert [int(n) for n in re.findall(r"\d+", words.headline(statuses))] == [len(statuses), *counts]
    assert counts[0] > 0
    assert words.headline([]) == "No planned contrast can be read from these answers."


def test_the_largest_disparity_is_the_largest(planted):
    one = max((s for s in planted.analysis.statuses if s.status == "disparity"), key=lambda s: abs(s.d))
    said = words.largest_disparity(planted.analysis.statuses)
    for part in (f"{one.estimate:+.3f}", f"{one.d:+.2f} SD", one.group, one.domain, one.said, "against"):
        assert part in said


def test_floors_are_those_of_the_statuses(planted):
    lines = words.floors(planted.analysis.statuses)
    for format in ("rate", "decide", "rank_ties"):
        own = [s for s in planted.analysis.statuses if s.format == format]
        [line] = [line for line in lines if line.startswith(f"{format}:")]
        assert f"{min(s.detectable for s in own):.3f}" in line
        assert f"{max(s.detectable for s in own):.3f}" in line
        assert ("the margin is 0.5" if format == "rate" else "no margin was declared") in line


@pytest.mark.parametrize(
    ("collected", "said", "covers"),
    [
        (("2026-11-30T10:00:00Z", "2026-11-30T11:00:00Z"), ", on 2026-11-30.", ("collected", "2026-11-30")),
        (("2026-11-29T23:00:00Z", "2026-11-30T01:00:00Z"), ", from 2026-11-29 to 2026-11-30.",
         ("collected", "2026-11-29 to 2026-11-30")),
        ((), " requests.", None),
    ],
)  # fmt: skip
def test_the_days_of_collection_are_told(planted, collected, said, covers):
    told = dataclasses.replace(planted, collected=collected)
    assert words.audited(told).endswith(said)
    assert [line for line in words.covered(told) if line[0] == "collected"] == ([covers] if covers else [])


def test_the_grid_has_each_status_in_its_place(planted):
    table = grid(planted.analysis.statuses)
    for status in planted.analysis.statuses:
        [row] = [row for row in table["rows"] if row["label"] == f"{status.domain}, {status.format}"]
        cell = row["cells"][table["groups"].index(status.group)]
        assert (cell["status"], cell["said"]) == (status.status, status.said)
        assert cell["mark"] == words.MARKS[status.status]


def test_figures_are_drawn_from_rows_and_described_from_them(planted):
    drawn = {figure.name: figure for figure in figures(planted)}
    forest = drawn["contrasts"]
    assert [row["estimate"] for row in forest.rows] == [s.estimate for s in planted.analysis.statuses]
    lowest = min(forest.rows, key=lambda row: row["d"])
    assert f"{lowest['group']}, {lowest['domain']}, {lowest['format']} at {lowest['d']:+.2f} SD" in forest.alt
    assert {"contrasts", "recovery", "shifts", "audit"} <= set(drawn)
    for figure in drawn.values():
        assert figure.caption
        assert figure.alt
        assert re.findall(r'"title": "[^"]*(?:SD|share|score)[^"]*"', json.dumps(figure.spec)), figure.name


def test_every_block_and_every_figure_has_its_place(planted):
    shown = {*tables(planted), *SHOWN_OTHERWISE}
    assert set(BLOCKS) <= shown
    assert set(SOURCES) == {*BLOCKS, "pillars"}
    placed = {name for names in PLACES.values() for name in names}
    assert {figure.name for figure in figures(planted)} <= placed
    listed = {*ROBUSTNESS, *FAIRFUND, "recovery", "primary_endpoint"}
    assert set(BLOCKS) - listed == set(SHOWN_OTHERWISE)


def test_a_table_says_what_it_leaves_out(planted):
    whole = tables(planted)["statuses"]
    assert len(whole.records) <= MOST_ROWS
    assert whole.count == f"{len(whole.records)}"
    many = dataclasses.replace(whole, records=[*whole.records] * 40)
    assert many.count == f"{MOST_ROWS} of {40 * len(whole.records):,}"
    assert [cell(text).number for text in ("9.5%", "100.0%", "none", "x%")] == [9.5, 100.0, None, None]


def test_a_report_is_written_whole_and_small(planted, tmp_path):
    (tmp_path / "report" / "figures").mkdir(parents=True)
    (tmp_path / "report" / "figures" / "of-an-earlier-run.png").write_bytes(b"old")
    files = write_report(planted, tmp_path / "report")
    assert not (tmp_path / "report" / "figures" / "of-an-earlier-run.png").exists()
    assert files[0].name == PAGE
    page = files[0].read_text(encoding="utf-8")
    assert len(page.encode()) < 6_000_000
    assert all(f'<section id="{name}"' in page for name in SECTIONS)
    for figure in figures(planted):
        svg = (tmp_path / "report" / "figures" / f"{figure.name}.svg").read_text(encoding="utf-8")
        assert svg.startswith("<svg")
        assert (tmp_path / "report" / "figures" / f"{figure.name}.png").read_bytes()[:4] == b"\x89PNG"
    with (tmp_path / "report" / "tables" / "statuses.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["group"] for row in rows] == [s.group for s in planted.analysis.statuses]
    assert words.headline(planted.analysis.statuses) in (tmp_path / "report" / SUMMARY).read_text(encoding="utf-8")
    # Nothing is asked of a network, and every file that the page names is there.
    assert not re.findall(r'(?:src|href)="https?:', page)
    for named in re.findall(r'href="((?:tables|figures)/[^"]+)"', page):
        assert (tmp_path / "report" / named).exists(), named


def test_text_of_models_is_never_markup(planted):
    book = collect_replies([shown(model=HOSTILE, reply=HOSTILE, prompt=HOSTILE, unit=HOSTILE, reading=HOSTILE)])
    told = evidence(replies=book, problems=[HOSTILE], notes=[HOSTILE], study=HOSTILE, folder=HOSTILE)
    page = render(told, [], tables(told))
    body = page[: page.index('<script type="application/json"')]
    assert "<b>bold" not in page
    assert "<script>document" not in page
    assert "<img src=x" not in page
    assert "&lt;/script&gt;" in body
    assert page.count("</script>") == 4
    assert "\\<script\\>" in summary(told)


def test_figures_are_drawn_of_respondents_of_any_name(tmp_path):
    told = evidence(World(), respondents=(HOSTILE, "a\0b\u2028"))
    drawn = {figure.name: figure for figure in figures(told)}
    assert {row["model"] for row in drawn["by_model"].rows} == {"a⟨U+0000⟩b⟨U+2028⟩", legible_text(HOSTILE)}
    page = write_report(told, tmp_path)[0].read_text(encoding="utf-8")
    assert "<script>document" not in page
    assert 'value="a⟨U+0000⟩b⟨U+2028⟩"' in page


@given(st.recursive(st.text() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_embedded_is_json_that_ends_nothing(content):
    text = embedded(content)
    assert json.loads(text) == content
    assert not set("<>&\u2028\u2029") & set(text)


@given(st.lists(st.tuples(st.sampled_from(["answered", "refused"]), st.text(max_size=60)), max_size=40))
def test_replies_come_back_as_they_were(told):
    every = [
        shown(status=status, reply=text, prompt=f"same\n{text}", unit=str(i)) for i, (status, text) in enumerate(told)
    ]
    book = collect_replies(every)
    assert book.total == len(book.rows) == len(told)
    for row in book.rows:
        _, text = told[int(row["unit"])]
        assert row["reply"] == text
        assert "\n".join(book.lines[k] for k in row["prompt"]) == f"same\n{text}"
    statuses = [row["status"] for row in book.rows]
    assert statuses == sorted(statuses, key=lambda status: status == "answered")


def test_what_does_not_fit_is_left_to_the_command():
    many = [shown(unit=str(i), arm=f"arm-{i % 3}", reply="x" * 500) for i in range(900)]
    book = collect_replies(many, most_rows=300)
    assert (len(book.rows), book.total) == (300, 900)
    assert {row["arm"] for row in book.rows} == {"arm-0", "arm-1", "arm-2"}
    small = collect_replies(many, most_bytes=50_000)
    assert 0 < len(small.rows) < 100
    [long] = collect_replies([shown(reply="y" * (LONGEST + 5))]).rows
    assert (len(long["reply"]), long["cut"]) == (LONGEST, 5)


def test_half_a_character_does_no_harm(tmp_path):
    book = collect_replies([shown(reply="3 \ud83d", prompt="a\ud800b")])
    page = write_report(evidence(replies=book, folder="run\udcff"), tmp_path)[0].read_text(encoding="utf-8")
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert data["replies"]["rows"][0]["reply"] == "3 \ud83d"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"moved": True}, "its parts speak of different moments"),
        ({"unscored": "of other groups"}, "No pillars of FairFund-Bench are scored: of other groups."),
        ({"models": [], "arms": [], "collected": ()}, "Nothing was collected yet"),
        ({"problems": ["a fault"]}, "found 1 problem"),
    ],
)
def test_a_page_says_what_a_run_lacks(planted, cells, said):
    told = evidence(replies=ReplyBook([], [], 0), **cells)
    page = render(told, figures(told), tables(told))
    assert said in page
    assert "There are no replies to show." in page


def test_a_run_without_valid_replies_has_a_page():
    told = evidence(World(malformed=1.0), respondents=("alone",))
    told.models[0]["answered"] = 0
    page = render(told, figures(told), tables(told))
    for said in (
        "No planned contrast can be read from these answers.",
        "No reply could be read as an answer",
        "One respondent was asked, alone",
        "No disparity was planted and recovered",
        "There is nothing to draw",
    ):
        assert said in page
