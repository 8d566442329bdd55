"""The simulated respondents as an Inspect model provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from evenhand import __version__
from evenhand.respondents import Lexicon, ToolOffer, behaviour, respond

if TYPE_CHECKING:
    from collections.abc import Sequence


class SimulatedAPI(ModelAPI):
    """Answers from the text and tools of the request alone, as `evenhand.respondents` does.

    Usage is always set (spaces count as tokens), so that nothing looks for a tokenizer on the network.

    Args:
        model_name: A preset's name.
        lexicon: The names and texts known; by default those of the shipped packs.
        model_args: The preset's parameters to replace (`noise=1.0`, `race.Black=-0.5`, ...).
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        lexicon: Lexicon | None = None,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        self._behaviour = behaviour(model_name, model_args)
        self._lexicon = lexicon

    def teach(self, lexicon: Lexicon) -> None:
        """Let it know a run's own names and texts, unless it was told already."""
        self._lexicon = self._lexicon or lexicon

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answer one request of Inspect's."""
        prompt = "\n\n".join(message.text for message in input)
        return self.answer(prompt, tools, tool_choice, config)

    def answer(
        self, prompt: str, tools: Sequence[ToolInfo], tool_choice: ToolChoice | None, config: GenerateConfig
    ) -> ModelOutput:
        """Answer one request. It takes no connection, cannot fail on the way and has no wire to record."""
        offers = [ToolOffer(tool.name, tuple(tool.parameters.properties)) for tool in tools if tool_choice != "none"]
        response = respond(
            prompt,
            who=self.model_name,
            behaviour=self._behaviour,
            seed=config.seed or 0,
            tools=offers,
            lexicon=self._lexicon,
        )
        calls = (
            [ToolCall(id="call-1", function=response.call, arguments=dict(response.arguments))]
            if response.call
            else None
        )
        message = ChatMessageAssistant(content=response.text, tool_calls=calls, source="generate")
        # About a token a word, and cheap to count.
        words_in, words_out = prompt.count(" ") + 1, response.text.count(" ") + 1
        return ModelOutput(
            model=f"{self.model_name}-{__version__}",
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")],
            usage=ModelUsage(input_tokens=words_in, output_tokens=words_out, total_tokens=words_in + words_out),
        )

    def max_connections(self) -> int:
        """How many requests may be under way; there is nothing to wait for."""
        return 64

    def connection_key(self) -> str:
        """Simulated respondents share no limit with each other."""
        return f"sim/{self.model_name}"
