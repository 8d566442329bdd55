"""What is saved is what is loaded, whatever the text, and nothing is half-written."""

import csv
import gzip
import io
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from outcome_rows import NASTY, table, tables, unit_rows
from polars.testing import assert_frame_equal

from evenhand.errors import InputError, OutcomesError
from evenhand.outcomes import cells
from evenhand.outcomes.doors import read_outcomes, validate, write_outcomes
from evenhand.outcomes.schema import RELEASED, SCHEMA, Column, conform

EXCERPT = Path(__file__).parent.parent / "data" / "outcomes_excerpt.csv.gz"
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@given(frame=tables())
@relaxed
def test_save_then_load_is_identity(tmp_path, ending, frame):
    path = tmp_path / f"table.{ending}"
    write_outcomes(frame, path)
    assert_frame_equal(read_outcomes(path), frame)


@given(frame=tables(tasks=["rate", "rank", "allocate"]))
@relaxed
def test_the_released_columns_survive_the_released_door(tmp_path, frame):
    path = tmp_path / "table.csv"
    frame = frame.with_columns(epoch=pl.lit(1, pl.Int64), arm=pl.lit(None, pl.String))
    write_outcomes(frame, path, schema="fairfund")
    assert path.read_text(encoding="utf-8").partition("\n")[0] == ",".join(RELEASED)
    assert_frame_equal(read_outcomes(path).select(RELEASED), frame.select(RELEASED))


@given(frame=tables())
@relaxed
def test_no_cell_is_run_by_a_spreadsheet(tmp_path, frame):
    path = tmp_path / "table.csv"
    write_outcomes(frame, path)
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), strict=True)
    # A score below 0 is a number, and has its sign.
    cells = [cell for row in rows for name, cell in row.items() if name != "score"]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_released_file_is_written_back_byte_for_byte(tmp_path):
    path = tmp_path / "again.csv"
    write_outcomes(read_outcomes(EXCERPT), path, schema="fairfund")
    assert path.read_bytes() == gzip.decompress(EXCERPT.read_bytes())


@pytest.mark.parametrize("name", ["outcomes_3.csv.gz", "outcomes_14.csv.gz"])
def test_the_reference_files_are_written_back_byte_for_byte(tmp_path, shared, name):
    source, path = shared / "fairfund" / "reference" / name, tmp_path / "again.csv"
    write_outcomes(read_outcomes(source), path, schema="fairfund")
    assert path.read_bytes() == gzip.decompress(source.read_bytes())


def test_evenhands_own_columns_are_filled_in_from_a_released_file():
    frame = read_outcomes(EXCERPT)
    assert dict(frame.schema) == SCHEMA
    assert dict(frame["status"].value_counts().iter_rows()) == {
        "answered": 2525, "malformed": 56, "missing": 9, "refused": 4,
    }  # fmt: skip
    assert frame.filter(pl.col("status") == "missing")["malformed"].all()
    assert frame["epoch"].unique().to_list() == [1]
    assert not frame["tied"].any()
    assert frame["score"].null_count() == frame.height
    assert frame["arm"].null_count() == frame.height


def test_people_keep_their_names(tmp_path):
    path = tmp_path / "names.csv"
    names = ["NA", "Null", "None", "True", "TRUE", "nan", "Infinity", "007", "1e5", "-", "O'Brien"]
    rows = [row for i, name in enumerate(names) for row in unit_rows("rate", 1, unit_id=f"u{i}", rating=3, name=name)]
    write_outcomes(table(rows), path)
    assert read_outcomes(path)["name"].to_list() == names
    cells = [row["name"] for row in csv.DictReader(io.StringIO(path.read_text()))]
    assert cells == [*names[:9], "'-", "O'Brien"]


def test_a_missing_name_is_an_empty_cell_and_a_missing_group_is_na(tmp_path):
    path = tmp_path / "names.csv"
    write_outcomes(table(unit_rows("rate", 1, rating=3)), path)
    (row,) = csv.DictReader(io.StringIO(path.read_text()))
    assert (row["name"], row["race"], row["parse_reason"], row["valid"], row["rating"], row["rank"]) == (
        "", "NA", "", "TRUE", "3", "NA",
    )  # fmt: skip
    assert read_outcomes(path)["name"].to_list() == [None]


def test_many_rows_of_long_text_with_newlines_stay_rows(tmp_path):
    path = tmp_path / "long.csv"
    text = "\n".join(NASTY) * 20
    rows = [
        row
        for number in range(3000)
        for row in unit_rows("purpose_open", 1, unit_id=f"u{number}", text=f"{text}{number}")
    ]
    frame = table(rows)
    write_outcomes(frame, path)
    assert_frame_equal(read_outcomes(path), frame)


