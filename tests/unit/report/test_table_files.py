import csv

import pytest

from vidence.errors import StoreError
from vidence.records import Estimate
from vidence.report.table_files import table_as_csv, write_tables
from vidence.tables.cells import Column, Line, Table, count, estimated, share, words


def made(name="a"):
    one = Estimate(value=0.5, low=0.41, high=0.59, level=0.95, n=9, n_clusters=3, method="m")
    columns = (
        Column(key="name", title="name", is_text=True),
        Column(key="n", title=""),
        Column(key="acc", title="acc", group="ours"),
        Column(key="x", title="x"),
    )
    lines = (
        Line(key="1", cells=(words("=1+1", detail="so"), count(1200), estimated(one), share(None))),
        Line(key="2", cells=(words("b"), count(3), share(0.25), share(1.0))),
    )
    return Table(name=name, title="T", columns=columns, lines=lines)


def test_figures_have_their_ends_and_words_their_notes():
    rows = list(csv.reader(table_as_csv(made()).splitlines()))
    assert rows == [
        ["name", "name, note", "n", "ours: acc", "ours: acc, low", "ours: acc, high", "x"],
        ["'=1+1", "so", "1,200", "50.0", "41.0", "59.0", ""],
        ["b", "", "3", "25.0", "", "", "100.0"],
    ]


def test_each_table_has_a_file_of_its_own(tmp_path):
    tables = [made("score:task"), made("score/task"), made("../..")]
    paths = write_tables(tables, tmp_path / "new" / "folder")
    assert [p.name for p in paths] == ["score-task.csv", "score-task-2.csv", "table.csv"]
    assert {p.parent for p in paths} == {tmp_path / "new" / "folder"}
    assert paths[0].read_text() == table_as_csv(tables[0])


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the folder"):
        write_tables([made()], tmp_path / "file")
