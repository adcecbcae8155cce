"""Files of every kind as rows, folders of data sets, and splits."""

import json
from pathlib import Path

import pytest

from subjects.layouts import cells_file, workbook
from vidence.ask.files import DataFile, FieldError
from vidence.ask.mapping.rows import find_files, levels_of, read_rows, rows_in, split_of
from vidence.errors import DataError, UsageError

ROWS: list[dict[str, object]] = [{"a": "x", "n": 1}, {"a": "y|z", "n": 2}]


def plain(path: Path, **options: object) -> list[object]:
    table = read_rows(path, **options)  # type: ignore[arg-type]
    return [
        {k: v for k, v in row.items() if k[0] != "@"} if isinstance(row, dict) else row
        for _, row in table.lines
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"a": "x", "n": 1}\n\n{"a": "y|z", "n": 2}\n'),
        ("a.json", b'[{"a": "x", "n": 1},\n {"a": "y|z", "n": 2}]'),
        ("a.xlsx", workbook(ROWS)),
    ],
)
def test_rows_are_read_from_every_kind_of_file(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert plain(tmp_path / name) == ROWS


def test_rows_of_other_kinds_know_their_file_and_number(tmp_path: Path) -> None:
    for name, delimiter in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        cells_file(ROWS, name, delimiter=delimiter)(tmp_path)
        assert plain(tmp_path / name) == [{"a": "x", "n": "1"}, {"a": "y|z", "n": "2"}]
    lines = list(rows_in(DataFile(tmp_path / "b.test.jsonl.gz", b'{"a": 1}\nbroken\n{"a": 2}')).lines)
    assert [place for place, _ in lines] == ["1", "2", "3"]
    assert isinstance(lines[1][1], FieldError)
    last = lines[2][1]
    assert isinstance(last, dict)
    assert (last["@file"], last["@folder"], last["@row"]) == ("b.test", tmp_path.name, 2)


def test_tables_in_columns_leave_out_what_is_not_needed(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.Table.from_pylist([row | {"video": b"0"} for row in ROWS])
    pq.write_table(table, tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    for name in ("a.parquet", "a.arrow"):
        assert plain(tmp_path / name, only=frozenset({"a", "n"})) == ROWS
        assert "video" in plain(tmp_path / name)[0]  # type: ignore[operator]


def test_keys_around_rows_become_columns() -> None:
    nested = {"v1": {"order": [{"q": 1}, {"q": 2}, 3]}, "v2": {"speed": {"q": 4}}, "v3": 5}
    file = DataFile(Path("a.json"), json.dumps(nested).encode())
    found = list(rows_in(file, levels=("video", "dim")).lines)
    good = [(row["video"], row["dim"], row["q"]) for _, row in found if isinstance(row, dict)]
    assert good == [("v1", "order", 1), ("v1", "order", 2), ("v2", "speed", 4)]
    assert [place for place, row in found if isinstance(row, FieldError)] == ["v1/order (entry 3)", "v3"]
    assert levels_of(file) == (2, {"q": 1})
    assert levels_of(DataFile(Path("a.json"), b"[]")) is None
    with pytest.raises(DataError, match="expected one with keys for video"):
        list(rows_in(DataFile(Path("a.json"), b"[]"), levels=("video",)).lines)


def folder_of(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"a": 1}\n')
    return folder


def found(folder: Path, *patterns: str, split: str = "all") -> list[str]:
    return [str(path.relative_to(folder)) for path in find_files(folder, patterns, split=split)]


def test_the_first_pattern_that_matches_decides_and_several_are_not_guessed(tmp_path: Path) -> None:
    folder_of(tmp_path, "json/a.json", "json/b.json.gz", "other.json")
    assert found(tmp_path, "none.json", "json/*.json", "*.json") == ["json/a.json", "json/b.json.gz"]
    assert find_files(tmp_path / "other.json", ("json/*.json",), split="all") == [tmp_path / "other.json"]
    arrow = folder_of(
        tmp_path / "a", "test/data-00000-of-00001.arrow", "train/data-00000-of-00001.arrow", "test/state.json"
    )
    assert found(arrow, split="test") == ["test/data-00000-of-00001.arrow"]
    assert split_of(Path("contest.jsonl")) == ""


def test_shards_and_splits_are_those_of_data_sets_of_the_hub(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        *("data/test-00000-of-00002.jsonl", "data/test-00001-of-00002.jsonl", "data/val.jsonl"),
        *("dataset_info.json", ".cache/x.json"),
    )
    assert found(tmp_path, split="test") == [f"data/test-0000{n}-of-00002.jsonl" for n in (0, 1)]
    assert found(tmp_path, split="validation") == found(tmp_path, split="val") == ["data/val.jsonl"]
    with pytest.raises(DataError, match="holds the splits test, validation; name one with --split"):
        found(tmp_path)
    with pytest.raises(UsageError, match="holds no split 'train'; found: test, validation"):
        found(tmp_path, split="train")


def test_several_tables_are_not_guessed_between(tmp_path: Path) -> None:
    folder_of(tmp_path, "easy/test.jsonl", "hard/test.jsonl")
    with pytest.raises(DataError, match=r"holds 2 tables \(easy/test, hard/test\); give the path of one"):
        found(tmp_path)
    with pytest.raises(DataError, match="holds no table"):
        found(folder_of(tmp_path / "empty", "README.md"))
    with pytest.raises(DataError, match="there is nothing at"):
        found(tmp_path / "absent")
