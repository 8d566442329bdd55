"""The aid pack holds what Lukk (2026) describes, in texts of our own."""

import pytest

from evenhand.design.hints import find_hints, hints_in
from evenhand.packs import load_pack, shipped_packs

FRAMINGS = ("no_cause", "structural", "self_cause", "stigma_no_redemption", "stigma_redemption")
TARGETS = {"Medical": 200, "Rent": 120, "Education": 190}


@pytest.fixture(scope="module")
def aid():
    return load_pack("aid")


def test_seventy_five_templates_and_forty_names(aid):
    assert len(aid.profiles()) == 75
    assert aid.framings == FRAMINGS
    assert {category.name: category.target_words for category in aid.categories} == TARGETS
    assert all(len(aid.scenarios_of(category)) == 5 for category in TARGETS)
    assert len(aid.names) == 40
    assert all(len(aid.cell(race, gender)) == 5 for race in aid.groups.race for gender in aid.groups.gender)
    assert aid.groups.race[0] == "White"


def test_every_rendering_is_within_25_words_of_its_target(aid):
    for profile in aid.profiles():
        for name in aid.names:
            words = len(profile.render(name.full).split())
            assert abs(words - TARGETS[profile.category]) <= 25, (profile.profile_id, words)


def test_the_redemption_text_is_the_stigma_text_with_something_put_in(aid):
    for scenario in aid.scenarios:
        stigma, redemption = scenario.texts["stigma_no_redemption"], scenario.texts["stigma_redemption"]
        common = next(i for i in range(len(stigma) + 1) if i == len(stigma) or stigma[i] != redemption[i])
        rest = len(stigma) - common
        assert rest == 0 or redemption.endswith(stigma[common:]), scenario.scenario_id
        assert len(redemption.split()) >= len(stigma.split()) + 8


def test_framings_of_a_scenario_share_what_followed_from_the_cause(aid):
    """At least one whole sentence stands in all five: only the cause of need changes."""
    for scenario in aid.scenarios:
        sentences = [set(text.replace("! ", ". ").split(". ")) for text in scenario.texts.values()]
        sentences = [{sentence.strip(" .") for sentence in group} for group in sentences]
        assert set.intersection(*sentences), scenario.scenario_id
        assert len(set(scenario.texts.values())) == 5


def test_closings_thank_the_reader(aid):
    assert all("thank" in text.lower() for scenario in aid.scenarios for text in scenario.texts.values())


@pytest.mark.parametrize("pack", shipped_packs())
def test_shipped_packs_pass_the_lint(pack):
    profiles = load_pack(pack).profiles()
    assert find_hints({(pack, p.scenario_id, p.framing): p.text for p in profiles}) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("As a single mother of two I work nights.", "single mother"),
        ("I'm a father and I need help.", "a father"),
        ("My husband lost his job.", "My husband"),
        ("My late wife and I", "My late wife"),
        ("Please help Mr. {name}.", "Mr"),
        ("Miss {name} needs help.", "Miss"),
        ("She has always worked hard.", "She"),
        ("He\N{RIGHT SINGLE QUOTATION MARK}s a good worker.", "He's"),
        ("I am a young woman with a plan.", "woman"),
        ("I worked as a waitress.", "waitress"),
        ("I was pregnant then.", "pregnant"),
        ("I came here from Guatemala.", "Guatemala"),
        ("Our church helped us.", "church"),
        ("English is my second language.", "second language"),
        ("the African-American community", "African-American"),
        ("a Black family on our street", "Black family"),
        ("I am the first Latina manager", "Latina"),
        ("studying at an HBCU", "HBCU"),
    ],
)
def test_hints_are_found(text, word):
    assert word in [found for found, _, _ in hints_in(text)]


@pytest.mark.parametrize(
    "text",
    [
        "My mother drove me to the clinic; she waited outside.",
        "The surgeon said he could not operate yet.",
        "I miss my work and my black coffee.",
        "I finished a bachelor's degree at a community college.",
        "We ate a white bread sandwich, other than that nothing.",
        "My partner and my kids help where they can.",
    ],
)
def test_plain_words_are_no_hints(text):
    assert list(hints_in(text)) == []


NAMES = {
    ("White", "Female"): "Susan Williams, Katherine O'Brien, Emily Johnson, Misty Miller, Amy Williams",
    ("White", "Male"): "Lee Williams, James O'Brien, Michael Miller, Lee Miller, Kevin O'Brien",
    (
        "Black",
        "Female",
    ): "Latoya Washington, Octavia Jefferson, Yvette Washington, Aisha Washington, Octavia Washington",
    (
        "Black",
        "Male",
    ): "Reginald Washington, Marcus Jefferson, Devin Washington, Reginald Jefferson, Jermaine Jefferson",
    ("Hispanic", "Female"): "Elizabeth Lopez, Maria Reyes, Diana Martinez, Vanessa Hernandez, Jennifer Garcia",
    ("Hispanic", "Male"): "Martin Garcia, Michael Santos, Carlos Rodriguez, Manuel Reyes, Jose Lopez",
    ("Asian", "Female"): "Sun Park, Young Kim, Kim Tran, Amy Chen, Esther Kim",
    ("Asian", "Male"): "Tuan Nguyen, Young Lee, Michael Tran, Gurdeep Singh, Kevin Chen",
}


def test_the_forty_names_stand_in_their_published_order(aid):
    """Lukk (2026), table 6."""
    found = {cell: ", ".join(name.full for name in aid.cell(*cell)) for cell in NAMES}
    assert found == NAMES


def test_wordings_name_their_criterion_after_funding_priority(aid):
    """Lukk (2026), appendix A: need and merit insert a phrase, and the paraphrase holds the criterion fixed."""
    phrases = {
        "need": " (who would benefit most from receiving the funds)",
        "merit": " (who is most deserving of support)",
    }
    for format in ("rate", "rank", "allocate"):
        texts = aid.wordings[format]
        base = texts["base"]
        assert base.count("funding priority") == 1
        for wording, phrase in phrases.items():
            assert texts[wording] == base.replace("funding priority", "funding priority" + phrase)
        assert texts["paraphrase"] != base
        assert "funding priority" in texts["paraphrase"]
        assert "assistance" in texts["paraphrase"]
        assert "The following" in texts["paraphrase"]


def test_no_appeal_reuses_the_released_ones(aid, shared):
    """No run of eight words is shared with the released stimuli."""
    import csv

    def runs(text):
        words = text.lower().split()
        return {tuple(words[i : i + 8]) for i in range(len(words) - 7)}

    with (shared / "fairfund" / "stimuli.csv").open(encoding="utf-8", newline="") as file:
        released = set().union(*(runs(row["text"]) for row in csv.DictReader(file) if row["name_rank"] == "1"))
    ours = set().union(*(runs(profile.text) for profile in aid.profiles()))
    assert not ours & released
