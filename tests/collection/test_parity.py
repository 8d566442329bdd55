"""Equal settings: what was asked, what was sent, what was refused, and what the pre-flight stops."""

import dataclasses
import json
from collections import Counter

import pytest
from tests.servers.faults import FAULTS, FaultServer, refuse
from tests.servers.replies import prompt_of

from evenhand.collection.config import Options, read_options
from evenhand.collection.deviations import deviation_rows, refusal_rows
from evenhand.collection.ledger_file import open_ledger
from evenhand.collection.models import Respondent
from evenhand.collection.parity import ABOVE, BELOW, NO_CALL, deviations, sent_settings
from evenhand.collection.reasoning import least_effort, next_effort
from evenhand.errors import CollectionError, InputError, RunError
from evenhand.instrument import Slot, Unit
from evenhand.plan import load_plan

SETTINGS = load_plan("fairfund").settings


def tool_unit(number, format="tool_decide", slots=1):
    places = tuple(
        Slot(i + 1, f"s{number}-{i}", "c", f"p{i}", "f", "Ann Lee", 1, "White", "Female") for i in range(slots)
    )
    return Unit(
        *("tools", f"u{number}", "primary", "hiring", format, "base", "crossed", None, None, "application"),
        prompt=f"Call the function to decide on application number {number}. " + "A summary of work. " * 20,
        slots=places,
    )


TOOLS = [tool_unit(i) for i in range(8)]


def strayed(tmp_path, digest, units):
    with open_ledger(tmp_path / "ledger.db", digest=digest) as ledger:
        rows = deviation_rows(ledger, "m", {unit.key: unit.format for unit in units})
        return {row["deviation"]: (row["calls"], row["of"]) for row in rows}, refusal_rows(ledger)


def refusing(word, message):
    """Refuses every request that has this setting."""
    return lambda n, request: refuse(400, message) if word in request else None


@pytest.mark.parametrize(
    ("body", "sent"),
    [
        ({"temperature": 0, "top_p": 1, "max_completion_tokens": 9}, {"temperature": 0, "top_p": 1, "max_tokens": 9}),
        ({"generationConfig": {"maxOutputTokens": 5, "seed": 3}}, {"max_tokens": 5, "seed": 3}),
        (
            {"thinking": {"type": "disabled"}, "tool_choice": "auto"},
            {"reasoning": {"type": "disabled"}, "tool_choice": "auto"},
        ),
        (
            {"extra_body": {"grammar": "root ::= x"}, "random_seed": 1, "seed": None},
            {"grammar": "root ::= x", "seed": 1},
        ),
        (None, None),
    ],
)
def test_settings_are_found_under_each_vendors_name(body, sent):
    assert sent_settings(body) == sent


def test_each_way_to_stray_has_its_phrase():
    asked = {"temperature": 0.0, "top_p": 1.0, "seed": 1, "reasoning": "off", "reasoning_effort": "low"}
    found = deviations(
        {**asked, "tool_choice": "forced"},
        {"temperature": 1.0, "top_p": 1.0, "tool_choice": "auto"},
        refused={"seed": None},
        usage={"reasoning_tokens": 4},
        reasoned=False,
        degraded=False,
    )
    assert found == [
        "seed refused by the provider, left out",
        "temperature sent with another value",
        "seed not sent",
        "reasoning used although asked to be off",
        "reasoning effort low, not off",
        "tool choice not forced",
    ]
    assert deviations(asked, None, refused={}, usage={}, reasoned=False, degraded=True)[-1] == "tool choice not forced"


def test_reasoning_that_was_asked_for_and_not_used_is_flagged():
    """Situation prov-15."""
    asked = {"reasoning": "default", "reasoning_effort": "high"}
    for usage, expected in (({}, ["reasoning asked for, none used"]), ({"reasoning_tokens": 9}, [])):
        assert deviations(asked, None, refused={}, usage=usage, reasoned=False, degraded=False) == expected


@pytest.mark.parametrize(
    ("model", "effort"),
    [
        ("openai/o3-mini", "low"),
        ("openai/gpt-5-mini", "minimal"),
        ("openai/gpt-5.4", "none"),
        ("openai/gpt-4o", None),
        ("openrouter/openai/o4-mini", "low"),
        ("anthropic/claude-sonnet-5", "none"),
        ("google/gemini-2.5-flash", "none"),
        ("grok/grok-4.3", "low"),
        ("local/smollm2", None),
    ],
)
def test_reasoning_starts_at_the_least_that_is_known(model, effort):
    assert least_effort(model) == effort


