"""Quantiles and tails against scipy.stats."""

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics.tails import normal_quantile, normal_two_sided, t_quantile, t_two_sided

DF = np.array([0.4, 1, 2.5, 7, 40, 1e5, np.inf])


def test_quantiles_are_those_of_scipy():
    np.testing.assert_allclose(t_quantile(0.975, DF), stats.t.ppf(0.975, DF), rtol=1e-12)
    assert normal_quantile(0.975) == pytest.approx(stats.norm.ppf(0.975), rel=1e-14)


@pytest.mark.parametrize("statistic", [-3.0, 0.0, 0.2, 9.0])
def test_tails_are_those_of_scipy(statistic):
    np.testing.assert_allclose(t_two_sided(statistic, DF), 2 * stats.t.sf(abs(statistic), DF), rtol=1e-10)
    assert float(normal_two_sided(statistic)) == pytest.approx(2 * stats.norm.sf(abs(statistic)), rel=1e-12)


def test_what_is_missing_stays_missing():
    assert np.isnan(t_two_sided(float("nan"), 5.0))
    assert np.isnan(t_quantile(0.975, float("nan")))
