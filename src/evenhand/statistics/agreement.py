"""Agreement of two coders beyond chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.errors import InputError

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
        InputError: No items, or unequal numbers of them.
    """
    if not first or len(first) != len(second):
        raise InputError(
            f"{len(first)} and {len(second)} codes", where="kappa", mend="Give one code an item from each coder"
        )
    labels = {label: i for i, label in enumerate(dict.fromkeys((*first, *second)))}
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(first, second, strict=True):
        table[labels[one], labels[other]] += 1
    table /= table.sum()
    expected = float(table.sum(axis=1) @ table.sum(axis=0))
    return None if expected == 1.0 else float((np.trace(table) - expected) / (1 - expected))
