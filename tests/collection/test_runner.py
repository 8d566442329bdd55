"""Collection: every unit once, malformed answers asked again, failures kept and taken up again."""

import dataclasses
import json
import sqlite3
from collections import Counter

import pytest
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)

from evenhand.collection import asker, runner
from evenhand.collection.ledger_file import open_ledger
from evenhand.collection.models import Respondent
from evenhand.construction import build_instrument
from evenhand.errors import CollectionError, InputError, RunError
from evenhand.plan import load_plan

SCRIPTS = {}
CLOSED = []


class ScriptedAPI(ModelAPI):
    """Says what a test's script says, given the prompt and how often it was asked."""

    def __init__(self, model_name, base_url=None, api_key=None, config=None, **model_args):
        super().__init__(model_name, base_url, api_key, [], config)
        self.asked = Counter()

    async def aclose(self):
        CLOSED.append(self.model_name)
        raise OSError("the client hangs")

    async def generate(self, input, tools, tool_choice, config):
        prompt = input[-1].text
        self.asked[prompt] += 1
        said = SCRIPTS[self.model_name](prompt, self.asked[prompt], config)
        if isinstance(said, Exception):
            raise said
        return ModelOutput(
            model="scripted-1",
            choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=said), stop_reason="stop")],
            usage=ModelUsage(input_tokens=7, output_tokens=1, total_tokens=8),
        )


@modelapi(name="scripted")
def scripted():
    return ScriptedAPI


class Silent:
    def __init__(self):
        self.counts = {}
        self.started = {}
        self.notes = []

    def start(self, respondent, arms):
        self.started[respondent] = tuple(sum(counts) for counts in zip(*arms.values(), strict=True))
        self.counts[respondent] = Counter()

    def advance(self, respondent, arm, rest):
        self.counts[respondent][rest.status] += 1

    def note(self, text):
        self.notes.append(text)


@pytest.fixture(scope="module")
def instrument():
    return build_instrument(load_plan("fairfund"))


@pytest.fixture
def collect(instrument, tmp_path, monkeypatch):
    monkeypatch.setattr(asker, "BACKOFF_SECONDS", 0.001)

    def run(*respondents, units=30, epochs=1, settings=None, preflight=0):
        progress = Silent()
        rate = [unit for unit in instrument.units if unit.format == "rate"][:units]
        with open_ledger(tmp_path / "ledger.db", digest=instrument.digest, write=True) as ledger:
            runner.collect(
                runner.Errand(rate, settings or load_plan("fairfund").settings, epochs),
                respondents,
                ledger,
                conduct=asker.Conduct(max_connections=5, preflight=preflight),
                progress=progress,
            )
        return progress

    return run


@pytest.fixture
def rows(tmp_path):
    def read(columns="unit, attempt, cause, status"):
        connection = sqlite3.connect(tmp_path / "ledger.db")
        try:
            return connection.execute(f"SELECT {columns} FROM attempts ORDER BY rowid").fetchall()
        finally:
            connection.close()

    return read


def test_every_unit_is_asked_once_and_a_second_run_asks_nothing(collect, rows):
    first = collect(Respondent("sim/null"))
    assert first.counts["sim/null"] == {"answered": 30}
    assert len(rows()) == 30
    assert set(rows("cause, attempt")) == {("first", 1)}
    second = collect(Respondent("sim/null"))
    assert second.started["sim/null"] == (30, 30)
    assert len(rows()) == 30


def test_what_was_sent_and_who_answered_is_kept(collect, rows):
    SCRIPTS["plain"] = lambda prompt, times, config: "4"
    collect(Respondent("scripted/plain"), units=1)
    request, usage, version, stop = rows("request, usage, model_version, stop_reason")[0]
    request = json.loads(request)
    assert request["temperature"] == 0.0
    assert request["top_p"] == 1.0
    assert request["max_tokens"] == 4000
    assert request["prompt"].startswith("Below is a request for aid.")
    assert json.loads(usage)["input_tokens"] == 7
    assert (version, stop) == ("scripted-1", "stop")


def test_a_malformed_answer_is_asked_again_once_with_another_seed(collect, rows):
    seeds = []

    def script(prompt, times, config):
        seeds.append(config.seed)
        return "3" if times == 2 else "it depends"

    SCRIPTS["malformed"] = script
    progress = collect(Respondent("scripted/malformed"), units=1)
    assert rows("attempt, cause, status") == [(1, "first", "malformed"), (2, "malformed", "answered")]
    assert seeds == [0, 1]
    assert progress.counts["scripted/malformed"] == {"answered": 1}


