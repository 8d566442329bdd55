"""What `run` and `cost` share: which models are meant, which units, at which prices."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from evenhand.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evenhand.collection.config import Options
    from evenhand.collection.models import Respondent
    from evenhand.study import Part

Command = TypeVar("Command", bound="Callable[..., Any]")


class Shard(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """`i/k`: the i-th of k parts."""

    name = "i/k"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read it; wrong ones are an error of use."""
        own, slash, of = str(value).partition("/")
        if not slash or not (own.isdecimal() and of.isdecimal()) or not 1 <= int(own) <= int(of):
            self.fail(f"{value!r} is not i/k with 1 <= i <= k", param, ctx)
        return int(own), int(of)


def model_options(command: Command) -> Command:
    """The options that say which models are asked."""
    for option in reversed(
        (
            click.option(
                "--model", "models", multiple=True, help="PROVIDER/NAME, any that Inspect reaches; may be repeated."
            ),
            click.option(
                "-M", "arguments", multiple=True, metavar="KEY=VALUE", help="An argument for the models' provider."
            ),
            click.option("--as", "label", default="", help="The id of the model in the results (with one --model)."),
            click.option(
                "--reasoning-model",
                "reasoning_models",
                multiple=True,
                metavar="MODEL",
                help="One of the models, to be asked the arms with reasoning too; may be repeated.",
            ),
            click.option(
                "--config",
                type=click.Path(path_type=Path),
                help="A TOML file with a table a model: its label, arguments and settings.",
            ),
        )
    ):
        command = option(command)
    return command


def part_options(command: Command) -> Command:
    """The options that say which units are asked."""
    for option in reversed(
        (
            click.option(
                "--arm",
                "arms",
                multiple=True,
                default=("*",),
                help="Only arms that match this pattern; may be repeated.",
            ),
            click.option("--limit", type=click.IntRange(min=1), help="Only the first so many units."),
            click.option(
                "--shard", type=Shard(), default="1/1", help="Only part i of k: k machines share one instrument."
            ),
        )
    ):
        command = option(command)
    return command


price_option = click.option(
    "--prices",
    type=click.Path(path_type=Path),
    help="A TOML file with prices; otherwise RUN/prices.toml.",
)


def parts(arms: tuple[str, ...], limit: int | None, shard: tuple[int, int]) -> Part:
    """Which units are meant."""
    from evenhand.study import Part

    return Part(arms, limit, shard)


def named_models(
    models: Sequence[str],
    arguments: Sequence[str],
    label: str,
    config: Path | None,
    *,
    otherwise: Sequence[str],
    reasoning: Sequence[str] = (),
) -> list[Respondent]:
    """The models of a command: those named, or those of the configuration file, or those of the study.

    Raises:
        InputError: None is named anywhere, a label for several, or a reasoning model that is not among them.
    """
    from evenhand.collection.config import read_options

    options = read_options(config) if config else {}
    chosen = models or tuple(options) or otherwise
    if not chosen:
        raise InputError("no model was named", where="run", mend="Name one with --model PROVIDER/NAME")
    stray = next((model for model in reasoning if model not in chosen), None)
    if stray is not None:
        raise InputError(
            f"{stray!r} is not among the models that are asked",
            where="--reasoning-model",
            mend="Name it with --model too",
        )
    respondents = make_respondents(chosen, _parse_arguments(arguments), label, options)
    return [replace(respondent, rerun=respondent.model in reasoning) for respondent in respondents]


def make_respondents(
    models: Sequence[str],
    arguments: Mapping[str, Any] | None = None,
    label: str = "",
    options: Mapping[str, Options] | None = None,
) -> list[Respondent]:
    """The models as respondents; arguments of the command line come before those of a file."""
    from evenhand.collection.config import Options
    from evenhand.collection.models import ALL_TOGETHER, Respondent

    if label and len(models) > 1:
        raise InputError("one label was given for several models", where="--as", mend="Name one --model with --as")
    respondents: list[Respondent] = []
    for model in dict.fromkeys(models):
        own = (options or {}).get(model, Options())
        respondents.append(Respondent(model, {**own.arguments, **(arguments or {})}, label or own.label, own))
    ids = [respondent.id for respondent in respondents]
    if ALL_TOGETHER in ids:
        raise InputError(
            f"a respondent cannot be called {ALL_TOGETHER!r}: results use the word for all together",
            where="--as",
            mend="Choose another label",
        )
    if len(set(ids)) < len(ids):
        raise InputError("two models have one label", where="--config", mend="Give each a label of its own")
    return respondents


def _parse_arguments(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs; values are numbers, true, false, null, JSON or text."""
    parsed: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"{pair!r} is not KEY=VALUE", where="-M", mend="Write it as -M key=value")
        try:
            parsed[key] = json.loads(value)
        except ValueError:
            parsed[key] = value
        except RecursionError:
            raise InputError(f"the value of {key} is nested too deep", where="-M", mend="Nest it less") from None
    return parsed