def test_the_ladder_ends_with_leaving_the_parameter_out():
    assert [next_effort(step) for step in ("none", "minimal", "low", "high")] == ["minimal", "low", None, None]


def test_a_call_as_asked_strays_nowhere(ask, fairfund, tmp_path):
    with FaultServer() as server:
        ask(server, units=6, preflight=3)
    assert strayed(tmp_path, fairfund.digest, fairfund.units) == ({}, [])


@pytest.mark.parametrize("setting", ["seed", "top_p", "temperature"])
def test_a_refused_setting_is_left_out_and_said(setting, ask, kept, fairfund, tmp_path):
    message = f"Unsupported parameter: '{setting}' is not supported with this model"
    with FaultServer(fault=refusing(setting, message)) as server:
        ask(server, units=8, preflight=3)
        assert [setting in seen.body for seen in server.journal] == [True] + [False] * 8
        # Another session asks as this one did.
        ask(server, units=12, preflight=3)
        assert not any(setting in seen.body for seen in server.journal[1:])
    assert Counter(row[3] for row in kept.rows()) == {"answered": 12, "error": 1}
    found, refused = strayed(tmp_path, fairfund.digest, fairfund.units)
    assert found == {f"{setting} refused by the provider, left out": (12, 12)}
    assert [(row["parameter"], row["value"], message in row["message"]) for row in refused] == [(setting, None, True)]


def test_reasoning_steps_down_to_what_the_model_knows(ask, kept, fairfund, tmp_path):
    def fault(n, request):
        known = request.get("reasoning_effort") in {"low", "medium", "high"}
        return None if known else refuse(400, "Unsupported value: reasoning_effort supports low, medium and high")

    with FaultServer(fault=fault) as server:
        ask(server, units=5, preflight=2)
        assert [seen.body.get("reasoning_effort") for seen in server.journal] == ["none", "minimal"] + ["low"] * 5
    found, _ = strayed(tmp_path, fairfund.digest, fairfund.units)
    assert found == {
        "reasoning effort low, not off": (5, 5),
        "reasoning_effort refused by the provider, low sent instead": (5, 5),
    }


def test_reasoning_that_cannot_be_turned_off_is_seen_in_the_usage(ask, fairfund, tmp_path):
    with FaultServer(fault=lambda n, request: FAULTS["reasoned"]) as server:
        ask(server, units=4)
    found, _ = strayed(tmp_path, fairfund.digest, fairfund.units)
    assert found["reasoning used although asked to be off"] == (4, 4)


def test_a_refusal_after_a_success_is_the_units_own_error(ask, kept):
    with FaultServer(
        fault=lambda n, request: refuse(400, "temperature of this text is odd") if n == 3 else None
    ) as server:
        ask(server, units=6, max_connections=1)
        assert len(server.journal) == 6
    assert Counter(row[3] for row in kept.rows()) == {"answered": 5, "error": 1}


