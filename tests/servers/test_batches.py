"""The batch interface of the server, spoken to with the real `openai` client."""

import io
import json
from contextlib import contextmanager

import openai
import pytest
from tests.servers.batches import Batches
from tests.servers.faults import FaultServer
from tests.servers.replies import prompt_of


@contextmanager
def talking(server):
    with openai.OpenAI(base_url=server.base_url, api_key="x", max_retries=0) as client:
        yield client


def send(client, count=5, endpoint="/v1/chat/completions"):
    """A batch of so many requests, each with its own prompt."""
    of = {"/v1/chat/completions": lambda n: {"messages": [{"role": "user", "content": f"prompt {n}"}]}}
    body = of.get(endpoint, lambda n: {"input": f"prompt {n}"})
    lines = [{"custom_id": f"c{n}", "method": "POST", "url": endpoint, "body": body(n)} for n in range(count)]
    content = io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    file = client.files.create(file=content, purpose="batch")
    return client.batches.create(input_file_id=file.id, completion_window="24h", endpoint=endpoint)


def read(client, file_id):
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()]


def test_results_come_in_another_order_and_each_under_its_own_id():
    with FaultServer(answer=prompt_of) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client, 8).id)
        results = read(client, ended.output_file_id)
        assert server.batches.asked == {f"prompt {n}": 1 for n in range(8)}
        assert server.batches.custom_ids == {f"c{n}": 1 for n in range(8)}
    said = {line["custom_id"]: line["response"]["body"]["choices"][0]["message"]["content"] for line in results}
    assert said == {f"c{n}": f"prompt {n}" for n in range(8)}
    assert list(said) != sorted(said), "the results kept the order of the requests"
    assert ended.status == "completed"


def test_a_batch_is_unknown_then_under_way_then_done():
    with FaultServer(batches=Batches(not_found=1, polls=2)) as server, talking(server) as client:
        made = send(client)
        with pytest.raises(openai.NotFoundError):
            client.batches.retrieve(made.id)
        looks = [client.batches.retrieve(made.id) for _ in range(3)]
    assert [look.status for look in looks] == ["in_progress", "in_progress", "completed"]
    assert [look.output_file_id is None for look in looks] == [True, True, False]


def test_a_client_that_comes_later_finds_the_batch_again():
    with FaultServer() as server:
        with talking(server) as client:
            made = send(client)
        with talking(server) as client:
            assert len(read(client, client.batches.retrieve(made.id).output_file_id)) == 5


@pytest.mark.parametrize("told", [False, True])
def test_an_expired_batch_gives_a_part_and_may_name_the_rest(told):
    batches = Batches(lose={0: {1, 3}}, status="expired", tell_lost=told)
    with FaultServer(batches=batches) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client).id)
        done = {line["custom_id"] for line in read(client, ended.output_file_id)}
        late = read(client, ended.error_file_id) if ended.error_file_id else []
    assert (ended.status, done) == ("expired", {"c0", "c2", "c4"})
    assert [(line["custom_id"], line["error"]["code"]) for line in late] == (
        [("c1", "batch_expired"), ("c3", "batch_expired")] if told else []
    )
    assert ended.model_dump()["request_counts"] == {"total": 5, "completed": 3, "failed": 2}


def test_a_batch_can_end_as_completed_with_nothing():
    with FaultServer(batches=Batches(empty=True)) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client).id)
    assert (ended.status, ended.output_file_id, ended.error_file_id) == ("completed", None, None)


def test_a_batch_can_end_as_completed_with_errors_alone():
    with FaultServer(batches=Batches(fail="not allowed")) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client).id)
        errors = read(client, ended.error_file_id)
    assert (ended.status, ended.output_file_id) == ("completed", None)
    assert ended.model_dump()["request_counts"]["failed"] == 5
    assert {line["response"]["body"]["error"]["message"] for line in errors} == {"not allowed"}


def test_a_rejected_batch_ends_as_failed_with_its_errors():
    with FaultServer(batches=Batches(reject=("line 1 is no JSON",))) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client).id)
    assert (ended.status, ended.output_file_id) == ("failed", None)
    assert [error["message"] for error in ended.model_dump()["errors"]["data"]] == ["line 1 is no JSON"]


def test_two_results_can_stand_under_each_others_id():
    with FaultServer(answer=prompt_of, batches=Batches(swap=True)) as server, talking(server) as client:
        results = read(client, client.batches.retrieve(send(client).id).output_file_id)
    said = {line["custom_id"]: line["response"]["body"]["choices"][0]["message"]["content"] for line in results}
    assert (said["c0"], said["c1"], said["c2"]) == ("prompt 1", "prompt 0", "prompt 2")


def test_a_batch_of_the_responses_api_gives_responses():
    with FaultServer(answer=prompt_of) as server, talking(server) as client:
        ended = client.batches.retrieve(send(client, endpoint="/v1/responses").id)
        [body] = [line["response"]["body"] for line in read(client, ended.output_file_id) if line["custom_id"] == "c2"]
    assert ended.endpoint == "/v1/responses"
    assert body["output"][0]["content"][0]["text"] == "prompt 2"


def test_what_is_not_there_is_refused():
    with FaultServer() as server, talking(server) as client:
        with pytest.raises(openai.NotFoundError):
            client.files.content("file-none")
        with pytest.raises(openai.BadRequestError):
            client.batches.create(input_file_id="file-none", completion_window="24h", endpoint="/v1/responses")
