"""The provider `local`: the server of `evenhand serve-local`, spoken to as Inspect speaks to any of OpenAI's kind."""

from __future__ import annotations

import json
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from inspect_ai.model import GenerateConfig
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI  # pyright: ignore[reportMissingTypeStubs]

from evenhand.collection.local import HOST, PORT
from evenhand.errors import InputError

if TYPE_CHECKING:
    from inspect_ai.tool import ToolChoice, ToolInfo

_PATIENCE = 5
"""Seconds to wait for the server to say what it serves."""


class ToolsIgnoredError(InputError):
    """Functions were offered to a server that would not let the model call them.

    Attributes:
        status_code: Read as a request that will never pass, and not tried again.
    """

    status_code = 400


class LocalAPI(OpenAICompatibleAPI):
    """A model that `evenhand serve-local` serves; it needs no key, and its client does not retry by itself.

    Args:
        model_name: The model's alias, `smollm2`.
        base_url: The server's address with `/v1`, where it is not on this machine's usual port.
        api_key: Not used.
        config: Inspect's settings.
        port: Another port on this machine.
        model_args: Passed on to the client.

    Raises:
        InputError: No server answers, or it serves another model.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,  # noqa: ARG002 - Inspect's own signature
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        port: int = PORT,
        **model_args: Any,
    ) -> None:
        address = (base_url or f"http://{HOST}:{port}/v1").rstrip("/")
        served = _served(address, "" if port == PORT else f" --port {port}")
        if model_name not in served:
            # It would answer all the same: llama.cpp does not look at the name.
            raise InputError(
                f"the server serves {', '.join(served) or 'no model'}, not {model_name!r}",
                where=address,
                mend="Name the model it serves, or start another server with `evenhand serve-local --alias`",
            )
        model_args.setdefault("max_retries", 0)
        super().__init__(model_name, address, "none", config, service="local", **model_args)

    def resolve_tools(
        self, tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> tuple[list[ToolInfo], ToolChoice, GenerateConfig]:
        """Refuse functions: the model would answer in words, and it would look like its own choice."""
        if tools:
            raise ToolsIgnoredError(
                "the server of local models ignores that a function must be called",
                where=f"local/{self.model_name}",
                mend="Put only formats that are answered in text to it",
            )
        return tools, tool_choice, config


def _served(address: str, option: str) -> list[str]:
    """The names of the models that a server serves."""
    try:
        with urlopen(f"{address}/models", timeout=_PATIENCE) as response:
            return [str(model["id"]) for model in json.load(response)["data"]]
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            f"no local model answers at {address} ({problem})",
            mend=f"Start it with `evenhand serve-local{option}`",
        ) from None