def test_twice_malformed_and_refused_are_final(collect, rows):
    SCRIPTS["stubborn"] = lambda prompt, times, config: "it depends"
    SCRIPTS["refuser"] = lambda prompt, times, config: "I can't help with that."
    collect(Respondent("scripted/stubborn"), Respondent("scripted/refuser"), units=3)
    collect(Respondent("scripted/stubborn"), Respondent("scripted/refuser"), units=3)
    statuses = Counter(rows("respondent, status"))
    assert statuses == {("scripted/stubborn", "malformed"): 6, ("scripted/refuser", "refused"): 3}


def test_failed_requests_are_rows_and_are_taken_up_again(collect, rows):
    broken = {"on": True}

    def script(prompt, times, config):
        return ConnectionError("no route") if broken["on"] and times % 2 and len(prompt) % 3 == 0 else "2"

    SCRIPTS["flaky"] = script
    collect(Respondent("scripted/flaky"))
    found = rows("unit, attempt, cause, status, error_class, error")
    errors = [row for row in found if row[3] == "error"]
    assert errors
    assert all(row[4] == "ConnectionError" and "no route" in row[5] for row in errors)
    last = {row[0]: row for row in found}
    assert {row[3] for row in last.values()} == {"answered"}
    assert all(row[2] == "transport" for row in found if row[1] > 1)


def test_a_unit_left_in_error_is_asked_by_the_next_run_alone(collect, rows):
    state = {"up": False, "victim": None}

    def script(prompt, times, config):
        state["victim"] = state["victim"] or prompt
        return TimeoutError("slow") if prompt == state["victim"] and not state["up"] else "5"

    SCRIPTS["slow"] = script
    collect(Respondent("scripted/slow"), units=10)
    assert len(rows()) == 9 + 1 + asker.Conduct().max_retries
    state["up"] = True
    progress = collect(Respondent("scripted/slow"), units=10)
    assert progress.started["scripted/slow"] == (10, 9)
    assert rows("cause, status")[-1] == ("transport", "answered")
    assert len(rows()) == 9 + 1 + asker.Conduct().max_retries + 1


class Status(Exception):
    def __init__(self, status_code, message):
        super().__init__(message)
        self.status_code = status_code


@pytest.mark.parametrize(
    ("status", "message"),
    [(401, "bad key"), (402, "pay first"), (403, "not yours"), (404, "no such model"), (429, "insufficient_quota")],
)
def test_what_no_request_will_pass_stops_at_once_with_the_cause(collect, rows, status, message):
    SCRIPTS["down"] = lambda prompt, times, config: Status(status, message)
    with pytest.raises(CollectionError, match=message) as caught:
        collect(Respondent("scripted/down"))
    assert caught.value.exit_code == 3
    assert len(rows()) <= 5


def test_clients_are_closed_however_a_collection_ends(collect):
    CLOSED.clear()
    SCRIPTS.update(up=lambda prompt, times, config: "4", down=lambda prompt, times, config: Status(401, "bad key"))
    assert collect(Respondent("scripted/up")).counts["scripted/up"] == {"answered": 30}
    with pytest.raises(CollectionError, match="bad key"):
        collect(Respondent("scripted/down"))
    assert CLOSED == ["up", "down"]


def test_three_units_rejected_alike_stop_and_scattered_ones_do_not(collect, rows):
    SCRIPTS["rejecting"] = lambda prompt, times, config: Status(400, "unsupported parameter: logit_bias")
    with pytest.raises(CollectionError, match="unsupported parameter"):
        collect(Respondent("scripted/rejecting"))
    assert len(rows()) <= 3 + 5
    assert {row[1] for row in rows()} == {1}
    victims = []

    def sometimes(prompt, times, config):
        if len(victims) < 6 and len(prompt) % 3 == 0 and (not victims or victims[-1] is None):
            victims.append(prompt)
            return Status(400, "this content")
        victims.append(None)
        return "4"

    SCRIPTS["picky"] = sometimes
    progress = collect(Respondent("scripted/picky"))
    assert progress.counts["scripted/picky"]["answered"] >= 24


def test_a_run_of_transient_errors_alone_leaves_the_units_open(collect, rows):
    SCRIPTS["busy"] = lambda prompt, times, config: Status(503, "overloaded")
    progress = collect(Respondent("scripted/busy"), units=4)
    assert progress.counts["scripted/busy"] == {"error": 4}
    assert Counter(row[0] for row in rows("unit")).most_common(1)[0][1] == 1 + asker.Conduct().max_retries
    assert collect(Respondent("scripted/busy"), units=4).started["scripted/busy"] == (4, 0)


