"""Rows of drafts: faulty ones keep their text; sheets go out and come back as they were."""

import csv
import io
import json

import pytest

from subjects.expert_set import drafts_of, set_in
from vidence.errors import DataError
from vidence.make.writing.draft_files import DraftRow, Finding, checked_sheet, read_drafts


def test_rows_that_cannot_be_read_keep_their_text(tmp_path):
    path = tmp_path / "drafts.jsonl"
    path.write_text(
        '{"draft_id": "a", "question": "Why?", "start_s": "soon", "colour": "red"}\n'
        '{"draft_id": "b", "question": \n'
        '{"draft_id": "a", "question": "What?"}\n'
        '{"question": "Who?"}\n'
    )
    rows = read_drafts(path)
    assert [row.row_id for row in rows] == ["a", "drafts.jsonl:2", "a (drafts.jsonl:3)", "drafts.jsonl:4"]
    assert [[(f.column, f.kind) for f in row.findings] for row in rows] == [
        [("start_s", "unreadable"), ("colour", "unknown-column")],
        [("row", "unreadable")],
        [("draft_id", "repeated-id")],
        [("draft_id", "empty")],
    ]
    assert rows[0].cells == {"draft_id": "a", "question": "Why?", "start_s": "soon", "colour": "red"}
    assert rows[0].draft.start_s is None
    assert rows[1].cells == {"row": '{"draft_id": "b", "question": '}
    assert rows[1].draft is None


def test_the_sheet_that_goes_back_is_read_as_the_same_drafts(tmp_path):
    rows = read_drafts(set_in(tmp_path / "set").parent / "drafts.jsonl")
    (tmp_path / "back.csv").write_bytes(checked_sheet(rows))
    again = read_drafts(tmp_path / "back.csv")
    assert [row.draft for row in again] == [row.draft for row in rows]
    assert [row.findings for row in again] == [(), (), ()]
    (tmp_path / "twice.csv").write_bytes(checked_sheet(again))
    assert [row.draft for row in read_drafts(tmp_path / "twice.csv")] == [row.draft for row in rows]


def test_a_folder_of_files_is_read_in_the_order_of_their_names(tmp_path):
    drafts = drafts_of(set_in(tmp_path / "set").parent)
    folder = tmp_path / "drafts"
    folder.mkdir()
    (folder / "b.json").write_text(json.dumps(drafts[:1]))
    (folder / "a.csv").write_text('draft_id,question,choices\nx,Why?,"one\ntwo"\n')
    (folder / "notes.txt").write_text("nothing")
    rows = read_drafts(folder)
    assert [row.row_id for row in rows] == ["x", "wheel-1"]
    assert rows[0].draft.choices == ("one", "two")
    with pytest.raises(DataError, match="no drafts there"):
        read_drafts(tmp_path / "nowhere.jsonl")


def finding(column, *, is_fault, says="so"):
    return Finding(row_id="a", column=column, kind="k", is_fault=is_fault, says=says)


def test_faults_stand_beside_the_cells_that_they_are_about():
    first = DraftRow(
        row_id="a",
        place="d.csv:2",
        cells={"draft_id": "a", "answer": "=1+1", "question": "Why,\nso?"},
        draft=None,
        findings=(
            finding("question", is_fault=True, says="one"),
            finding("question", is_fault=True, says="two"),
            finding("steps", is_fault=False),
        ),
    )
    broken = DraftRow(row_id="d.csv:4", place="d.csv:4", cells={"row": '"x'}, draft=None)
    content = checked_sheet([first, broken])
    assert content.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    assert list(rows[0]) == [
        *("place", "state", "draft_id", "question", "answer", "row"),
        *("fault:question", "warning:steps"),
    ]
    assert rows[0]["question"] == "Why,\nso?"
    assert rows[0]["answer"] == "=1+1"
    assert rows[0]["fault:question"] == "one\ntwo"
    assert (rows[0]["state"], rows[1]["state"], rows[1]["row"]) == ("fault", "ok", '"x')
