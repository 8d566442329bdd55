"""The page in a real browser, opened from disk with the network blocked: `make browser` installs one on Debian."""

from __future__ import annotations

import os
import shutil

import pytest
from audits import HOSTILE, evidence, shown

from evenhand.analysis.simulation import World
from evenhand.report.page import SECTIONS
from evenhand.report.replies import collect_replies
from evenhand.report.writing import write_report

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BROWSER is None and not os.environ.get("CI"), reason="no chromium on this machine: install it by `make browser`"
    ),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report whose replies try to be markup, to turn the text, and to burst the line."""
    texts = [HOSTILE, "z" * 15_000, "\u202eturned", *(f"{k}" for k in range(60))]
    book = collect_replies(
        shown(reply=text, unit=f"u{k}", prompt=f"prompt of {k}\n{text}", model=("m1", "m2")[k % 2], arm=f"arm-{k % 3}")
        for k, text in enumerate(texts)
    )
    folder = tmp_path_factory.mktemp("report")
    return write_report(evidence(World(groups={"Black": -0.5}), replies=book), folder)[0]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser, report):
    """The page, opened; every message of the console and every request is noted."""
    context = browser.new_context(offline=True, color_scheme="light", viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    tab.noted, tab.requested = [], []
    tab.on("console", lambda message: tab.noted.append(message.text))
    tab.on("pageerror", lambda problem: tab.noted.append(str(problem)))
    tab.on("request", lambda request: tab.requested.append(request.url))
    tab.goto(report.as_uri())
    tab.wait_for_selector("html[data-drawn]")
    yield tab
    context.close()


def test_it_opens_without_a_network_or_a_fault(page, report):
    assert page.noted == []
    assert page.requested == [report.as_uri()]
    assert page.title() == "Evenhand: verdict"
    for name, title in SECTIONS.items():
        assert page.locator(f"#{name} > h2").inner_text().startswith(title)
    for figure in page.locator("[data-figure]").all():
        assert figure.locator("svg").count() == 1
        alt = figure.get_attribute("aria-label")
        assert alt
        assert alt != "Vega visualization"
        assert figure.get_attribute("role") == "img"


def test_tables_sort_by_number_and_by_text(page):
    head = page.locator("#table-statuses thead button", has_text="estimate")
    place = page.eval_on_selector("#table-statuses th[data-column=estimate]", "head => head.cellIndex")
    values = f"rows => rows.map(row => Number(row.cells[{place}].dataset.value))"
    head.click()
    up = page.eval_on_selector_all("#table-statuses tbody tr", values)
    assert up == sorted(up)
    head.click()
    assert page.eval_on_selector_all("#table-statuses tbody tr", values) == sorted(up, reverse=True)
    assert page.locator("#table-statuses th[aria-sort=descending]").inner_text().startswith("estimate")


def test_replies_are_filtered_and_shown_as_they_are(page):
    assert page.locator("#list li").count() == 20
    assert page.locator("#shown").inner_text() == "20 of 63 shown"
    page.select_option("[name=arm]", label="arm-1")
    assert page.locator("#shown").inner_text() == "20 of 21 shown"
    page.click("#more")
    assert page.locator("#list li").count() == 21
    page.select_option("[name=arm]", label="all")
    page.fill("[name=text]", "<script>")
    assert page.locator("#list li").count() == 1
    told = page.locator("#list li .text").first.inner_text()
    assert "<script>document.title='taken'</script>" in told
    assert "⟨U+202E⟩evil" in told
    page.locator("#list summary").first.click()
    assert "prompt of 0" in page.locator("#list details .text").first.inner_text()
    assert page.title() == "Evenhand: verdict"
    page.fill("[name=text]", "zzz")
    box = page.locator("#list li").bounding_box()
    assert box["width"] <= 1200


def test_it_is_read_by_day_and_by_night(page):
    paper = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('#figure-contrasts svg text')).fill"
    day = page.evaluate(paper), page.evaluate(ink)
    page.click("#mode")
    night = page.evaluate(paper), page.evaluate(ink)
    assert night[0] != day[0]
    assert night[1] != day[1]
    page.emulate_media(media="print")
    assert (page.evaluate(paper), page.evaluate(ink)) == day
    # On paper a closed table says in which file it is.
    after = "document.querySelector('#table-accounting').closest('details').querySelector('summary')"
    assert "tables/accounting.csv" in page.evaluate(f"getComputedStyle({after}, '::after').content")
    page.emulate_media(media="screen")
    assert page.locator("#mode").get_attribute("aria-pressed") == "true"
    assert page.noted == []


def test_each_status_leads_to_its_numbers(page):
    heads = page.locator("#verdict thead th").all_inner_texts()
    links = page.locator("#verdict td a").all()
    assert len(links) == page.locator("#table-statuses tbody tr").count() > 0
    for link in links:
        cell = link.locator("xpath=..")
        group = heads[cell.evaluate("cell => cell.cellIndex")]
        place = cell.locator("xpath=../th").inner_text()
        row = page.locator(link.get_attribute("href")).locator("th, td").all_inner_texts()
        assert (f"{row[0]}, {row[1]}", row[2]) == (place, group)
        assert link.inner_text().endswith(row[3])
    page.locator("#table-statuses thead button", has_text="estimate").click()
    links[0].click()
    assert page.evaluate("document.querySelector(':target').closest('table').id") == "table-statuses"


def test_respondents_are_left_out_of_figures(page):
    marks = "document.querySelectorAll('#figure-by_model svg .mark-symbol path').length"
    both = page.evaluate(marks)
    assert both > 0
    page.uncheck("#models input[value=m2]")
    page.wait_for_function(f"{marks} < {both}")
    page.wait_for_selector("html[data-drawn='2']")
    pooled = page.locator("#figure-contrasts svg").count()
    alone = page.locator("#figure-by_model")
    assert alone.locator("figcaption").inner_text().startswith("Drawn without m2; what follows is of all respondents.")
    assert alone.locator(".vega").get_attribute("aria-label").startswith("Drawn without m2;")
    assert not page.locator("#figure-contrasts figcaption").inner_text().startswith("Drawn without")
    page.check("#models input[value=m2]")
    page.wait_for_function(f"{marks} === {both}")
    assert not alone.locator("figcaption").inner_text().startswith("Drawn without")
    assert not alone.locator(".vega").get_attribute("aria-label").startswith("Drawn without")
    for name in ("m1", "m2"):
        page.uncheck(f"#models input[value={name}]")
    page.wait_for_function(f"{marks} === 0")
    assert alone.locator(".vega").inner_text() == "No respondent is chosen."
    assert pooled == 1
    assert page.noted == []


@pytest.mark.parametrize(("dark", "width"), [(False, 1200), (True, 1200), (False, 380)])
def test_axe_finds_no_serious_fault(page, dark, width):
    from axe_playwright_python.sync_playwright import Axe

    page.set_viewport_size({"width": width, "height": 900})
    if dark:
        page.click("#mode")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    # Rows of a table are alike; tens of thousands of cells take axe minutes.
    page.evaluate("document.querySelectorAll('tbody tr:nth-child(n+9)').forEach((row) => row.remove())")
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in {"serious", "critical"}] == []


def test_it_can_be_walked_by_keyboard(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_leaderboard_is_sorted_filtered_and_read_by_all(browser, tmp_path):
    from axe_playwright_python.sync_playwright import Axe
    from test_board import PUBLISHED, scored, source

    from evenhand.report.board import write_board

    mine = source("first", scored("m1", p2=None, p2_lo=None, p2_hi=None), scored("m2", n_valid=7))
    site = write_board([mine], PUBLISHED, tmp_path, version="1")[0]
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    noted = []
    tab.on("console", lambda message: noted.append(message.text))
    tab.goto(site.as_uri())
    cells = "rows => rows.filter(row => !row.hidden).map(row => row.cells[{}].dataset.value)"
    tab.locator("#table-leaderboard thead button", has_text="P2").click()
    up = tab.eval_on_selector_all("#table-leaderboard tbody tr", cells.format(3))
    assert up[:-1] == sorted(up[:-1], key=float)
    assert up[-1] == ""
    tab.locator("#table-leaderboard thead button", has_text="P2").click()
    down = tab.eval_on_selector_all("#table-leaderboard tbody tr", cells.format(3))
    assert down == [*reversed(up[:-1]), ""]
    tab.select_option("[name=source]", "first")
    assert tab.locator("#shown").inner_text() == "2 of 16 models"
    tab.fill("[name=text]", "m2")
    assert tab.eval_on_selector_all("#table-leaderboard tbody tr", cells.format(6)) == ["7"]
    tab.fill("[name=text]", "")
    for dark in (False, True):
        for place in (site, site.parent / "models" / "m1.html"):
            tab.goto(place.as_uri())
            if dark:
                tab.click("#mode")
            found = Axe().run(tab).response["violations"]
            assert [
                (v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in {"serious", "critical"}
            ] == []
    assert noted == []
    tab.close()
