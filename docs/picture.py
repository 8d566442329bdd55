"""Draw the README's picture from a run of the demo: `make picture`."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME

from evenhand import study
from evenhand.cli.console import leaderboard
from evenhand.runs import open_run

# Plain shapes and text: no font is fetched from anywhere.
LAYOUT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="Leaderboard of the demo">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect fill="#ffffff" x="0" y="0" width="100%" height="100%" />
<g transform="translate(8, 8)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""


def main() -> None:
    """Score the run named on the command line and write `docs/leaderboard.svg`."""
    scores = study.score(study.tabulate(open_run(Path(sys.argv[1]))))
    console = Console(record=True, width=122, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(leaderboard(scores, study.published_leaderboard()))
    svg = console.export_svg(theme=DEFAULT_TERMINAL_THEME, code_format=LAYOUT, unique_id="board")
    Path(__file__).with_name("leaderboard.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
