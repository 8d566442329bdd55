"""Five counts, never one, by group; tested where a unit holds one group, and marked where it does not."""

from math import comb

import polars as pl
import pytest

from evenhand.analysis.rows import SCHEMA
from evenhand.analysis.validity import NOT_IDENTIFIED, UNANSWERED, unanswered_by_group


def table(units):
    """`units`: (races of the unit's slots, status)."""
    rows = [
        {
            "model": "m",
            "arm": "a",
            "domain": "d",
            "task": "rate",
            "wording_variant": "base",
            "unit_id": f"u{i}",
            "epoch": 1,
            "race": race,
            "gender": "F",
            "status": status,
        }
        for i, (races, status) in enumerate(units)
        for race in races
    ]
    return pl.DataFrame(rows)


def rows(units, status):
    found = unanswered_by_group(table(units))
    return {row["group"]: row for row in found.filter(pl.col("estimand") == f"share_{status}").to_dicts()}


def test_shares_and_counts_by_group():
    units = [("W", "answered")] * 90 + [("W", "refused")] * 10 + [("B", "answered")] * 60 + [("B", "malformed")] * 40
    refused, malformed = rows(units, "refused"), rows(units, "malformed")
    assert (refused["W"]["estimate"], refused["B"]["estimate"]) == (0.1, 0.0)
    assert (malformed["W"]["estimate"], malformed["B"]["estimate"]) == (0.0, 0.4)
    assert refused["W"]["n"] == refused["B"]["n"] == 100
    assert malformed["W"]["p_value"] == malformed["B"]["p_value"] < 1e-6
    for status in ("no_answer", "error", "missing"):
        assert rows(units, status)["W"]["p_value"] is None
        assert rows(units, status)["W"]["note"]


def test_every_status_has_its_own_rows():
    units = [("W", status) for status in UNANSWERED] + [("B", "answered")] * 5
    found = unanswered_by_group(table(units))
    assert found.schema == SCHEMA
    assert set(found["estimand"]) == {f"share_{status}" for status in UNANSWERED}
    assert found.filter(pl.col("group") == "W")["estimate"].to_list() == [0.2] * 5


def test_a_bundle_that_holds_every_group_identifies_nothing():
    units = [(("W", "B"), "answered")] * 8 + [(("W", "B"), "refused")] * 2
    refused = rows(units, "refused")
    assert refused["W"]["estimate"] == refused["B"]["estimate"] == 0.2
    assert refused["W"]["n"] == 10
    assert refused["W"]["p_value"] is None
    assert refused["W"]["note"] == NOT_IDENTIFIED


def test_a_bundle_constant_in_the_factor_counts_once():
    units = [(("W", "W"), "refused")] * 5 + [(("W", "W"), "answered")] * 5 + [(("B", "B"), "answered")] * 10
    refused = rows(units, "refused")
    assert (refused["W"]["n"], refused["B"]["n"]) == (10, 10)
    assert refused["W"]["p_value"] == pytest.approx(2 * comb(10, 5) / comb(20, 5))  # both tails of the hypergeometric


def test_one_group_is_nothing_to_compare():
    assert unanswered_by_group(table([("W", "refused"), ("W", "answered")])).height == 0
