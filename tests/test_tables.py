"""Anyone's table: what its columns are, and files that are none."""

import gzip
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.tables import as_polars, columns_of, joined, keep_rows, read_table

texts = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1, max_size=8)


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_columns_are_what_they_look_like(tmp_path):
    path = write(tmp_path, "\ufeffa,b,c,d,e,f\n1,1.5,TRUE,01,x,\n2,NA,FALSE,02, y ,\n,3,,10,NA,\n")
    table = read_table(path)
    assert table.columns == list(columns_of(path)) == ["a", "b", "c", "d", "e", "f"]
    assert table["a"].to_list() == [1, 2, None]
    assert table["b"].to_list() == [1.5, None, 3.0]
    assert table["c"].dtype == pl.Boolean
    assert table["c"].to_list() == [True, False, None]
    assert table["d"].to_list() == ["01", "02", "10"]
    assert table["e"].to_list() == ["x", "y", None]
    assert table["f"].is_null().all()


def test_parquet_and_compressed_tables_are_read(tmp_path):
    table = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    table.write_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").equals(table)
    assert columns_of(tmp_path / "t.parquet") == ("a", "b")
    assert read_table(write(tmp_path, gzip.compress(b"a,b\n1,x\n2,y\n"), "t.csv.gz")).equals(table)


@pytest.mark.parametrize(
    ("content", "name", "told"),
    [
        (b"", "t.csv", "empty"),
        (b"a,a\n1,2\n", "t.csv", "two columns are called 'a'"),
        (b"a,b\n1,2,3\n", "t.csv", "cannot be read as CSV"),
        (b"\xff\xfea\x00", "t.csv", "not UTF-8"),
        (b"a,b\n\xe4,1\n", "t.csv", "not UTF-8"),
        (b"PAR1", "t.parquet", "no Parquet"),
        (b"\x1f\x8b\x08\x00", "t.csv.gz", "cannot be read"),
        (b"a\n1\n", "t.xlsx", "are not read"),
    ],
)
def test_what_is_no_table_is_one_message(tmp_path, content, name, told):
    with pytest.raises(InputError, match=told):
        read_table(write(tmp_path, content, name))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        read_table(tmp_path / "none.csv")


@given(values=st.lists(texts, min_size=1, max_size=6), column=texts)
def test_reading_never_fails_otherwise(tmp_path_factory, values, column):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    pl.DataFrame({column: values, "other": range(len(values))}).write_csv(path)
    table = read_table(path)
    assert table.height == len(values)


def test_rows_are_kept_by_value():
    table = pl.DataFrame({"model": ["a", "b", "a", None], "k": [1.0, 2.0, 3.0, 4.0]})
    assert keep_rows(table, {"model": "a", "k": "3"})["k"].to_list() == [3.0]
    for where in ({"model": "c"}, {"k": "one"}, {"none": "1"}):
        with pytest.raises(InputError):
            keep_rows(table, where)


def test_columns_are_joined_where_several_are_named():
    table = pl.DataFrame({"a": ["x", "x", "y"], "b": [1, 2, 1], "c:d": [0, 0, 0]})
    assert joined(table, "a:b")["a:b"].n_unique() == 3
    assert joined(table, "c:d").equals(table)
    assert joined(table, "a:none").equals(table)


def test_whole_numbers_beyond_64_bits_stay_apart(tmp_path):
    table = read_table(write(tmp_path, "id,k\n18446744073709551616,1\n18446744073709551617,2\n"))
    assert table["id"].n_unique() == 2
    assert keep_rows(table, {"id": "18446744073709551617"})["k"].to_list() == [2]


@pytest.mark.parametrize(
    ("values", "written", "kept"),
    [
        ([2**53, 2**53 + 1], "9007199254740993", [1]),
        ([2**53, 2**53 + 1], "9007199254740993.0", [1]),
        ([1e-5, 0.5], "1e-05", [0]),
        ([-0.0, 0.5], "0", [0]),
        ([True, False], "TRUE", [0]),
        ([True, False], "False", [1]),
        ([True, False], "1", [0]),
        ([date(2020, 1, 1), date(2020, 1, 2)], "2020-01-02", [1]),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "2020-01-02", [1]),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "2020-01-02 00:00:00", [1]),
        ([datetime(2020, 1, 1), datetime(2020, 1, 2)], "2020-01-02 00:00:00.000000", [1]),
        ([datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)], "2020-01-02 00:00:00+00:00", [1]),
    ],
)
def test_a_value_is_meant_however_it_is_written(values, written, kept):
    table = pl.DataFrame({"v": values, "k": [0, 1]})
    assert keep_rows(table, {"v": written})["k"].to_list() == kept


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64, pl.Decimal(10, 2), pl.Int128])
def test_numbers_of_any_width_are_compared_by_value(dtype):
    table = pl.DataFrame({"v": pl.Series([1, 2]).cast(dtype), "k": [1, 2]})
    assert keep_rows(table, {"v": "2.0"})["k"].to_list() == [2]


