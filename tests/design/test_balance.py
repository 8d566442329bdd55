"""The three answers of a composition check."""

import itertools

import pytest

from evenhand.design.balance import check_composition


def rows(cells):
    return [
        {
            "race": race,
            "gender": "F",
            "framing": None,
            "position": position,
            "category": "c",
            "scenario_id": "s",
            "name": name,
        }
        for race, position, name in cells
    ]


def status(cells, factor):
    found = {(check.contrast, check.factor): check for check in check_composition("arm", rows(cells))}
    return found["race", factor]


def test_equal_counts_are_crossed():
    cells = list(itertools.product(["W", "B"], [1, 2], ["x"]))
    cells = [(race, position, f"{race}{name}") for race, position, name in cells]
    assert status(cells, "position").status == "crossed"
    assert status(cells, "name").status == "crossed"


def test_equal_proportions_are_quota():
    cells = [("W", 1, "w")] * 4 + [("B", 1, "b")] * 2 + [("W", 2, "w")] * 2 + [("B", 2, "b")]
    assert status(cells, "position").status == "quota"


@pytest.mark.parametrize("times", [1, 5])
def test_lined_up_levels_are_confounded_and_named(times):
    cells = ([("W", 1, "w")] * 2 + [("B", 2, "b")] * 2) * times
    found = status(cells, "position")
    assert found.status == "confounded"
    assert found.pattern == ("position i only meets names congruent to i mod 2: each position meets one race alone")


def test_the_worst_level_is_named():
    cells = [("W", 1, "w")] * 3 + [("W", 2, "w")] + [("B", 1, "b")] + [("B", 2, "b")] * 3
    assert status(cells, "position").pattern == "race W meets position 1 3 times, not 2"


def test_a_group_with_fewer_names_is_confounded_with_them():
    cells = [("W", 1 + i % 2, f"w{i % 10}") for i in range(20)] + [("B", 1 + i % 2, "b") for i in range(20)]
    found = status(cells, "name")
    assert found.status == "confounded"
    assert found.pattern == "1 names of B F against 10 of W F"


def test_uneven_use_of_names_is_confounded():
    cells = [("W", 1, "w1"), ("W", 2, "w1"), ("W", 1, "w2"), ("B", 1, "b"), ("B", 2, "b"), ("B", 1, "b")]
    assert status(cells, "name").status == "quota"
    assert status([*cells, ("W", 2, "w1"), ("B", 2, "b")], "name").status == "confounded"


def test_a_single_group_is_no_contrast():
    assert check_composition("arm", rows([("W", 1, "w"), ("W", 2, "w")])) == ()
