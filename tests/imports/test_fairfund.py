"""Released materials are refused at the door where anything later would refuse them, with file and line."""

import csv
import errno
from pathlib import Path

import pytest

from evenhand.design.designs import DESIGNS
from evenhand.errors import InputError
from evenhand.imports.fairfund import SIZES, import_fairfund

RELEASED_DIGEST = "64b64f0a6ca1a3de5186370eeeae3c6722251b1c8fa856d14d05ea04eda145a1"
PEOPLE = (("White", "wf", "Susan Williams"), ("Black", "bf", "Latoya Washington"), ("Hispanic", "hf", "Maria Lopez"),
          ("Asian", "af", "Mei Chen"), ("White", "wm", "John Smith"))  # fmt: skip


def stimulus(number):
    race, code, name = PEOPLE[number]
    gender = "Male" if code.endswith("m") else "Female"
    return {
        "stimulus_id": f"rent_01__no_cause__{code}1",
        "category": "Rent",
        "scenario_id": "rent_01",
        "framing": "no_cause",
        "race": race,
        "gender": gender,
        "name_rank": "1",
        "full_name": name,
        "text": f"My name is {name}.",
    }


def bundle(kind, *numbers):
    return [
        {
            "task": "rate" if kind == "rate" else "rank",
            "unit_id": f"{kind}_1",
            "position": str(position),
            "stimulus_id": stimulus(number)["stimulus_id"],
            "bundle_type": kind,
        }
        for position, number in enumerate(numbers, start=1)
    ]


def write(folder, stimuli, bundles):
    for name, rows in (("stimuli.csv", stimuli), ("bundles.csv", bundles)):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


@pytest.fixture
def stimuli():
    return [stimulus(number) for number in range(5)]


def test_small_materials_are_imported(tmp_path, stimuli):
    write(tmp_path, stimuli, bundle("race_transparent", 0, 1, 2, 3) + bundle("rate", 4))
    plan, instrument = import_fairfund(tmp_path)
    assert [arm.name for arm in plan.arms] == ["aid-rate", "aid-rank-race_transparent"]
    slots = instrument.units[1].slots
    assert [(slot.position, slot.race, slot.name, slot.name_rank) for slot in slots] == [
        (position, race, name, 1) for position, (race, _, name) in enumerate(PEOPLE[:4], start=1)
    ]
    assert "My name is Mei Chen." in instrument.units[1].prompt


def test_the_released_materials_keep_their_digest(shared):
    assert import_fairfund(shared / "fairfund")[1].digest == RELEASED_DIGEST


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name_rank": "0"}, "name_rank is '0'"),
        ({"name_rank": "9" * 5000}, "name_rank is '999"),
        ({"name_rank": "one"}, "name_rank is 'one'"),
        ({"text": ""}, "empty text"),
        ({"text": "  \n"}, "empty text"),
        ({"full_name": "Mei\nChen"}, "line break"),
        ({"full_name": "Susan Williams"}, "'Susan Williams' is Black Female 1 here and White Female 1 above"),
        ({"race": "Martian"}, "unknown race"),
        ({"stimulus_id": "rent_01__no_cause__wf1"}, "occurs twice"),
    ],
)
def test_a_faulty_stimulus_is_refused_with_file_and_line(tmp_path, stimuli, changes, message):
    stimuli[1] |= changes
    write(tmp_path, stimuli, bundle("rate", 4))
    with pytest.raises(InputError) as caught:
        import_fairfund(tmp_path)
    assert message in caught.value.what
    # A text with a line break ends one line further on.
    ends = 3 + sum(value.count("\n") for value in changes.values())
    assert caught.value.where == f"{tmp_path / 'stimuli.csv'} line {ends}"
    assert caught.value.mend


@pytest.mark.parametrize("kind", list(SIZES))
def test_a_unit_has_as_many_slots_as_its_design(tmp_path, stimuli, kind):
    for size in range(1, 6):
        write(tmp_path, stimuli, bundle(kind, *range(size)))
        if size == SIZES[kind]:
            assert len(import_fairfund(tmp_path)[1].units[0].slots) == size
        else:
            with pytest.raises(InputError, match=r"bundles\.csv line 2: the unit .* has the positions"):
                import_fairfund(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": "1"}, "has the positions 1, 1"),
        ({"position": "3"}, "has the positions 1, 3"),
        ({"position": "0"}, "position is '0'"),
        ({"position": "9" * 5000}, "position is '999"),
        ({"stimulus_id": "rent_01__no_cause__wf1"}, "shows one text twice"),
        ({"stimulus_id": "nobody"}, "unknown stimulus"),
        ({"task": "rate"}, "does not go with"),
        ({"task": "guess"}, "unknown task"),
        ({"bundle_type": "pairs"}, "unknown bundle_type"),
        ({"unit_id": "a\nb"}, "line break"),
    ],
)
def test_a_faulty_bundle_is_refused_with_file_and_line(tmp_path, stimuli, changes, message):
    rows = bundle("gender_transparent", 0, 4)
    rows[1] |= changes
    write(tmp_path, stimuli, rows)
    with pytest.raises(InputError) as caught:
        import_fairfund(tmp_path)
    assert message in caught.value.what
    assert str(tmp_path / "bundles.csv") + " line " in caught.value.where
    assert caught.value.mend


def test_two_stimuli_of_one_text_are_no_bundle(tmp_path, stimuli):
    stimuli[4]["text"] = stimuli[0]["text"]
    write(tmp_path, stimuli, bundle("gender_transparent", 0, 4))
    with pytest.raises(InputError, match="shows one text twice"):
        import_fairfund(tmp_path)


def test_designs_of_our_own_are_no_released_bundle_types(tmp_path, stimuli, monkeypatch):
    monkeypatch.setitem(DESIGNS, "pairs", DESIGNS["gender_transparent"])
    write(tmp_path, stimuli, bundle("pairs", 0, 4))
    with pytest.raises(InputError, match="unknown bundle_type 'pairs'"):
        import_fairfund(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "nothing"])
def test_a_folder_that_cannot_be_is_one_message(tmp_path, name):
    with pytest.raises(InputError) as caught:
        import_fairfund(tmp_path / name)
    assert "stimuli.csv" in caught.value.where
    assert caught.value.mend


def test_a_file_without_rights_is_one_message(tmp_path, stimuli, monkeypatch):
    write(tmp_path, stimuli, bundle("rate", 4))
    opened = Path.open

    def refuse(self, *arguments, **options):
        if self.name == "bundles.csv":
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return opened(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match=r"bundles\.csv: cannot be read \(Permission denied\)"):
        import_fairfund(tmp_path)
