"""A run stands alone: built whole or not at all, rebuilt from itself, refused when its study was changed."""

import dataclasses
import errno
import json
import os
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand import runs
from evenhand.construction import build_instrument
from evenhand.errors import PackError, RunError, StudyError
from evenhand.instrument import Instrument
from evenhand.packs import copies
from evenhand.packs.loader import SHIPPED
from evenhand.plan import load_plan


def own_pack(folder, name):
    shutil.copytree(SHIPPED / "aid", folder)
    manifest = folder / "pack.toml"
    manifest.write_text(manifest.read_text().replace('name = "aid"', f'name = "{name}"'))
    return folder


def write_study(folder, *packs, head=""):
    arms = [f'[[arms]]\nname = "a{i}"\npack = {json.dumps(pack)}\nformat = "rate"\ndesign = "rate"\n'
            for i, pack in enumerate(packs)]  # fmt: skip
    path = folder / "study.toml"
    path.write_text('name = "mine"\n' + head + "".join(arms))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A plan of the shipped pack and the first few units of its instrument."""
    plan = load_plan(write_study(tmp_path_factory.mktemp("study"), "aid"))
    return plan, Instrument(build_instrument(plan).units[:3])


def files_of(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_run_is_rebuilt_from_itself_without_the_original_pack(tmp_path):
    (tmp_path / "home").mkdir()
    pack = own_pack(tmp_path / "home" / "housing", "housing")
    (pack / "notes.docx").write_text("not part of the pack")
    plan = load_plan(write_study(tmp_path / "home", "./housing", "aid", str(SHIPPED / "aid")))
    first = runs.create_run(plan, build_instrument(plan, sound=False), tmp_path / "run")
    assert [arm.pack for arm in first.plan.arms] == ["./packs/housing", "aid", "aid"]
    kept = set(files_of(tmp_path / "run" / "packs" / "housing"))
    assert kept == {"pack.toml", "names.csv", "README.md", "LICENSE", *(f"templates/{name}.toml" for name in ("medical", "rent", "education"))}  # fmt: skip
    shutil.rmtree(tmp_path / "home")

    again = load_plan(tmp_path / "run" / "study.toml")
    second = runs.create_run(again, build_instrument(again, sound=False), tmp_path / "other")
    assert second.instrument.digest == first.instrument.digest
    assert files_of(tmp_path / "other") == files_of(tmp_path / "run")
    assert runs.open_run(tmp_path / "other") == second
    # The same study into its own run changes nothing.
    assert runs.create_run(again, build_instrument(again, sound=False), tmp_path / "run").plan == first.plan


def test_the_same_study_is_opened_from_its_original_file(tmp_path):
    own_pack(tmp_path / "housing", "housing")
    plan = load_plan(write_study(tmp_path, "./housing"))
    instrument = build_instrument(plan)
    first = runs.create_run(plan, instrument, tmp_path / "run")
    assert runs.create_run(plan, instrument, tmp_path / "run") == first


def test_two_packs_of_one_name_are_refused(tmp_path):
    own_pack(tmp_path / "one", "housing")
    own_pack(tmp_path / "two", "housing")
    plan = load_plan(write_study(tmp_path, "./one", "./two"))
    with pytest.raises(StudyError, match="two packs are named 'housing'"):
        build_instrument(plan)
    with pytest.raises(RunError, match="two packs are named 'housing'"):
        runs.create_run(plan, build_instrument(load_plan(write_study(tmp_path, "./one"))), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_pack_too_large_to_keep_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    own_pack(tmp_path / "housing", "housing")
    plan = load_plan(write_study(tmp_path, "./housing"))
    instrument = build_instrument(plan)
    monkeypatch.setattr(copies, "MOST_BYTES", 10_000)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(PackError, match="hold more than 0 MB"):
        runs.create_run(plan, instrument, tmp_path / "run")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epochs = 1", "epochs = 5"),
        ('name = "mine"', 'name = "yours"'),
        ("seed = 1\n", "seed = 2\n"),
        ("temperature = 0.0", "temperature = 1.0"),
        ("malformed_retries = 1", "malformed_retries = 0"),
    ],
)
def test_a_study_changed_after_the_build_is_refused(built, tmp_path, old, new):
    runs.create_run(*built, tmp_path / "run")
    path = tmp_path / "run" / "study.toml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(RunError, match="changed after the build") as caught:
        runs.open_run(tmp_path / "run")
    assert caught.value.where == str(path)
    with pytest.raises(RunError, match="changed after the build"):
        runs.create_run(*built, tmp_path / "run")
    path.write_text(text)
    assert runs.open_run(tmp_path / "run").plan.epochs == 1


def test_a_run_without_its_studys_digest_is_refused(built, tmp_path):
    runs.create_run(*built, tmp_path / "run")
    (tmp_path / "run" / "study.digest").unlink()
    with pytest.raises(RunError, match=r"study\.digest: the study's digest cannot be read"):
        runs.open_run(tmp_path / "run")


def test_an_empty_folder_given_as_a_dot_is_filled(built, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    run = runs.create_run(*built, Path())
    assert run.ledger.parent.samefile(tmp_path / "here")
    assert sorted(path.name for path in Path().iterdir()) == ["instrument", "study.digest", "study.toml"]
    assert runs.open_run(Path()) == run


def test_a_link_to_an_empty_folder_is_followed(built, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    runs.create_run(*built, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert runs.open_run(tmp_path / "disk").instrument == built[1]


def test_a_link_to_nothing_yet_is_followed(built, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    runs.create_run(*built, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert runs.open_run(tmp_path / "disk").instrument == built[1]


def test_what_a_killed_build_left_does_not_stop_the_next(built, tmp_path):
    (tmp_path / "run" / ".evenhand-build-dead" / "run").mkdir(parents=True)
    runs.create_run(*built, tmp_path / "run")
    assert runs.open_run(tmp_path / "run").instrument == built[1]


def test_a_run_is_as_open_as_other_folders(built, tmp_path):
    (tmp_path / "plain").mkdir()
    runs.create_run(*built, tmp_path / "run")
    assert (tmp_path / "run").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("same", [True, False])
def test_the_loser_of_two_builds_finds_the_run(built, tmp_path, monkeypatch, same):
    """The other build ends between the look at the folder and the move."""
    plan, instrument = built
    other = plan if same else dataclasses.replace(plan, epochs=2)
    written, started = runs._write, []

    def write(*arguments):
        if not started:
            started.append(True)
            runs.create_run(other, instrument, tmp_path / "run")
        written(*arguments)

    monkeypatch.setattr(runs, "_write", write)
    if same:
        assert runs.create_run(plan, instrument, tmp_path / "run").instrument == instrument
    else:
        with pytest.raises(RunError, match="another run"):
            runs.create_run(plan, instrument, tmp_path / "run")
    assert started
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert replace(runs.open_run(tmp_path / "run").plan, folder=other.folder) == other


def test_many_builds_at_once_all_succeed(built, tmp_path):
    for turn in range(10):
        barrier, faults = threading.Barrier(4), []

        def build(folder=tmp_path / f"run{turn}", barrier=barrier, faults=faults):
            barrier.wait()
            try:
                runs.create_run(*built, folder)
            except Exception as fault:
                faults.append(fault)

        threads = [threading.Thread(target=build) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "loop", "loop/run"])
def test_a_path_that_cannot_be_is_one_message(built, tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    folder = tmp_path / name
    for attempt in (
        lambda: runs.is_run(folder),
        lambda: runs.open_run(folder),
        lambda: runs.create_run(*built, folder),
    ):
        with pytest.raises(RunError, match="cannot be read") as caught:
            attempt()
        assert caught.value.where
        assert caught.value.mend


def test_a_folder_without_rights_is_one_message(built, tmp_path, monkeypatch):
    looked = Path.stat

    def refuse(self, **options):
        if "locked" in self.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return looked(self, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    folder = tmp_path / "locked" / "run"
    for attempt in (
        lambda: runs.is_run(folder),
        lambda: runs.open_run(folder),
        lambda: runs.create_run(*built, folder),
    ):
        with pytest.raises(RunError, match="Permission denied"):
            attempt()


def test_a_file_in_the_way_is_named(built, tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "run", tmp_path / "file" / "a" / "run"):
        with pytest.raises(RunError, match=r"file is a file\)"):
            runs.create_run(*built, folder)
    with pytest.raises(RunError, match="exists and is not a run"):
        runs.create_run(*built, tmp_path / "file")


def test_a_full_disk_is_named_and_leaves_nothing(built, tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runs, "save_instrument", fail)
    with pytest.raises(RunError, match="No space left on device"):
        runs.create_run(*built, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
