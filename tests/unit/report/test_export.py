import csv
import json
from pathlib import Path

import pytest

from vidence.errors import StoreError, UsageError
from vidence.records import Answered
from vidence.report.export import write_csv, write_json, write_tables
from vidence.report.scores import score_tables
from vidence.tables.export import table_as_csv
from vidence.tables.table import Table


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("-2.5", "-2.5"),
        ("+3", "+3"),
        ("\tx", "'\tx"),
        ('a "b", c\nd', 'a "b", c\nd'),
        ("", ""),
    ],
)
def test_texts_never_become_formulas(runs, tmp_path, text, written):
    item = runs.question("x", "v", "A", tags={"task": text})
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="A"))])
    write_csv([run], tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["task"] == written


def test_json_holds_manifest_tables_and_trials(runs, rng, tmp_path):
    run = runs.load()
    tables = score_tables(run, rng=rng)
    write_json([(run, tables)], tmp_path / "out.json")
    whole = json.loads((tmp_path / "out.json").read_text())
    assert whole["format"] == "vidence-report/1"
    assert whole["plan"]["model"] == "scripted:test"
    assert whole["facts"]["n_planned"] == 7
    assert whole["n_left_out"] == 0
    headline = next(line for line in whole["tables"][0]["lines"] if line["key"] == "headline")
    assert headline["accuracy"]["value"] == pytest.approx(2 / 6)
    assert headline["accuracy"]["estimate"]["low"] == pytest.approx(0.0604, abs=1e-4)
    trial = whole["trials"][1]
    assert (trial["item_id"], trial["read"], trial["gold"], trial["correct"]) == ("q2", "C", "B", 0.0)
    assert trial["tags"] == {"task": "order", "level": "2"}
    assert (trial["reply"], trial["reasoning"]) == ("Answer: C", "I looked.")
    single = runs.load("run-b", items=[runs.items[0]], trials=[runs.trials[0]])
    write_json([(run, ()), (single, score_tables(single, rng=rng))], tmp_path / "out.json")
    text = (tmp_path / "out.json").read_text()
    whole = json.loads(text)
    assert whole["format"] == "vidence-reports/1"
    assert [one["name"] for one in whole["runs"]] == ["run-a", "run-b"]
    assert [len(one["tables"]) > 0 for one in whole["runs"]] == [False, True]
    line = whole["runs"][1]["tables"][0]["lines"][0]
    assert line["accuracy"]["estimate"]["low"] is None  # what does not exist is null
    assert "NaN" not in text


def test_a_file_that_cannot_be_written_leaves_the_old_one(runs, tmp_path):
    with pytest.raises(StoreError, match="cannot write"):
        write_csv([runs.load()], tmp_path / "no-such-folder" / "out.csv")
    target = tmp_path / "taken"
    target.mkdir()
    with pytest.raises(StoreError, match="it is a folder"):
        write_csv([runs.load("run-b")], target)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_full_disk_is_a_clear_error(runs, tmp_path, monkeypatch):
    def no_room(self, content):
        raise OSError(28, "No space left on device")

    run = runs.load()
    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(StoreError, match="No space left on device; free some space"):
        write_csv([run], tmp_path / "out.csv")


def empty(name):
    return Table(name=name, title="T", label="l", columns=(), rows=())


def test_each_table_has_a_file_of_its_own(tmp_path):
    tables = [empty("score:task"), empty("score/task"), empty("../..")]
    paths = write_tables(tables, tmp_path / "new" / "folder")
    assert [p.name for p in paths] == ["score-task.csv", "score-task-2.csv", "table.csv"]
    assert {p.parent for p in paths} == {tmp_path / "new" / "folder"}
    assert paths[0].read_text() == table_as_csv(tables[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        write_tables([empty("t")], tmp_path / "file")
