"""Agreement of two coders beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError
from evenhand.statistics.draws import cells_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's (1960) kappa of two codings of the same items.

    Args:
        first: One label an item.
        second: The other coder's, in the same order.

    Returns:
        1 for full agreement, 0 for as much as chance gives; None where both coders gave every item one and the same
        label, since chance alone would then agree fully.

    Raises:
        InputError: No items, unequal numbers of them, or a code that is missing.
    """
    ones, others = (cells_of(codes, "codes", where="kappa") for codes in (first, second))
    if not ones or len(ones) != len(others):
        raise InputError(
            f"{len(ones)} and {len(others)} codes", where="kappa", mend="Give one code an item from each coder"
        )
    if None in ones or None in others:
        raise InputError("a code is missing", where="kappa", mend="Leave such items out for both coders")
    labels = {label: i for i, label in enumerate(dict.fromkeys((*ones, *others)))}
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(ones, others, strict=True):
        table[labels[one], labels[other]] += 1
    table /= table.sum()
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if expected == 1.0 else float((np.trace(table) - expected) / (1 - expected))
