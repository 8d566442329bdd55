"""An analysis on disk: Parquet and CSV for each block, the statuses, and a manifest of what they were made with."""

from __future__ import annotations

import hashlib
import io
import json
import platform
from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from evenhand.analysis.blocks import BLOCKS, Analysis
from evenhand.analysis.verdict import Status, as_records
from evenhand.cells import csv_of
from evenhand.files import make_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evenhand.analysis.setting import Setting

MANIFEST = "manifest.json"
_STATUSES = "statuses"
_PACKAGES = ("evenhand", "numpy", "scipy", "polars")


def write_results(analysis: Analysis, folder: Path, *, setting: Setting, source: Mapping[str, str]) -> list[Path]:
    """Keep an analysis.

    Args:
        analysis: What was found.
        folder: Where to; it is made.
        setting: The terms of the analysis, for the manifest.
        source: What was analysed: names and digests.

    Returns:
        The files written, the manifest last.

    Raises:
        InputError: The folder cannot be made or written.
    """
    tables = dict(analysis.blocks)
    if analysis.statuses:
        tables[_STATUSES] = pl.DataFrame(as_records(analysis.statuses), infer_schema_length=None)
    make_folder(folder)
    _clear(folder)
    written: list[Path] = []
    digests: dict[str, str] = {}
    for name, table in tables.items():
        for path, data in ((folder / f"{name}.parquet", _parquet(table)), (folder / f"{name}.csv", csv_of(table))):
            replace_file(path, data)
            written.append(path)
            digests[path.name] = hashlib.sha256(data).hexdigest()
    manifest = {
        **_terms(setting, source),
        "scope": dict(analysis.scope),
        "seconds": {name: round(seconds, 3) for name, seconds in analysis.seconds.items()},
        "files": digests,
    }
    replace_file(folder / MANIFEST, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())
    return [*written, folder / MANIFEST]


def read_results(folder: Path, *, setting: Setting, source: Mapping[str, str]) -> Analysis | None:
    """The analysis that is kept in a folder, where it is of this source, on these terms and made by these versions.

    Args:
        folder: Where it was written.
        setting: The terms of the analysis.
        source: What was analysed: names and digests.

    Returns:
        What was found; None where there is none, it is another, or a file of it was changed.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        wanted = json.loads(json.dumps(_terms(setting, source)))
        if {name: manifest[name] for name in wanted} != wanted:
            return None
        # The CSVs too: people read them, and take them for what the page shows.
        kept = {name: (folder / name).read_bytes() for name in _names() if name in manifest["files"]}
        if {name: hashlib.sha256(data).hexdigest() for name, data in kept.items()} != manifest["files"]:
            return None
        parquet = {name: f"{name}.parquet" for name in (*BLOCKS, _STATUSES)}
        tables = {name: pl.read_parquet(io.BytesIO(kept[file])) for name, file in parquet.items() if file in kept}
        statuses = [Status(**row) for row in tables.pop(_STATUSES).to_dicts()] if _STATUSES in tables else []
        return Analysis(tables, statuses, manifest["scope"], manifest["seconds"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, pl.exceptions.PolarsError):
        # Damaged, or of another layout: it is made again.
        return None


def _terms(setting: Setting, source: Mapping[str, str]) -> dict[str, Any]:
    """What an analysis was made of, on which terms, with what."""
    return {
        "source": dict(source),
        "setting": asdict(setting),
        "blocks": list(BLOCKS),
        "versions": {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES},
    }


def _clear(folder: Path) -> None:
    """Take an earlier analysis away, its manifest first: what is left without one is no analysis."""
    for name in (MANIFEST, *_names()):
        (folder / name).unlink(missing_ok=True)


def _names() -> list[str]:
    """The files that an analysis may have besides its manifest."""
    return [f"{name}{ending}" for name in (*BLOCKS, _STATUSES) for ending in (".parquet", ".csv")]


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()
