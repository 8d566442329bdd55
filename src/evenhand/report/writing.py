"""A report on disk: the page, every figure as SVG and PNG, every table as CSV, and a summary of one page."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from evenhand.cells import csv_of_records
from evenhand.files import make_folder, replace_file
from evenhand.report import words
from evenhand.report.figures import figures
from evenhand.report.page import commands, grid, render
from evenhand.report.places import PAGE, SUMMARY
from evenhand.report.tables import tables
from evenhand.report.theme import PAPER, SCREEN

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.report.evidence import Evidence
    from evenhand.report.figures import Figure

_PNG_SCALE = 2


def write_report(evidence: Evidence, folder: Path) -> list[Path]:
    """Write a report.

    Args:
        evidence: What it tells of.
        folder: Where to; it is made.

    Returns:
        The files, the page first.

    Raises:
        InputError: The folder cannot be made or written.
    """
    drawn, sheets = figures(evidence), tables(evidence)
    for name in ("", "figures", "tables"):
        make_folder(folder / name)
    page = folder / PAGE
    written: dict[Path, bytes] = {page: encoded(render(evidence, drawn, sheets))}
    written[folder / SUMMARY] = encoded(summary(evidence))
    for figure in drawn:
        image, png = pictures(figure)
        written[folder / "figures" / f"{figure.name}.svg"] = image
        written[folder / "figures" / f"{figure.name}.png"] = png
        written[folder / "tables" / f"figure-{figure.name}.csv"] = csv_of_records(figure.rows)
    for sheet in sheets.values():
        if sheet.records:
            written[folder / "tables" / f"{sheet.name}.csv"] = csv_of_records(sheet.records)
    for part in ("figures", "tables"):
        for stale in set((folder / part).glob("[!.]*.*")) - written.keys():
            stale.unlink(missing_ok=True)
    # The page last: what it names is there.
    for path in sorted(written, key=lambda path: path == page):
        replace_file(path, written[path])
    return list(written)


def encoded(text: str) -> bytes:
    """A page as UTF-8; halves of characters, which replies may hold, stay as their escapes."""
    return text.encode("utf-8", "backslashreplace")


def summary(evidence: Evidence) -> str:
    """One page in Markdown: the verdict, its floors, what it covers."""
    statuses = evidence.analysis.statuses
    lines = [f"# Audit of {_plain(evidence.study)}", "", words.headline(statuses, evidence.respondents), ""]
    lines += [f"> {_plain(warning)}\n" for warning in words.warnings(evidence)]
    if largest := words.largest_disparity(statuses):
        lines += [_plain(largest), ""]
    lines += [words.cautions(evidence.respondents), ""]
    table = grid(statuses)
    if table["rows"]:
        head = ["domain, format", *table["groups"]]
        lines += ["| " + " | ".join(map(_plain, head)) + " |", "|" + "---|" * len(head)]
        for row in table["rows"]:
            looks = [cell["look"] for cell in row["cells"]]
            cells = [f"{look.mark} {look.word}" if look else "not planned" for look in looks]
            lines.append("| " + " | ".join([_plain(row["label"]), *cells]) + " |")
        lines.append("")
    lines += ["## What it could have seen", "", *(f"- {_plain(line)}" for line in words.floors(statuses)), ""]
    lines += ["## What it covers", "", *(f"- {name}: {_plain(value)}" for name, value in words.covered(evidence)), ""]
    lines += ["## To reproduce", "", "```", *commands(evidence), "```", "", f"Instrument `{evidence.digest}`.", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Text that Markdown takes for text."""
    return "".join(f"\\{mark}" if mark in "\\`*_{}[]<>#|" else mark for mark in " ".join(text.split()))


def pictures(figure: Figure) -> tuple[bytes, bytes]:
    """A figure on white, as SVG and as PNG."""
    converter: Any = importlib.import_module("vl_convert")
    spec = json.dumps(figure.on(PAPER))
    image: str = converter.vegalite_to_svg(spec)
    png: bytes = converter.vegalite_to_png(spec, scale=_PNG_SCALE)
    return image.encode(), png


def svg(figure: Figure) -> str:
    """A figure as SVG that stands in a page; text in it is escaped."""
    converter: Any = importlib.import_module("vl_convert")
    image: str = converter.vegalite_to_svg(json.dumps(figure.on(SCREEN)))
    return image
