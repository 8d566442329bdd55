"""From ledger and instrument to the table: every slot, whatever became of its unit."""

import dataclasses

import polars as pl
import pytest

from evenhand.collection.attempts import Attempt
from evenhand.collection.ledger_file import open_ledger
from evenhand.formats.types import Reply
from evenhand.instrument import Instrument, Slot, Unit
from evenhand.outcomes.doors import validate
from evenhand.outcomes.table import tabulate


def unit(name, format="rank", slots=2, label="Request"):
    people = [
        Slot(i, f"s{i}", "Rent", "rent_01", "no_cause", f"Person {i}", i, "White", "Female")
        for i in range(1, slots + 1)
    ]
    mode = (None, None) if slots == 1 else ("transparent", "race")
    return Unit(
        "arm",
        name,
        "primary",
        "aid",
        format,
        "base",
        "rate" if slots == 1 else "race_transparent",
        *mode,
        label,
        "p",
        tuple(people),
    )


@pytest.fixture
def tabulated(tmp_path):
    def build(units, attempts, epochs=1):
        instrument = Instrument(tuple(units))
        with open_ledger(tmp_path / "ledger.db", digest=instrument.digest, write=True) as ledger:
            ledger.register("m", model="m", arguments={}, settings={})
            for number, (name, epoch, cause, reply) in enumerate(attempts, start=1):
                status = "error" if reply is None else instrument.by_key[f"arm/{name}"].read(Reply(reply)).status
                ledger.record(
                    Attempt(
                        f"arm/{name}",
                        "m",
                        epoch,
                        number,
                        cause,
                        "t",
                        0.1,
                        {},
                        status,
                        "",
                        Reply(reply) if reply is not None else None,
                    )
                )
            table = tabulate(instrument, ledger, study="s", epochs=epochs)
        validate(table)
        return table

    return build


def cells(table, *columns):
    return table.select(columns).rows()


def test_answers_stand_at_their_slots(tabulated):
    table = tabulated([unit("a", slots=3)], [("a", 1, "first", "3,1,2")])
    assert cells(table, "position", "rank", "valid", "status") == [
        (1, 3, True, "answered"),
        (2, 1, True, "answered"),
        (3, 2, True, "answered"),
    ]
    assert table["dollars"].null_count() == 3


def test_a_tie_is_malformed_but_keeps_its_values_and_its_flag(tabulated):
    table = tabulated([unit("a")], [("a", 1, "first", "1,1")])
    assert cells(table, "rank", "valid", "malformed", "tied", "status") == [(1, False, True, True, "malformed")] * 2


def test_the_last_attempt_counts_and_its_malformed_retries_are_told(tabulated):
    attempts = [("a", 1, "first", "what?"), ("a", 1, "malformed", None), ("a", 1, "transport", "2,1")]
    table = tabulated([unit("a")], attempts)
    assert cells(table, "rank", "retry_count", "status") == [(2, 1, "answered"), (1, 1, "answered")]


def test_every_kind_of_loss_has_its_status(tabulated):
    names = ["refused", "malformed", "no_answer", "error", "missing"]
    replies = ["I can't help with that.", "hello", "", None]
    attempts = [(name, 1, "first", reply) for name, reply in zip(names, replies, strict=False)]
    table = tabulated([unit(name, "rate", 1) for name in names], attempts)
    assert table["status"].to_list() == names
    assert cells(table, "refused", "malformed", "missing") == [
        (True, False, False),
        (False, True, False),
        (False, True, False),
        (False, True, False),
        (False, True, True),
    ]
    assert all(table["parse_reason"])
    assert table["rating"].null_count() == 5


def test_safety_language_is_told_apart_from_refusal(tabulated):
    table = tabulated([unit("a", "rate", 1)], [("a", 1, "first", "As an AI, I can't verify this. Rating: 4")])
    assert cells(table, "rating", "safety_disclaimer", "refused") == [(4, True, False)]


def test_epochs_are_rows_of_their_own(tabulated):
    table = tabulated([unit("a", "rate", 1)], [("a", 1, "first", "4"), ("a", 2, "first", "5")], epochs=3)
    assert cells(table, "epoch", "rating", "status", "job_id") == [
        (1, 4, "answered", "m__rate__a"),
        (2, 5, "answered", "m__rate__a__e2"),
        (3, None, "missing", "m__rate__a__e3"),
    ]


def test_allocations_are_dollars(tabulated):
    table = tabulated([unit("a", "allocate")], [("a", 1, "first", "$6,000 and $4,000")])
    assert cells(table, "dollars", "task") == [(6000, "allocate"), (4000, "allocate")]


def test_a_reply_is_read_with_the_packs_own_label(tabulated):
    table = tabulated([unit("a", label="Tenant")], [("a", 1, "first", "Tenant 1: 2\nTenant 2: 1")])
    assert table["rank"].to_list() == [2, 1]


@pytest.mark.parametrize(
    ("shown", "letter", "meant"),
    [
        (("routine", "quality", "fairness", "synthetic", "unclear"), "C", "fairness"),
        (("fairness", "synthetic", "unclear", "routine", "quality"), "(a)", "fairness"),
        (("unclear", "routine", "quality"), "B", "routine"),
    ],
)
def test_a_choice_is_the_canonical_option_whatever_its_letter(tabulated, shown, letter, meant):
    probe = dataclasses.replace(unit("a", "purpose_choice", 1), options=shown)
    table = tabulated([probe], [("a", 1, "first", letter)])
    assert cells(table, "choice", "status") == [(meant, "answered")]


def test_a_letter_that_was_not_shown_is_no_choice(tabulated):
    probe = dataclasses.replace(unit("a", "purpose_choice", 1), options=("one", "two"))
    assert cells(tabulated([probe], [("a", 1, "first", "C")]), "choice", "status") == [(None, "malformed")]


def test_what_a_design_and_format_do_not_have_is_missing_and_not_forgotten(tabulated):
    table = tabulated([unit("a")], [("a", 1, "first", "2,1")])
    for column in ("stratum", "pseudo_group", "attribute", "decision", "choice", "text", "rating"):
        assert table[column].null_count() == table.height
    assert table.filter(pl.col("name").is_null()).height == 0
