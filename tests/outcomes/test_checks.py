"""Each way in which a table can break the schema is found, with its row and the mend."""

import polars as pl
import pytest
from hypothesis import given, settings
from outcome_rows import table, tables, unit_rows

from evenhand.errors import OutcomesError
from evenhand.outcomes.doors import validate
from evenhand.outcomes.schema import COLUMNS, RELEASED, SCHEMA

GOOD = unit_rows("rate", 1, unit_id="first", rating=3)
BUNDLE = unit_rows("rank", 3, rank=[3, 1, 2])

BROKEN = {
    "rating": (unit_rows("rate", 1, rating=6), 2, "rating 6 is outside 1..5"),
    "rating zero": (unit_rows("rate", 1, rating=0), 2, "rating 0 is outside 1..5"),
    "rank": (unit_rows("rank", 3, rank=[1, 2, 4]), 4, "rank 4 is outside 1..3"),
    "rank zero": (unit_rows("rank", 3, rank=[0, 1, 2]), 2, "rank 0 is outside 1..3"),
    "tied rank": (unit_rows("rank", 2, status="malformed", tied=True, rank=[1, 3]), 3, "rank 3 is outside 1..2"),
    "dollars": (unit_rows("allocate", 2, dollars=[10100, -100]), 3, "dollars -100 is below 0"),
    "decision": (unit_rows("decide", 1, decision=2), 2, "decision 2 is neither 0 nor 1"),
    "score": (unit_rows("decide", 1, decision=1, score=float("inf")), 2, "score inf is no finite number"),
    "no number": (unit_rows("decide", 1, decision=1, score=float("nan")), 2, "score nan is no finite number"),
    "score of a rank": (unit_rows("rate", 1, rating=3, score=0.5), 2, "score 0.5 stands beside an answer of task rate"),
    "position": ([BUNDLE[0], BUNDLE[1], BUNDLE[2] | {"position": 4}], 4, "position 4 is outside 1..3"),
    "retries": (unit_rows("rate", 1, rating=3, retry_count=-1), 2, "retry_count -1 is below 0"),
    "epoch": (unit_rows("rate", 1, rating=3, epoch=0), 2, "epoch 0 is below 1"),
    "no rating": (unit_rows("rate", 1), 2, "a valid row of task rate has no rating"),
    "no rank": (unit_rows("rank", 2, rank=[1, None]), 3, "a valid row of task rank has no rank"),
    "tie in a strict order": (unit_rows("rank", 3, rank=[2, 1, 2]), 4, "rank 2 stands twice in one strict order"),
    "dollars short": (unit_rows("allocate", 2, dollars=[4000, 5900]), 2, "sum to 9,900, not to 10,000 (model m, task"),
    "dollars over": (unit_rows("allocate", 2, dollars=[0, 10_100]), 3, "dollars 10100 is above 10,000"),
    "dollars huge": (unit_rows("allocate", 2, dollars=[2**62, 2**62]), 2, "dollars 4611686018427387904 is above"),
    "ties out of range": (unit_rows("rank_ties", 2, rank=[1, 3]), 3, "rank 3 is outside 1..2"),
    "half refused": (
        [BUNDLE[0], *unit_rows("rank", 3, status="refused")[1:]], 3, "status is refused, but another in an earlier row",
    ),
    "one malformed": (
        [*BUNDLE[:2], unit_rows("rank", 3, status="malformed")[2]], 4, "status is malformed, but another",
    ),
    "two bundle types": (
        unit_rows("rank", 2, rank=[1, 2], bundle_type=["a", None]), 3, "bundle_type is None, but another",
    ),
    "tie in a long order": (unit_rows("rank", 60, rank=[1, *range(1, 60)]), 3, "rank 1 stands twice"),
    "no dollars": (unit_rows("allocate", 1), 2, "a valid row of task allocate has no dollars"),
    "wrong value": (unit_rows("rank_ties", 1, rating=1), 2, "a valid row of task rank_ties has no rank"),
    "no choice": (unit_rows("purpose_choice", 1), 2, "a valid row of task purpose_choice has no choice"),
    "task": (unit_rows("sort", 1), 2, "task is 'sort', an unknown label"),
    "mode": (unit_rows("rate", 1, rating=3, mode="hidden"), 2, "mode is 'hidden', an unknown label"),
    "context": (unit_rows("rate", 1, rating=3, comparison_context="many"), 2, "comparison_context is 'many'"),
    "status": (unit_rows("rate", 1, status="lost"), 2, "status is 'lost', an unknown label"),
    "no unit": (unit_rows("rate", 1, rating=3, unit_id=None), 2, "unit_id is missing"),
    "empty name": (unit_rows("rate", 1, rating=3, name=""), 2, "name is empty"),
    "no flag": (unit_rows("rate", 1, rating=3, tied=None), 2, "tied is missing"),
    "valid but refused": (unit_rows("rate", 1, rating=3, refused=True), 2, "the flags contradict each other"),
    "status but not flag": (unit_rows("rate", 1, rating=3, status="answered", valid=False), 2, "contradict"),
    "not malformed": (unit_rows("rate", 1, status="missing", malformed=False), 2, "contradict"),
    "missing unflagged": (unit_rows("rate", 1, status="missing", missing=False), 2, "contradict"),
    "slot twice": (BUNDLE + BUNDLE[1:2], 5, "a second row for the same slot (model m, task rank"),
    "rate twice": (GOOD, 2, "a second row for the same slot"),
    "position lacks": (BUNDLE[:1] + BUNDLE[2:], 2, "positions [1, 3] and bundle_size [3]"),
    "sizes differ": ([BUNDLE[0], BUNDLE[1] | {"bundle_size": 2}, BUNDLE[2]], 2, "bundle_size [2, 3]"),
}  # fmt: skip


