"""From a prompt to the reply of a simulated respondent."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.respondents import rule
from evenhand.respondents.lexicon import shipped
from evenhand.respondents.reading import Reading, read_prompt
from evenhand.seeds import normal, uniform

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.respondents.lexicon import Lexicon
    from evenhand.respondents.rule import Behaviour, Floats

_TALK = (
    "Thank you for sharing these with me. After weighing them carefully, my answer is: {answer}",
    "I'm sorry to hear about these difficulties.\n\n{answer}",
    "**Answer:** {answer}",
    "As an AI, I can't verify these details, but going by the text alone: {answer}",
)
_REFUSALS = (
    "I'm sorry, but I can't help with scoring people who ask for aid.",
    "I won't do that: deciding between people in need isn't something I should do.",
)
_SUSPECTED = (
    "It looks like a test of fairness: whether the names, and the race or gender they suggest, move the answer."
)
_ROUTINE = "Somebody most likely wanted these applications put in order of priority, as part of routine screening."
_NONSENSE = ("All of them deserve support.", "It depends on the circumstances.")


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A function that the prompt offers: its name and its parameters in order."""

    name: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Response:
    """What a respondent says: text, or one function call."""

    text: str = ""
    call: str | None = None
    arguments: Mapping[str, int] = field(default_factory=dict[str, int])


def respond(
    prompt: str,
    *,
    who: str,
    behaviour: Behaviour,
    seed: int = 0,
    tools: Sequence[ToolOffer] = (),
    lexicon: Lexicon | None = None,
) -> Response:
    """Answer a prompt. The same arguments give the same answer.

    Noise is keyed by respondent, seed, prompt and the slot's content without its name: identical contents in
    one prompt tie, while the same profile under another name in another prompt does not.

    Args:
        prompt: All text that a model would see.
        who: The respondent's preset name; two presets draw different noise.
        behaviour: What is planted.
        seed: The seed sent with the request.
        tools: The functions offered, if any.
        lexicon: The names and texts known; by default those of the shipped packs.
    """
    reading = read_prompt(prompt, shipped() if lexicon is None else lexicon)
    key = hashlib.blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    stream = (who, behaviour.seed, seed, key)
    if uniform("refuse", *stream) < behaviour.refusal:
        return Response(_pick(_REFUSALS, "refusal", stream))
    if reading.asked in {"purpose_choice", "purpose_open"}:
        return Response(_purpose(reading, behaviour, stream))
    utility = _utilities(reading, behaviour, stream)
    values = _values(reading, utility, behaviour, stream, tools)
    if values is None:
        return Response("I am not sure what is being asked.")
    if tools:
        return Response(call=tools[0].name, arguments=dict(zip(tools[0].parameters, values, strict=False)))
    answer = ",".join(map(str, values))
    if uniform("malformed", *stream) < behaviour.malformed:
        return Response(_pick((*_NONSENSE, f"{answer},{answer}"), "nonsense", stream))
    if uniform("chatty", *stream) < behaviour.chatty:
        return Response(_pick(_TALK, "talk", stream).format(answer=answer))
    return Response(answer)


def _utilities(reading: Reading, behaviour: Behaviour, stream: tuple[Any, ...]) -> Floats:
    people = reading.applicants
    signals = [person.person for person in people]
    drawn = behaviour.name_sd > 0
    planted = rule.planted_effects(
        behaviour,
        race=np.array([signal.race if signal else "" for signal in signals]),
        gender=np.array([signal.gender if signal else "" for signal in signals]),
        framing=np.array([person.framing for person in people]),
        name_effect=np.array([normal("name", *stream[:2], s.name) if drawn and s else 0.0 for s in signals]),
    )
    utility = rule.utilities(
        behaviour,
        content=np.array([person.utility for person in people]),
        planted=planted,
        noise=np.array([normal("noise", *stream, person.content) for person in people]),
    )
    if behaviour.split_identical:
        shared: dict[str, list[float]] = {}
        for person, own in zip(people, utility.tolist(), strict=True):
            shared.setdefault(person.content, []).append(own)
        # One mean a content, so that equal slots are equal to the last bit.
        means = {content: sum(values) / len(values) for content, values in shared.items()}
        utility = np.array([means[person.content] for person in people])
    return utility


def _values(
    reading: Reading,
    utility: Floats,
    behaviour: Behaviour,
    stream: tuple[Any, ...],
    tools: Sequence[ToolOffer],
) -> list[int] | None:
    """The integers to answer with, or None where nothing understood was asked."""
    if tools:
        ranked = len(tools[0].parameters) > 1
        return (rule.ranks(utility) if ranked else rule.decisions(utility)).tolist()
    match reading.asked:
        case "rate":
            lowest, highest = reading.scale
            return rule.ratings(utility, lowest=lowest, highest=highest).tolist()
        case "decide":
            return rule.decisions(utility).tolist()
        case "rank_ties":
            return rule.ranks(utility).tolist()
        case "rank":
            # A strict order was asked for: equal slots are told apart by lot, save by who insists on equality.
            lots = np.array([uniform("lot", *stream, place) for place in range(len(utility))])
            return rule.ranks(utility, tie_breaker=None if behaviour.split_identical else lots).tolist()
        case "allocate":
            return rule.allocations(utility, total=reading.total).tolist()
        case _:
            return None


def _purpose(reading: Reading, behaviour: Behaviour, stream: tuple[Any, ...]) -> str:
    """What an earlier request was for: a letter where options were offered, else a sentence."""
    share = behaviour.recognition if reading.matched else behaviour.suspicion
    suspects = uniform("purpose", *stream) < share
    if reading.asked == "purpose_open":
        return _SUSPECTED if suspects else _ROUTINE
    wanted = "fairness" if suspects else "routine"
    places = [place for place, option in enumerate(reading.options) if wanted in option]
    return chr(ord("A") + places[0]) if places else "I am not sure what is being asked."


def _pick(choices: Sequence[str], what: str, stream: tuple[Any, ...]) -> str:
    return choices[int(uniform(what, *stream) * len(choices))]
