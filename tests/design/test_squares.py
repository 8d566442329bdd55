"""Laws of the squares."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.design.squares import graeco_latin, latin, orthogonal
from evenhand.errors import DesignError


def is_latin(square) -> bool:
    symbols = set(range(len(square)))
    return all(set(row) == symbols for row in square) and all(
        set(column) == symbols for column in zip(*square, strict=True)
    )


@given(st.integers(1, 40))
def test_cyclic_squares_are_latin(order):
    assert is_latin(latin(order))


@pytest.mark.parametrize("order", [3, 4, 5, 7, 8, 9, 11, 12, 13, 15, 16, 20, 25, 27])
def test_graeco_latin_squares_show_every_pair_once(order):
    left, right = graeco_latin(order)
    assert is_latin(left)
    assert is_latin(right)
    pairs = {(left[i][j], right[i][j]) for i in range(order) for j in range(order)}
    assert len(pairs) == order * order


@pytest.mark.parametrize(("order", "count"), [(3, 2), (4, 3), (5, 4), (7, 6), (8, 7), (9, 8), (11, 10)])
def test_prime_powers_have_complete_sets(order, count):
    squares = orthogonal(order, count)
    assert len(set(squares)) == count
    for left, right in itertools.combinations(squares, 2):
        assert len({(left[i][j], right[i][j]) for i in range(order) for j in range(order)}) == order * order


@pytest.mark.parametrize("order", [2, 6])
def test_orders_without_an_orthogonal_pair_say_so(order):
    with pytest.raises(DesignError, match="no orthogonal pair"):
        graeco_latin(order)


@pytest.mark.parametrize(("order", "count"), [(10, 2), (1, 2), (5, 5), (0, 1)])
def test_what_is_not_built_is_an_error(order, count):
    with pytest.raises(DesignError, match="built at this order"):
        orthogonal(order, count)


def test_order_zero_is_refused():
    with pytest.raises(DesignError, match="order 0"):
        latin(0)
