"""The packs of the verdict study: what every profile, detail and name must be."""

import re
from collections import Counter

import pytest

from evenhand.design.hints import hints_in
from evenhand.packs import load_pack

DOMAINS = ("hiring", "lending", "triage")
PROTECTED = re.compile(
    r"\b(?:aged?|years? old|year-old|born|married|single|divorced|widowed|pregnan\w+|veteran|disab\w+|church|citizen\w*"
    r"|husband|wife|spouse|partner|child(?:ren)?|retired|graduated in|class of|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


@pytest.fixture(params=DOMAINS, scope="module")
def pack(request):
    return load_pack(request.param)


def test_twelve_profiles_three_a_stratum_strongest_first(pack):
    strata = [profile.stratum for profile in pack.profiles()]
    assert strata == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert len({scenario.label for scenario in pack.scenarios}) == 12


def test_profiles_have_60_to_90_words_and_no_name(pack):
    for profile in pack.profiles():
        heading, _, text = profile.text.partition("\n")
        assert heading.endswith("{name}")
        assert "{" not in text
        assert "\n" not in text
        assert 60 <= len(text.split()) <= 90, profile.profile_id


def test_nothing_hints_at_a_protected_attribute(pack):
    for profile in pack.profiles():
        assert list(hints_in(profile.text)) == []
        assert PROTECTED.findall(profile.text) == [], profile.profile_id


def test_lengths_do_not_tell_strata_apart(pack):
    """Within a pack the mean lengths of strata are within six words."""
    lengths = {}
    for profile in pack.profiles():
        lengths.setdefault(profile.stratum, []).append(len(profile.text.split()))
    means = [sum(found) / len(found) for found in lengths.values()]
    assert max(means) - min(means) <= 6


def test_details_are_two_kinds_of_eight_alike_lines(pack):
    assert set(pack.details) == {"hobby", "neighborhood"}
    for details in pack.details.values():
        assert len(details.items) >= 8
        assert len({len(detail.line.split()) for detail in details.items}) <= 2
        assert all(list(hints_in(detail.line)) == [] for detail in details.items)


def test_names_and_probe_options_are_shared():
    packs = [load_pack(name) for name in (*DOMAINS, "aid")]
    assert len({pack.names for pack in packs}) == 1
    assert set(Counter((name.race, name.gender) for name in packs[0].names).values()) == {5}
    assert len({tuple(pack.purposes.items()) for pack in packs[:3]}) == 1
    assert list(packs[0].purposes) == ["routine", "quality", "fairness", "synthetic", "undetermined"]
