"""What can be said about a collection before a request is paid for: what is refused, and what a reader should know."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evenhand.collection.monitor import is_tool_format
from evenhand.collection.reasoning import is_reasoning_model
from evenhand.collection.requests import request_settings
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from inspect_ai.model import Model

    from evenhand.collection.asker import Conduct
    from evenhand.collection.models import Respondent
    from evenhand.collection.runner import Errand

LEAST_TOKENS = 1024
"""An output cap below this can be used up by reasoning before the answer begins."""

BATCHING = frozenset({"openai", "anthropic", "google", "grok", "together"})
"""Providers whose batch mode Inspect 0.3.285 speaks; elsewhere it would send single requests without a word."""

ROUTERS = frozenset({"openrouter"})


def check_plan(errand: Errand, respondents: Sequence[Respondent], conduct: Conduct) -> None:
    """Refuse what cannot come out well.

    Raises:
        InputError: A reasoning model under a tiny output cap, one unit twice, batch mode where there is none, or
            functions for a model that cannot be made to call them.
    """
    keys = [unit.key for unit in errand.units]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"the unit {twice!r} is there twice", where="instrument", mend="Build the study again")
    cap = errand.settings.max_tokens
    for respondent in respondents:
        provider = respondent.model.partition("/")[0]
        if is_reasoning_model(respondent.model) and cap < LEAST_TOKENS:
            raise InputError(
                f"max_tokens = {cap} can be used up by reasoning before an answer begins",
                where=respondent.model,
                mend=f"Build the study with settings.max_tokens of {LEAST_TOKENS} or more",
            )
        if conduct.batch and provider not in BATCHING:
            raise InputError(
                f"the provider {provider!r} has no batch mode here: requests would go out one by one at full price",
                where=respondent.model,
                mend=f"Leave --batch away, or use one of {', '.join(sorted(BATCHING))}",
            )
        if provider == "local" and any(is_tool_format(unit.format) for unit in errand.units):
            raise InputError(
                "the local server ignores a forced tool choice",
                where=respondent.model,
                mend="Leave the arms with functions out, with --arm",
            )


def warnings(
    errand: Errand, respondents: Sequence[Respondent], models: Sequence[Model], conduct: Conduct
) -> Iterator[str]:
    """What a reader should know before more is paid for, a sentence each."""
    if not conduct.batch:
        yield from _shared_limits(respondents, models)
    waiting = sum(bool(unit.reasoning) for unit in errand.units)
    if waiting and not any(respondent.rerun for respondent in respondents):
        yield f"{waiting:,} units ask for reasoning and wait for models named with --reasoning-model"
    for respondent in respondents:
        provider = respondent.model.partition("/")[0]
        if provider in ROUTERS and not _is_pinned(respondent):
            yield (
                f"{respondent.id}: the router may serve this from several backends of unlike quantisation; pin one: "
                '-M provider=\'{"order": ["NAME"], "allow_fallbacks": false}\''
            )
        if _has_tools(errand) and provider == "anthropic" and _thinks(errand, respondent):
            yield (
                f"{respondent.id}: forced tool choice is not applied while the model thinks; the share of replies "
                "without a call is in `evenhand status`"
            )


def _shared_limits(respondents: Sequence[Respondent], models: Sequence[Model]) -> Iterator[str]:
    """Inspect gives models of one provider and key one limit between them."""
    sharing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for respondent, model in zip(respondents, models, strict=True):
        sharing[respondent.model.partition("/")[0], model.api.connection_key()].append(respondent.id)
    for ids in sharing.values():
        if len(ids) > 1:
            yield f"{', '.join(ids)} share a provider and key, and so one limit of --max-connections between them"


def _is_pinned(respondent: Respondent) -> bool:
    routing: Any = respondent.arguments.get("provider") or respondent.options.extra_body.get("provider")
    if not isinstance(routing, dict):
        return False
    named: Any = routing.get("order") or routing.get("only")  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return bool(named) and routing.get("allow_fallbacks") is False  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]


def _has_tools(errand: Errand) -> bool:
    return any(is_tool_format(unit.format) for unit in errand.units)


def _thinks(errand: Errand, respondent: Respondent) -> bool:
    asked = request_settings(errand.settings, respondent, seed=0)
    return bool(asked.get("reasoning_tokens")) or asked.get("reasoning_effort") not in {None, "none"}
