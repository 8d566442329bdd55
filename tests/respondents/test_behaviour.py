"""The rule on arrays, and the text layer above it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.errors import InputError
from evenhand.respondents import (
    PRESETS,
    Behaviour,
    Lexicon,
    Person,
    ToolOffer,
    Written,
    behaviour,
    learn,
    respond,
    rule,
    shipped,
)
from evenhand.respondents.reading import read_prompt

utilities = arrays(np.float64, st.integers(2, 12), elements=st.floats(-6, 6))


@given(utilities)
def test_ranks_are_competition_ranks(utility):
    ranks = rule.ranks(utility)
    for own, rank in zip(utility, ranks, strict=True):
        assert rank == 1 + sum(other > own for other in utility)


@given(utilities, st.integers(0, 2**32))
def test_broken_ties_make_a_permutation_that_respects_utility(utility, seed):
    lots = np.random.default_rng(seed).random(len(utility))
    ranks = rule.ranks(utility, tie_breaker=lots)
    assert sorted(ranks) == list(range(1, len(utility) + 1))
    for i, j in itertools.combinations(range(len(utility)), 2):
        if utility[i] > utility[j]:
            assert ranks[i] < ranks[j]


@given(utilities, st.sampled_from([10_000, 1_000, 999, 7]))
def test_allocations_sum_to_the_total_and_never_fall_below_zero(utility, total):
    shares = rule.allocations(utility, total=total)
    assert shares.sum() == total
    assert (shares >= 0).all()


@pytest.mark.parametrize("slots", [2, 4, 5])
def test_equal_utilities_get_equal_shares(slots):
    assert set(rule.allocations(np.zeros(slots)).tolist()) == {10_000 // slots}


@given(arrays(np.float64, 20, elements=st.floats(-30, 30)))
def test_ratings_stay_on_the_scale_and_rise_with_utility(utility):
    order = np.argsort(utility)
    ratings = rule.ratings(utility)[order]
    assert ratings.min() >= 1
    assert ratings.max() <= 5
    assert (np.diff(ratings) >= 0).all()


def test_content_of_a_shipped_pack_has_mean_0_and_sd_1():
    known = np.array([content.utility for content in shipped().contents.values()])
    assert known.mean() == pytest.approx(0, abs=1e-12)
    assert known.std() == pytest.approx(1, abs=1e-12)


def test_effects_are_planted_in_latent_sds():
    biased = Behaviour(noise=2.0, race={"Black": -0.5}, gender={"Female": 0.25})
    race, gender = np.array([["White", "Black"]]), np.array([["Female", "Female"]])
    planted = rule.planted_effects(biased, race=race, gender=gender, framing=np.array([["", ""]]))
    assert planted.tolist() == [[0.25, -0.25]]
    utility = rule.utilities(biased, content=np.zeros((1, 2)), planted=planted, noise=np.ones((1, 2)))
    assert utility[0, 0] - utility[0, 1] == pytest.approx(0.5)
    assert utility[0, 0] == pytest.approx(0.25 + 2 / np.sqrt(5))


def test_the_first_place_is_favoured_by_the_position_effect():
    empty = np.array([""] * 4)
    planted = rule.planted_effects(Behaviour(position=0.3), race=empty, gender=empty, framing=empty)
    assert planted == pytest.approx([0.3, 0.2, 0.1, 0.0])


@pytest.mark.parametrize("effect", [0.2, 0.6])
def test_planted_effects_are_recovered_from_simulated_ratings(effect):
    """On arrays, without text: the mean utility gap of many draws is the planted one."""
    rng = np.random.default_rng(3)
    planted_in = Behaviour(race={"Black": -effect})
    race = np.array(["White", "Black"] * 20_000)
    none = np.full(race.shape, "")
    planted = rule.planted_effects(planted_in, race=race[:, None], gender=none[:, None], framing=none[:, None])
    utility = rule.utilities(
        planted_in, content=rng.normal(size=(40_000, 1)), planted=planted, noise=rng.normal(size=(40_000, 1))
    )
    gap = utility[race == "Black"].mean() - utility[race == "White"].mean()
    assert gap == pytest.approx(-effect, abs=4 * np.sqrt(2 / 20_000))


def test_parameters_come_by_name():
    changed = behaviour("biased", {"noise": "1.5", "race.Black": -0.9, "split_identical": "true", "seed": 3})
    assert changed.noise == 1.5
    assert changed.race["Black"] == -0.9
    assert changed.race["Asian"] == PRESETS["biased"].race["Asian"]
    assert changed.split_identical
    assert changed.seed == 3


@pytest.mark.parametrize(
    "arguments",
    [
        {"nois": 1},
        {"race": 1},
        {"race.": 1},
        {"noise": "loud"},
        {"noise": -1},
        {"noise": True},
        {"noise": 1e308},
        {"noise": "nan"},
        {"chatty": 2},
        {"seed": 1.7},
        {"split_identical": "maybe"},
    ],
)
def test_wrong_parameters_are_refused(arguments):
    with pytest.raises(InputError):
        behaviour("null", arguments)


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(InputError, match="equal_splitter"):
        behaviour("nobody", {})


def prompt(*texts, ask="Below are two requests for aid. Assign each a rank."):
    body = texts[0] if len(texts) == 1 else "\n\n".join(f"Request {i}:\n{text}" for i, text in enumerate(texts, 1))
    return f"{ask}\n\n{body}"


ALLOCATE = "You have $10,000 to distribute. Allocate the funds, summing to exactly $10,000."


def test_identical_contents_under_two_names_get_equal_shares_without_effects():
    text = "My name is {} and I need help."
    said = respond(
        prompt(text.format("Susan Williams"), text.format("Latoya Washington"), ask=ALLOCATE),
        who="null",
        behaviour=PRESETS["null"],
    )
    assert said.text == "5000,5000"


def test_the_same_profile_under_another_name_in_another_prompt_draws_other_noise():
    text = "My name is {} and I need help."
    rated = set()
    for name in (
        "Susan Williams",
        "Amy Williams",
        "Emily Johnson",
        "Misty Miller",
        "Lee Williams",
        "Kevin O'Brien",
    ):
        rated.add(
            respond(
                prompt(text.format(name), ask="Rate its priority on a scale of 1 (lowest) to 5 (highest)."),
                who="null",
                behaviour=Behaviour(noise=2.0),
            ).text
        )
    assert len(rated) > 1


def test_the_equal_splitter_ties_identical_contents_and_only_those():
    text = "My name is {} and I need help."
    pair = prompt(text.format("Susan Williams"), text.format("Latoya Washington"))
    assert respond(pair, who="equal_splitter", behaviour=PRESETS["equal_splitter"]).text == "1,1"
    other = prompt(text.format("Susan Williams"), "Hello, Latoya Washington here, with another story.")
    assert respond(other, who="equal_splitter", behaviour=PRESETS["equal_splitter"]).text in {"1,2", "2,1"}


@settings(max_examples=200, deadline=None)
@given(st.text(), st.sampled_from(sorted(PRESETS)), st.integers(0, 3))
def test_any_text_gets_an_answer_and_always_the_same(text, who, seed):
    first = respond(text, who=who, behaviour=PRESETS[who], seed=seed)
    assert first == respond(text, who=who, behaviour=PRESETS[who], seed=seed)
    assert first.text


def test_a_prompt_that_asks_nothing_known_is_not_answered():
    assert read_prompt("What is the weather?\n\nSunny", Lexicon()).asked == "nothing"
    assert "not sure" in respond("What is the weather?\n\nSunny", who="null", behaviour=PRESETS["null"]).text


def test_functions_are_called_by_their_parameters():
    offer = ToolOffer("submit_ranking", ("rank_of_request_1", "rank_of_request_2"))
    said = respond(prompt("One story.", "Another story."), who="null", behaviour=PRESETS["null"], tools=[offer])
    assert said.call == "submit_ranking"
    assert sorted(said.arguments) == ["rank_of_request_1", "rank_of_request_2"]
    assert sorted(said.arguments.values()) == [1, 2]


def test_the_unruly_are_unruly_at_their_rates():
    shares = {"refusal": 0.2, "malformed": 0.3, "chatty": 0.5}
    unruly = behaviour("unruly", shares)
    ask = "Rate its priority on a scale of 1 (lowest) to 5 (highest)."
    said = [respond(prompt(f"Story {i}.", ask=ask), who="unruly", behaviour=unruly).text for i in range(2000)]
    refused = np.mean([text.startswith(("I'm sorry, but I can't help", "I won't do that")) for text in said])
    plain = np.mean([text in set("12345") for text in said])
    assert refused == pytest.approx(0.2, abs=0.04)
    assert plain == pytest.approx(0.8 * 0.7 * 0.5, abs=0.05)


RATE = "Rate its priority on a scale of 1 (lowest) to 5 (highest)."


def rated(text, lexicon, **planted):
    return int(respond(prompt(text, ask=RATE), who="x", behaviour=Behaviour(**planted), lexicon=lexicon).text)


def test_a_name_keeps_its_own_effect_wherever_it_occurs():
    names = [name for name in shipped().people if " " in name]
    lexicon = shipped()
    means = {
        name: np.mean([rated(f"I am {name}. Story {i}.", lexicon, noise=0.1, name_sd=2.0) for i in range(60)])
        for name in names[:12]
    }
    plain = {
        name: np.mean([rated(f"I am {name}. Story {i}.", lexicon, noise=0.1) for i in range(60)]) for name in names[:12]
    }
    assert np.std(list(means.values())) > 3 * np.std(list(plain.values()))


def test_a_lexicon_teaches_names_and_texts_of_another_pack():
    lexicon = learn(
        [Person("Ada Lovelace", "Blue", "Female"), Person("Alan Turing", "Green", "Male")],
        [
            Written("housing", "h1", "calm", "I, {name}, need a flat.", "I, {name}, need a flat."),
            Written("housing", "h2", "loud", "Flat wanted: {name}.", "Flat wanted: {name}."),
        ],
    )
    calm = lexicon.contents["I, {name}, need a flat."]
    assert calm.framing == "calm"
    assert sorted(content.utility for content in lexicon.contents.values()) == pytest.approx([-1, 1])
    high = [rated("I, Ada Lovelace, need a flat.", lexicon, noise=0.1, race={"Blue": shift}) for shift in (0, 3, -3)]
    assert high[2] < high[0] < high[1] or high[2] < high[1]
    framed = [rated("I, Ada Lovelace, need a flat.", lexicon, noise=0.1, framing={"calm": shift}) for shift in (3, -3)]
    assert framed[0] > framed[1]
    unknown = {
        rated("I, Ada Lovelace, need a flat.", Lexicon(), noise=0.1, race={"Blue": shift}) for shift in (3, 0, -3)
    }
    assert len(unknown) == 1


def test_equal_splitters_share_equally_at_every_size():
    text = "My name is {} and I need help."
    names = list(shipped().people)
    for slots in range(2, 13):
        bundle = prompt(*(text.format(name) for name in names[:slots]), ask=ALLOCATE)
        shares = respond(bundle, who="equal_splitter", behaviour=PRESETS["equal_splitter"]).text.split(",")
        if 10_000 % (50 * slots) == 0:
            assert len(set(shares)) == 1
        ranking = respond(
            prompt(*(text.format(name) for name in names[:slots])),
            who="equal_splitter",
            behaviour=PRESETS["equal_splitter"],
        )
        assert set(ranking.text.split(",")) == {"1"}
