"""A leaderboard on disk: a static site of pillar scores from several runs and of the published models."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.analysis.scores import EVERY_POOL
from evenhand.cells import csv_of_records
from evenhand.errors import InputError
from evenhand.files import exists, make_folder, replace_file
from evenhand.formats.types import STATUSES
from evenhand.report.fairfund_figures import leaderboard_figure
from evenhand.report.page import pages, template
from evenhand.report.table import SHARE, Cell, cell
from evenhand.report.tables import share_of
from evenhand.report.words import PILLAR_WORDS, PILLARS
from evenhand.report.writing import encoded, pictures, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from jinja2 import Environment

    from evenhand.report.drawing import Figure

PUBLISHED = "published"
"""The source of the published rows; no run has this name."""
_PLACED = {"p1": -1, "p3": 1, "p4": 1}
"""Pillars in which a model has a place, and which end is first; more agreement with norms is no merit of its own."""
_BY_METHOD = {"p1", "p3"}
"""Pillars that differ by method."""
_DATA = "leaderboard.json"
_LONGEST = 60
_PAGE_NAME = re.compile(r"[a-z0-9-]+\.html")


@dataclass(frozen=True, slots=True)
class Source:
    """A run whose respondents are scored.

    Attributes:
        name: What it is called on the site: no other source has this name.
        study: The study's name.
        folder: The run's folder, as it was given.
        digest: Of the instrument.
        method: How pillars were computed.
        command: What computes them again.
        scores: A row a respondent, as `Scores.rows` has them.
        models: A row a respondent, as `Status.models` has them.
        arms: A row a respondent and arm, as `Status.arms` has them.
        waiting: By respondent, how many units have no final answer yet.
    """

    name: str
    study: str
    folder: str
    digest: str
    method: str
    command: str
    scores: Sequence[Mapping[str, Any]]
    models: Sequence[Mapping[str, Any]]
    arms: Sequence[Mapping[str, Any]]
    waiting: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Cell:
    """A pillar of a model: its score, and in words its interval and its floor, which may be none."""

    score: float | None
    text: str
    interval: str
    floor: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """A model on the site, in words."""

    label: str
    source: str
    slug: str
    row: Mapping[str, Any]
    cells: Sequence[_Cell]
    valid: int | None
    valid_text: str
    told: str
    facts: Sequence[tuple[str, str]]
    warnings: Sequence[str]
    arms: Sequence[Mapping[str, Cell]]
    places: Sequence[str]


def write_board(
    sources: Sequence[Source], published: Sequence[Mapping[str, Any]], folder: Path, *, version: str
) -> list[Path]:
    """Write the site.

    Args:
        sources: The runs.
        published: The published rows; none where they are of other questions.
        folder: Where to; it is made.
        version: Of Evenhand.

    Returns:
        The files, the first page first.

    Raises:
        InputError: The folder cannot be made or written, or holds something else.
    """
    earlier = _earlier(folder)
    entries = _entries(sources, published)
    whole = _figure(entries)
    written: dict[Path, bytes] = {}
    pillars = [{"label": label, "meaning": PILLAR_WORDS[pillar]} for pillar, label in PILLARS.items()]
    frame: dict[str, Any] = {"version": version, "pillars": pillars}
    of_all = _of_all(sources, published)
    environment = pages()
    told = [(source.name, _told(source)) for source in sources]
    if published:
        told.append((PUBLISHED, "the 14 models of the published leaderboard, arXiv 2607.28934: values as published"))
    written[folder / "index.html"] = _page(
        environment, "board.html", _drawn(whole, ("figures/leaderboard.svg", "figures/leaderboard.png")),
        entries=entries, sources=[name for name, _ in told], told_sources=told, about=_about(sources, published),
        warnings=[*of_all, *dict.fromkeys(warning for entry in entries for warning in entry.warnings)], **frame,
    )  # fmt: skip
    for entry in entries:
        written[folder / "models" / f"{entry.slug}.html"] = _page(
            environment, "model.html", _drawn(_figure(entries, entry), ()), entry=entry, models=len(entries),
            warnings=[*of_all, *entry.warnings],
            arm_columns=("arm", "units", *STATUSES), **frame,
        )  # fmt: skip
    if whole is not None:
        image, png = pictures(whole)
        written |= {folder / "figures" / "leaderboard.svg": image, folder / "figures" / "leaderboard.png": png}
    written |= _data(entries, folder / "data")
    for part in sorted({path.parent for path in written}):
        make_folder(part)
    for path in earlier - written.keys():
        path.unlink(missing_ok=True)
    # The first page last: what it names is there.
    for path in sorted(written, key=lambda path: path.parent == folder):
        replace_file(path, written[path])
    return list(written)


def _earlier(folder: Path) -> set[Path]:
    """The pages of models that an earlier site has in the folder.

    Raises:
        InputError: The folder holds files, and no such site.
    """
    if not exists(folder, InputError, folder=True) or not any(folder.iterdir()):
        return set()
    try:
        rows = json.loads((folder / "data" / _DATA).read_bytes())
        names = [str(row["page"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            "the folder holds something other than a leaderboard",
            where=str(folder),
            mend="Choose another folder with -o",
        ) from None
    return {folder / "models" / name for name in names if _PAGE_NAME.fullmatch(name)}


def _of_all(sources: Sequence[Source], published: Sequence[Mapping[str, Any]]) -> list[str]:
    """What must be read before any score."""
    if published and any(source.method != "released" for source in sources):
        return ["Published rows were scored by the released method: only their P2 and P4 can be compared."]
    return []


def _entries(sources: Sequence[Source], published: Sequence[Mapping[str, Any]]) -> list[_Entry]:
    rows = [(source, row) for source in sources for row in source.scores] + [(None, row) for row in published]
    rows.sort(key=lambda pair: (pair[1]["p1"] is None, pair[1]["p1"]))
    names = [str(row.get("model_label") or row["model"]) for _, row in rows]
    slugs: set[str] = set()
    entries: list[_Entry] = []
    for source, row in rows:
        label = str(row.get("model_label") or row["model"])
        if source and names.count(label) > 1:
            # One model in two runs stands twice, told apart by the run.
            label = f"{label} ({source.name})"
        slug = _slug(label, slugs)
        entries.append(
            _Entry(
                label=label,
                source=source.name if source else PUBLISHED,
                slug=slug,
                row=row,
                cells=[_cell(row, pillar) for pillar in PILLARS],
                valid=row.get("n_valid"),
                valid_text=f"{row['n_valid']:,} of {row['n_rows']:,}" if source else "",
                told=f"{source.study}, scored from the run {source.folder}." if source else _published_told(row),
                facts=_facts(source, row) if source else [("values", "as published (Lukk 2026, arXiv 2607.28934)")],
                warnings=_warnings(source, row) if source else (),
                arms=_arms(source, row) if source else (),
                places=[_place((source, row), pillar, rows) for pillar in PILLARS],
            )
        )
    return entries


def _slug(label: str, taken: set[str]) -> str:
    """A file's name that no other model has, also where letters have no case."""
    plain = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:_LONGEST] or "model"
    slug, further = plain, 2
    while slug in taken:
        slug, further = f"{plain}-{further}", further + 1
    taken.add(slug)
    return slug


