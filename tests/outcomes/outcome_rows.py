"""Sound outcomes tables for tests: one made by hand, and any that Hypothesis can think of."""

from __future__ import annotations

from itertools import pairwise

import polars as pl
from hypothesis import strategies as st

from evenhand.outcomes.schema import COLUMNS, SCHEMA, STATUSES, TASKS, VALUE_COLUMNS, Column

NASTY = ["NA", "'NA", "''NA", "=1+1", "+1", "-1", "@x", "\tx", "\rx", "'=x", "''=x", "'tis", "'", '"', '""', ",", "\n",
         "\r\n", "a\nb", 'say "no", twice', "007", "True", "FALSE", "Null", "null", "None", "nan", "NaN", "Infinity", " ", "é",
         "e\u0301", "\ufeff", "#", ";"]  # fmt: skip

texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), max_size=12))


def unit_rows(task: str, size: int, *, status: str = "answered", values: dict | None = None, **cells) -> list[dict]:
    """The rows of one unit; a cell given as a list has one value a slot."""
    valid, refused = status == "answered", status == "refused"
    row = dict.fromkeys(SCHEMA) | {
        "job_id": f"m__{task}__u", "model": "m", "task": task, "wording_variant": "base", "unit_id": "u",
        "bundle_size": size, "stimulus_id": "s", "valid": valid, "refused": refused,
        "malformed": not valid and not refused, "safety_disclaimer": False, "parse_reason": "", "retry_count": 0,
        "missing": status == "missing", "epoch": 1, "status": status, "tied": False,
    }  # fmt: skip
    rows = []
    for position in range(1, size + 1):
        own = {name: cell[position - 1] if isinstance(cell, list) else cell for name, cell in cells.items()}
        rows.append(row | own | {"position": position})
    return rows


def table(rows: list[dict]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=SCHEMA)


@st.composite
def tables(draw, *, tasks=TASKS, max_units=4) -> pl.DataFrame:
    """Any table that follows the schema, with every text column as nasty as it may be."""
    count = draw(st.integers(0, max_units))
    rows = [row for number in range(count) for row in draw(_units(number, tasks))]
    return table(rows)


@st.composite
def _units(draw, number: int, tasks) -> list[dict]:
    task = draw(st.sampled_from(tasks))
    size = 1 if task in {"rate", "decide", "tool_decide", "purpose_open"} else draw(st.integers(1, 3))
    status = draw(st.sampled_from(STATUSES))
    # A few texts dealt out over the columns: drawing each column's anew would be slow and find no more.
    deck = [*draw(st.lists(texts, min_size=5, max_size=5, unique=True)), None]
    turn = draw(st.integers(0, 5))
    dealt = {name: deck[(turn + i) % len(deck)] for i, name in enumerate(SCHEMA)}
    cells = {column.name: _allowed(column, dealt[column.name]) for column in COLUMNS if _is_free(column)}
    value = VALUE_COLUMNS[task]
    values = {"rating": st.integers(1, 5), "rank": st.integers(1, size), "dollars": st.integers(0, 2**53),
              "decision": st.integers(0, 1)}  # fmt: skip
    if status == "answered" or draw(st.booleans()):
        cells[value] = [draw(values.get(value, texts)) for _ in range(size)]
    if status == "answered" and task == "rank":
        cells[value] = draw(st.permutations(range(1, size + 1)))
    if status == "answered" and task == "allocate":
        cuts = sorted(draw(st.lists(st.integers(0, 10_000), min_size=size - 1, max_size=size - 1)))
        cells[value] = [high - low for low, high in pairwise([0, *cuts, 10_000])]
    cells["unit_id"] += str(number)
    cells["name_rank"] = draw(st.one_of(st.none(), st.integers(1, 2**40)))
    cells["epoch"] = draw(st.integers(1, 9))
    cells["tied"] = draw(st.booleans())
    if task == "decide":
        cells["score"] = draw(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)))
    cells["mode"] = draw(st.sampled_from([None, "transparent", "disguised"]))
    return unit_rows(task, size, status=status, **cells)


def _is_free(column: Column) -> bool:
    return column.dtype == pl.String and not column.labels


def _allowed(column: Column, text: str | None) -> str | None:
    if column.name == "parse_reason":
        return text or ""
    if column.absent == "required":
        return text or "x"
    return None if column.absent == "blank" and not text else text
