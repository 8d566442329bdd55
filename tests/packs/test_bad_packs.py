"""A pack that breaks a rule is one message that says where and what to do."""

import shutil

import pytest

from evenhand.errors import PackError
from evenhand.packs import load_pack
from evenhand.packs.loader import SHIPPED


@pytest.fixture
def pack(tmp_path):
    return shutil.copytree(SHIPPED / "aid", tmp_path / "mine")


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_copied_pack_loads_from_its_folder(pack):
    assert load_pack(str(pack)).name == "aid"
    assert load_pack("mine", beside=pack.parent).name == "aid"


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
        ("templates/rent.toml", "closing =", "ending =", "is missing"),
        ("names.csv", "name_id,first", "id,first", "missing column name_id"),
        ("names.csv", "wf1,Susan,Williams,White", "wf1,Susan,Williams,Whyte", "unknown race 'Whyte'"),
        ("names.csv", "wf1,Susan,Williams", "wf1,,Williams", "empty first"),
        ("names.csv", "wf1,Susan", "wf2,Susan", "'wf2' occurs twice"),
        ("names.csv", "Female,1\n", "Female,6\n", "name ranks"),
        ("names.csv", "Female,1\n", "Female,one\n", "name_rank is 'one'"),
    ],
)
def test_each_fault_is_named(pack, file, old, new, message):
    edit(pack / file, old, new)
    with pytest.raises(PackError) as caught:
        load_pack(str(pack))
    assert message in str(caught.value)
    assert str(pack) in str(caught.value) or "pack" in caught.value.where
    assert caught.value.mend


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
