"""Study files: every fault is one message that names it and nothing else; presets are extended table by table."""

import dataclasses
import errno
from pathlib import Path

import pytest

from evenhand import plan as plans
from evenhand.errors import StudyError
from evenhand.plan import load_plan

ARM = '[[arms]]\nname = "a"\npack = "aid"\nformat = "rate"\ndesign = "rate"\n'


@pytest.fixture
def write(tmp_path):
    def write(text, name="study.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('epochs = "2"', "epochs"),
        ("epochs = true", "epochs"),
        ("epochs = 2.0", "epochs"),
        ("epochs = 0", "epochs"),
        ("seed = true", "seed"),
        ('seed = "1"', "seed"),
        (f"seed = 0x{'f' * 5000}", "seed"),
        ("seed = 9223372036854775808", "seed"),
        ("models = [1]", "models.0"),
        ('models = "sim/null"', "models"),
        ('imported = "zzz"', "imported"),
        ('folder = "x"', "folder"),
        ("settings = {temperature = inf}", "settings.temperature"),
        ("settings = {temperature = nan}", "settings.temperature"),
        ("settings = {temperature = true}", "settings.temperature"),
        ('settings = {temperature = "0"}', "settings.temperature"),
        ("settings = {top_p = nan}", "settings.top_p"),
        ("settings = {max_tokens = 1.0}", "settings.max_tokens"),
        ("settings = {malformed_retries = -1}", "settings.malformed_retries"),
        ("settings = {malformed_retries = true}", "settings.malformed_retries"),
        ("margins = {rank = inf}", "margins.rank"),
        ("margins = {rank = true}", "margins.rank"),
        ('families = [{name = "f", formats = ["rank"], q = "0.1"}]', "families.0.q"),
        ("name = 'a\\b'", "name"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_alone(write, line, key):
    name = "" if line.startswith("name") else 'name = "s"\n'
    path = write(f"{name}{line}\n{ARM}")
    with pytest.raises(StudyError) as caught:
        load_plan(path)
    assert caught.value.what.startswith(f"{key}: ")
    assert ";" not in caught.value.what
    assert caught.value.where == str(path)
    assert caught.value.mend


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('name = "a"', 'name = "a/b"', "arms.0.name"),
        ('name = "a"', 'name = "a"\nallow_confounded = 1', "arms.0.allow_confounded"),
        ('name = "a"', 'name = "a"\ncount = true', "arms.0.count"),
        ('pack = "aid"', 'pack = ""', "arms.0.pack"),
    ],
)
def test_a_faulty_arm_is_not_also_called_a_missing_one(write, old, new, key):
    with pytest.raises(StudyError) as caught:
        load_plan(write('name = "s"\n' + ARM.replace(old, new)))
    assert caught.value.what.startswith(f"{key}: ")
    assert ";" not in caught.value.what


def test_a_study_without_arms_is_refused(write):
    with pytest.raises(StudyError, match="arms: needs at least 1 item"):
        load_plan(write('name = "s"\narms = []\n'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"seed = {'9' * 5000}", "thousands of digits"),
        (f"seed = {'[' * 3000}{']' * 3000}", "nested too deep"),
        ("seed = [", "not a TOML file"),
    ],
)
def test_what_the_toml_reader_stumbles_over_is_one_message(write, text, message):
    with pytest.raises(StudyError, match=message) as caught:
        load_plan(write(text))
    assert caught.value.mend


@pytest.mark.parametrize("study", ["x" * 300, "a\0b", "\ud800"])
def test_a_path_that_cannot_be_is_one_message(study):
    with pytest.raises(StudyError, match="cannot be read") as caught:
        load_plan(study)
    assert caught.value.mend


def test_a_folder_and_nothing_are_no_study(tmp_path):
    for path in (tmp_path, tmp_path / "nothing", tmp_path / "nothing" / "below"):
        with pytest.raises(StudyError, match="no such study"):
            load_plan(path)


def test_a_folder_without_rights_is_not_called_missing(write, monkeypatch):
    path = write('name = "s"\n' + ARM)
    looked = Path.stat

    def refuse(self, **options):
        if self == path:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return looked(self, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(StudyError, match=r"cannot be read \(Permission denied\)"):
        load_plan(path)


def test_a_file_without_rights_is_one_message(write, monkeypatch):
    path = write('name = "s"\n' + ARM)

    def refuse(self, *arguments, **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(StudyError, match=r"cannot be read \(Permission denied\)"):
        load_plan(path)


@pytest.fixture
def presets(tmp_path, monkeypatch):
    """A folder of presets, one extending another."""
    folder = tmp_path / "presets"
    folder.mkdir()
    (folder / "low.toml").write_text(
        'name = "low"\nepochs = 3\n[settings]\ntemperature = 0.5\nmax_tokens = 7\n[margins]\nrank = 0.1\nrate = 0.2\n'
        + ARM
    )
    (folder / "high.toml").write_text('name = "high"\nextends = "low"\n[settings]\nmax_tokens = 8\n')
    (folder / "round.toml").write_text('name = "round"\nextends = "about"\n')
    (folder / "about.toml").write_text('name = "about"\nextends = "round"\n')
    monkeypatch.setattr(plans, "PRESETS", folder)
    return folder


def test_settings_and_margins_are_merged_over_the_preset(write, presets):
    path = write('name = "mine"\nextends = "high"\n[settings]\ntop_p = 0.9\n[margins]\nrate = 0.3\nallocate = 5\n')
    plan = load_plan(path)
    assert plan.epochs == 3
    assert dataclasses.asdict(plan.settings) == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 8,
        "reasoning": "off",
        "seed": 0,
        "malformed_retries": 1,
        "grammar": "off",
    }
    assert plan.margins == {"rank": 0.1, "rate": 0.3, "allocate": 5.0}


def test_arms_replace_the_presets_arms(write, presets):
    path = write('name = "mine"\nextends = "low"\n' + ARM.replace('"a"', '"b"'))
    assert [arm.name for arm in load_plan(path).arms] == ["b"]


def test_a_setting_that_is_no_table_is_named(write, presets):
    with pytest.raises(StudyError, match="settings: "):
        load_plan(write('name = "mine"\nextends = "low"\nsettings = 3\n'))


def test_presets_that_extend_each_other_are_one_message(write, presets):
    with pytest.raises(StudyError, match="extends goes in a circle: about, round, about"):
        load_plan(write('name = "mine"\nextends = "about"\n'))


@pytest.mark.parametrize("base", ['"nonsense"', "3", '["low"]', "{a = 1}"])
def test_an_unknown_preset_is_one_message(write, presets, base):
    with pytest.raises(StudyError, match="unknown preset") as caught:
        load_plan(write(f'name = "mine"\nextends = {base}\n'))
    assert "low" in caught.value.mend
