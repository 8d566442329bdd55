"""`tool_rank`: several applications, answered by calling `submit_ranking` with one integer each; ties are valid."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evenhand.formats.calls import Tool, read_call
from evenhand.formats.members import value_from
from evenhand.formats.numerals import whole
from evenhand.formats.ranking import judge_ranks
from evenhand.formats.types import Answer, Format, Question, Reply, ToolSpec
from evenhand.formats.wording import NUMBER_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping

FUNCTION = "submit_ranking"


def read(reply: Reply, question: Question) -> Answer:
    """Read a ranking; ranks are kept as given, with the flag `tied` where two are equal."""
    return read_call(reply, question, _TOOL)


@lru_cache(maxsize=256)
def arguments_of(question: Question) -> tuple[str, ...]:
    """The names of the arguments, in the order shown: `rank_of_application_1`, ...

    They say what they hold: under `rank_1` some models put the winner's number.
    """
    label = re.sub(r"\W+", "_", question.label.strip().lower()) or "application"
    return tuple(f"rank_of_{label}_{place}" for place in range(1, question.slots + 1))


def tools(question: Question) -> tuple[ToolSpec, ...]:
    """The function offered."""
    names = arguments_of(question)
    return (
        ToolSpec(
            FUNCTION,
            f"Submit the priority rank of each of the {NUMBER_WORDS[question.slots - 1]} {question.label}s.",
            {
                "type": "object",
                "properties": {
                    name: {
                        "type": "integer",
                        "description": f"Rank of {question.label} {place}, from 1 (highest priority) to "
                        f"{question.slots} (lowest priority); equal ranks are permitted",
                    }
                    for place, name in enumerate(names, 1)
                },
                "required": list(names),
                "additionalProperties": False,
            },
        ),
    )


def _value(arguments: Mapping[str, Any], question: Question) -> tuple[int, ...] | None:
    names = arguments_of(question)
    if all(name in arguments for name in names):
        ranks = tuple(rank for name in names if (rank := whole(arguments[name])) is not None)
        surplus = any(key.startswith("rank") and key not in names for key in arguments)
        return ranks if len(ranks) == question.slots and not surplus else None
    return value_from(dict(arguments), question, whole, tool=True) or None


_TOOL = Tool(FUNCTION, _value, judge_ranks)

FORMAT = Format("tool_rank", read, bundle=True, tools=tools)
