"""The models of a run: which ones, under what name, and how Inspect makes them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.collection.config import Options
from evenhand.collection.secrets import redact
from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import Model

    from evenhand.collection.asker import Conduct
    from evenhand.collection.simulated import SimulatedAPI
    from evenhand.respondents import Lexicon

_SECRET = re.compile(
    r"(?:^|[_.-])(?:api_?key|key|token|secret|password|authorization|credentials?)$|(?:access|auth|bearer)_?token",
    re.IGNORECASE,
)


_OPENAI_CLIENTS = (
    *(
        "openai",
        "openai-api",
        "openai-api-completions",
        "openrouter",
        "together",
        "fireworks",
        "deepseek",
        "perplexity",
    ),
    *("sambanova", "cloudflare", "moonshot", "meta", "ollama", "vllm", "sglang", "hf-inference-providers"),
)
_SILENT = frozenset({*_OPENAI_CLIENTS, "anthropic", "groq"})
"""Providers whose client retries by itself, unseen, unless its own `max_retries` says otherwise."""


ALL_TOGETHER = "pooled"
"""What results call all respondents together; none of them may have this name."""


@dataclass(frozen=True, slots=True)
class Respondent:
    """A model as it is asked in this run.

    Attributes:
        model: Inspect's model string, `provider/name`.
        arguments: Provider arguments.
        label: The id in the ledger and the `model` column; by default the model with its arguments.
        options: Its own settings beyond the study's.
        rerun: Whether it is also asked the units that ask for reasoning.

    Raises:
        InputError: An argument that looks like a key or is nothing that JSON holds, or a label that is blank or not
            printable.
    """

    model: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    label: str = ""
    options: Options = field(default_factory=Options)
    rerun: bool = False

    def __post_init__(self) -> None:
        secret = next((key for key in self.arguments if _SECRET.search(key)), None)
        if secret:
            raise InputError(
                f"{secret!r} looks like a key",
                where="model arguments",
                mend="Keys come from the environment: arguments are kept with the results",
            )
        try:
            json.dumps({"arguments": dict(self.arguments), "options": asdict(self.options)}, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as problem:
            raise InputError(
                f"an argument or setting cannot be sent as JSON ({problem})",
                where=self.model,
                mend="Use text, finite numbers, true, false, lists and tables",
            ) from None
        if self.label and (not self.label.strip() or not self.label.isprintable()):
            raise InputError(f"{self.label!r} is no label", where="label", mend="Give a word or two of printable text")

    @property
    def id(self) -> str:
        """`provider/name`, with the arguments in brackets where there are any."""
        if self.label:
            return self.label
        arguments = ",".join(f"{key}={self.arguments[key]}" for key in sorted(self.arguments))
        return f"{self.model}[{arguments}]" if arguments else self.model


BATCHES_AT_ONCE = 4
"""How many batches' worth of requests are under way in batch mode, in place of `max_connections`."""


LOCAL_AT_ONCE = 2
"""How many requests are under way at the small local model, unless its own options say otherwise."""


def connections(respondent: Respondent, conduct: Conduct) -> int:
    """How many requests of a respondent are under way at once; in batch mode as many as fill a few batches."""
    # A model on this machine's processors answers no faster for more: the rest would only time out in its queue.
    most = LOCAL_AT_ONCE if respondent.model.startswith("local/") else conduct.max_connections
    at_once = respondent.options.max_connections or min(conduct.max_connections, most)
    return conduct.batch * BATCHES_AT_ONCE if conduct.batch else at_once


def make_model(respondent: Respondent, conduct: Conduct, lexicon: Lexicon | None) -> Model:
    """A respondent as Inspect's model.

    Args:
        respondent: Which model, with its arguments.
        conduct: How many requests may be under way at once.
        lexicon: What simulated respondents know.

    Raises:
        InputError: Inspect cannot make it: unknown provider, missing package or key, wrong argument.
    """
    from inspect_ai.model import GenerateConfig, get_model

    arguments: dict[str, Any] = dict(respondent.arguments)
    provider = respondent.model.partition("/")[0]
    if provider == "sim":
        arguments["lexicon"] = lexicon
    elif provider in _SILENT:
        arguments.setdefault("max_retries", 0)
    try:
        return get_model(
            respondent.model,
            config=GenerateConfig(max_connections=connections(respondent, conduct)),
            memoize=False,
            **arguments,
        )
    except InputError:
        raise
    except Exception as problem:
        # Inspect and the providers' packages each have their own errors for a missing key, package or provider.
        raise InputError(
            f"the model cannot be used ({_plain(problem) or type(problem).__name__})",
            where=respondent.model,
            mend="Check the provider's name, its package and its key",
        ) from None


def simulated(model: Model) -> SimulatedAPI | None:
    """The simulated respondent behind a model; None for a model that is reached through a provider's client.

    Inspect's `Model.generate` limits connections, retries, times out and records the wire. None of it applies to a
    respondent in this process, and it takes most of the time that a unit takes.
    """
    from evenhand.collection.simulated import SimulatedAPI

    return model.api if isinstance(model.api, SimulatedAPI) else None


def _plain(problem: Exception) -> str:
    """An error's text in one line, without the markup that some carry for the terminal."""
    text = re.sub(r"\[/?[a-z ]+\]", "", str(problem))
    return redact(" ".join(text.split()).rstrip("."))