def test_what_is_no_number_means_no_missing_one():
    with pytest.raises(InputError, match="no row has 'none' in v"):
        keep_rows(pl.DataFrame({"v": [float("nan"), 1.0]}), {"v": "none"})


@pytest.mark.parametrize("part", [[1.0, None], [1.0, float("nan")]])
def test_where_a_part_is_missing_so_is_what_it_is_joined_to(part):
    assert joined(pl.DataFrame({"a": part, "b": ["x", "y"]}), "a:b")["a:b"].is_null().to_list() == [False, True]


ODD = [
    pl.Series("v", [timedelta(1), timedelta(2)]),
    pl.Series("v", [[1], [2]]),
    pl.Series("v", [[1], [2]], dtype=pl.Array(pl.Int64, 1)),
    pl.Series("v", [object(), object()], dtype=pl.Object),
    pl.Series("v", [b"a", b"b"]),
    pl.Series("v", [{"a": 1}, {"a": 2}]),
]


@pytest.mark.parametrize("column", ODD, ids=lambda column: str(column.dtype))
@pytest.mark.parametrize(
    "use",
    [lambda t: as_polars(t, ("v",)), lambda t: joined(t, "v:b"), lambda t: keep_rows(t, {"v": "1"})],
    ids=["frame", "joined", "where"],
)
def test_columns_of_other_types_are_named_with_their_type(column, use):
    with pytest.raises(InputError) as caught:
        use(pl.DataFrame([column, pl.Series("b", ["x", "y"])]))
    assert f"v is a column of {column.dtype}" in str(caught.value)


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (pd.Categorical([1, "1"]), "two categories of v are written '1'"),
        ([2**70, 1], "more digits than can be told apart"),
        ([(1,), (2,)], "of kind tuple"),
        ([{1}, {2}], "of kind set"),
        (pd.to_timedelta([1, 2], unit="D"), "of kind Timedelta"),
        ([1, "1"], "of kind int, str"),
        ([1j, 2j], "of kind complex"),
        ([date(2020, 1, 1), "x"], "of kind date, str"),
    ],
)
def test_odd_columns_of_pandas_are_one_message(column, told):
    with pytest.raises(InputError, match=told):
        as_polars(pd.DataFrame({"v": pd.Series(column)}), ("v",))


def test_columns_of_pandas_are_found_by_their_written_name_and_once():
    table = pd.DataFrame([[1, "x", 2.5], [2, "y", None]], columns=[3, "b", "b"])
    assert as_polars(table, ("3",))["3"].to_list() == [1, 2]
    with pytest.raises(InputError, match="two columns are called 'b'"):
        as_polars(table, ("3", "b"))
    plain = pd.DataFrame(
        {"t": pd.to_datetime(["2020-01-01", None]), "f": [True, None], "n": pd.array([1, None], "Int64")}
    )
    found = as_polars(plain, ("t", "f", "n"))
    assert [dtype.is_temporal() or dtype for dtype in found.dtypes] == [True, pl.Boolean, pl.Int64]
    assert found.null_count().row(0) == (1, 1, 1)


@pytest.mark.parametrize(
    "data",
    [{"a": [1]}, pl.LazyFrame({"a": [1]}), np.eye(2), None, "t.csv", pl.Series("a", [1])],
    ids=lambda d: type(d).__name__,
)
def test_what_is_no_frame_is_one_message(data):
    with pytest.raises(InputError, match=f"the data are a {type(data).__name__}"):
        as_polars(data, ("a",))


def test_messages_stay_on_one_line():
    with pytest.raises(InputError) as caught:
        as_polars(pl.DataFrame({"a\nb": [1]}), ("c",))
    assert "\n" not in str(caught.value)
