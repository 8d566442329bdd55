"""The 25 differences as arrays are those of the paper's words, whatever cells are populated."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from plain_pillars import differences

from evenhand.analysis.contrasts import CELLS, CONTRASTS, FRAMINGS, GENDERS, RACES, group_differences

LEVELS = list(product(RACES, GENDERS, FRAMINGS))


@given(
    counts=arrays.arrays(np.float64, (3, CELLS), elements=st.integers(0, 2)),
    values=arrays.arrays(np.float64, (CELLS,), elements=st.integers(-5, 5)),
)
@settings(deadline=None)
def test_differences_are_those_of_plain_loops(counts, values):
    found = group_differences(counts * values, counts)
    for replicate, filled in zip(found, counts, strict=True):
        rows = [
            {"race": race, "gender": gender, "framing": framing, "y": values[cell]}
            for cell, (race, gender, framing) in enumerate(LEVELS)
            for _ in range(int(filled[cell]))
        ]
        assert list(replicate) == pytest.approx(list(differences(rows).values()), nan_ok=True, abs=1e-9)


def test_the_first_differences_alone_are_the_first_of_all():
    rng = np.random.default_rng(1)
    sums, counts = rng.normal(size=(4, CELLS)), rng.integers(0, 3, size=(4, CELLS)).astype(float)
    assert len(CONTRASTS) == 25
    for first in (5, 9):
        whole = group_differences(sums, counts)[:, :first]
        np.testing.assert_array_equal(group_differences(sums, counts, first=first), whole)
