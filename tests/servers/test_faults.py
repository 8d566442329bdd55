"""Every fault as httpx and the real `openai` client see it."""

import asyncio
import json
import time

import httpx
import openai
import pytest
from tests.servers.faults import FAULTS, LONGEST_HOLD, TRANSIENT, FaultServer, at_random, refuse
from tests.servers.replies import prompt_of

TOOL = {"type": "function", "function": {"name": "decide", "parameters": {"type": "object", "properties": {}}}}


def say(client, prompt="How much?", **settings):
    return client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}], **settings)


def test_a_plain_answer_has_its_own_id_and_the_usage_of_its_prompt(client):
    with FaultServer(answer=lambda request: prompt_of(request).upper()) as server:
        asker = client(server)
        first, second = say(asker, "a" * 40), say(asker, "b" * 80)
    assert first.choices[0].message.content == "A" * 40
    assert (first.model, first.system_fingerprint) == ("faulty-1", "fp_test")
    assert (first.usage.prompt_tokens, second.usage.prompt_tokens) == (10, 20)
    assert first.id != second.id


def test_the_prompt_is_the_last_message_of_the_user():
    said = [("user", "first"), ("assistant", "4"), ("user", "second"), ("assistant", "5")]
    messages = [{"role": role, "content": content} for role, content in said]
    assert prompt_of({"messages": messages}) == "second"
    assert prompt_of({"input": [{"role": "user", "content": [{"type": "input_text", "text": "third"}]}]}) == "third"
    assert prompt_of({"input": "fourth"}) == "fourth"


@pytest.mark.parametrize("choice", ["auto", {"type": "function", "function": {"name": "decide"}}])
def test_a_mapping_is_a_tool_call(client, choice):
    with FaultServer(answer=lambda request: {"decision": 1}) as server:
        reply = say(client(server), tools=[TOOL], tool_choice=choice)
    [call] = reply.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("decide", {"decision": 1})
    assert reply.choices[0].finish_reason == "tool_calls"


def test_the_responses_api_gives_text_and_calls(client):
    with FaultServer(answer=lambda request: {"decision": 1} if request.get("tools") else "4") as server:
        asked = client(server).responses
        text = asked.create(model="m", input="How much?")
        call = asked.create(model="m", input="How much?", tools=[{"type": "function", "name": "decide"}])
        assert [seen.answered for seen in server.journal] == [True, True]
    assert (text.output_text, text.status, text.usage.input_tokens) == ("4", "completed", 2)
    assert [(item.name, json.loads(item.arguments)) for item in call.output] == [("decide", {"decision": 1})]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("length", lambda said: said.incomplete_details.reason == "max_output_tokens"),
        ("content filter", lambda said: said.incomplete_details.reason == "content_filter"),
        ("refusal", lambda said: said.output[0].content[0].type == "refusal"),
        ("no choices", lambda said: said.output == []),
        ("reasoned", lambda said: said.usage.output_tokens_details.reasoning_tokens == 50),
    ],
)
def test_a_fault_keeps_its_meaning_in_the_responses_api(name, seen, client):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        assert seen(client(server).responses.create(model="m", input="How much?"))


def test_the_list_of_models_is_there(client):
    with FaultServer() as server:
        assert [model.id for model in client(server).models.list()] == ["faulty"]


@pytest.mark.parametrize("name", ["400", "401", "402", "403", "404", "429", "500", "503"])
def test_a_refusal_has_its_status_and_is_no_answer(name, client):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        with pytest.raises(openai.APIStatusError) as caught:
            say(client(server))
        [seen] = server.journal
    assert caught.value.status_code == seen.status == int(name)
    assert (seen.sent, seen.answered) == (True, False)


