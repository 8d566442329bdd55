"""`rank_ties`: several applications, a rank from 1 to n for each in the order shown; equal ranks are valid."""

from __future__ import annotations

from evenhand.formats.bundles import read_bundle
from evenhand.formats.ranking import RANKS
from evenhand.formats.types import Answer, Format, Question, Reply
from evenhand.formats.wording import rank_example


def read(reply: Reply, question: Question) -> Answer:
    """Read a ranking; ranks are kept as given, with the flag `tied` where two are equal."""
    return read_bundle(reply, question, RANKS)


FORMAT = Format("rank_ties", read, bundle=True, example=rank_example)
