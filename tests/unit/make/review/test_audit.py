"""The audit of a sample through the events of a review."""

import csv
import io

import pytest

from subjects.gated import draft, questions
from vidence.errors import DataError, UsageError
from vidence.make.gates.rules import ReviewRules
from vidence.make.review.audit import SHEET, as_csv, read_audit, review_id
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import Recorder, begin, write
from vidence.make.review.sample import draw_sample

AT, LATER = "2026-11-22T10:00:00.000000Z", "2026-11-22T11:00:00.000000Z"


@pytest.fixture
def rows():
    some = questions([draft(f"d{i}") for i in range(4)])
    return draw_sample(some, ReviewRules(share=1.0), seed=1, open_gates={}).rows


def sheet(path, rows, *verdicts: str, **cells: str):
    """The sheet of all rows, filled in from the first on."""
    lines = list(csv.DictReader(io.StringIO(as_csv(rows).decode("utf-8-sig"))))
    for line, verdict in zip(lines, verdicts, strict=False):
        line.update({"verdict": verdict} | (cells if verdict == "reject" else {}))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    return path


def test_the_lines_of_a_sheet_are_events_of_one_review(rows, tmp_path):
    path = sheet(
        tmp_path / "a.csv", rows, "accept", "reject", "", "accept", unique="no", note=" two are right "
    )
    said = read_audit(rows, [path], folder=tmp_path / "review", at=AT)
    reviews = read_reviews(tmp_path / "review")
    done = [one.kind for one in reviews.events if one.by == SHEET]
    assert done == ["claim", "accept", "claim", "reject", "claim", "accept"]
    assert [reviews.states[review_id(row)].state for row in rows] == [
        *("accepted", "rejected", "submitted", "accepted")
    ]
    assert reviews.folded.refused == ()
    assert said == read_audit(rows, [path], folder=None, at=AT)
    assert [(one.item_id, one.is_accepted) for one in said] == [
        (rows[i].question.question_id, i != 1) for i in (0, 1, 3)
    ]
    assert (said[1].failed_checks, said[1].note) == (("unique",), "two are right")


def test_a_folder_takes_the_sheet_once_and_adds_what_people_say_in_it(rows, tmp_path):
    path = sheet(tmp_path / "a.csv", rows, "accept", "reject", unique="no")
    folder = tmp_path / "review"
    said = read_audit(rows, [path], folder=folder, at=AT)
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert read_audit(rows, [path], folder=folder, at=LATER) == said
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == files
    reviews = read_reviews(folder)
    bob = Recorder(reviews, by="bob", role="reviewer", at=LATER)
    assert bob.add("claim", review_id(rows[2])) == ""
    assert bob.add("reject", review_id(rows[2]), message="it is a film of a film") == ""
    write(folder, [bob])
    found = read_audit(rows, [path], folder=folder, at=LATER)
    assert [one.is_accepted for one in found] == [True, False, False]


def test_what_two_people_decide_otherwise_waits_for_a_third(rows, tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        read_audit(rows, [], folder=folder, at=AT)
    for folder, by, kind in ((mine, "bob", "accept"), (other, "cid", "reject")):
        recorder = Recorder(read_reviews(folder), by=by, role="reviewer", at=LATER)
        assert recorder.add("claim", review_id(rows[0])) == ""
        assert recorder.add(kind, review_id(rows[0])) == ""
        write(folder, [recorder])
    whole = [read_reviews(one) for one in (mine, other)]
    (mine / "reviews.jsonl").write_bytes(
        (mine / "reviews.jsonl").read_bytes() + (other / "reviews.jsonl").read_bytes()
    )
    assert [read_reviews(mine).states[review_id(rows[0])].is_disputed] == [True]
    assert len(whole) == 2
    assert read_audit(rows, [], folder=mine, at=LATER) == ()


def test_a_sheet_that_says_something_else_than_the_review_is_refused_with_its_line(rows, tmp_path):
    folder = tmp_path / "review"
    read_audit(rows, [sheet(tmp_path / "a.csv", rows, "accept")], folder=folder, at=AT)
    before = (folder / "reviews.jsonl").read_bytes()
    with pytest.raises(DataError, match="was decided already: accept by sheet") as caught:
        read_audit(rows, [sheet(tmp_path / "b.csv", rows, "reject", "accept")], folder=folder, at=LATER)
    assert "b.csv" in str(caught.value)
    assert "line 2: " in str(caught.value)
    assert (folder / "reviews.jsonl").read_bytes() == before


def test_a_question_that_was_changed_is_another_one_in_the_review(rows, tmp_path):
    folder = tmp_path / "review"
    read_audit(rows, [sheet(tmp_path / "a.csv", rows, *["accept"] * 4)], folder=folder, at=AT)
    some = questions(
        [draft("d0", question="Who came in first, and when?"), *(draft(f"d{i}") for i in (1, 2, 3))]
    )
    changed = draw_sample(some, ReviewRules(share=1.0), seed=1, open_gates={}).rows
    said = read_audit(changed, [], folder=folder, at=LATER)
    assert [one.item_id for one in said] == [row.question.question_id for row in changed[1:]]
    assert len(read_reviews(folder).states) == 5


def test_another_protocol_is_refused(rows, tmp_path):
    begin(tmp_path / "review", protocol_bytes("mmvu"))
    with pytest.raises(UsageError, match="another protocol"):
        read_audit(rows, [], folder=tmp_path / "review", at=AT)
