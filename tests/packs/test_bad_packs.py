"""A pack that breaks a rule is one message that says where and what to do."""

import errno
import shutil
from pathlib import Path

import pytest

from evenhand.errors import PackError
from evenhand.packs import load_pack
from evenhand.packs.loader import SHIPPED


@pytest.fixture
def pack(tmp_path):
    folder = shutil.copytree(SHIPPED / "aid", tmp_path / "mine")
    edit(folder / "pack.toml", 'name = "aid"', 'name = "mine"')
    return folder


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_copied_pack_loads_from_its_folder(pack):
    assert load_pack(str(pack)).name == "mine"
    assert load_pack("mine", beside=pack.parent).name == "mine"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("pack.toml", 'title = "Requests for aid"\n', "", "title: is missing"),
        ("pack.toml", 'title = "Requests for aid"', 'titel = "x"', "titel: is not a known key"),
        ("pack.toml", "[length]\n", "[length\n", "not a TOML file"),
        ("pack.toml", "target_words = 200", 'target_words = "many"', "categories.Medical.target_words"),
        ("pack.toml", "(e.g., {example})", "(e.g., {exemple})", "{exemple}"),
        ("pack.toml", '"templates/rent.toml"', '"templates/nowhere.toml"', "no such file"),
        ("templates/rent.toml", "{name}", "{nom}", "{nom}"),
        ("templates/rent.toml", "{name}", "Sam", "placeholders are none"),
        ("templates/rent.toml", "structural =", "structurel =", "exactly the framings"),
        ("templates/rent.toml", 'id = "rent_02"', 'id = "rent_01"', "occurs twice"),
        ("templates/rent.toml", 'closing = "', 'closing = "' + "word " * 60, "within 25 of 120 words"),
        ("templates/rent.toml", "closing =", "ending =", "is not a known key"),
        ("names.csv", "name_id,first", "id,first", "missing column name_id"),
        ("names.csv", "wf1,Susan,Williams,White", "wf1,Susan,Williams,Whyte", "unknown race 'Whyte'"),
        ("names.csv", "wf1,Susan,Williams", "wf1,,Williams", "empty first"),
        ("names.csv", "wf1,Susan", "wf2,Susan", "'wf2' occurs twice"),
        ("names.csv", "Female,1\n", "Female,6\n", "name ranks"),
        ("names.csv", "Female,1\n", "Female,one\n", "name_rank is 'one'"),
        ("names.csv", "Female,1\n", "Female,0\n", "name_rank is '0'"),
        ("names.csv", "Female,1\n", f"Female,{'9' * 5000}\n", "name_rank is '99"),
        ("names.csv", "wf1,Susan", 'wf1,"Su\nsan"', "line break"),
        ("names.csv", "wf1,Susan", "wf1,{Susan", "holds a brace"),
        ("names.csv", "wf1,Susan", "wf1, Susan", "starts or ends with a space"),
        ("names.csv", "wf1,Susan", "w\u2028f1,Susan", "line break"),
        ("names.csv", "wf1,Susan,", "wf1,Susan,Anne,", "more cells than columns"),
        ("pack.toml", 'slot_label = "Request"', 'slot_label = ""', "slot_label: is empty"),
        ("pack.toml", 'slot_label = "Request"', 'slot_label = "Re\\nquest"', "slot_label: holds a line break"),
        ("pack.toml", '"Black", "Hispanic"', '"", "Hispanic"', "groups.race.1: is empty"),
        ("pack.toml", '"Black", "Hispanic"', '"White", "Hispanic"', "groups.race: holds 'White' twice"),
        ("pack.toml", '"Female", "Male"]', '"Female"]', "groups.gender: needs at least 2 items"),
        ("pack.toml", 'framings = ["no_cause", ', 'framings = ["structural", ', "framings: holds 'structural' twice"),
        ("pack.toml", "[categories.Rent]", '[categories."Re\\nnt"]', "line break"),
        ("pack.toml", "[wordings.rate]\nbase", '[wordings.rate]\n"ba\\nse"', "should match pattern"),
        ("pack.toml", "tolerance = 25", f"tolerance = {'9' * 5000}", "thousands of digits"),
        ("pack.toml", "tolerance = 25", f"tolerance = 0x{'f' * 5000}", "length.tolerance"),
        ("pack.toml", "tolerance = 25", "tolerance = true", "length.tolerance"),
        ("pack.toml", "[length]", f"deep = {'[' * 3000}{']' * 3000}\n[length]", "nested too deep"),
        ("pack.toml", '"templates/rent.toml"', '"../rent.toml"', "outside the pack"),
        ("pack.toml", '"templates/rent.toml"', '"/etc/rent.toml"', "outside the pack"),
        ("pack.toml", '"templates/rent.toml"', f'"{"x" * 300}"', "cannot be read"),
        ("pack.toml", '"templates/rent.toml"', '"rent\\u0000.toml"', "cannot be read"),
        ("pack.toml", '"templates/rent.toml"', '"templates"', "cannot be read"),
        ("pack.toml", 'name = "mine"', 'name = "aid"', "ships with Evenhand has the name 'aid'"),
    ],
)
def test_each_fault_is_named(pack, file, old, new, message):
    edit(pack / file, old, new)
    with pytest.raises(PackError) as caught:
        load_pack(str(pack))
    assert message in str(caught.value)
    assert str(pack) in str(caught.value) or "pack" in caught.value.where
    assert caught.value.mend


