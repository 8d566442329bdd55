"""The cluster bootstrap draws as many clusters as there are, evenly."""

import numpy as np
import pytest

from evenhand.statistics.bootstrap import resampled_sums


@pytest.mark.parametrize("clusters", [1, 7, 600, 70_000])
def test_each_replicate_draws_as_many_clusters_as_there_are(clusters):
    sums = resampled_sums(np.ones((clusters, 1)), replicates=5, rng=np.random.default_rng(1))
    assert sums.shape == (5, 1)
    assert (sums == clusters).all()


def test_counts_have_the_moments_of_the_multinomial():
    counts = resampled_sums(np.eye(40), replicates=20_000, rng=np.random.default_rng(2))
    assert (counts.sum(axis=1) == 40).all()
    # Mean 1, variance 1 - 1/40, covariance -1/40, each to four standard errors of 20,000 draws.
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.028)
    covariance = np.cov(counts.T, bias=True)
    np.testing.assert_allclose(np.diag(covariance), 1 - 1 / 40, atol=0.05)
    np.testing.assert_allclose(covariance[~np.eye(40, dtype=bool)], -1 / 40, atol=0.035)


def test_the_spread_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(3).normal(size=(200, 1))
    means = resampled_sums(values, replicates=20_000, rng=np.random.default_rng(4)) / 200
    assert means.std() == pytest.approx(values.std() / np.sqrt(200), rel=0.02)


def test_sums_of_whole_numbers_are_exact():
    totals = np.random.default_rng(5).integers(0, 10_000, size=(300, 3)).astype(float)
    exact = resampled_sums(np.eye(300), replicates=50, rng=np.random.default_rng(6)).astype(float) @ totals
    found = resampled_sums(totals, replicates=50, rng=np.random.default_rng(6))
    np.testing.assert_array_equal(found, exact)