def test_functions_are_offered_and_forced(ask, kept):
    with FaultServer(answer=lambda request: '{"decision": 1}') as server:
        ask(server, units=TOOLS)
        body = server.journal[0].body
    assert body["tool_choice"] == {"type": "function", "function": {"name": "submit_decision"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["submit_decision"]
    assert {row[3] for row in kept.rows()} == {"malformed"}, "a text is no call"


def test_functions_that_are_called_are_answers(ask, kept, fairfund, tmp_path):
    with FaultServer(answer=lambda request: {"decision": 1}) as server:
        ask(server, units=TOOLS, preflight=3)
    assert {row[3] for row in kept.rows()} == {"answered"}
    assert strayed(tmp_path, fairfund.digest, TOOLS) == ({}, [])
    assert kept.rows("reply")[0][0].count("submit_decision") == 1


def test_a_refused_tool_choice_becomes_automatic_and_is_no_refusal(ask, kept, fairfund, tmp_path):
    """Situation prov-16."""

    def fault(n, request):
        forced = isinstance(request.get("tool_choice"), dict)
        return refuse(400, "tool_choice not supported in thinking mode") if forced else None

    with FaultServer(answer=lambda request: {"decision": 0}, fault=fault) as server:
        ask(server, units=TOOLS, preflight=3)
        assert [seen.body["tool_choice"] for seen in server.journal[1:]] == ["auto"] * 8
    assert Counter(row[3] for row in kept.rows()) == {"answered": 8, "error": 1}
    found, refused = strayed(tmp_path, fairfund.digest, TOOLS)
    assert found == {"tool_choice refused by the provider, auto sent instead": (8, 8)}
    assert refused[0]["format"] == "tool_decide"


def test_replies_without_a_call_are_counted_and_noted(ask, fairfund, tmp_path):
    with FaultServer(answer=lambda request: "1" if "number 7" in prompt_of(request) else {"decision": 1}) as server:
        progress = ask(server, units=[TOOLS[7], *TOOLS[:7]], preflight=8)
    assert strayed(tmp_path, fairfund.digest, TOOLS)[0] == {NO_CALL: (2, 9)}
    assert progress.notes == ["m, tool_decide: 1 of 8 pre-flight replies called no function"]


def test_arguments_that_are_no_string_are_a_server_incompatibility(ask, kept):
    """Situation prov-05: shown with model and server, and the run goes on."""
    with FaultServer(
        answer=lambda request: {"decision": 1},
        fault=lambda n, request: FAULTS["arguments as object"] if n == 0 else None,
    ) as server:
        ask(server, units=TOOLS, max_connections=1)
    statuses = [(row[1], row[3]) for row in kept.rows()]
    assert statuses == [(1, "error"), (2, "answered")] + [(1, "answered")] * 7
    reason = kept.rows("reason")[0][0]
    assert reason.startswith("faulty-1 fp_test: server incompatibility (AttributeError"), reason


def test_thinking_in_blocks_is_no_rating_and_names_the_native_provider(ask, kept):
    """Situation prov-06."""
    with FaultServer(fault=lambda n, request: FAULTS["thinking blocks"]) as server:
        ask(server, units=1, max_retries=0)
    [(status, reason, reply)] = kept.rows("status, reason, reply")
    assert (status, reply) == ("error", None)
    assert "where the vendor has a provider of its own, use that" in reason


def test_a_prompt_that_was_cut_stops_at_the_preflight(ask, fairfund):
    cut = fairfund.units[17].prompt
    cutting = FaultServer(fault=lambda n, request: FAULTS["half read"] if prompt_of(request) == cut else None)
    with cutting as server, pytest.raises(CollectionError, match="as if it had been cut"):
        ask(server, units=40, preflight=40)


def test_a_prompt_that_is_cut_later_is_listed(ask, fairfund, tmp_path):
    with FaultServer(fault=lambda n, request: FAULTS["half read"] if n >= 10 else None) as server:
        ask(server, units=30, preflight=3, max_connections=1)
    found, _ = strayed(tmp_path, fairfund.digest, fairfund.units)
    assert found == {BELOW: (20, 30)}
    assert ABOVE != BELOW


def test_a_model_that_never_answers_in_form_is_stopped_before_the_rest(ask):
    with FaultServer(answer=lambda request: "It depends.") as server:
        with pytest.raises(CollectionError, match="none of 3 pre-flight answers could be read"):
            ask(server, units=100, preflight=3)
        assert len(server.journal) == 6


def test_a_preflight_is_not_repeated(ask, kept):
    with FaultServer() as server:
        ask(server, units=5, preflight=3)
        ask(server, units=10, preflight=3)
        assert len(server.journal) == 10
    assert {row[1] for row in kept.rows()} == {1}


def test_a_tiny_cap_is_refused_for_a_model_that_reasons(ask):
    """Situation prov-17."""
    tiny = dataclasses.replace(SETTINGS, max_tokens=16)
    with FaultServer() as server:
        with pytest.raises(InputError, match="used up by reasoning"):
            ask(server, settings=tiny, respondents=[Respondent("openai/o3-mini", {"base_url": server.base_url})])
        assert server.journal == []


def test_a_router_that_is_not_pinned_is_noted(ask, monkeypatch):
    """Situation prov-18."""
    monkeypatch.setenv("OPENROUTER_API_KEY", "openrouter-secret")
    pinned = {"provider": {"order": ["a"], "allow_fallbacks": False}}
    with FaultServer() as server:
        base = {"base_url": server.base_url}
        progress = ask(
            server,
            units=1,
            respondents=[
                Respondent("openrouter/vendor/model", base, "loose"),
                Respondent("openrouter/vendor/model", base | pinned, "pinned"),
            ],
        )
    assert len([note for note in progress.notes if "several backends" in note]) == 1
    assert any(note.startswith("loose:") for note in progress.notes)
    assert any("loose, pinned share a provider and key" in note for note in progress.notes)


def test_a_claude_that_thinks_is_noted_where_functions_are_forced(monkeypatch):
    """Situation prov-14."""
    from evenhand.collection.asker import Conduct
    from evenhand.collection.models import make_model
    from evenhand.collection.planning import warnings
    from evenhand.collection.runner import Errand

    monkeypatch.setenv("ANTHROPIC_API_KEY", "anthropic-secret")
    thinking = Respondent("anthropic/claude-sonnet-4-0", options=Options(reasoning_tokens=2048))
    plain = Respondent("anthropic/claude-sonnet-4-0")
    for respondent, expected in ((thinking, 1), (plain, 0)):
        models = [make_model(respondent, Conduct(), None)]
        found = list(warnings(Errand(TOOLS, SETTINGS), [respondent], models, Conduct()))
        assert sum("forced tool choice is not applied" in text for text in found) == expected


def test_a_model_has_its_own_settings_in_a_file(tmp_path, ask, fairfund):
    path = tmp_path / "models.toml"
    path.write_text(
        '["openai-api/fault/faulty"]\nlabel = "own"\nreasoning_effort = "low"\nomit = ["seed"]\nmax_connections = 2\n'
        '["openai-api/fault/faulty".extra_body]\nrouting = "here"\n',
        encoding="utf-8",
    )
    options = read_options(path)["openai-api/fault/faulty"]
    with FaultServer() as server:
        base = {"base_url": server.base_url}
        ask(server, units=2, respondents=[Respondent("openai-api/fault/faulty", base, options.label, options)])
        body = server.journal[0].body
    assert (body["reasoning_effort"], body["routing"], "seed" in body) == ("low", "here", False)
    with open_ledger(tmp_path / "ledger.db", digest=fairfund.digest) as ledger:
        rows = deviation_rows(ledger, "own", {unit.key: unit.format for unit in fairfund.units})
    assert {row["deviation"]: row["calls"] for row in rows} == {
        "seed left out, the model's own setting": 2,
        "reasoning_effort low, the model's own setting": 2,
        "extra_body, the model's own setting": 2,
        "reasoning effort low, not off": 2,
    }


def test_an_automatic_tool_choice_of_the_models_own_is_listed_and_is_another_label(ask, fairfund, tmp_path):
    automatic = Options(tool_choice="auto", grammar="regex")
    with FaultServer(answer=lambda request: {"decision": 1}) as server:
        base = {"base_url": server.base_url}
        ask(server, units=TOOLS[:2], respondents=[Respondent("openai-api/fault/faulty", base, "m", automatic)])
        assert {seen.body["tool_choice"] for seen in server.journal} == {"auto"}
        with pytest.raises(RunError, match="another label"):
            ask(server, units=TOOLS)
    assert set(strayed(tmp_path, fairfund.digest, TOOLS)[0]) == {
        "tool choice not forced, the model's own setting",
        "grammar regex, the model's own setting",
    }


def test_a_setting_is_not_changed_once_something_passed_in_this_session_or_before(ask, kept, fairfund):
    """A refusal after a success would leave one run asked in two ways."""
    rank = [unit for unit in fairfund.units if unit.format == "rank"][:1]
    with FaultServer() as server:
        ask(server, units=4)
        server.fault = lambda n, request: refuse(400, "seed is not supported")
        ask(server, units=[*fairfund.units[:5], *rank])
        assert all("seed" in seen.body for seen in server.journal)
    assert Counter(row[3] for row in kept.rows()) == {"answered": 4, "error": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('label = "x"', "is not a model's table"),
        ('["a/b"]\ntemperature = 1.0', "is not a known key"),
        ('["a/b"]\nmax_connections = 0', "greater than 0"),
        ('["a/b"]\nomit = ["max_tokens"]', "omit"),
    ],
)
def test_a_file_of_settings_that_is_wrong_says_where(tmp_path, text, said):
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_options(path)


@pytest.mark.parametrize(
    ("grammar", "where"), [("gbnf", "grammar"), ("regex", "guided_regex"), ("schema", "response_format")]
)
def test_a_grammar_is_sent_with_every_request(grammar, where, ask, kept):
    with FaultServer() as server:
        ask(server, units=2, settings=dataclasses.replace(SETTINGS, grammar=grammar))
        assert all(where in seen.body for seen in server.journal)
    assert json.loads(kept.rows("request")[0][0])["grammar"] == grammar
    assert kept.rows("deviations") == [(None,)] * 2
