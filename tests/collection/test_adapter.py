"""What we touch of Inspect's private names: it must be there, and nothing else may reach for any."""

import ast
import tomllib
from importlib import import_module, metadata
from pathlib import Path

import pytest

import evenhand
from evenhand.collection.adapter.wire import Wire, clean, recording

SOURCE = Path(evenhand.__file__).parent
PROJECT = SOURCE.parent.parent
PRIVATE = [
    ("model._model", "use_model_event_sink"),
    ("model._model", "ModelEventSink.on_pending"),
    ("model._model", "ModelEventSink.on_complete"),
    ("model._providers.util.batch", "Batcher.generate_for_request"),
    ("model._providers.util.batch", "Batcher._wrapped_create_batch"),
    ("model._providers.util.batch", "Batcher._wrapped_check_batch"),
    ("model._providers.util.batch", "Batcher._resolve_inflight_batch"),
    ("model._providers.util.batch", "Batcher._fail_and_cleanup_inflight_batch"),
    ("model._providers.util.batch", "Batcher._batch_worker"),
    ("model._providers.util.batch", "Batch"),
    ("model._providers.util.batch", "BatchRequest"),
    ("model._providers.util.batch_log", "set_batch_log_callback"),
    ("model._providers.util.batch_log", "set_batch_status_callback"),
    ("model._providers._openai_batch", "OpenAIBatcher._adapt_batch_info"),
    ("model._providers._openai_batch", "OpenAIBatcher._parse_jsonl_line"),
    ("model._providers._openai_batch", "OpenAIBatcher._results_from_rejection"),
    ("model._providers._together_batch", "TogetherBatcher._adapt_batch_info"),
    ("model._providers.openai_compatible", "OpenAICompatibleAPI"),
    ("_util.background", "run_in_background"),
]


@pytest.mark.parametrize(("module", "name"), PRIVATE)
def test_every_private_name_is_where_it_was(module, name):
    found = import_module(f"inspect_ai.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_inspect_is_within_the_range_these_tests_were_passed_with():
    """Raise the range in pyproject.toml after passing this file and `make test-slow` with the new version."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [pin] = [text for text in project["dependencies"] if text.startswith("inspect-ai")]
    lowest, highest = (part.strip("><=") for part in pin.removeprefix("inspect-ai").split(","))
    installed = tuple(map(int, metadata.version("inspect_ai").split(".")[:3]))
    assert tuple(map(int, lowest.split("."))) <= installed <= tuple(map(int, highest.split(".")))


def test_a_batcher_keeps_what_a_re_attachment_writes_to():
    from inspect_ai.model._generate_config import BatchConfig
    from inspect_ai.model._providers._openai_batch import OpenAIBatcher

    batcher = OpenAIBatcher(None, BatchConfig(), None, None)
    assert (batcher._inflight_batches, batcher._is_batch_worker_running) == ({}, False)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
            yield node.value


def test_no_other_module_reaches_past_inspects_public_names():
    reaching = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for name in imported(path)
        if name.startswith("inspect_ai") and "._" in name
    }
    assert reaching <= {f"collection/adapter/{name}.py" for name in ("wire", "batches", "local")}
    assert reaching, "the search finds nothing at all"


def test_a_call_inside_is_caught_and_inspect_keeps_nothing():
    import asyncio

    from inspect_ai.log import transcript
    from inspect_ai.model import get_model

    async def call():
        before = len(transcript().events)
        with recording() as wire:
            await get_model("sim/null", memoize=False).generate("Rate this from 1 to 5.")
        return wire, len(transcript().events) - before

    wire, kept = asyncio.run(call())
    assert (wire, kept) == (Wire(), 0), "a simulated respondent has no wire"


def test_headers_and_keys_are_no_part_of_what_is_kept(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh-secret")
    body = {
        "extra_headers": {"Authorization": "Bearer abcdefgh-secret"},
        "api_key": "abcdefgh-secret",
        "messages": [{"content": "my key is abcdefgh-secret", "headers": {"a": 1}}],
        "note": "sk-proj-1234567890",
    }
    assert clean(body) == {"messages": [{"content": "my key is [key removed]"}], "note": "[key removed]"}


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_installed_sdk_gives_a_model_that_retries_nothing_by_itself(provider, monkeypatch):
    """No network: the client is made and looked at."""
    from evenhand.collection.asker import Conduct
    from evenhand.collection.models import Respondent, make_model

    pytest.importorskip(provider, reason=f"the package {provider} is not installed")
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", "a-key-for-nothing")
    model = make_model(Respondent(f"{provider}/some-model"), Conduct(), None)
    assert model.api.client.max_retries == 0
    assert model.config.max_connections == 20
