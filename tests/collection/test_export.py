"""What is released comes back as it was."""

import json

import polars as pl
import pytest

from evenhand.collection.attempts import Attempt
from evenhand.collection.export import export_attempts
from evenhand.collection.ledger_file import open_ledger
from evenhand.errors import InputError
from evenhand.formats.types import Reply

TEXTS = ["3", "=1+1", "two\nlines\r\n", "\ud800 alone", 'quotes " and \\', "NA", "\u2028", "x" * 10_000_000]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    with open_ledger(tmp_path_factory.mktemp("export") / "ledger.db", digest="d", write=True) as opened:
        opened.register("m", model="m", arguments={}, settings={})
        for number, text in enumerate(TEXTS):
            request = {"prompt": "p", "temperature": 0.0}
            opened.record(
                Attempt(
                    f"a/{number}",
                    "m",
                    1,
                    1,
                    "first",
                    "t",
                    0.5,
                    request,
                    "answered",
                    "",
                    Reply(text),
                    {"input_tokens": 3},
                    "m-1",
                )
            )
        opened.record(
            Attempt("a/lost", "m", 1, 1, "first", "t", 0.5, {}, "error", "no route", error_class="E", error="no route")
        )
        yield opened


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_every_attempt_is_there_word_for_word(ledger, tmp_path, ending):
    path = tmp_path / f"attempts.{ending}"
    assert export_attempts(ledger, path, digest="d") == len(TEXTS) + 1
    if ending == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        replies = [row["reply"] for row in rows]
        assert rows[0]["request"] == {"prompt": "p", "temperature": 0.0}
        assert rows[0]["packages"]["evenhand"]
    else:
        rows = pl.read_parquet(path).to_dicts()
        replies = [json.loads(row["reply"]) if row["reply"] else None for row in rows]
    assert [reply["text"] for reply in replies[:-1]] == TEXTS
    assert replies[-1] is None
    assert {row["digest"] for row in rows} == {"d"}
    assert rows[-1]["error"] == "no route"
    assert [row["unit"] for row in rows[:2]] == ["a/0", "a/1"]


def test_another_ending_is_refused(ledger, tmp_path):
    with pytest.raises(InputError, match="jsonl"):
        export_attempts(ledger, tmp_path / "attempts.csv", digest="d")
    assert list(tmp_path.iterdir()) == []
