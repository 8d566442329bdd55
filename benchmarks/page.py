"""How long a report's page takes to open in Debian's chromium, from disk, with the network blocked.

    python -m benchmarks.page [RUN ...]

Without a run those of `make demo` and `make study` are opened, where they are there. Peer: a page that holds Vega's
script and nothing else, which is what any page with such figures costs.
"""

from __future__ import annotations

import importlib
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

RUNS = 3
TARGET_SECONDS, TARGET_MEGABYTES = 2, 6
_TIMES = """() => {
  const { domInteractive, loadEventEnd } = performance.getEntriesByType("navigation")[0];
  const painted = performance.getEntriesByName("first-contentful-paint")[0];
  return [painted ? painted.startTime : NaN, domInteractive, loadEventEnd, performance.now()];
}"""


def main() -> None:
    """Open the pages, and an empty one with Vega's script."""
    sync = importlib.import_module("playwright.sync_api").sync_playwright
    vega: str = importlib.import_module("vl_convert").javascript_bundle()
    with tempfile.TemporaryDirectory() as folder, sync() as playwright:
        empty = Path(folder) / "index.html"
        empty.write_text("<!doctype html><p>empty</p><script>" + vega.replace("</script", "<\\/script") + "</script>")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        peer = _opened(browser, empty, drawn=False)
        print(f"Vega's script alone: loaded in {peer[2]:.2f} s (median of {RUNS})")
        known = [name for name in ("evenhand-demo", "evenhand-study") if Path(name, "report", "index.html").exists()]
        for run in sys.argv[1:] or known:
            page = Path(run).resolve() / "report" / "index.html"
            painted, usable, loaded, drawn = _opened(browser, page, drawn=True)
            size = page.stat().st_size / 1e6
            print(
                f"{run}: {size:.1f} MB (target {TARGET_MEGABYTES}); first text {painted:.2f} s, usable {usable:.2f} s, "
                f"loaded {loaded:.2f} s (target {TARGET_SECONDS}), every figure drawn {drawn:.2f} s; "
                f"{loaded / peer[2]:.1f} times the script alone"
            )
        browser.close()


def _opened(browser: Any, page: Path, *, drawn: bool) -> list[float]:
    """Seconds to the first text, until it can be used, until it is loaded, and until all is drawn: medians."""
    found: list[list[float]] = []
    for _ in range(RUNS):
        context = browser.new_context(offline=True, viewport={"width": 1200, "height": 900})
        tab = context.new_page()
        tab.goto(page.as_uri())
        if drawn:
            tab.wait_for_selector("html[data-drawn]")
        found.append(tab.evaluate(_TIMES))
        context.close()
    return [statistics.median(times) / 1000 for times in zip(*found, strict=True)]


if __name__ == "__main__":
    main()