def test_a_refusal_has_the_code_message_and_headers_that_a_test_gives_it():
    with FaultServer(fault=lambda n, request: refuse(429, "later", "insufficient_quota", retry_after="7")) as server:
        reply = httpx.post(f"{server.base_url}/chat/completions", json={})
    assert reply.headers["retry-after"] == "7"
    assert (reply.json()["error"]["message"], reply.json()["error"]["code"]) == ("later", "insufficient_quota")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("cut", openai.APIConnectionError),
        ("silent", openai.APIConnectionError),
        ("broken json", json.JSONDecodeError),
        ("empty body", json.JSONDecodeError),
    ],
)
def test_what_breaks_on_the_way_raises_and_is_no_answer(name, error, client):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        with pytest.raises(error):
            say(client(server))
        assert len(server.journal) == 1, "the client sent it again"
        assert not server.answered()


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("empty content", lambda reply: reply.choices[0].message.content == ""),
        ("null content", lambda reply: reply.choices[0].message.content is None),
        ("no choices", lambda reply: reply.choices == []),
        ("error in 200", lambda reply: reply.choices is None and reply.error["message"] == "upstream failed"),
        ("html", lambda reply: reply.startswith("<html>")),
        ("refusal", lambda reply: "cannot" in reply.choices[0].message.refusal),
    ],
)
def test_a_200_without_an_answer_arrives_and_is_no_answer(name, seen, client):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        assert seen(say(client(server)))
        assert not server.answered()


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("json as text", lambda reply: reply.choices[0].message.content == "4"),
        ("thinking blocks", lambda reply: [part["type"] for part in reply.choices[0].message.content][-1] == "text"),
        ("length", lambda reply: reply.choices[0].finish_reason == "length"),
        ("content filter", lambda reply: reply.choices[0].finish_reason == "content_filter"),
        ("odd finish", lambda reply: reply.choices[0].finish_reason == "MALFORMED_FUNCTION_CALL"),
        ("reasoned", lambda reply: reply.usage.completion_tokens_details.reasoning_tokens == 50),
        ("half read", lambda reply: reply.usage.prompt_tokens == 1),
    ],
)
def test_an_answer_with_something_wrong_about_it_is_still_an_answer(name, seen, client):
    with FaultServer(fault=lambda n, request: FAULTS[name]) as server:
        assert seen(say(client(server)))
        assert server.answered().total() == 1


def test_arguments_can_be_an_object(client):
    with FaultServer(fault=lambda n, request: FAULTS["arguments as object"]) as server:
        reply = say(client(server), tools=[TOOL])
    assert reply.choices[0].message.tool_calls[0].function.arguments == {"decision": 1}


def test_a_request_that_hangs_ends_when_the_client_goes(client):
    with FaultServer(fault=lambda n, request: FAULTS["hang"]) as server:
        with pytest.raises(openai.APITimeoutError):
            say(client(server, timeout=0.2))
        assert not server.journal[0].sent


def test_the_same_reply_is_served_for_two_requests(client):
    with FaultServer(answer=prompt_of, fault=lambda n, request: FAULTS["served twice"] if n == 1 else None) as server:
        asker = client(server)
        replies = [say(asker, prompt) for prompt in ("one", "two", "three")]
    assert [reply.choices[0].message.content for reply in replies] == ["one", "one", "three"]
    assert replies[0].id == replies[1].id != replies[2].id


def test_a_reply_is_held_back_until_a_later_request_was_answered():
    async def both(server):
        async with httpx.AsyncClient(base_url=server.base_url, timeout=10) as client:
            done = []

            async def ask(prompt):
                await client.post("/chat/completions", json={"messages": [{"role": "user", "content": prompt}]})
                done.append(prompt)

            early = asyncio.create_task(ask("early"))
            while not server.journal:
                await asyncio.sleep(0.01)
            await ask("late")
            await early
        return done

    with FaultServer(fault=lambda n, request: FAULTS["held back"] if n == 0 else None) as server:
        start = time.monotonic()
        assert asyncio.run(both(server)) == ["late", "early"]
        assert time.monotonic() - start < LONGEST_HOLD, "it was not let go"
        assert [seen.prompt for seen in server.journal] == ["early", "late"]


def test_a_seeded_plan_repeats_itself():
    def drawn(seed):
        choose = at_random(TRANSIENT, 0.3, seed)
        return [choose(n, {}) for n in range(200)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 30 < sum(fault is not None for fault in drawn(1)) < 90


def test_what_a_tests_own_function_raises_is_told(client):
    broken = FaultServer(answer=lambda request: 1 // 0)
    with broken as server, pytest.raises(openai.InternalServerError, match="ZeroDivisionError"):
        say(client(server))
