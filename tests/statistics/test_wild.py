"""The wild cluster bootstrap: against refitting, and its level with few clusters."""

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.statistics import wild
from evenhand.statistics.clustered import fit_clustered
from evenhand.statistics.wild import wild_cluster_test


def clustered(seed, clusters=8, size=15, effect=0.0):
    """A treatment by cluster, errors shared within clusters."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    treated = (cluster < clusters // 2).astype(float)
    z = rng.standard_normal(len(cluster))
    y = effect * treated + 0.5 * z + rng.standard_normal(clusters)[cluster] + rng.standard_normal(len(cluster))
    return pl.DataFrame({"y": y, "treated": treated, "z": z, "cluster": cluster})


def test_the_sums_give_what_refitting_gives(monkeypatch):
    """Every replicate refitted from scratch, with the null imposed and CR1 errors."""
    data = clustered(3, effect=0.6)
    rng = np.random.default_rng(7)
    patterns = rng.choice([-1.0, 1.0], size=(40, 8))
    monkeypatch.setattr(wild, "_patterns", lambda *_: (patterns, False))
    found = wild_cluster_test(data, "y ~ treated + z", cluster="cluster", term="treated", rng=rng)
    null = fit_clustered(data, "y ~ z", cluster="cluster")
    fitted = null.beta[0] + null.beta[1] * data["z"].to_numpy()
    residuals = data["y"].to_numpy() - fitted

    def statistic(y):
        fit = fit_clustered(data.with_columns(y=y), "y ~ treated + z", cluster="cluster")
        return fit.beta[1] / fit.std_errors[1]

    observed = statistic(data["y"].to_numpy())
    drawn = [statistic(fitted + weights[data["cluster"].to_numpy()] * residuals) for weights in patterns]
    extreme = sum(abs(value) >= abs(observed) for value in drawn)
    assert found.statistic == pytest.approx(observed, rel=1e-9)
    assert found.p_value == (extreme + 1) / 41


def test_with_eight_clusters_its_level_holds_where_the_normal_one_does_not():
    wild_p, normal_p = [], []
    for seed in range(250):
        data = clustered(seed)
        drawn = {"cluster": "cluster", "term": "treated", "rng": np.random.default_rng(seed), "replicates": 399}
        wild_p.append(wild_cluster_test(data, "y ~ treated + z", **drawn).p_value)
        fit = fit_clustered(data, "y ~ treated + z", cluster="cluster")
        normal_p.append(abs(fit.beta[1] / fit.std_errors[1]) > 1.96)
    level = np.mean(np.array(wild_p) < 0.05)
    assert 0.02 < level < 0.09
    assert np.mean(normal_p) > 0.1


def test_a_large_effect_is_found_and_few_patterns_are_counted():
    found = wild_cluster_test(
        clustered(1, clusters=12, effect=4),
        "y ~ treated + z",
        cluster="cluster",
        term="treated",
        rng=np.random.default_rng(1),
    )
    assert found.exact
    assert found.replicates == 2**12
    assert found.p_value < 0.01


def test_what_does_not_vary_has_no_statistic_and_unknown_terms_are_refused():
    flat = clustered(1).with_columns(y=pl.col("treated"))
    found = wild_cluster_test(flat, "y ~ treated", cluster="cluster", term="treated", rng=np.random.default_rng(1))
    assert found.statistic is None
    constant = clustered(1).with_columns(y=pl.lit(2.0))
    nothing = wild_cluster_test(
        constant, "y ~ treated", cluster="cluster", term="treated", rng=np.random.default_rng(1)
    )
    assert nothing.p_value is None
    assert "standard error is zero" in nothing.note
    with pytest.raises(InputError, match="no coefficient 'age'"):
        wild_cluster_test(flat, "y ~ treated", cluster="cluster", term="age", rng=np.random.default_rng(1))


@pytest.mark.parametrize("unit", [1e-34, 1e34])
def test_the_unit_of_the_outcome_does_not_matter(unit):
    found = [
        wild_cluster_test(
            clustered(2).with_columns(pl.col("y") * factor), "y ~ treated + z", cluster="cluster", term="z",
            rng=np.random.default_rng(1), replicates=99,
        )
        for factor in (1.0, unit)
    ]  # fmt: skip
    assert found[1].p_value == found[0].p_value
    assert found[1].statistic == pytest.approx(found[0].statistic, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(({"replicates": count}, f"replicates is {count}") for count in (0, -1, 2.5, None, True)),
        ({"rng": None}, "rng is None"),
        ({"rng": 3}, "rng is 3"),
        ({"data": clustered(1).with_columns(pl.col("y") * 1e200)}, "another unit"),
    ],
)
def test_unusable_arguments_are_one_message(arguments, message):
    chosen = {"data": clustered(1), "rng": np.random.default_rng(1), **arguments}
    with pytest.raises(InputError, match=message):
        wild_cluster_test(chosen.pop("data"), "y ~ treated + z", cluster="cluster", term="z", **chosen)
