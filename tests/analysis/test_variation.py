"""Run-level variance from epochs, and the spread of groups that are alike."""

import numpy as np
import polars as pl
import pytest
from small_audits import bundles, material, one, ordering, rated, singles

from evenhand.analysis.variation import arity_null, name_effects, run_variance


def test_one_epoch_has_a_note_and_no_number():
    found = run_variance(material(singles("rate", rated(np.random.default_rng(1)))))
    assert found.height == 1
    assert found["estimate"][0] is None
    assert found["note"][0].startswith("one epoch")


def runs(rng, moves):
    """Epochs that share names' noise and differ by a planted shift of one group."""
    noise = {}

    def value(model, profile, name, epoch):
        own = noise.setdefault((model, profile, name), rng.normal(scale=4))
        return round(10 * profile + own + (moves[epoch - 1] if name[0] == "Black" else 0.0))

    return singles("rate", value, epochs=len(moves))


def test_a_contrast_that_moves_between_epochs_has_that_sd_and_a_wider_interval():
    moves = [-30.0, 0.0, 30.0, 0.0]
    found = run_variance(material(runs(np.random.default_rng(4), moves)))
    moved = one(found, estimand="run_sd", group="Black", model="pooled")
    assert moved["estimate"] == pytest.approx(np.std(moves, ddof=1), rel=0.05)
    assert one(found, estimand="run_sd", group="Asian", model="pooled")["estimate"] == pytest.approx(0.0, abs=0.5)
    black, asian = (one(found, estimand="contrast_with_runs", group=g, model="pooled") for g in ("Black", "Asian"))
    assert black["std_error"] > 5 * asian["std_error"]
    # Rubin's rules: (1 + 1/m) B is nearly all of it.
    assert black["std_error"] == pytest.approx(np.sqrt(1.25 * np.var(moves, ddof=1)), rel=0.1)
    assert black["df"] == pytest.approx(3.0, abs=0.6)
    assert black["conf_low"] < 0 < black["conf_high"]


def test_epochs_that_agree_add_nothing():
    found = run_variance(material(runs(np.random.default_rng(4), [0.0, 0.0])))
    assert one(found, estimand="answer_sd", model="pooled")["estimate"] == 0.0
    assert set(found.filter(estimand="run_sd")["estimate"].round(6)) == {0.0}
    told = one(found, estimand="contrast_with_runs", group="Black", model="m1")
    assert told["conf_low"] < told["estimate"] < told["conf_high"]


def test_repeated_answers_have_their_sd():
    rng = np.random.default_rng(9)
    rows = singles("rate", lambda m, p, n, e: round(1000 * p + 100 * rng.normal()), epochs=6)
    found = one(run_variance(material(rows)), estimand="answer_sd", model="pooled")
    assert found["estimate"] == pytest.approx(100, rel=0.1)
    assert found["n"] == 2 * 6 * 24


def test_a_planted_spread_stands_out_and_the_null_is_above_zero():
    rows = singles("rate", rated(np.random.default_rng(2), groups={"Black": -2.0}))
    found = arity_null(material(rows)).filter(model="pooled", term="race")
    spread, null = (one(found, estimand=name) for name in ("spread", "spread_null"))
    assert spread["estimate"] == pytest.approx(20, abs=4)
    assert spread["p_value"] < 0.01
    assert 0 < null["conf_low"] < null["estimate"] < null["conf_high"] < spread["estimate"]
    gender = one(arity_null(material(rows)), model="pooled", term="gender", estimand="spread")
    assert gender["p_value"] > 0.05


def test_more_groups_have_a_larger_spread_by_chance():
    found = arity_null(material(singles("rate", rated(np.random.default_rng(2)))))
    means = {r["term"]: r["estimate"] for r in found.filter(estimand="spread_null", model="pooled").to_dicts()}
    assert means["gender"] < means["race"] < means["race x gender"]


@pytest.mark.parametrize("form", ["rate", "rank_ties"])
def test_without_effects_p_values_are_uniform_or_larger(form):
    p = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        names = {}

        def worth(name, rng=rng, names=names):
            return names.setdefault(name, rng.normal())

        if form == "rate":
            rows = singles("rate", lambda m, p, n, e: round(10 * (p + worth(n) + 0.5 * rng.normal())), models=("m",))  # noqa: B023
        else:

            def rank(model, slots):
                score = [-s["stratum"] + worth(s["name"]) + rng.normal() for s in slots]  # noqa: B023
                return (np.argsort(np.argsort(-np.array(score))) + 1).tolist()

            rows = bundles("rank_ties", rank, models=("m",))
        p.append(one(arity_null(material(rows)), term="race", estimand="spread")["p_value"])
    assert np.mean(np.array(p) <= 0.1) <= 0.2
    assert 0.35 < np.mean(p) < 0.75


def test_names_effects_of_a_crossed_design_are_their_means():
    given = material(singles("rate", rated(np.random.default_rng(6))))
    cell = given.cells[0]
    found = name_effects(cell, cell.rows)
    assert found.height == 24
    plain = cell.rows.group_by("name").agg(pl.col("y").mean())
    joined = found.join(plain, on="name")
    centred = joined["y"] - joined["y"].mean()
    assert (joined["effect"] - joined["effect"].mean()).to_list() == pytest.approx(centred.to_list(), abs=1e-6)


def test_names_that_do_not_differ_have_nothing_to_exchange():
    found = arity_null(material(singles("rate", lambda m, p, n, e: p)))
    assert set(found["note"]) == {"no name differs from another: there is nothing to exchange"}
    assert set(found["estimate"]) == {0.0}


def test_a_factor_that_never_meets_within_answers_is_not_identified():
    rank = ordering(np.random.default_rng(8))
    rows = [row | {"gender": "Male", "name": row["name"] + row["gender"]} for row in bundles("rank_ties", rank)]
    rows += [row | {"gender": "Female", "unit_id": "f" + row["unit_id"]} for row in bundles("rank_ties", rank)]
    found = arity_null(material(rows)).filter(model="pooled")
    assert one(found, term="gender")["note"].startswith("not identified")
    assert one(found, term="race", estimand="spread")["p_value"] is not None