def test_one_fault_is_not_also_called_a_lack(pack):
    edit(pack / "pack.toml", 'race = ["White", "Black", "Hispanic", "Asian"]', 'race = ["White", ""]')
    with pytest.raises(PackError) as caught:
        load_pack(str(pack))
    assert caught.value.what == "groups.race.1: is empty"


def test_the_shipped_pack_may_be_named_by_its_folder():
    assert load_pack(str(SHIPPED / "aid")).name == "aid"


def test_names_that_are_a_folder_are_one_message(pack):
    (pack / "names.csv").unlink()
    (pack / "names.csv").mkdir()
    with pytest.raises(PackError, match=r"names\.csv: cannot be read \(Is a directory\)"):
        load_pack(str(pack))


def test_a_missing_file_of_names_is_one_message(pack):
    (pack / "names.csv").unlink()
    with pytest.raises(PackError, match=r"Add names\.csv"):
        load_pack(str(pack))


@pytest.mark.parametrize("file", ["pack.toml", "names.csv", "templates/rent.toml"])
def test_a_file_without_rights_is_one_message(pack, monkeypatch, file):
    opened = Path.open

    def refuse(self, *arguments, **options):
        if self == pack / file:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PackError, match="Permission denied") as caught:
        load_pack(str(pack))
    assert caught.value.where == str(pack / file)
    assert caught.value.mend


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "./" + "x" * 300, "\ud800"])
def test_a_path_that_cannot_be_is_one_message(name):
    with pytest.raises(PackError) as caught:
        load_pack(name)
    assert caught.value.where
    assert caught.value.mend


def test_a_folder_that_cannot_be_looked_into_is_not_called_unknown(pack, monkeypatch):
    looked = Path.stat

    def refuse(self, **options):
        if self == pack / "pack.toml":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return looked(self, **options)

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(PackError, match="Permission denied"):
        load_pack(str(pack))


def test_people_with_awkward_names_stay_people(pack):
    edit(pack / "names.csv", "Susan,Williams", "Null,NA")
    edit(pack / "names.csv", "Katherine,O'Brien", "True,None")
    names = [name.full for name in load_pack(str(pack)).names]
    assert names[:2] == ["Null NA", "True None"]


def test_a_byte_order_mark_does_no_harm(pack):
    path = pack / "names.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(load_pack(str(pack)).names) == 40


def test_an_unknown_pack_lists_the_shipped_ones():
    with pytest.raises(PackError, match="aid"):
        load_pack("nonsense")