def test_waits_double_and_are_bounded():
    for failures, most in [(0, 1), (1, 2), (4, 16), (20, 60)]:
        waits = [asker.backoff(failures) for _ in range(50)]
        assert max(waits) <= most
        assert min(waits) >= most / 2


def test_epochs_are_distinct_calls_with_their_own_seeds(collect, rows):
    seeds = set()

    def script(prompt, times, config):
        seeds.add(config.seed)
        return "1"

    SCRIPTS["twice"] = script
    collect(Respondent("scripted/twice"), units=4, epochs=2)
    assert Counter(rows("epoch")) == {(1,): 4, (2,): 4}
    assert seeds == {0, 1000}


def test_models_are_asked_in_the_same_shuffled_order(collect, rows):
    collect(Respondent("sim/null"), Respondent("sim/noisy"))
    order = {
        name: [unit for unit, respondent in rows("unit, respondent") if respondent == name]
        for name in ("sim/null", "sim/noisy")
    }
    assert order["sim/null"] == order["sim/noisy"]
    assert order["sim/null"] != sorted(order["sim/null"])


def test_arguments_are_part_of_the_id_and_labels_replace_it(collect, rows):
    collect(Respondent("sim/null", {"noise": 1.0}), Respondent("sim/null", {"noise": 2.0}, "loud"), units=2)
    assert {row[0] for row in rows("respondent")} == {"sim/null[noise=1.0]", "loud"}
    with pytest.raises(RunError, match="--as"):
        collect(Respondent("sim/null", {"noise": 3.0}, "loud"), units=2)


def test_the_same_label_with_other_settings_is_refused(collect):
    settings = load_plan("fairfund").settings
    collect(Respondent("sim/null"), units=2)
    with pytest.raises(RunError, match="--as"):
        collect(Respondent("sim/null"), units=2, settings=dataclasses.replace(settings, temperature=0.5))


@pytest.mark.parametrize("model", ["nowhere/model", "sim/nobody", "plainword"])
def test_an_unusable_model_is_one_message_before_anything_is_sent(collect, model):
    with pytest.raises(InputError) as caught:
        collect(Respondent(model))
    assert caught.value.mend


def test_a_wrong_argument_of_a_simulated_respondent_is_named(collect):
    with pytest.raises(InputError, match="nois"):
        collect(Respondent("sim/null", {"nois": 1}))


@pytest.mark.parametrize(
    "arguments", [{"api_key": "x"}, {"openai_api_key": "x"}, {"auth_token": "x"}, {"password": "x"}]
)
def test_keys_do_not_belong_in_arguments(arguments):
    with pytest.raises(InputError, match="looks like a key"):
        Respondent("sim/null", arguments)


def test_settings_with_token_in_their_name_are_no_keys():
    assert Respondent("m", {"reasoning_tokens": 128, "max_tokens": 5}).id == "m[max_tokens=5,reasoning_tokens=128]"


@pytest.mark.parametrize("label", [" ", "two\nlines", "bell\x07", "l\udcff"])
def test_odd_labels_are_refused(label):
    with pytest.raises(InputError, match="label"):
        Respondent("sim/null", {}, label)


def test_usage_is_set_so_that_nothing_looks_for_a_tokenizer(collect, rows):
    collect(Respondent("sim/null"), units=1)
    usage = json.loads(rows("usage")[0][0])
    assert usage["input_tokens"] > 50
    assert usage["output_tokens"] == 1


def test_reasoning_is_switched_off_in_what_is_sent(collect, rows):
    SCRIPTS["effort"] = lambda prompt, times, config: "3" if config.reasoning_effort == "none" else "reasoning on"
    progress = collect(Respondent("scripted/effort"), units=1)
    assert progress.counts["scripted/effort"] == {"answered": 1}
    assert json.loads(rows("request")[0][0])["reasoning_effort"] == "none"


def test_the_simulated_provider_answers_like_the_respondent(collect, rows, instrument):
    from evenhand.respondents import PRESETS, respond

    collect(Respondent("sim/biased"), units=20)
    said = {unit: json.loads(reply)["text"] for unit, reply in rows("unit, reply")}
    for key, text in said.items():
        direct = respond(instrument.by_key[key].prompt, who="biased", behaviour=PRESETS["biased"], seed=0)
        assert text == direct.text
