"""Anyone's table: what its columns are, and files that are none."""

import gzip

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.tables import columns_of, joined, keep_rows, read_table

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
    assert table["c"].to_list() == [1.0, 0.0, None]
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
