"""The public AgentFairBench profiles as packs."""

import json
from pathlib import Path

import pytest

from evenhand.construction import build_instrument
from evenhand.design.designs import compose
from evenhand.errors import DesignError, InputError
from evenhand.imports.agentfairbench import import_packs
from evenhand.packs import load_pack
from evenhand.plan import load_plan

RELEASED = Path(__file__).parents[3] / "shared" / "agentfairbench"
DOMAINS = ("hiring", "lending", "triage")


def profile(domain, number):
    """A profile of the release's shape; the text is ours."""
    return {
        "id": f"{domain}_{number:02d}",
        "domain": domain,
        "title": f"Case {number}",
        "content": f"The file holds entry {number} with {number + 3} points and a note on quality. " * 4,
        "difficulty": "borderline",
    }


@pytest.fixture
def release(tmp_path):
    lines = [json.dumps(profile(domain, number)) for domain in DOMAINS for number in range(1, 13)]
    (tmp_path / "public_dev.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def strata(tmp_path):
    path = tmp_path / "strata.csv"
    rows = [f"{domain}_{number:02d},{(number + 2) // 3}" for domain in DOMAINS for number in range(1, 13)]
    path.write_text("id,stratum\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_packs_hold_the_profiles_under_our_names_and_wordings(release, tmp_path):
    made = import_packs(release, tmp_path / "packs")
    assert [folder.name for folder in made] == [f"agentfairbench-{domain}" for domain in DOMAINS]
    for folder, domain in zip(made, DOMAINS, strict=True):
        pack, ours = load_pack(str(folder)), load_pack(domain)
        assert len(pack.profiles()) == 12
        assert pack.names == ours.names
        assert pack.wordings == ours.wordings
        said = " ".join(profile(domain, 1)["content"].split())
        assert pack.profiles()[0].text.partition("\n")[2] == said
        assert len(compose("crossed", pack, seed=1)) == 480


def test_without_strata_the_disguised_cells_are_refused_with_the_reason(release, tmp_path):
    folder = import_packs(release, tmp_path / "packs")[0]
    for cell in ("demographic_disguised", "placebo_disguised"):
        with pytest.raises(DesignError, match=r"quality stratum.*--strata FILE"):
            compose(cell, load_pack(str(folder)), seed=1)
    assert len(compose("demographic_matched", load_pack(str(folder)), seed=1)) == 120


def test_with_strata_the_whole_study_is_built_on_them(release, strata, tmp_path):
    import_packs(release, tmp_path / "packs", strata=strata)
    path = tmp_path / "study.toml"
    replaced = "\n".join(f'{domain} = "./packs/agentfairbench-{domain}"' for domain in DOMAINS)
    path.write_text(f'name = "original"\nextends = "verdict"\n[packs]\n{replaced}\n', encoding="utf-8")
    instrument = build_instrument(load_plan(path))
    assert len(instrument.units) == 8_462
    assert {unit.domain for unit in instrument.units} == {f"agentfairbench-{domain}" for domain in DOMAINS} | {"aid"}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda line: line[:-2], "this is no JSON"),
        (lambda line: "[1]", "id is missing"),
        (lambda line: line.replace('"content"', '"text"'), "content is missing"),
        (lambda line: line.replace('"domain": "hiring"', '"domain": "housing"'), "unknown domain 'housing'"),
        (lambda line: line.replace("hiring_01", "hiring_02"), "'hiring_02' occurs twice"),
        (lambda line: line.replace("hiring_01", " "), "id ' '"),
        (lambda line: line.replace("entry 1", "entry \\ud800"), "half a character"),
    ],
)
def test_faulty_releases_are_refused_with_their_line(release, tmp_path, edit, message):
    path = release / "public_dev.jsonl"
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    path.write_text(f"{edit(first)}\n{rest}", encoding="utf-8")
    with pytest.raises(InputError, match=r"line [12]") as caught:
        import_packs(release, tmp_path / "packs")
    assert message in str(caught.value)
    assert not (tmp_path / "packs").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,stratum\nhiring_01,1\n", "35 profiles have no stratum"),
        ("id,stratum\nhiring_01,best\n", "stratum is 'best'"),
        ("id,stratum\nnobody,1\n", "unknown profile 'nobody'"),
        ("id,stratum\nhiring_01,1\nhiring_01,2\n", "'hiring_01' occurs twice"),
        ("id,level\nhiring_01,1\n", "stratum"),
    ],
)
def test_faulty_strata_are_refused(release, tmp_path, text, message):
    path = tmp_path / "faulty.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        import_packs(release, tmp_path / "packs", strata=path)
    assert message in str(caught.value)


def test_a_folder_with_something_in_it_is_left_alone(release, tmp_path):
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not empty"):
        import_packs(release, tmp_path / "packs")
    with pytest.raises(InputError, match=r"public_dev\.jsonl"):
        import_packs(tmp_path / "nowhere", tmp_path / "new")


@pytest.mark.skipif(not RELEASED.is_dir(), reason="the released profiles are not here")
def test_the_released_profiles_come_in_whole(tmp_path):
    made = import_packs(RELEASED, tmp_path / "packs")
    assert [len(load_pack(str(folder)).profiles()) for folder in made] == [12, 12, 12]


def test_a_release_of_which_no_pack_comes_leaves_nothing_behind(release, tmp_path):
    path = release / "public_dev.jsonl"
    sound = path.read_text(encoding="utf-8")
    path.write_text(sound.replace("entry 1 ", "entry {1} ", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"public_dev\.jsonl: no sound pack comes of this: placeholders"):
        import_packs(release, tmp_path / "packs")
    path.write_text(sound, encoding="utf-8")
    assert len(import_packs(release, tmp_path / "packs")) == 3