def _cell(row: Mapping[str, Any], pillar: str) -> _Cell:
    score, low, high, floor = (row.get(f"{pillar}{end}") for end in ("", "_lo", "_hi", "_floor"))
    if score is None:
        return _Cell(None, "none", "", "")
    interval = "" if low is None else f"[{low:.3f}, {high:.3f}]"
    return _Cell(score, f"{score:.3f}", interval, "" if floor is None else f"{floor:.3f}")


def _place(
    entry: tuple[Source | None, Mapping[str, Any]], pillar: str, rows: Sequence[tuple[Source | None, Mapping[str, Any]]]
) -> str:
    """The place of a score among those of its kind, in words; empty where it has none."""
    source, row = entry
    score = row.get(pillar)
    if score is None or pillar not in _PLACED:
        return ""
    if source and source.waiting.get(str(row["model"])):
        return "none: unfinished"
    alike = [other for of, other in rows if pillar not in _BY_METHOD or _method(of) == _method(source)]
    others = [other[pillar] for other in alike if other.get(pillar) is not None]
    ahead = sum(_PLACED[pillar] * (other - score) > 0 for other in others)
    return f"{ahead + 1} of {len(others)}"


def _method(source: Source | None) -> str:
    return source.method if source else "released"


def _published_told(row: Mapping[str, Any]) -> str:
    maker = ", ".join(str(row[name]) for name in ("provider", "tier") if row.get(name))
    return f"One of the published models{f' ({maker})' if maker else ''}: no rows and no floors are known of it here."


