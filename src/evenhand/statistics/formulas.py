"""Model formulas in lme4's notation: `rating ~ race * gender + (1 | profile) + (1 + race | model)`.

A formula is read into plain records; what a column holds is no matter here, and no column's name has a meaning.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from evenhand.errors import InputError

Term = tuple[str, ...]
"""The columns whose product a term is; empty for the intercept."""

MOST_FACTORS = 10
"""Factors of one product `a*b*...`: so many make 1,023 terms."""

_TOKEN = re.compile(r"\s*(?:`(?P<quoted>[^`]+)`|(?P<name>[^\W\d][\w.]*)|(?P<number>\d+)|(?P<sign>[~+\-*:()|]))")


@dataclass(frozen=True, slots=True)
class RandomTerm:
    """Effects that vary at random by group: `(1 + race | model)`.

    Attributes:
        terms: What varies, the intercept as the empty term.
        group: The columns whose combinations are the groups.
    """

    terms: tuple[Term, ...]
    group: Term


@dataclass(frozen=True, slots=True)
class Formula:
    """A model formula.

    Attributes:
        outcome: The column that is explained.
        terms: Fixed terms in order of their size, then as written; the intercept as the empty term, first.
        random: Random terms as written.
    """

    outcome: str
    terms: tuple[Term, ...]
    random: tuple[RandomTerm, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column named, once."""
        named = [self.outcome, *itertools.chain.from_iterable(self.terms)]
        for random in self.random:
            named += [*itertools.chain.from_iterable(random.terms), *random.group]
        return tuple(dict.fromkeys(named))


def parse_formula(text: str) -> Formula:
    """Read a formula.

    Args:
        text: `outcome ~ terms`; terms are joined by `+`, products written `a:b`, `a*b` for both and their product, `0`
            or `-1` leaves the intercept out, names with other characters stand in backquotes.

    Raises:
        InputError: What cannot be read, and where.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{text!r} is no formula", where="formula", mend="Write one as in 'rating ~ race + gender'")
    return _Reader(text).formula()


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str, int]] = []
        place, end = 0, len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None or match.lastgroup is None:
                raise self._fault(f"{text[place:].strip()[:1]!r}", place)
            self._tokens.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup)))
            place = match.end()
        self._next = 0

    def formula(self) -> Formula:
        outcome = self._column()
        self._take("~")
        terms, random = self._sum(inside=False)
        if self._next < len(self._tokens):
            raise self._unexpected()
        if any(outcome in term for term in terms):
            raise InputError(
                f"{outcome!r} stands on both sides of {self._text!r}", where="formula", mend="Leave it out on the right"
            )
        return Formula(outcome, terms, random)

    def _sum(self, *, inside: bool) -> tuple[tuple[Term, ...], tuple[RandomTerm, ...]]:
        terms: dict[Term, None] = {(): None}
        random: list[RandomTerm] = []
        sign = "-" if self._try("-") else "+"
        while True:
            if not inside and sign == "+" and self._try("("):
                random.append(self._random())
            elif (number := self._number()) is not None:
                self._intercept(terms, number, sign)
            else:
                if sign == "-":
                    raise self._unexpected()
                terms.update(dict.fromkeys(self._product()))
            if self._try("+"):
                sign = "+"
            elif self._try("-"):
                sign = "-"
            else:
                return tuple(sorted(terms, key=len)), tuple(random)

    def _intercept(self, terms: dict[Term, None], number: str, sign: str) -> None:
        if number not in {"0", "1"} or (sign, number) == ("-", "0"):
            raise self._fault(repr(number), self._tokens[self._next - 1][2])
        if (number == "0") or sign == "-":
            terms.pop((), None)
        else:
            terms[()] = None

    def _random(self) -> RandomTerm:
        terms, _ = self._sum(inside=True)
        self._take("|")
        group = [self._column()]
        while self._try(":"):
            group.append(self._column())
        self._take(")")
        return RandomTerm(terms, tuple(group))

    def _product(self) -> list[Term]:
        """`a:b` as one term, `a*b` as each factor and every product."""
        found: dict[frozenset[str], Term] = {}
        while not found or self._try("*"):
            factor = self._crossing()
            found.setdefault(frozenset(factor), factor)
        factors = list(found.values())
        if len(factors) > MOST_FACTORS:
            raise InputError(
                f"a product of {len(factors)} columns in {self._text!r}",
                where="formula",
                mend=f"Multiply {MOST_FACTORS} at most, or name the products you need as in 'a:b'",
            )
        sizes = range(1, len(factors) + 1)
        chosen = itertools.chain.from_iterable(itertools.combinations(factors, size) for size in sizes)
        return [tuple(dict.fromkeys(itertools.chain.from_iterable(part))) for part in chosen]

    def _crossing(self) -> Term:
        names = [self._column()]
        while self._try(":"):
            names.append(self._column())
        return tuple(dict.fromkeys(names))

    def _column(self) -> str:
        if self._next < len(self._tokens) and self._tokens[self._next][0] in {"name", "quoted"}:
            self._next += 1
            return self._tokens[self._next - 1][1]
        raise self._unexpected()

    def _number(self) -> str | None:
        if self._next < len(self._tokens) and self._tokens[self._next][0] == "number":
            self._next += 1
            return self._tokens[self._next - 1][1]
        return None

    def _try(self, sign: str) -> bool:
        found = self._next < len(self._tokens) and self._tokens[self._next][:2] == ("sign", sign)
        self._next += found
        return found

    def _take(self, sign: str) -> None:
        if not self._try(sign):
            raise self._unexpected()

    def _unexpected(self) -> InputError:
        if self._next < len(self._tokens):
            _, text, place = self._tokens[self._next]
            return self._fault(repr(text), place)
        return self._fault("the end", len(self._text))

    def _fault(self, found: str, place: int) -> InputError:
        return InputError(
            f"{found} is not expected at character {place + 1} of {self._text!r}",
            where="formula",
            mend="Write it as in 'rating ~ race + gender + (1|profile)'; put other names in `backquotes`",
        )
