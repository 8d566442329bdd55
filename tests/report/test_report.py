"""The report says what the rows say, holds nothing but text of models, and has a page for every kind of run."""

import csv
import dataclasses
import json
import re
from pathlib import Path

import pytest
from audits import HOSTILE, evidence, shown
from hypothesis import given
from hypothesis import strategies as st

from evenhand import study
from evenhand.analysis.blocks import BLOCKS
from evenhand.analysis.simulation import World
from evenhand.report import words
from evenhand.report.drawing import legible_text
from evenhand.report.embedding import embedded
from evenhand.report.figures import figures
from evenhand.report.page import SECTIONS, grid, render, template
from evenhand.report.replies import LONGEST, ReplyBook, collect_replies
from evenhand.report.sources import SOURCES
from evenhand.report.statuses import LOOKS
from evenhand.report.table import COLUMNS, MOST_ROWS, SHARE, Table, cell
from evenhand.report.tables import FAIRFUND, ROBUSTNESS, tables
from evenhand.report.theme import KEY
from evenhand.report.writing import PAGE, SUMMARY, summary, write_report

EXCERPT = Path(__file__).parent.parent / "data" / "outcomes_excerpt.csv.gz"


@pytest.fixture(scope="module")
def planted():
    return evidence(World(groups={"Black": -0.5}))


def test_the_headline_counts_the_rows(planted):
    statuses = planted.analysis.statuses
    counts = [sum(s.status == name for s in statuses) for name in ("disparity", "equivalent", "not_resolved")]
    said = words.headline(statuses, planted.respondents)
    assert [int(n) for n in re.findall(r"\d+", said)] == [len(statuses), 2, *counts]
    assert counts[0] > 0
    assert sum(words.count_statuses(statuses).values()) == len(statuses)
    assert words.headline([], []) == "No planned contrast can be read from these answers."
    assert "pooled" not in words.headline(statuses, ["alone"])
    assert "speaks for no single respondent" in words.cautions(["m1", "m2"])
    assert words.cautions(["alone"]) == words.NO_FAIRNESS


def test_each_status_is_told_everywhere_or_nowhere(planted):
    style = template("page.css")
    for name, look in LOOKS.items():
        assert f"td.{name} {{" in style
        assert KEY[look.word] == (look.colour, look.shape)
        assert look.told(1) != look.told(2)
    assert len({(look.mark, look.shape, look.colour) for look in LOOKS.values()}) == len(LOOKS)
    new = dataclasses.replace(planted.analysis.statuses[0], status="new")
    for tell in (lambda: words.headline([new], []), lambda: grid([new])):
        with pytest.raises(KeyError, match="new"):
            tell()


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
        hard = sum(s.margin is not None and s.detectable > s.margin for s in own)
        assert ("that is more than the margin" in line) == bool(hard)


def test_a_floor_above_the_margin_is_said(planted):
    [one, *_] = [s for s in planted.analysis.statuses if s.format == "rate"]
    tight = dataclasses.replace(one, margin=one.detectable / 2)
    assert "In 1 contrast that is more than the margin." in words.floors([tight])[0]


