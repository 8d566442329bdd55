"""Simulated decision makers with known, planted behaviour."""

from evenhand.respondents.answering import Response, ToolOffer, respond
from evenhand.respondents.lexicon import Lexicon, Person, Written, learn, shipped
from evenhand.respondents.rule import PRESETS, Behaviour, behaviour

__all__ = [
    "PRESETS",
    "Behaviour",
    "Lexicon",
    "Person",
    "Response",
    "ToolOffer",
    "Written",
    "behaviour",
    "learn",
    "respond",
    "shipped",
]
