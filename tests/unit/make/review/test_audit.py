"""The audit of a sample through the events of a review."""

import pytest

from subjects.gated import draft, questions
from subjects.reviewed import decide
from vidence.errors import UsageError
from vidence.make.gates.rules import ReviewRules
from vidence.make.review.audit import MAKER, read_audit, review_id
from vidence.make.review.files import merge, read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import Recorder, begin, write
from vidence.make.review.sample import draw_sample

AT, LATER = "2026-11-22T10:00:00.000000Z", "2026-11-22T11:00:00.000000Z"


def drawn(*names: str, **changed: str):
    some = questions([draft(name, **(changed if name == "d0" else {})) for name in names])
    return draw_sample(some, ReviewRules(share=1.0), seed=1, open_gates={}).rows


@pytest.fixture
def rows():
    return drawn("d0", "d1", "d2", "d3")


def test_questions_go_in_once_and_what_people_decide_comes_back(rows, tmp_path):
    folder = tmp_path / "review"
    assert read_audit(rows, folder=folder, at=AT) == ()
    files = {one.name: one.read_bytes() for one in folder.iterdir()}
    assert read_audit(rows, folder=folder, at=LATER) == ()
    assert {one.name: one.read_bytes() for one in folder.iterdir()} == files
    assert {one.by for one in read_reviews(folder).events} == {MAKER}
    bob = Recorder(read_reviews(folder), by="bob", role="reviewer", at=LATER)
    assert bob.add("claim", review_id(rows[2])) == ""
    assert bob.add("reject", review_id(rows[2]), message="it is a film of a film") == ""
    write(folder, [bob])
    assert [(one.item_id, one.is_accepted) for one in read_audit(rows, folder=folder, at=LATER)] == [
        (rows[2].question.question_id, False)
    ]
    decide(folder, reject=1, by="cid")
    found = read_audit(rows, folder=folder, at=LATER)
    assert [one.is_accepted for one in found] == [False, True, False, True]
    assert [one.failed_checks for one in found] == [("unique",), (), (), ()]


def test_what_two_people_decide_otherwise_waits_for_a_third(rows, tmp_path):
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder, by, reject in ((mine, "bob", 0), (other, "cid", 1)):
        read_audit(rows[:1], folder=folder, at=AT)
        decide(folder, reject=reject, by=by)
    merge(mine, [other])
    assert read_reviews(mine).states[review_id(rows[0])].is_disputed
    assert read_audit(rows[:1], folder=mine, at=LATER) == ()


def test_a_question_that_was_changed_is_another_one_in_the_review(rows, tmp_path):
    read_audit(rows, folder=tmp_path, at=AT)
    decide(tmp_path)
    changed = drawn("d0", "d1", "d2", "d3", question="Who came in first, and when?")
    found = read_audit(changed, folder=tmp_path, at=LATER)
    assert [one.item_id for one in found] == [row.question.question_id for row in changed[1:]]
    assert len(read_reviews(tmp_path).states) == 5


def test_another_protocol_is_refused(rows, tmp_path):
    begin(tmp_path / "review", protocol_bytes("mmvu"))
    with pytest.raises(UsageError, match="another protocol"):
        read_audit(rows, folder=tmp_path / "review", at=AT)
