"""Filling a pack's wording: the bundle's size, the worked example, the total.

The examples at sizes 2, 4 and 5 are those of the two papers (FairFund-Bench, appendix A; "The Audit Decides
the Verdict", appendix A). One rule for each gives them, and gives the other sizes from 2 to 12 too.
"""

from __future__ import annotations

import re

from evenhand.errors import InputError

NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 (one readable line)
)
LARGEST = len(NUMBER_WORDS)

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def fill(template: str, values: dict[str, str], *, where: str) -> str:
    """Fill a wording's placeholders.

    Args:
        template: The wording, with placeholders such as `{number}`.
        values: What each placeholder known here stands for.
        where: The format, for the message.

    Raises:
        InputError: An unknown placeholder, or a brace that belongs to none.
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise InputError(
                f"unknown placeholder {{{name}}}",
                where=f"wording of {where}",
                mend="Use " + ", ".join(f"{{{known}}}" for known in values),
            )
        return values[name]

    stray = _PLACEHOLDER.sub("", template)
    if "{" in stray or "}" in stray:
        raise InputError(
            "a brace without its other half", where=f"wording of {where}", mend="Write placeholders as {name}"
        )
    return _PLACEHOLDER.sub(value, template)


def rank_example(slots: int, total: int = 0) -> str:  # noqa: ARG001 (one signature for all examples)
    """The worked example of a ranking, a permutation that is neither the identity nor its reverse from 3 on.

    Even places hold 1, 2, 3, ...; odd places hold the remaining ranks in order, the last two of them
    exchanged where the size is odd: 2,1 / 3,1,2 / 3,1,4,2 / 3,1,5,2,4 / 4,1,5,2,6,3 / ...
    """
    half = slots // 2
    odd = list(range(half + 1, slots + 1))
    if slots % 2 and len(odd) > 1:
        odd[-2:] = odd[-1], odd[-2]
    ranks = [0] * slots
    ranks[0::2] = odd
    ranks[1::2] = range(1, half + 1)
    return ",".join(map(str, ranks))


def allocate_example(slots: int, total: int) -> str:
    """The worked example of an allocation: positive, falling, summing to the total.

    Amounts fall in equal steps and are multiples of one unit: k+n-1, ..., k+1, k units for the smallest k up
    to n that divides the total evenly (10,000: 6000,4000 / 4000,3000,2000,1000 / 3000,2500,2000,1500,1000).
    Where none does, n, ..., 2, 1 steps of two leading digits, the rest going to the first.

    Raises:
        InputError: The total is too small for falling whole amounts.
    """
    for least in range(1, slots + 1):
        weights = range(least + slots - 1, least - 1, -1)
        unit, rest = divmod(total, sum(weights))
        if unit and not rest:
            return ",".join(str(weight * unit) for weight in weights)
    step = total // (slots * (slots + 1) // 2)
    if step < 1:
        raise InputError(
            f"a total of {total} cannot be split into {slots} falling whole amounts",
            where="example of allocate",
            mend="Use a larger total",
        )
    step -= step % 10 ** max(0, len(str(step)) - 2)
    amounts = [step * weight for weight in range(slots, 0, -1)]
    amounts[0] += total - sum(amounts)
    return ",".join(map(str, amounts))
