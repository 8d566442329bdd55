"""`rank`: several applications, a strict permutation of 1 to n in the order shown."""

from __future__ import annotations

from evenhand.formats.bundles import read_bundle
from evenhand.formats.ranking import RANKS, is_tie
from evenhand.formats.types import Answer, Format, Question, Reply
from evenhand.formats.wording import rank_example


def read(reply: Reply, question: Question) -> Answer:
    """Read a strict ranking.

    A ranking with ties is malformed here, but keeps its values and the flag `tied`, so that an analysis can
    readmit its ties as differences of zero (FairFund-Bench, appendix F).
    """
    answer = read_bundle(reply, question, RANKS)
    ranks = answer.value
    if answer.status != "answered" or not isinstance(ranks, tuple) or "tied" not in answer.flags:
        return answer
    kept = ranks if is_tie(ranks) else None
    flags = answer.flags if kept else tuple(flag for flag in answer.flags if flag != "tied")
    return Answer("malformed", kept, "equal ranks where a strict order was asked for", flags)


FORMAT = Format("rank", read, bundle=True, example=rank_example)
