"""Questions and reviews from files."""

import msgspec
import pytest

from vidence.errors import DataError, UsageError
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import Recorder, begin, submit, write
from vidence.records import Item
from vidence.studio.bridge.recorded_files import take_items, take_review
from vidence.studio.records.items import ItemRow, MediumRow
from vidence.studio.upkeep import verify

AT = "2026-11-22T09:30:00.000000Z"


def question(name, answer="A"):
    media = ({"path": f"videos/{name[0]}.mp4"},)
    said = {"item_id": name, "media": media, "question": "Which?", "choices": ["one", "two"]}
    return msgspec.convert(said | {"answer": answer}, Item)


def test_questions_wait_for_their_first_look(team):
    project = team.project()
    done = take_items(project, [question("a1"), question("a2"), question("b1")])
    assert (done.n_new, done.n_same) == (3, 0)
    assert {one.state for one in ItemRow.objects.all()} == {"submitted"}
    assert [one.path for one in MediumRow.objects.order_by("path")] == ["videos/a.mp4", "videos/b.mp4"]
    assert [one.path for one in ItemRow.objects.get(item_id="b1").media.all()] == ["videos/b.mp4"]
    assert list(verify()) == []


def test_other_words_of_a_question_that_is_there_are_refused(team):
    project = team.project()
    take_items(project, [question("a1")])
    with pytest.raises(DataError, match="a1: it is there with other words"):
        take_items(project, [question("a1", "B"), question("a2")])
    assert ItemRow.objects.count() == 1


@pytest.fixture
def folder(tmp_path):
    """A review with one item claimed."""
    where = tmp_path / "review"
    begin(where, protocol_bytes("mmvu"))
    content = {"a1": msgspec.to_builtins(question("a1"))}
    recorders, _ = submit(read_reviews(where), content, by="ann", role="author", at=AT)
    write(where, recorders)
    claim(where, "bob")
    return where


def claim(where, by):
    recorder = Recorder(read_reviews(where), by=by, role="reviewer", at=AT)
    assert recorder.add("claim", "a1") == ""
    write(where, [recorder])


def test_a_review_of_other_rules_is_refused(team, folder):
    team.project("films", "humanpcr-r")
    with pytest.raises(UsageError, match="another protocol"):
        take_review(folder, slug="films")


def test_who_did_something_else_since_is_named(team, folder):
    project = team.project("films", "mmvu")
    take_items(project, [question("z")], by="ann")
    with pytest.raises(DataError, match="ann did something else since"):
        take_review(folder, slug="films")
    assert ItemRow.objects.count() == 1


def test_what_the_rules_refuse_is_refused(team, folder):
    take_review(folder, slug="films")
    ItemRow.objects.update(standing={}, state="drafting")
    recorder = Recorder(read_reviews(folder), by="bob", role="reviewer", at=AT)
    assert recorder.add("release", "a1") == ""
    write(folder, [recorder])
    with pytest.raises(DataError, match="a1 is drafting; release by bob"):
        take_review(folder, slug="films")
