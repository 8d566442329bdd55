"""The page that follows a run in a real browser: `make browser` installs one on Debian."""

import os
import shutil

import pytest
from viewed import STUDY, collect_apart, stand

from evenhand import showing, study
from evenhand.runs import open_run

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BROWSER is None and not os.environ.get("CI"), reason="no chromium on this machine: install it by `make browser`"
    ),
]
MARKUP = "<img src=x onerror=\"document.title='taken'\">"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def run(tmp_path):
    """A run of which a part is collected, by a respondent whose name tries to be markup."""
    (tmp_path / "small.toml").write_text(STUDY, encoding="utf-8")
    built = study.build(tmp_path / "small.toml", tmp_path / "run")
    collect_apart(built.folder, "--as", MARKUP, "--arm", "hiring-rate", "--limit", "30")
    return built


def opened(browser, address, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    tab.noted, tab.requested = [], []
    tab.on("console", lambda message: tab.noted.append(message.text))
    tab.on("pageerror", lambda problem: tab.noted.append(str(problem)))
    tab.on("request", lambda request: tab.requested.append(request.url))
    tab.goto(address)
    tab.wait_for_selector("#table-estimates tbody tr")
    return tab


def test_it_follows_a_run_to_its_report(browser, run):
    from playwright.sync_api import expect

    with showing.view(run.folder, shortest=0.1) as address:
        page = opened(browser, address, "light")
        assert page.locator("#bars dt").inner_text() == MARKUP
        assert page.locator("#bars dd").inner_text().strip().startswith("30 of 160 units final (18.7%)")
        assert page.locator("progress").evaluate("bar => [bar.value, bar.max]") == [30, 160]
        assert page.locator("#said").inner_text() == "At least 10% of the units are final."
        assert page.locator("#no-errors").is_visible()
        assert page.locator("#interim-title").inner_text() == "Interim: not for decisions"
        # Rows are written anew in place: what a reader opened and chose stays.
        page.evaluate("document.querySelector('#table-models tbody tr').dataset.seen = 'yes'")
        before = page.locator("#table-estimates tbody tr").first.inner_text()
        collect_apart(run.folder, "--as", MARKUP, "--arm", "hiring-rate")
        expect(page.locator("progress")).to_have_js_property("value", 120, timeout=20_000)
        expect(page.locator("#table-estimates tbody tr").first).to_contain_text("120", timeout=20_000)
        assert page.locator("#table-estimates tbody tr").first.inner_text() != before
        assert page.locator("#table-models tbody tr").first.get_attribute("data-seen") == "yes"
        assert not page.locator("#report").is_visible()
        collect_apart(run.folder, "--as", MARKUP)
        expect(page.locator("#said")).to_have_text("Every unit is final.", timeout=20_000)
        assert f"evenhand report {run.folder}" in page.locator("#report").inner_text()
        assert page.title() == "Evenhand: small"
        (run.folder / "report").mkdir()
        (run.folder / "report" / "index.html").write_text("<!doctype html><title>the report</title>", encoding="utf-8")
        page.wait_for_selector("#report-link:visible", timeout=20_000)
        assert page.noted == []
        assert {url.removeprefix(address) for url in page.requested} == {"", "state.json"}
        page.click("#report-link")
        assert page.title() == "the report"
        page.context.close()


def test_it_says_when_the_run_or_the_server_is_gone(browser, run):
    with showing.view(run.folder, shortest=0.1) as address:
        page = opened(browser, address, "light")
        run.folder.rename(run.folder.with_name("elsewhere"))
        page.wait_for_selector("#problems p", timeout=20_000)
        assert "the run could not be read" in page.locator("#problems").inner_text()
        run.folder.with_name("elsewhere").rename(run.folder)
        page.wait_for_selector("#problems p", state="detached", timeout=20_000)
        assert page.noted == []
    page.wait_for_selector("#problems p", timeout=20_000)
    assert "The server does not answer" in page.locator("#problems").inner_text()
    assert page.locator("#bars dd").inner_text().strip().startswith("30 of 160")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_by_day_or_night(browser, run, scheme):
    from axe_playwright_python.sync_playwright import Axe

    with showing.view(run.folder, shortest=0.1) as address:
        page = opened(browser, address, scheme)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        assert dark == (scheme == "dark")
        found = Axe().run(page).response["violations"]
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.context.close()
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in {"serious", "critical"}] == []


def test_a_real_report_works_as_it_is_served(browser, run):
    collect_apart(run.folder, "--as", MARKUP)
    showing.report(open_run(run.folder), processes=1)
    before = stand(run.folder)
    with showing.view(run.folder, shortest=0.1) as address:
        page = opened(browser, address, "light")
        assert "The run is finished." in page.locator("#report").inner_text()
        page.click("#report-link")
        page.wait_for_selector("#figure-contrasts svg")
        assert page.noted == []
        with page.expect_download() as started:
            page.locator("#figure-contrasts a", has_text="SVG").click()
        assert started.value.suggested_filename.endswith(".svg")
        page.context.close()
    assert stand(run.folder) == before
