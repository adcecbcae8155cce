"""The sheet that goes back: texts as they were, faults and warnings in columns beside."""

import csv
import io

from vidence.make.writing.expert_findings import DraftRow, Finding
from vidence.make.writing.expert_sheet import checked_sheet, state_of


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


def test_a_row_with_warnings_only_is_no_faulty_one():
    assert state_of(DraftRow(row_id="a", place="", cells={}, draft=None)) == "ok"
    warned = DraftRow(row_id="a", place="", cells={}, draft=None, findings=(finding("x", is_fault=False),))
    assert state_of(warned) == "warning"
