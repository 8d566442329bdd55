"""What one model is given beyond the study's settings, and the TOML file that says so.

```toml
["openai/gpt-5.4"]
label = "gpt-5.4"
max_connections = 10
reasoning_effort = "minimal"
omit = ["seed"]

["openai/gpt-5.4".arguments]
service_tier = "flex"
```
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from evenhand.errors import InputError
from evenhand.records import CLOSED, DISTINCT, Text, Whole, as_record, read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from evenhand.plan import Settings

Grammar = Literal["off", "schema", "gbnf", "regex"]
Omitted = Literal["temperature", "top_p", "seed"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True, config=CLOSED)
class Options:
    """One model's own settings; each that changes how it is asked is listed as a deviation of every call.

    Attributes:
        label: The model's id in the results, as with `--as`.
        arguments: Arguments for the provider.
        max_connections: Requests at once, in place of the command's.
        reasoning_effort: Sent in place of the least that is known for the model.
        reasoning_tokens: A budget of reasoning tokens, where the provider takes one.
        omit: Sampling settings that are not sent, for a model that refuses them.
        tool_choice: `auto` for a model that cannot be made to call a function.
        grammar: How the answer's form is enforced, in place of the study's setting.
        extra_body: Sent with every request as it is, to OpenAI-compatible servers.
    """

    label: str = ""
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    max_connections: Annotated[Whole, Field(gt=0)] | None = None
    reasoning_effort: Effort | None = None
    reasoning_tokens: Annotated[Whole, Field(ge=0)] | None = None
    omit: Annotated[tuple[Omitted, ...], DISTINCT] = ()
    tool_choice: Literal["forced", "auto"] = "forced"
    grammar: Grammar | None = None
    extra_body: dict[str, Any] = field(default_factory=dict[str, Any])


def own_deviations(options: Options, settings: Settings, *, tools: bool) -> list[str]:
    """How a model is asked otherwise than the study says, by its own options.

    Args:
        options: The model's.
        settings: The study's.
        tools: Whether the unit offers functions.
    """
    found = [f"{name} left out, the model's own setting" for name in options.omit]
    if options.reasoning_effort is not None:
        found.append(f"reasoning_effort {options.reasoning_effort}, the model's own setting")
    if options.reasoning_tokens is not None:
        found.append("reasoning_tokens, the model's own setting")
    if tools and options.tool_choice == "auto":
        found.append("tool choice not forced, the model's own setting")
    if options.grammar is not None and options.grammar != settings.grammar:
        found.append(f"grammar {options.grammar}, the model's own setting")
    if options.extra_body:
        found.append("extra_body, the model's own setting")
    return found


@dataclass(frozen=True, slots=True, config=CLOSED)
class _File:
    models: dict[Text, Options]


def read_options(path: Path) -> dict[str, Options]:
    """The options by model string.

    Raises:
        InputError: A file that cannot be read, or a key that is not known.
    """
    tables = read_toml(path, InputError)
    plain = next((key for key, value in tables.items() if not isinstance(value, dict)), None)
    if plain is not None:
        raise InputError(
            f"{plain!r} is not a model's table", where=str(path), mend='Start each model with ["PROVIDER/NAME"]'
        )
    found = as_record(_File, {"models": tables}, where=str(path), error=InputError).models
    for model, options in found.items():
        if options.label and not (options.label.strip() and options.label.isprintable()):
            raise InputError(
                f"{model}.label: {options.label!r} is no label",
                where=str(path),
                mend="Give a word or two of printable text",
            )
    return found