def plain(**changes) -> str:
    """A sound file of one bundle, with some of its text replaced."""
    buffer = io.StringIO()
    rows = unit_rows("rank", 2, rank=[2, 1], race=["White", "Black"], name_rank=3)
    writer = csv.DictWriter(buffer, list(SCHEMA), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        cells = {k: {True: "TRUE", False: "FALSE"}[v] if isinstance(v, bool) else v for k, v in row.items()}
        writer.writerow({k: "NA" if v is None else v for k, v in cells.items()} | changes)
    return buffer.getvalue()


def read_text(tmp_path, text, *, encoding="utf-8") -> pl.DataFrame:
    path = tmp_path / "file.csv"
    path.write_bytes(text.encode(encoding))
    return read_outcomes(path)


@pytest.mark.parametrize(
    "spell",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text + "\n\n",
        lambda text: text.removesuffix("\n"),
        lambda text: text.replace("TRUE", "True").replace("FALSE", "false"),
        lambda text: text.replace(",3,White", ",3.0,White").replace(",3,Black", ",3.00,Black"),
        lambda text: text.replace(",2,NA,TRUE", ",2,,TRUE").replace(",1,NA,TRUE", ",1,,TRUE"),
        lambda text: "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()),
        lambda text: "\n".join(f"{line},{i}" for i, line in enumerate(text.splitlines())),
        lambda text: "\n".join(",".join(reversed(line.split(","))) for line in text.splitlines()),
    ],
    ids=["bom", "crlf", "blank end", "no end", "case", "floats", "blanks", "quoted", "further column", "other order"],
)
def test_files_that_other_tools_have_saved_read_the_same(tmp_path, spell):
    sound = read_text(tmp_path, plain())
    assert sound["rank"].to_list() == [2, 1]
    assert spell(plain()) != plain()
    assert_frame_equal(read_text(tmp_path, spell(plain())), sound)


def test_a_gzipped_file_is_read_whatever_it_is_called(tmp_path):
    path = tmp_path / "file.csv"
    path.write_bytes(gzip.compress(plain().encode()))
    assert read_outcomes(path).height == 2


