"""True contrasts on the observed scale: what collection shows, never the latent number."""

import numpy as np
import pytest

from evenhand import study
from evenhand.collection.models import Respondent
from evenhand.collection.runner import teach
from evenhand.construction import build_instrument
from evenhand.errors import InputError
from evenhand.plan import load_plan
from evenhand.respondents import behaviour
from evenhand.respondents.truth import observed_contrast


@pytest.fixture(scope="module")
def instrument():
    return build_instrument(load_plan("verdict"))


def truth(instrument, arm, arguments, preset="null", **given):
    asked = {"factor": "race", "group": "Black", "reference": "White", "draws": 400, **given}
    return observed_contrast(instrument.select([arm]).units, behaviour(preset, arguments), teach(instrument), **asked)


def test_nothing_planted_is_nothing_observed(instrument):
    for arm in ("hiring-rate", "hiring-rank_ties-demographic_disguised", "triage-decide"):
        found = truth(instrument, arm, {})
        assert abs(found.contrast) < 4 * found.std_error + 1e-12


def test_each_format_has_its_own_size_and_none_is_the_latent_one(instrument):
    planted = {"race.Black": -1.5}
    rate = truth(instrument, "hiring-rate", planted)
    decide = truth(instrument, "hiring-decide", planted)
    rank = truth(instrument, "hiring-rank_ties-demographic_disguised", planted)
    assert rate.contrast < rank.contrast < decide.contrast < -0.3
    for found in (rate, decide, rank):
        assert abs(found.contrast + 1.5) > 10 * found.std_error
    assert max(rate.std_error, decide.std_error, rank.std_error) < 0.01


def test_it_is_what_a_collection_shows(tmp_path):
    """Sixteen simulated respondents of one kind, 480 ratings each, against the truth."""
    run = study.build("verdict", tmp_path / "run")
    planted = {"race.Black": -0.4, "noise": 1.0}
    for seed in range(16):
        study.collect(run, [Respondent("sim/null", {**planted, "seed": seed})], part=study.Part(("hiring-rate",)))
    table = study.tabulate(run).drop_nulls("rating")
    found = []
    for _, part in table.group_by("model"):
        by_race = {race: rows["rating"].mean() for (race,), rows in part.group_by("race")}
        found.append(by_race["Black"] - by_race["White"])
    expected = study.true_contrast(
        run, Respondent("sim/null", planted), arm="hiring-rate", factor="race", group="Black", reference="White"
    )
    error = np.hypot(np.std(found, ddof=1) / 4, expected.std_error)
    assert abs(np.mean(found) - expected.contrast) < 4 * error
    assert abs(expected.contrast + 0.4) > 5 * expected.std_error


def test_equal_splitters_show_nothing_in_matched_bundles_and_names_may_scatter(instrument):
    arm = "hiring-rank_ties-demographic_matched"
    assert truth(instrument, arm, {"race.Black": -0.5, "position": 0.0}, preset="equal_splitter").contrast == 0.0
    assert truth(instrument, arm, {"race.Black": -0.5}).contrast < -1
    scattered = truth(instrument, "hiring-rate", {"name_sd": 0.5})
    assert scattered.std_error > 2 * truth(instrument, "hiring-rate", {}).std_error


def test_what_has_no_truth_is_refused(instrument):
    lexicon, null = teach(instrument), behaviour("null", {})
    asked = {"factor": "race", "group": "Black", "reference": "White"}
    mixed = instrument.select(["hiring-rate", "hiring-decide"]).units
    with pytest.raises(InputError, match="units of decide, rate"):
        observed_contrast(mixed, null, lexicon, **asked)
    with pytest.raises(InputError, match="race 'Green' does not occur"):
        truth(instrument, "hiring-rate", {}, group="Green")
    with pytest.raises(InputError, match="units of purpose_choice"):
        truth(instrument, "hiring-purpose_choice-single", {})
