"""A run is a directory: the study, its instrument, every attempt, and what was made of them.

```
study.toml  study.digest  packs/  instrument/{units.jsonl,slots.csv,digest}
ledger.db  outcomes.parquet  results/  report/
```

It stands alone: `packs/` keeps a copy of each pack that does not ship with Evenhand, and `study.toml` names the copy,
so that `evenhand build RUN/study.toml -o OTHER` makes the same run wherever the first was made.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from evenhand.errors import RunError
from evenhand.files import exists, reason
from evenhand.instrument import Instrument, load_instrument, save_instrument
from evenhand.packs import load_pack, shipped_packs
from evenhand.packs.copies import copy_pack
from evenhand.plan import Plan, load_plan
from evenhand.records import read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evenhand.packs import Pack

STUDY, STUDY_DIGEST, PACKS, LEDGER = "study.toml", "study.digest", "packs", "ledger.db"
_STAGING = ".evenhand-build-"


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
        return self.folder / LEDGER

    @property
    def outcomes(self) -> Path:
        """The table that all analysis reads (Parquet)."""
        return self.folder / "outcomes.parquet"

    @property
    def results(self) -> Path:
        """Where scores and analyses are written."""
        return self.folder / "results"


def is_run(path: Path) -> bool:
    """Whether a path looks like a run directory.

    Raises:
        RunError: The path cannot be looked at.
    """
    return exists(path / STUDY, RunError)


def create_run(plan: Plan, instrument: Instrument, folder: Path) -> Run:
    """Make a run directory, or open the one that this very study already has there.

    Everything is written into a staging folder first. A new run is moved into place at once; an empty folder that
    exists is filled, `study.toml` last, so that nothing half-written passes for a run.

    Raises:
        RunError: The folder holds another study or something else, or cannot be written.
        PackError: A pack cannot be copied into the run.
    """
    kept, packs = _localise(plan)
    filled = exists(folder, RunError, folder=True)
    # Through links and dots to the folder itself: neither `.` nor a link can be renamed onto.
    target = Path(os.path.realpath(folder))
    try:
        free = _is_free(target)
        # Looked at after the folder's content, so that another build that ends in between is seen.
        if is_run(folder):
            return _reopen(kept, instrument, folder)
        if not free:
            raise RunError(
                "the path exists and is not a run", where=str(folder), mend="Choose an empty or new folder with -o"
            )
        _make(kept, packs, instrument, target, filled=filled)
    except OSError as problem:
        if is_run(folder):
            return _reopen(kept, instrument, folder)
        raise _unwritable(folder, problem) from None
    return Run(folder, replace(kept, folder=folder), instrument)


def open_run(folder: Path) -> Run:
    """Open a run directory.

    Raises:
        RunError: Not a run directory, or its study was changed after the build.
        StudyError, InstrumentError: Its files are damaged or were changed.
    """
    plan = open_plan(folder)
    return Run(folder, plan, load_instrument(folder / "instrument"))


def open_plan(folder: Path) -> Plan:
    """The plan of a run directory, without the instrument, which takes seconds to load where it is large.

    Raises:
        RunError: Not a run directory, or its study was changed after the build.
        StudyError: The study is damaged.
    """
    if not is_run(folder):
        raise RunError(
            "this is not a run directory (it has no study.toml)",
            where=str(folder),
            mend="Make one with `evenhand build STUDY -o RUN`",
        )
    plan = load_plan(folder / STUDY)
    _check_digest(folder)
    return plan


def _reopen(kept: Plan, instrument: Instrument, folder: Path) -> Run:
    run = open_run(folder)
    if run.instrument.digest != instrument.digest or replace(run.plan, folder=kept.folder) != kept:
        raise RunError(
            f"the folder holds another run (study {run.plan.name!r}, digest {run.instrument.digest[:12]}...)",
            where=str(folder),
            mend="Choose another folder with -o",
        )
    return run


def _check_digest(folder: Path) -> None:
    path = folder / STUDY_DIGEST
    mend = "Restore the file, or build the study again into a new folder"
    try:
        recorded = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as problem:
        raise RunError(f"the study's digest cannot be read ({reason(problem)})", where=str(path), mend=mend) from None
    found = _study_digest(read_toml(folder / STUDY, RunError))
    if found != recorded:
        raise RunError(
            f"the study has the digest {found[:12]}..., not the recorded {recorded[:12]}...: "
            "it was changed after the build",
            where=str(folder / STUDY),
            mend=mend,
        )


def _study_digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of what the study file says, without the defaults of settings that came later."""
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _localise(plan: Plan) -> tuple[Plan, tuple[Pack, ...]]:
    """The plan as a run keeps it, and the packs it keeps a copy of: those that do not ship with Evenhand.

    Raises:
        RunError: Two packs have one name.
        PackError: A pack cannot be loaded.
    """
    shipped = shipped_packs()
    given = dict.fromkeys(arm.pack for arm in plan.arms if arm.pack not in shipped)
    loaded = {name: load_pack(name, beside=plan.folder) for name in given}
    kept: dict[str, Pack] = {}
    for pack in loaded.values():
        if pack.name in shipped:
            continue
        other = kept.setdefault(pack.name, pack)
        if other.folder.resolve() != pack.folder.resolve():
            raise RunError(
                f"two packs are named {pack.name!r}",
                where=f"{other.folder}, {pack.folder}",
                mend="Change name in one's pack.toml",
            )
    places = {name: pack.name if pack.name in shipped else f"./{PACKS}/{pack.name}" for name, pack in loaded.items()}
    arms = tuple(replace(arm, pack=places.get(arm.pack, arm.pack)) for arm in plan.arms)
    return replace(plan, arms=arms), tuple(kept.values())


def _is_free(target: Path) -> bool:
    """Whether nothing is there but what a killed build, or another at this moment, works with."""
    try:
        return all(entry.name.startswith(_STAGING) for entry in target.iterdir())
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return not os.path.lexists(target)


def _make(plan: Plan, packs: tuple[Pack, ...], instrument: Instrument, target: Path, *, filled: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    place = target if filled else target.parent
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=place, ignore_cleanup_errors=True) as staging:
        # A folder of its own in the private staging folder: it is as open as any other its owner makes.
        made = Path(staging) / "run"
        _write(plan, packs, instrument, made)
        if filled:
            _fill(made, target)
        else:
            made.replace(target)


def _write(plan: Plan, packs: tuple[Pack, ...], instrument: Instrument, folder: Path) -> None:
    (folder / "instrument").mkdir(parents=True)
    save_instrument(instrument, folder / "instrument")
    for pack in packs:
        copy_pack(pack, folder / PACKS / pack.name)
    text = _as_toml(plan)
    (folder / STUDY_DIGEST).write_text(_study_digest(tomllib.loads(text)) + "\n", encoding="utf-8", newline="\n")
    (folder / STUDY).write_text(text, encoding="utf-8", newline="\n")


def _fill(made: Path, target: Path) -> None:
    """Move a run's files into a folder, `study.toml` last; two builds of one study move the same bytes."""
    files = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
    for file in sorted(files, key=lambda file: file == Path(STUDY)):
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).replace(target / file)


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


def _unwritable(folder: Path, problem: OSError) -> RunError:
    blocker = next((parent for parent in folder.parents if exists(parent, RunError)), None)
    cause = f"{blocker} is a file" if blocker else reason(problem)
    return RunError(
        f"the folder cannot be written ({cause})",
        where=str(folder),
        mend="Mend this, or choose another folder with -o",
    )
