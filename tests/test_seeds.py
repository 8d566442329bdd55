"""Draws depend on their key alone, always."""

import os
import subprocess
import sys

import numpy as np
import pytest

from evenhand.seeds import generator, normal, uniform

KEYS = [(0, "a"), (1, "a"), ("0", "a"), (0, "b"), (0, "a", "b"), (0, "ab"), (0, "b", "a"), ("a", 0), (0,), ("é", 0)]


def draws(*key):
    return generator(*key).integers(0, 2**32, size=4).tolist()


@pytest.mark.parametrize(
    "draw", [lambda *key: tuple(draws(*key)), uniform, normal], ids=["stream", "uniform", "normal"]
)
def test_every_part_of_the_key_its_order_and_its_type_count(draw):
    assert len({draw(*key) for key in KEYS}) == len(KEYS)
    assert [draw(*key) for key in KEYS] == [draw(*key) for key in KEYS]


def test_draws_are_always_the_same():
    assert draws(0, "a") == [4028141209, 3613787882, 767240179, 1552697246]
    assert uniform(0, "a") == 0.4478111609217456
    assert normal(0, "a") == -0.13119339371273836


def test_draws_do_not_depend_on_the_process():
    code = "from evenhand.seeds import uniform; print(uniform(0, 'a'))"
    for hash_seed in ("0", "1"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert float(done.stdout) == uniform(0, "a")


def test_streams_of_two_keys_are_independent_of_the_order_of_draws():
    first, second = generator("x"), generator("y")
    alone = generator("y").random(3)
    first.random(100)
    np.testing.assert_array_equal(second.random(3), alone)


def test_uniform_draws_are_even_and_normal_draws_normal():
    even = np.array([uniform("even", number) for number in range(20_000)])
    assert ((even > 0) & (even < 1)).all()
    counts = np.bincount((even * 10).astype(int), minlength=10)
    # Ten counts of 2,000, each to five standard errors.
    np.testing.assert_allclose(counts, 2000, atol=5 * np.sqrt(1800))
    bell = np.array([normal("bell", number) for number in range(20_000)])
    assert np.isfinite(bell).all()
    assert bell.mean() == pytest.approx(0, abs=5 / np.sqrt(20_000))
    assert bell.std() == pytest.approx(1, abs=5 / np.sqrt(40_000))


def test_lone_surrogates_are_a_key_like_any_other():
    assert uniform("\ud800") != uniform("\ud801")
