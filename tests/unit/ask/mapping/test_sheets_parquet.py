"""Tables of questions: columns by their names, and what cannot be read."""

import json
import sys

import pytest

from vidence.ask.mapping.sheets import Columns, parquet_questions
from vidence.errors import DataError, UsageError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
COLUMNS = Columns(
    names={"item": ("item", "id"), "text": ("text", "question"), "more": ("more",)},
    needed=(("item",), ("text",)),
    nested=frozenset({"more"}),
)


def written(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_rows_have_the_names_of_fields_and_only_known_columns(tmp_path) -> None:
    rows = [
        {"id": "a", "question": "?", "more": '["x"]', "video": b"0"},
        {"id": "b", "question": "!", "more": "y"},
    ]
    file, found = parquet_questions(written(tmp_path / "t.parquet", rows), COLUMNS)
    assert [(line, json.loads(text)) for line, text in found] == [
        ("1", {"item": "a", "text": "?", "more": ["x"]}),
        ("2", {"item": "b", "text": "!", "more": "y"}),
    ]
    assert file.ending == ".parquet"


def test_the_hash_is_that_of_what_is_read_and_not_of_other_columns(tmp_path) -> None:
    first, _ = parquet_questions(
        written(tmp_path / "1.parquet", [{"id": "a", "question": "?", "video": b"0"}]), COLUMNS
    )
    second, _ = parquet_questions(
        written(tmp_path / "2.parquet", [{"id": "a", "question": "?", "video": b"1"}]), COLUMNS
    )
    third, _ = parquet_questions(
        written(tmp_path / "3.parquet", [{"id": "a", "question": "??", "video": b"0"}]), COLUMNS
    )
    assert first.content_hash == second.content_hash != third.content_hash


def test_what_is_no_table_is_said_and_the_command_without_pyarrow(tmp_path, monkeypatch) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        parquet_questions(tmp_path / "x.parquet", COLUMNS)
    empty = pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    pq.write_table(empty, tmp_path / "e.parquet")
    with pytest.raises(DataError, match="holds no row"):
        parquet_questions(tmp_path / "e.parquet", COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'pyarrow>=20'"):
        parquet_questions(tmp_path / "x.parquet", COLUMNS)
