"""A request: what a unit asks of a model, in our words and in Inspect's."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evenhand import formats
from evenhand.collection.parity import FORCED
from evenhand.collection.reasoning import least_effort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import GenerateConfig
    from inspect_ai.tool import ToolChoice, ToolInfo

    from evenhand.collection.models import Respondent
    from evenhand.formats import ToolSpec
    from evenhand.instrument import Unit
    from evenhand.plan import Settings

_PASSED = ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort", "reasoning_tokens")
_LOCAL = "local/"
RERUN_EFFORT = "medium"
"""The effort of a unit that is asked with reasoning, unless the model's own options say otherwise."""


def request_settings(settings: Settings, respondent: Respondent, *, seed: int) -> dict[str, Any]:
    """What is asked of a provider beside prompt and tools, the same for every unit of one respondent.

    Args:
        settings: The study's.
        respondent: The model, with its own options.
        seed: The seed of this request.
    """
    options = respondent.options
    asked: dict[str, Any] = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_tokens": settings.max_tokens,
        "seed": seed,
        "reasoning": settings.reasoning,
        "reasoning_effort": options.reasoning_effort
        or (least_effort(respondent.model) if settings.reasoning == "off" else None),
        "reasoning_tokens": options.reasoning_tokens,
        "grammar": _grammar(settings, respondent),
        "extra_body": dict(options.extra_body),
    }
    return {name: value for name, value in asked.items() if value not in (None, {}, "") and name not in options.omit}


def standing_settings(settings: Settings, respondent: Respondent) -> dict[str, Any]:
    """What a respondent's id stands for: the settings of all its requests, asked of the same id ever after."""
    asked = request_settings(settings, respondent, seed=settings.seed)
    automatic = respondent.options.tool_choice != FORCED
    return asked | ({"tool_choice": respondent.options.tool_choice} if automatic else {})


def _grammar(settings: Settings, respondent: Respondent) -> str | None:
    """How the answer's form is enforced; the small local model almost never answers in form by itself."""
    chosen = respondent.options.grammar or settings.grammar
    if chosen == "off" and respondent.options.grammar is None and respondent.model.startswith(_LOCAL):
        chosen = "gbnf"
    return None if chosen == "off" else chosen


def unit_settings(unit: Unit, base: Mapping[str, Any], respondent: Respondent) -> dict[str, Any]:
    """The settings of one unit's request: its reasoning, its tools and the grammar of its answer."""
    asked = dict(base)
    if unit.reasoning:
        asked["reasoning"] = unit.reasoning
        if not respondent.options.reasoning_tokens:
            asked["reasoning_effort"] = respondent.options.reasoning_effort or RERUN_EFFORT
    specs = offered(unit)
    if specs:
        asked["tools"] = [{"name": spec.name, "parameters": spec.parameters} for spec in specs]
        asked["tool_choice"] = respondent.options.tool_choice
    if "grammar" in asked and (specs or not _grammar_text(unit, asked["grammar"])):
        del asked["grammar"]
    return asked


def offered(unit: Unit) -> tuple[ToolSpec, ...]:
    """The functions a unit offers."""
    return formats.tools(unit.format, slots=len(unit.slots), label=unit.label)


def inspect_config(unit: Unit, asked: Mapping[str, Any], *, timeout: int | None, batch: str = "") -> GenerateConfig:
    """Inspect's settings of a request; requests that ask alike share them.

    Args:
        unit: What is asked about; says which grammar.
        asked: As `unit_settings` gives it, after what the provider refused.
        timeout: Seconds for the attempt; None in batch mode.
        batch: Inspect's batch settings as JSON; empty where there is no batch.
    """
    given: dict[str, Any] = {name: asked[name] for name in _PASSED if name in asked}
    extra: dict[str, Any] = dict(asked.get("extra_body", {}))
    grammar = asked.get("grammar")
    if grammar in {"gbnf", "regex"}:
        extra["grammar" if grammar == "gbnf" else "guided_regex"] = _grammar_text(unit, grammar)
    elif grammar:
        given["schema"] = _grammar_text(unit, grammar)
    if extra:
        given["extra_body"] = extra
    return _config(json.dumps(given, sort_keys=True), timeout, batch)


@lru_cache(maxsize=512)
def _config(given: str, timeout: int | None, batch: str) -> GenerateConfig:
    from inspect_ai.model import BatchConfig, GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    settings: dict[str, Any] = json.loads(given)
    schema = settings.pop("schema", None)
    if schema:
        body = JSONSchema.model_validate(json.loads(schema))
        settings["response_schema"] = ResponseSchema(name="answer", json_schema=body, strict=True)
    if batch:
        settings["batch"] = BatchConfig.model_validate_json(batch)
    # Retries are ours, so that each request is one row of the ledger.
    return GenerateConfig(**settings, max_retries=0, attempt_timeout=timeout)


def _grammar_text(unit: Unit, kind: str) -> str | None:
    return _grammar_of(unit.format, kind, len(unit.slots), len(unit.options) or formats.OPTIONS, unit.label)


@lru_cache(maxsize=256)
def _grammar_of(format: str, kind: str, slots: int, options: int, label: str) -> str | None:
    from evenhand.formats import grammars

    make = {"gbnf": grammars.gbnf, "regex": grammars.regex, "schema": grammars.schema}[kind]
    made = make(format, slots=slots, options=options, label=label)
    return json.dumps(made) if isinstance(made, dict) else made


def inspect_tools(unit: Unit, choice: str) -> tuple[list[ToolInfo], ToolChoice | None]:
    """A unit's functions as Inspect's, and the choice: forced on the one function, or left to the model."""
    specs = offered(unit)
    if not specs:
        return [], None
    return list(_tool_infos(json.dumps([[s.name, s.description, s.parameters] for s in specs]))), _choice(
        choice, specs[0].name
    )


def _choice(choice: str, name: str) -> ToolChoice:
    from inspect_ai.tool import ToolFunction

    return ToolFunction(name=name) if choice == FORCED else "auto"


@lru_cache(maxsize=64)
def _tool_infos(specs: str) -> tuple[ToolInfo, ...]:
    from inspect_ai.tool import ToolInfo, ToolParams

    return tuple(
        ToolInfo(name=name, description=description, parameters=ToolParams.model_validate(parameters))
        for name, description, parameters in json.loads(specs)
    )


def shown_characters(unit: Unit) -> int:
    """How many characters a request shows the model: the prompt and the functions."""
    return len(unit.prompt) + sum(len(json.dumps(spec.parameters)) + len(spec.description) for spec in offered(unit))
