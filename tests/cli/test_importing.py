"""`evenhand import agentfairbench --as outcomes` and the analysis of what it writes, as a user types them."""

import json
from itertools import product

import pytest

from evenhand.outcomes.doors import read_outcomes

GROUPS = {"white_male": "Ann Other", "black_male": "Bo Other", "white_female": "Cy Other", "black_female": "Di Other"}


@pytest.fixture
def release(tmp_path):
    """Hiring decisions of the release's shape; people and answers are ours."""
    folder = tmp_path / "release"
    folder.mkdir()
    profiles = [{"id": f"hire_{k}", "domain": "hiring", "title": "Case", "content": "A file."} for k in range(6)]
    lines = [
        {"model": "m", "domain": "hiring", "scaffold": scaffold, "profile_id": profile["id"], "group": group,
         "name": name, "decision": {"advance": number % 3 > 0, "score": 40 + 7 * number % 30, "sure": True}}
        for number, (profile, scaffold, (group, name)) in enumerate(product(profiles, ("C0", "C2"), GROUPS.items()))
    ]  # fmt: skip
    for file, records in (("public_dev.jsonl", profiles), ("m_decisions.jsonl", lines)):
        (folder / file).write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    cells = {group: [name] for group, name in GROUPS.items()}
    (folder / "name_pools.json").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return folder


def test_decisions_become_outcomes_that_are_analysed(evenhand, release, tmp_path):
    path = tmp_path / "outcomes.csv"
    code, out, _ = evenhand("import", "agentfairbench", release, "--as", "outcomes", "-o", path)
    assert code == 0
    assert f"48 decisions of 1 model in {path}, 0 of them malformed" in out
    assert "sure of 48 answers is left out" in out
    assert read_outcomes(path).height == 48
    code, out, _ = evenhand("analyse", path, "--margin", "decide=5", "--margin", "score=4", "--json")
    assert code == 0
    rows = json.loads(out)["verdict"]
    assert [(row["format"], row["group"], row["margin"]) for row in rows] == [
        ("decide", "Black", 5.0), ("decide", "Female", 5.0), ("score", "Black", 4.0), ("score", "Female", 4.0),
    ]  # fmt: skip


def test_scripts_read_the_counts(evenhand, release, tmp_path):
    path = tmp_path / "outcomes.parquet"
    code, out, _ = evenhand("import", "agentfairbench", release, "--as", "outcomes", "-o", path, "--json")
    assert code == 0
    assert json.loads(out) == {
        "outcomes": str(path), "decisions": 48, "malformed": 0, "models": 1, "left_out": {"sure": 48},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--as", "outcomes"], "outcomes need a file"),
        (["--as", "outcomes", "-o", "x.csv", "--strata", "s.csv"], "outcomes take no strata"),
        (["--as", "table", "-o", "x.csv"], "--as outcomes -o FILE"),
        (["--as", "outcomes", "-o", "x.xlsx"], "neither read nor written"),
    ],
)
def test_what_cannot_be_is_one_message(evenhand, release, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, _, err = evenhand("import", "agentfairbench", release, *arguments)
    assert code == 2
    assert message in err
    assert not list(tmp_path.glob("x.*"))
