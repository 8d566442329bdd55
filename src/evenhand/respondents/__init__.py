"""Simulated decision makers with known, planted behaviour."""

from evenhand.respondents.answering import Response, ToolOffer, respond
from evenhand.respondents.rule import PRESETS, Behaviour, behaviour

__all__ = ["PRESETS", "Behaviour", "Response", "ToolOffer", "behaviour", "respond"]