def _told(source: Source) -> str:
    return (
        f"study {source.study}, run {source.folder}, instrument {source.digest[:12]}, {source.method} method, "
        f"{len(source.scores)} respondent{'s' * (len(source.scores) != 1)}"
    )


def _about(sources: Sequence[Source], published: Sequence[Mapping[str, Any]]) -> str:
    scored = sum(len(source.scores) for source in sources)
    beside = f" beside {len(published)} published models" if published else ""
    runs = f"{len(sources)} run{'s' * (len(sources) != 1)}"
    return f"The four pillars of FairFund-Bench: {scored} respondent{'s' * (scored != 1)} of {runs}{beside}."


def _facts(source: Source, row: Mapping[str, Any]) -> list[tuple[str, str]]:
    served = [model for model in source.models if model["model"] == row["model"]]
    versions = ", ".join(str(version) for model in served for version in model.get("versions") or ())
    return [
        ("study", source.study),
        ("run", source.folder),
        ("instrument", source.digest),
        ("method", source.method),
        ("rows", f"{row['n_valid']:,} of {row['n_rows']:,} valid, in {row['pools']} pools"),
        *([("versions served", versions)] if versions else []),
        ("to reproduce", source.command),
    ]


def _warnings(source: Source, row: Mapping[str, Any]) -> list[str]:
    told: list[str] = []
    waiting = source.waiting.get(str(row["model"]), 0)
    if waiting:
        told.append(f"Interim: {waiting:,} units of {row['model']} in {source.name} have no final answer yet.")
    if not row["n_valid"]:
        told.append(f"No answer of {row['model']} in {source.name} could be read.")
    if row["pools"] < EVERY_POOL:
        told.append(
            f"{row['model']} in {source.name} was scored on {row['pools']} of {EVERY_POOL} pools: on other questions "
            "than the others."
        )
    if row["n_valid"] and any(row.get(pillar) is None for pillar in PILLARS):
        lost = ", ".join(label for pillar, label in PILLARS.items() if row.get(pillar) is None)
        told.append(
            f"{row['model']} in {source.name} has no {lost}: its run does not hold what they are computed from."
        )
    return told


def _arms(source: Source, row: Mapping[str, Any]) -> list[dict[str, Cell]]:
    return [
        {"arm": cell(arm["arm"]), "units": cell(arm["units"])}
        | {status: cell(share_of(arm, status), SHARE) for status in STATUSES}
        for arm in source.arms
        if arm["model"] == row["model"]
    ]


def _figure(entries: Sequence[_Entry], alone: _Entry | None = None) -> Figure | None:
    """All models, or one among the published ones."""
    own = [entry for entry in entries if entry.source != PUBLISHED and (alone is None or entry is alone)]
    scored = [{**entry.row, "label": entry.label} for entry in own]
    published = [entry.row for entry in entries if entry.source == PUBLISHED]
    if alone is not None and not scored:
        return None
    return leaderboard_figure(scored, published, here=alone.source if alone else "these runs")


def _drawn(figure: Figure | None, paths: Sequence[str]) -> dict[str, Any] | None:
    from markupsafe import Markup

    if figure is None:
        return None
    return {
        "title": figure.title, "alt": figure.alt, "caption": figure.caption, "files": paths,
        "image": Markup(svg(figure)),
    }  # fmt: skip


def _page(environment: Environment, name: str, figure: Mapping[str, Any] | None, **told: Any) -> bytes:
    from markupsafe import Markup

    parts: Any = environment.get_template("parts.html").module
    page = environment.get_template(name).render(
        figure=figure,
        picture=parts.picture,
        css=Markup(template("page.css")),
        sort=Markup(template("sort.js")),
        js=Markup(template("board.js")),
        **told,
    )
    return encoded(page)


def _data(entries: Sequence[_Entry], folder: Path) -> dict[Path, bytes]:
    """All rows, as CSV and as JSON: numbers that do not exist are empty, or null."""
    names = list(dict.fromkeys(name for entry in entries for name in entry.row))
    rows = [
        {"label": entry.label, "source": entry.source, "page": f"{entry.slug}.html"}
        | {name: entry.row.get(name) for name in names}
        for entry in entries
    ]
    return {
        folder / "leaderboard.csv": csv_of_records(rows),
        folder / _DATA: (json.dumps(rows, indent=2, ensure_ascii=False) + "\n").encode(),
    }
