"""A run is a directory: the study, its instrument, every attempt, and what was made of them.

```
study.toml  instrument/{units.jsonl,slots.csv,digest}  ledger.db  outcomes.parquet  results/  report/
```
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from evenhand.errors import RunError
from evenhand.instrument import Instrument, load_instrument, save_instrument
from evenhand.plan import Plan, load_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

STUDY = "study.toml"


@dataclass(frozen=True, slots=True)
class Run:
    """An opened run directory, its plan and instrument checked."""

    folder: Path
    plan: Plan
    instrument: Instrument

    @property
    def writable(self) -> bool:
        """Whether results can be kept here; a read-only copy opens too."""
        return os.access(self.folder, os.W_OK)

    @property
    def ledger(self) -> Path:
        """The append-only record of attempts (SQLite)."""
        return self.folder / "ledger.db"

    @property
    def outcomes(self) -> Path:
        """The table that all analysis reads (Parquet)."""
        return self.folder / "outcomes.parquet"

    @property
    def results(self) -> Path:
        """Where scores and analyses are written."""
        return self.folder / "results"


def is_run(path: Path) -> bool:
    """Whether a path looks like a run directory."""
    return (path / STUDY).is_file()


def create_run(plan: Plan, instrument: Instrument, folder: Path) -> Run:
    """Make a run directory, or open the one that this very study already has there.

    Everything is written beside the folder first and moved into place at once, so nothing half-written is left.

    Raises:
        RunError: The folder holds another study or something else, or cannot be written.
    """
    if is_run(folder):
        run = open_run(folder)
        if run.instrument.digest != instrument.digest or _as_toml(run.plan) != _as_toml(plan):
            raise RunError(
                f"the folder holds another run (study {run.plan.name!r}, digest {run.instrument.digest[:12]}...)",
                where=str(folder),
                mend="Choose another folder with -o",
            )
        return run
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(
            "the path exists and is not a run",
            where=str(folder),
            mend="Choose an empty or new folder with -o",
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    try:
        _write(plan, instrument, staging)
        if folder.exists():
            folder.rmdir()
        # mkdtemp makes a private folder; a run is as open as any other folder its owner makes.
        staging.chmod(0o777 & ~_umask())
        staging.replace(folder)
    except OSError as problem:
        raise _unwritable(folder, problem) from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return Run(folder, plan, instrument)


def open_run(folder: Path) -> Run:
    """Open a run directory.

    Raises:
        RunError: Not a run directory.
        StudyError, InstrumentError: Its files are damaged or were changed.
    """
    if not is_run(folder):
        raise RunError(
            "this is not a run directory (it has no study.toml)",
            where=str(folder),
            mend="Make one with `evenhand build STUDY -o RUN`",
        )
    return Run(folder, load_plan(folder / STUDY), load_instrument(folder / "instrument"))


def _write(plan: Plan, instrument: Instrument, folder: Path) -> None:
    (folder / "instrument").mkdir()
    save_instrument(instrument, folder / "instrument")
    (folder / STUDY).write_text(_as_toml(plan), encoding="utf-8", newline="\n")


def _as_toml(plan: Plan) -> str:
    """The plan with every default written out; where its file lay is no part of it."""
    content = asdict(plan)
    del content["folder"]
    return tomli_w.dumps(_without_none(content))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in _items(value) if item is not None}
    if isinstance(value, list | tuple):
        return [_without_none(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    yield from value.items()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _unwritable(folder: Path, problem: OSError) -> RunError:
    return RunError(
        f"the folder cannot be written ({problem.strerror})",
        where=str(folder),
        mend="Choose a folder you may write to",
    )
