"""Shares against R, and the size of the test that groups are alike."""

import json
from pathlib import Path

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.statistics.proportions import equal_shares_p, wilson_interval

WILSON = json.loads((Path(__file__).parent.parent / "data" / "wilson.json").read_text())["wilson"]


@pytest.mark.parametrize("case", WILSON, ids=lambda case: f"{case['x']}of{case['n']}")
def test_wilson_intervals_are_those_of_r(case):
    assert wilson_interval(case["x"], case["n"]) == pytest.approx((case["lower"], case["upper"]), abs=1e-12)


def test_no_trials_have_no_interval():
    assert wilson_interval(0, 0) is None


def test_the_test_of_several_groups_keeps_its_size():
    """Under equal shares a p below .05 comes at most about one time in twenty."""
    rng = np.random.default_rng(5)
    low = 0
    for _ in range(120):
        counts = rng.binomial(60, 0.1, size=4)
        found = equal_shares_p(counts.tolist(), [60] * 4, rng=rng)
        low += found is not None and found[0] < 0.05
    assert low <= 14  # binomial(120, .05) exceeds 14 once in 1,000


def test_unequal_shares_are_found_and_nothing_to_compare_is_none():
    rng = np.random.default_rng(0)
    p, name = equal_shares_p([30, 1, 1], [60, 60, 60], rng=rng)
    assert p == pytest.approx(1 / 10_000)
    assert "9,999 permutations" in name
    assert equal_shares_p([0, 0, 0], [5, 5, 5], rng=rng) is None
    assert equal_shares_p([5, 5], [5, 5], rng=rng) is None
    assert equal_shares_p([1, 0], [5, 0], rng=rng) is None


@pytest.mark.parametrize("case", [(-1, 5), (6, 5), (2.5, 5), (2, -1), ("2", 5), (True, 5), (1, 0), (None, 3)], ids=str)
def test_impossible_counts_have_no_interval(case):
    with pytest.raises(InputError):
        wilson_interval(*case)


@pytest.mark.parametrize("level", [0, 1, 95, float("nan"), "a"])
def test_impossible_levels_are_refused(level):
    with pytest.raises(InputError, match=r"^shares: no interval covers"):
        wilson_interval(2, 5, level=level)


def test_counts_of_numpy_are_counts():
    assert wilson_interval(np.int64(2), np.int32(5)) == wilson_interval(2, 5)
    rng = np.random.default_rng(0)
    assert equal_shares_p(np.array([1, 4]), np.array([5, 5]), rng=rng) == equal_shares_p([1, 4], [5, 5], rng=rng)


@pytest.mark.parametrize(
    ("counts", "totals"),
    [([1, 2], [1]), ([-1, 2], [5, 5]), ([6, 1], [5, 5]), ([1.5, 2], [5, 5]), (["a"], [1]), ([None, 1], [5, 5]), (1, 2)],
)
def test_impossible_shares_are_not_compared(counts, totals):
    with pytest.raises(InputError):
        equal_shares_p(counts, totals, rng=np.random.default_rng(0))


def test_shares_are_not_compared_without_a_generator():
    with pytest.raises(InputError, match="rng is None"):
        equal_shares_p([1, 2, 3], [5, 5, 5], rng=None)