@pytest.mark.parametrize(("rows", "row", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_refused_with_its_row(rows, row, message):
    with pytest.raises(OutcomesError) as caught:
        validate(table(GOOD + rows), where="file")
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"file, row {row}: ")
    assert caught.value.mend


@pytest.mark.parametrize(
    "rows",
    [
        unit_rows("rank", 2, status="malformed", tied=True, rank=[1, 1]),
        unit_rows("rank_ties", 3, tied=True, rank=[1, 1, 3]),
        unit_rows("tool_rank", 2, tied=True, rank=[2, 2]),
        unit_rows("allocate", 2, status="malformed", dollars=[2**62, 2**62]),
        unit_rows("allocate", 3, dollars=[0, 0, 10_000]),
        unit_rows("rank", 60, rank=list(range(60, 0, -1))),
    ],
)
def test_ties_and_invalid_values_that_may_be_are_kept(rows):
    validate(table(GOOD + rows))


@pytest.mark.parametrize("arms", [(None, "aid-rank"), ("aid-rank", None)])
def test_the_same_unit_with_an_arm_and_without_is_one_answer(arms):
    rows = [row | {"arm": arm} for arm in arms for row in BUNDLE]
    with pytest.raises(OutcomesError) as caught:
        validate(table(rows), where="file")
    assert str(caught.value).startswith("file, row 4: the same unit stands in some rows with an arm and in others")
    assert "model m, task rank, unit_id u" in str(caught.value)
    assert caught.value.mend


def test_rows_with_and_without_an_arm_are_fine_where_they_are_of_other_units():
    validate(table(BUNDLE + [row | {"arm": "a", "unit_id": "v"} for row in BUNDLE]))
    validate(table(BUNDLE + [row | {"arm": "a", "model": "n"} for row in BUNDLE]))


def test_the_message_counts_the_other_rows_at_fault():
    with pytest.raises(OutcomesError, match=r"rating 9 is outside 1..5 \(and 2 more rows like it\)"):
        validate(table([row for i in range(3) for row in unit_rows("rate", 1, unit_id=f"{i}", rating=9)]))


@pytest.mark.parametrize(
    "change", [{"model": "n"}, {"arm": "b"}, {"epoch": 2}, {"wording_variant": "need"}, {"task": "rank_ties"}]
)
def test_slots_that_differ_in_any_part_of_the_key_are_two(change):
    bundle = [row | {"arm": "a"} for row in BUNDLE]
    validate(table(bundle + [row | change for row in bundle]))


def test_the_order_of_rows_does_not_matter():
    validate(table([*GOOD, *BUNDLE[::-1], *(row | {"unit_id": "v"} for row in BUNDLE)]).sort("position"))


@given(frame=tables())
@settings(max_examples=50, deadline=None)
def test_every_sound_table_passes(frame):
    validate(frame)


def test_a_column_of_another_type_is_refused():
    frame = table(GOOD)
    with pytest.raises(OutcomesError, match="the column rating holds String, not Int64"):
        validate(frame.with_columns(pl.col("rating").cast(pl.String)))
    with pytest.raises(OutcomesError, match="the column tied is missing"):
        validate(frame.drop("tied"))


def test_the_schema_begins_with_the_released_codebook():
    assert len(RELEASED) == 28
    assert tuple(SCHEMA)[:28] == RELEASED
    assert [column.name for column in COLUMNS][28:] == [
        "study", "arm", "tag", "domain", "epoch", "stratum", "name", "pseudo_group", "attribute", "decision", "score",
        "choice", "text", "status", "tied",
    ]  # fmt: skip
