"""Simulated respondents, asked straight, answer as through Inspect's model layer."""

import dataclasses
import sqlite3

import pytest
from inspect_ai.model import ModelAPI, modelapi

from evenhand.collection import asker, runner
from evenhand.collection.ledger_file import open_ledger
from evenhand.collection.models import Respondent
from evenhand.collection.simulated import SimulatedAPI
from evenhand.construction import build_instrument
from evenhand.plan import load_plan

COMPARED = "unit, epoch, attempt, cause, request, status, reason, reply, stop_reason, usage, model_version, deviations"


class Relayed(ModelAPI):
    """A simulated respondent behind a client, so that Inspect's layer is in between."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, lexicon=None, **model_args):
        super().__init__(model_name, base_url, api_key, [], config)
        self._inner = SimulatedAPI(model_name, lexicon=lexicon, **model_args)

    async def generate(self, input, tools, tool_choice, config):
        return await self._inner.generate(input, tools, tool_choice, config)


@modelapi(name="relayed")
def relayed():
    return Relayed


@pytest.fixture(scope="module")
def units():
    instrument = build_instrument(load_plan("fairfund"))
    by_format = {
        format: [u for u in instrument.units if u.format == format][:25] for format in ("rate", "rank", "allocate")
    }
    plain = [unit for chosen in by_format.values() for unit in chosen]
    decide = [dataclasses.replace(unit, arm="decide", format="tool_decide") for unit in by_format["rate"]]
    ranks = [dataclasses.replace(unit, arm="rank", format="tool_rank") for unit in by_format["rank"]]
    return instrument, [*plain, *decide, *ranks]


def collect(folder, units, respondent):
    instrument, chosen = units
    folder.mkdir()
    with open_ledger(folder / "ledger.db", digest=instrument.digest, write=True) as ledger:
        runner.collect(
            runner.Errand(chosen, load_plan("fairfund").settings, 2),
            [respondent],
            ledger,
            lexicon=runner.teach(instrument),
        )
    connection = sqlite3.connect(folder / "ledger.db")
    try:
        return sorted(connection.execute(f"SELECT {COMPARED} FROM attempts").fetchall())
    finally:
        connection.close()


def test_straight_and_through_inspects_layer_are_one(tmp_path, units, monkeypatch):
    arguments = {"malformed": 0.2, "refusal": 0.1, "chatty": 0.3}
    straight = collect(tmp_path / "straight", units, Respondent("sim/biased", arguments))
    lexicon = runner.teach(units[0])
    make = Relayed.__init__
    monkeypatch.setattr(Relayed, "__init__", lambda self, *a, **k: make(self, *a, **{**k, "lexicon": lexicon}))
    through = collect(tmp_path / "through", units, Respondent("relayed/biased", arguments))
    assert len({row[0] for row in straight}) == len(units[1])
    assert {"answered", "refused", "malformed"} <= {row[5] for row in straight}
    assert "tool_calls" in {row[8] for row in straight}
    assert straight == through


def test_a_straight_respondent_lets_others_have_their_turn(tmp_path, units):
    instrument, chosen = units
    turns = []

    class Watching:
        def start(self, respondent, arms): ...
        def note(self, text): ...
        def advance(self, respondent, arm, rest):
            turns.append(respondent)

    with open_ledger(tmp_path / "ledger.db", digest=instrument.digest, write=True) as ledger:
        runner.collect(
            runner.Errand(chosen, load_plan("fairfund").settings),
            [Respondent("sim/null"), Respondent("sim/noisy")],
            ledger,
            conduct=asker.Conduct(preflight=0),
            progress=Watching(),
        )
    half = turns[: len(chosen)]
    assert half.count("sim/null") == pytest.approx(len(chosen) / 2, abs=asker.Conduct().max_connections)
