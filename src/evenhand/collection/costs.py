"""What a collection costs: a price table of one's own, what was spent, what is still to come.

Prices are in US dollars per million tokens. Evenhand ships none but those of what runs on this machine: prices move,
and a figure that nobody checked is worse than none.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field
from pydantic.dataclasses import dataclass as record

from evenhand.errors import InputError
from evenhand.records import CLOSED, Real, Text, as_record, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evenhand.collection.ledger import Ledger
    from evenhand.collection.models import Respondent
    from evenhand.instrument import Unit

SHIPPED = Path(__file__).parent / "prices.toml"
FILE = "prices.toml"
_MILLION = 1_000_000
_INPUT_KINDS = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")

CHARACTERS_A_TOKEN = 4.0
"""English prose, before anything was measured."""

_REPLY_TOKENS = {"rate": 5, "decide": 5, "purpose_choice": 5, "rank": 15, "rank_ties": 15}
_OTHER_REPLY = 60
"""Tokens of a reply in form, before anything was measured: an allocation, a tool call, a sentence."""

_Dollars = Annotated[Real, Field(ge=0, le=1_000_000)]


@record(frozen=True, slots=True, config=CLOSED)
class Price:
    """What a model's tokens cost.

    Attributes:
        input: US dollars per million tokens read.
        output: US dollars per million tokens written, reasoning included.
        cached_input: The same for input read from the provider's cache; by default as other input.
        batch: What batch mode multiplies the price by.
    """

    input: _Dollars
    output: _Dollars
    cached_input: _Dollars | None = None
    batch: Annotated[Real, Field(ge=0, le=1)] = 1.0

    def of(self, usage: Mapping[str, Any], *, batch: bool = False) -> float:
        """US dollars for the usage of one call."""
        fresh, cached, written = (int(usage.get(kind) or 0) for kind in _INPUT_KINDS)
        cached_price = self.input if self.cached_input is None else self.cached_input
        dollars = (fresh + written) * self.input + cached * cached_price
        dollars += int(usage.get("output_tokens") or 0) * self.output
        return dollars / _MILLION * (self.batch if batch else 1.0)


@record(frozen=True, slots=True, config=CLOSED)
class _File:
    prices: dict[Text, Price]


@dataclass(frozen=True, slots=True)
class Prices:
    """A price table: by model string, or by a pattern of them (`sim/*`); the first that matches counts."""

    table: Mapping[str, Price]

    def find(self, model: str) -> Price | None:
        """The price of a model; None where the table has none."""
        exact = self.table.get(model)
        return exact or next((price for pattern, price in self.table.items() if fnmatchcase(model, pattern)), None)


def read_prices(given: Path | None, *, folder: Path) -> Prices:
    """The price table: the file given, or the run's `prices.toml`, before what ships with Evenhand.

    Raises:
        InputError: A file that cannot be read, or an entry that is no price.
    """
    own = given or (folder / FILE if os.path.lexists(folder / FILE) else None)
    found: dict[str, Price] = {}
    for path in (own, SHIPPED) if own else (SHIPPED,):
        data = {"prices": read_toml(path, InputError)}
        prices = as_record(_File, data, where=str(path), error=InputError).prices
        found |= {model: price for model, price in prices.items() if model not in found}
    return Prices(found)


@dataclass(slots=True)
class Purse:
    """What may be spent on a run, and what was.

    Attributes:
        limit: US dollars; None where there is no limit.
        spent: US dollars so far, of this run's earlier sessions too.
        calls: Calls that were paid for.
        in_flight: Calls sent and not yet answered.
        turned_away: Whether a call was not sent for want of money.
    """

    limit: float | None = None
    spent: float = 0.0
    calls: int = 0
    in_flight: int = 0
    turned_away: bool = False

    def charge(self, dollars: float) -> None:
        """Count a call."""
        self.spent += dollars
        self.calls += 1

    @property
    def empty(self) -> bool:
        """Whether another call could go over the limit, those in flight taken at the mean price so far."""
        if self.limit is None:
            return False
        mean = self.spent / self.calls if self.calls else 0.0
        over = self.spent + mean * (self.in_flight + 1) > self.limit
        self.turned_away |= over
        return over


def open_purse(ledger: Ledger, prices: Prices, respondents: Sequence[Respondent], budget: float | None) -> Purse:
    """What was spent on a run so far, and what may be.

    Raises:
        InputError: A budget, and a model without a price.
    """
    unpriced = [respondent.model for respondent in respondents if prices.find(respondent.model) is None]
    if budget is not None and unpriced:
        raise InputError(
            f"no price is known for {', '.join(unpriced)}",
            where="--budget",
            mend=f"Put it into RUN/{FILE} or a file named with --prices; {SHIPPED} shows the form",
        )
    purse = Purse(budget)
    for dollars, calls in spent(ledger, prices).values():
        purse.spent += dollars or 0.0
        purse.calls += calls
    return purse


def spent(ledger: Ledger, prices: Prices) -> dict[str, tuple[float | None, int]]:
    """US dollars (None where there is no price) and paid calls by respondent, over all attempts."""
    found: dict[str, tuple[float | None, int]] = {}
    for respondent, model in ledger.read("SELECT respondent, model FROM respondents ORDER BY rowid"):
        price = prices.find(model)
        sums = ", ".join(f"SUM(json_extract(usage, '$.{kind}'))" for kind in (*_INPUT_KINDS, "output_tokens"))
        query = (
            f"SELECT COALESCE(json_extract(request, '$.batch'), 0), {sums}, COUNT(usage) FROM attempts "
            "WHERE respondent = ? GROUP BY 1"
        )
        dollars, calls = 0.0, 0
        for batch, *tokens, count in ledger.read(query, (respondent,)):
            usage: dict[str, Any] = dict(zip((*_INPUT_KINDS, "output_tokens"), tokens, strict=True))
            dollars += price.of(usage, batch=bool(batch)) if price else 0.0
            calls += count
        found[respondent] = (dollars if price else None, calls)
    return found


def measure(ledger: Ledger, respondent: str, units: Mapping[str, Unit]) -> Measured:
    """What a respondent's answered calls have used, by format."""
    rows = ledger.read(
        "SELECT unit, usage FROM attempts WHERE respondent = ? AND usage IS NOT NULL AND status != 'error'",
        (respondent,),
    )
    characters: Counter[str] = Counter()
    read: Counter[str] = Counter()
    written: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for key, text in rows:
        if key in units:
            usage, format = json.loads(text), units[key].format
            characters[format] += len(units[key].prompt)
            read[format] += sum(int(usage.get(kind) or 0) for kind in _INPUT_KINDS)
            written[format] += int(usage.get("output_tokens") or 0)
            calls[format] += 1
    return Measured(
        {format: read[format] / characters[format] for format in calls},
        {format: written[format] / calls[format] for format in calls},
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """What a model's calls have used so far, by format.

    Attributes:
        input_per_character: Input tokens per character of prompt; empty before any call.
        output: Output tokens a call.
    """

    input_per_character: Mapping[str, float] = field(default_factory=dict[str, float])
    output: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What requests will use, before they are sent."""

    requests: int
    input_tokens: int
    output_tokens: int
    measured: bool
    dollars: float | None
    dollars_most: float | None


def estimate(
    units: Sequence[Unit],
    *,
    measured: Measured,
    price: Price | None,
    max_tokens: int,
    batch: bool = False,
) -> Estimate:
    """Tokens and cost of putting units to a model once each.

    Args:
        units: One entry a request.
        measured: What the model used so far; where a format was not asked yet, four characters a token and a
            short reply are assumed.
        price: The model's price.
        max_tokens: The output cap, for the most that it can come to.
        batch: Whether batch prices apply.
    """
    tokens_in = sum(len(unit.prompt) * _rate(measured, unit.format) for unit in units)
    tokens_out = sum(_reply(measured, unit.format) for unit in units)
    usage = {"input_tokens": round(tokens_in), "output_tokens": round(tokens_out)}
    most = {**usage, "output_tokens": max_tokens * len(units)}
    return Estimate(
        requests=len(units),
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        measured=bool(units) and all(unit.format in measured.output for unit in units),
        dollars=price.of(usage, batch=batch) if price else None,
        dollars_most=price.of(most, batch=batch) if price else None,
    )


def _rate(measured: Measured, format: str) -> float:
    return measured.input_per_character.get(format, 1 / CHARACTERS_A_TOKEN)


def _reply(measured: Measured, format: str) -> float:
    return measured.output.get(format, _REPLY_TOKENS.get(format, _OTHER_REPLY))