def test_the_same_table_gives_the_same_bytes(tmp_path):
    frame = read_outcomes(EXCERPT)
    for name in ("a.csv.gz", "b.csv.gz"):
        write_outcomes(frame, tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


UNREADABLE = {
    "no column": (plain().replace("unit_id", "unit"), "file.csv: the column unit_id is missing"),
    "no columns": ("a,b\n1,2\n", "none of the columns of an outcomes file is there"),
    "semicolons": (plain().replace(",", ";"), "the columns are separated by semicolons"),
    "tabs": (plain().replace(",", "\t"), "the columns are separated by tabs"),
    "empty": ("", "the file is empty"),
    "blank file": ("\ufeff\n\n", "the file is empty"),
    "carriage returns": (plain().replace("\n", "\r"), "the lines end in a carriage return alone"),
    "long header": ("x" * 200_000 + "," + plain(), "the header cannot be read"),
    "null characters": (plain().replace("model", "mo\0del"), "file.csv"),
    "twice": (plain().replace("study", "model"), "the column model stands twice in the header"),
    "not a number": (plain(rank="two"), "file.csv, row 2: rank is 'two', not a whole number"),
    "fraction": (plain(rank="1.5"), "rank is '1.5', not a whole number"),
    "huge": (plain(dollars="9" * 30), "not a whole number"),
    "blank": (plain(retry_count=""), "retry_count is missing"),
    "not a truth": (plain(valid="yes"), "valid is 'yes', not TRUE or FALSE"),
    "no truth": (plain(valid="NA"), "valid is missing"),
    "long row": (plain().replace("White", "White,Asian"), "cannot be read as CSV"),
    "short row": (plain() + "m,rank\n", "row 4"),
    "open quote": (plain() + '"m', "file.csv"),
    "unknown task": (plain(task="sort"), "file.csv, row 2: task is 'sort', an unknown label (and 1 more rows"),
    "no model": (plain(model=""), "model is empty"),
}


@pytest.mark.parametrize(("text", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unusable_file_is_one_clear_error(tmp_path, text, message):
    with pytest.raises(OutcomesError) as caught:
        read_text(tmp_path, text)
    assert message in str(caught.value)
    assert "file.csv" in str(caught.value)
    assert caught.value.mend


def test_text_that_is_not_utf8_is_an_error(tmp_path):
    with pytest.raises(OutcomesError, match="UTF-8"):
        read_text(tmp_path, plain(race="é"), encoding="latin-1")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_utf16_is_called_so(tmp_path, encoding):
    with pytest.raises(OutcomesError, match="the file is UTF-16"):
        read_text(tmp_path, plain(), encoding=encoding)


def test_a_cell_may_be_long(tmp_path):
    rows = unit_rows("purpose_open", 1, text="long " * 100_000)
    write_outcomes(table(rows), tmp_path / "long.csv")
    assert_frame_equal(read_outcomes(tmp_path / "long.csv"), table(rows))


def test_a_gzipped_file_damaged_anywhere_is_one_clear_error(tmp_path):
    sound = EXCERPT.read_bytes()
    path = tmp_path / "file.csv.gz"
    for place in range(10, len(sound), len(sound) // 40):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0xFF]) + sound[place + 1 :])
        with pytest.raises(OutcomesError, match="cannot be read") as caught:
            read_outcomes(path)
        assert caught.value.mend


@pytest.mark.parametrize("name", ["n" * 300 + ".csv", "a\0b.csv", "d/" * 3000 + "x.csv"])
def test_a_path_that_cannot_be_is_one_clear_error(tmp_path, name):
    with pytest.raises(OutcomesError):
        read_outcomes(tmp_path / name)
    with pytest.raises(InputError, match="cannot be written"):
        write_outcomes(table(unit_rows("rate", 1, rating=3)), tmp_path / name)


def test_a_damaged_parquet_file_is_one_clear_error(tmp_path):
    path = tmp_path / "file.parquet"
    write_outcomes(table(unit_rows("rate", 1, rating=3)), path)
    sound = path.read_bytes()
    path.write_bytes(sound[: len(sound) // 2] + b"\xff" * 64 + sound[len(sound) // 2 + 64 :])
    with pytest.raises(OutcomesError):
        read_outcomes(path)


def test_a_column_of_fractions_is_written_and_read(monkeypatch):
    monkeypatch.setattr(cells, "COLUMNS", (Column("weight", pl.Float64), Column("rank", pl.Int64)))
    frame = pl.DataFrame({"weight": [0.1 + 0.2, 1e-300, 3.0, None], "rank": [1, 2, 3, None]})
    assert_frame_equal(cells.from_cells(cells.to_cells(frame), where="file"), frame, check_exact=True)
    for cell in ("wide", "nan", "inf", ""):
        text = pl.DataFrame({"weight": ["1", cell]})
        if cell:
            with pytest.raises(OutcomesError, match=f"row 3: weight is '{cell}', not a number"):
                cells.from_cells(text, where="file")
        else:
            assert cells.from_cells(text, where="file")["weight"].to_list() == [1.0, None]


@pytest.mark.parametrize(
    ("name", "data"),
    [("none.csv", None), ("folder.csv", "folder"), ("bad.parquet", b"PAR?"), ("cut.csv.gz", b"\x1f\x8b\x08\x00"),
     ("table.xlsx", b"")],
)  # fmt: skip
def test_what_is_no_outcomes_file_is_one_clear_error(tmp_path, name, data):
    path = tmp_path / name
    if data == "folder":
        path.mkdir()
    elif data is not None:
        path.write_bytes(data)
    with pytest.raises(OutcomesError, match=name) as caught:
        read_outcomes(path)
    assert caught.value.mend


def test_a_parquet_file_from_elsewhere_is_cast_or_refused(tmp_path):
    path = tmp_path / "table.parquet"
    frame = read_outcomes(EXCERPT)
    frame.with_columns(pl.col("rank").cast(pl.Float64), pl.col("race").cast(pl.Categorical)).write_parquet(path)
    assert_frame_equal(read_outcomes(path), frame)
    frame.with_columns(pl.col("rank").cast(pl.Int8), pl.col("unit_id").cast(pl.Categorical)).write_parquet(path)
    assert_frame_equal(read_outcomes(path), frame)
    frame.with_columns(rank=pl.lit("first")).write_parquet(path)
    with pytest.raises(OutcomesError, match="the column rank holds String"):
        read_outcomes(path)
    frame.drop("rank").write_parquet(path)
    with pytest.raises(OutcomesError, match="the column rank is missing"):
        read_outcomes(path)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("rank", pl.Series([1.0, 1.4]), "row 2: rank is 1.4, not a whole number"),
        ("rank", pl.Series([1.0, float("nan")]), "row 2: rank is nan, not a whole number"),
        ("rank", pl.Series([1.0, 1e19]), "row 2: rank is 1e+19, not a whole number"),
        ("rank", pl.Series(["1.0", "1.4"]).cast(pl.Decimal(10, 2)), "row 2: rank is 1.40, not a whole number"),
        ("rank", pl.Series([1, 2**64 - 1], dtype=pl.UInt64), "row 2: rank is 18446744073709551615, not a whole"),
        ("rank", pl.Series([date(1970, 1, 2), date(1970, 1, 3)]), "the column rank holds Date, not Int64"),
        ("rank", pl.Series([True, False]), "the column rank holds Boolean, not Int64"),
        ("valid", pl.Series([1, 2]), "the column valid holds Int64, not Boolean"),
        ("valid", pl.Series([1, 1]), "the column valid holds Int64, not Boolean"),
        ("race", pl.Series([1.5, 2.5]), "the column race holds Float64, not String"),
        ("race", pl.Series([date(1970, 1, 2)] * 2), "the column race holds Date, not String"),
    ],
)
def test_a_value_of_another_type_is_never_changed_to_fit(tmp_path, column, values, message):
    path = tmp_path / "table.parquet"
    frame = table(unit_rows("rank", 2, rank=[1, 2]))
    frame.with_columns(values.alias(column)).write_parquet(path)
    with pytest.raises(OutcomesError) as caught:
        read_outcomes(path)
    assert message in str(caught.value)
    assert "table.parquet" in str(caught.value)
    assert caught.value.mend


def test_whole_numbers_and_nulls_of_another_type_are_kept(tmp_path):
    path = tmp_path / "table.parquet"
    frame = table(unit_rows("rank", 2, rank=[1, 2], name_rank=[3, None], race=["1", "2"]))
    frame.with_columns(
        pl.col("rank", "name_rank").cast(pl.Float64),
        pl.col("race").cast(pl.Int64),
        pl.lit(None).alias("dollars"),
        pl.lit(None).alias("arm"),
    ).write_parquet(path)
    assert_frame_equal(read_outcomes(path), frame)


def test_rows_of_parquet_count_from_one(tmp_path):
    path = tmp_path / "table.parquet"
    frame = table(unit_rows("rank", 2, rank=[2, 3]))
    frame.write_parquet(path)
    with pytest.raises(OutcomesError, match="row 2: rank 3"):
        read_outcomes(path)


def test_an_unwritable_place_is_one_clear_error_and_leaves_nothing(tmp_path):
    frame = table(unit_rows("rate", 1, rating=3))
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "none" / "table.csv", tmp_path / "folder.csv"):
        with pytest.raises(InputError, match="cannot be written") as caught:
            write_outcomes(frame, path)
        assert str(path) in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.csv"]


def test_an_unsound_table_is_not_written_and_the_old_file_stays(tmp_path):
    path = tmp_path / "table.csv"
    write_outcomes(table(unit_rows("rate", 1, rating=3)), path)
    before = path.read_bytes()
    with pytest.raises(OutcomesError, match="rating 6 is outside"):
        write_outcomes(table(unit_rows("rate", 1, rating=6)), path)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_written_file_is_as_open_as_any_other(tmp_path):
    (tmp_path / "plain").touch()
    write_outcomes(table(unit_rows("rate", 1, rating=3)), tmp_path / "table.csv")
    assert (tmp_path / "table.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (unit_rows("rate", 1, rating=3) + unit_rows("rate", 1, rating=3, epoch=2), "epoch or arm"),
        (unit_rows("rate", 1, rating=3, arm="a") + unit_rows("rate", 1, rating=3, arm="b"), "epoch or arm"),
        (unit_rows("decide", 1, decision=1), "no column for the task decide"),
    ],
)
def test_what_the_released_columns_cannot_hold_is_refused(tmp_path, rows, message):
    path = tmp_path / "table.csv"
    write_outcomes(table(rows), path)
    with pytest.raises(OutcomesError, match=message):
        write_outcomes(table(rows), path, schema="fairfund")


def test_conform_gives_a_frame_of_released_columns_the_rest():
    frame = read_outcomes(EXCERPT)
    assert_frame_equal(conform(frame.select(reversed(RELEASED))), frame)
    validate(frame)


@pytest.mark.parametrize(
    ("name", "told"),
    [("nowhere", "no such file or run"), ("nowhere.csv", "no such file"), ("there.xlsx", "neither read nor written")],
)
def test_what_is_not_there_is_said_before_how_it_is_called(tmp_path, name, told):
    (tmp_path / "there.xlsx").write_bytes(b"")
    with pytest.raises(OutcomesError, match=told):
        read_outcomes(tmp_path / name)