@pytest.mark.parametrize(
    ("collected", "said", "covers"),
    [
        (("2026-11-30T10:00:00Z", "2026-11-30T11:00:00Z"), ", on 2026-11-30.", ("collected", "2026-11-30")),
        (("2026-11-29T23:00:00Z", "2026-11-30T01:00:00Z"), ", from 2026-11-29 to 2026-11-30.",
         ("collected", "2026-11-29 to 2026-11-30")),
        ((), " units asked.", None),
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
        assert (cell["look"].name, cell["said"]) == (status.status, status.said)
        assert planted.analysis.statuses[cell["number"] - 1] is status


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
    # These are told by other tables and figures.
    otherwise = {"verdict", "contrasts", "power", "audit_against_demographics"}
    shown = {*tables(planted), *otherwise}
    assert set(BLOCKS) <= shown
    assert set(SOURCES) == {*BLOCKS, "pillars"}
    assert {figure.section for figure in figures(planted)} <= set(SECTIONS)
    listed = {*ROBUSTNESS, *FAIRFUND, "recovery", "primary_endpoint"}
    assert set(BLOCKS) - listed == otherwise


def test_a_table_says_what_it_leaves_out(planted):
    whole = tables(planted)["statuses"]
    assert len(whole.records) <= MOST_ROWS
    assert whole.count == f"{len(whole.records)}"
    many = dataclasses.replace(whole, most=MOST_ROWS, records=[*whole.records] * 40)
    assert many.cut
    assert many.count == f"{MOST_ROWS} of {40 * len(whole.records):,}"


def test_what_a_table_shows_is_of_every_domain_in_its_order():
    records = [{"domain": domain, "k": k} for domain, count in (("a", 150), ("b", 3), ("c", 60)) for k in range(count)]
    shown = [(row[0].text, row[1].number) for row in Table("t", "T", "", ("domain", "k"), records).rows]
    assert len(shown) == MOST_ROWS
    assert [domain for domain, _ in shown] == sorted(domain for domain, _ in shown)
    counts = [sum(row[0] == domain for row in shown) for domain in "abc"]
    assert counts == [49, 3, 48]
    assert [k for domain, k in shown if domain == "c"] == list(range(48))


def test_confounded_checks_are_never_cut(planted):
    checks = [
        {"arm": f"a{k}", "contrast": "race", "factor": "profile", "pattern": "", "status": "crossed"}
        for k in range(200)
    ]
    checks[177]["status"] = "confounded"
    told = tables(dataclasses.replace(planted, checks=checks))["checks"]
    assert (told.rows[0][0].text, told.rows[0][3].text) == ("a177", "confounded")


def test_a_column_that_no_record_has_is_a_fault():
    with pytest.raises(ValueError, match=r"no column estimat$"):
        Table("t", "T", "", ("estimat",), [{"estimate": 1.0}])


@pytest.mark.parametrize(
    ("value", "column", "shown"),
    [
        (0.0004, "p_value", "<0.001"),
        (0.04, "q_value", "0.040"),
        (0.0004, "estimate", "0.0004"),
        (-2e-7, "estimate", "-2e-07"),
        (0.0, "estimate", "0.000"),
        (1234, "n", "1,234"),
        (0.905, f"answered{SHARE}", "90.5%"),
        (None, f"answered{SHARE}", ""),
        ("not_resolved", "status", "not resolved"),
        ("confounded", "status", "confounded"),
        (True, "x", "True"),
    ],
)
def test_a_cell_shows_what_it_holds(value, column, shown):
    told = cell(value, column)
    assert told.text == shown
    assert told.number == (value if isinstance(value, int | float) and not isinstance(value, bool) else None)


def test_methods_name_every_estimator_and_columns_are_explained(planted):
    every = tables(planted)
    told = {(row["block"], row["estimand"]): row["method"] for row in every["methods"].records}
    for name, block in planted.analysis.blocks.items():
        for estimand, method in block.select("estimand", "method").unique().iter_rows():
            head = re.sub(r"\d[\d,.]*", "N", re.split("[:,;]", method)[0])
            assert head in told[name, estimand] or "more" in told[name, estimand]
    assert "paper" in told["contrasts", "contrast"]
    explained = {row["column"] for row in every["columns"].records}
    for name in ("statuses", "contrasts", "interactions"):
        assert set(every[name].columns) <= explained
    assert set(COLUMNS) >= set(every["statuses"].columns)


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
    assert words.headline(planted.analysis.statuses, planted.respondents) in (tmp_path / "report" / SUMMARY).read_text(
        encoding="utf-8"
    )
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
    assert len(embedded([small.lines, small.rows])) <= 50_000
    # Markup takes six bytes a character in the page.
    marked = collect_replies([shown(unit=str(i), reply="<" * 500) for i in range(900)], most_bytes=50_000)
    assert 0 < len(embedded([marked.lines, marked.rows])) <= 50_000
    # What is too large alone is passed by, and what was not answered leaves room.
    large = [shown(unit="large", reply="x" * LONGEST), *many]
    assert len(collect_replies(large, most_bytes=15_000).rows) > 0
    failed = [shown(unit=str(i), arm=f"arm-{i % 3}", status="malformed") for i in range(900)]
    both = collect_replies([*failed, *many], most_rows=300)
    assert [sum(row["status"] == status for row in both.rows) for status in ("malformed", "answered")] == [225, 75]
    assert {row["arm"] for row in both.rows if row["status"] == "malformed"} == {"arm-0", "arm-1", "arm-2"}
    assert len(collect_replies([*failed, *many[:9]], most_rows=300).rows) == 300
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


def test_pillars_have_a_table_and_a_figure(planted, tmp_path):
    """As `evenhand score` has them: of three pillars with floors, and of P2 without one."""
    found = study.score(study.read_tables([EXCERPT]), boot=20)
    published = study.published_leaderboard().to_dicts()
    told = dataclasses.replace(planted, scores=found.rows.to_dicts(), published=published)
    table = tables(told)["leaderboard"]
    heads = dict(table.heads)
    assert (heads["p1_floor"], heads["p2_lo"]) == ("P1 floor", "P2 95% low")
    assert "p2_floor" not in heads
    assert len(table.rows) == found.rows.height + 14
    assert "leaderboard" in {figure.name for figure in figures(told)}
    assert 'data-figure="leaderboard"' in render(told, figures(told), tables(told))
