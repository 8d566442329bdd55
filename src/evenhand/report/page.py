"""The page: one file that opens from disk without a network. All text of models is data in it, never markup."""

from __future__ import annotations

import importlib
import shlex
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from evenhand.report import words
from evenhand.report.drawing import legible_text
from evenhand.report.embedding import embedded
from evenhand.report.statuses import LOOKS
from evenhand.report.tables import FAIRFUND, ROBUSTNESS
from evenhand.report.theme import SCREEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import Environment

    from evenhand.analysis.verdict import Status
    from evenhand.report.evidence import Evidence
    from evenhand.report.figures import Figure
    from evenhand.report.table import Table

SECTIONS = {
    "verdict": "Verdict",
    "instrument": "Instrument",
    "results": "Results",
    "robustness": "Robustness",
    "replies": "Replies",
    "methods": "Methods",
}


def render(evidence: Evidence, figures: Sequence[Figure], tables: Mapping[str, Table]) -> str:
    """The page as HTML."""
    from markupsafe import Markup

    environment = pages()
    parts: Any = environment.get_template("parts.html").module
    page = environment.get_template("page.html")
    return page.render(
        evidence=evidence,
        audited=words.audited(evidence),
        headline=words.headline(evidence.analysis.statuses, evidence.respondents),
        largest=words.largest_disparity(evidence.analysis.statuses),
        cautions=words.cautions(evidence.respondents),
        warnings=words.warnings(evidence),
        floors=words.floors(evidence.analysis.statuses),
        covered=words.covered(evidence),
        grid=grid(evidence.analysis.statuses),
        looks=LOOKS.values(),
        sections=[{"id": name, "title": title} for name, title in SECTIONS.items()],
        placed={section: [figure for figure in figures if figure.section == section] for section in SECTIONS},
        toggled=[legible_text(str(row["model"])) for row in evidence.models]
        if any(one.by_model for one in figures)
        else [],
        tables=tables,
        robustness_tables=ROBUSTNESS,
        fairfund_tables=FAIRFUND,
        commands=commands(evidence),
        draw=parts.draw,
        sheet=parts.sheet,
        css=Markup(template("page.css")),
        sort=Markup(template("sort.js")),
        js=Markup(template("page.js")),
        vega=Markup(_vega()),
        data=Markup(embedded(_data(evidence, figures))),
    )


def pages() -> Environment:
    """The templates of all pages; whatever is put into one is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("evenhand.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def grid(statuses: Sequence[Status]) -> dict[str, Any]:
    """Statuses by domain and format (rows) and group (columns), each with its number from 1 among them."""
    groups = list(dict.fromkeys(status.group for status in statuses))
    by_place = {(one.domain, one.format, one.group): (number, one) for number, one in enumerate(statuses, 1)}
    rows: list[dict[str, Any]] = []
    for domain, format in dict.fromkeys((status.domain, status.format) for status in statuses):
        cells: list[dict[str, Any]] = []
        for group in groups:
            number, status = by_place.get((domain, format, group), (0, None))
            look = LOOKS[status.status] if status else None
            cells.append({"look": look, "said": status.said if status else "", "number": number})
        rows.append({"label": f"{domain}, {format}", "cells": cells})
    return {"groups": groups, "rows": rows}


def commands(evidence: Evidence) -> list[str]:
    """How to make the numbers again from the run alone."""
    verbs = ["check", "status", *(["score"] if evidence.scores else []), "analyse", "report"]
    return [f"evenhand {verb} {shlex.quote(evidence.folder)}" for verb in verbs]


def _data(evidence: Evidence, figures: Sequence[Figure]) -> dict[str, Any]:
    return {
        "figures": {figure.name: figure.on(SCREEN) for figure in figures},
        "replies": {"lines": evidence.replies.lines, "rows": evidence.replies.rows},
    }


def template(name: str) -> str:
    """A file of the pages' style or script."""
    return (files("evenhand.report") / "templates" / name).read_text(encoding="utf-8")


def _vega() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script, of the version that also draws the files."""
    converter: Any = importlib.import_module("vl_convert")
    bundle: str = converter.javascript_bundle()
    return bundle.replace("</script", "<\\/script")
