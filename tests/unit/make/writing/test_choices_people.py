"""What a review decides about questions that were made."""

from pathlib import Path

import msgspec
import pytest

from vidence.errors import DataError
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import Filled, Recorder, begin, submit, write
from vidence.make.writing.choices_people import look_up
from vidence.records import Item, Media

AT = "2026-11-22T09:30:00.000000Z"
CHECKS = dict.fromkeys(("language", "answer", "distractors", "visual"), "yes")


def item(name: str, question: str = "What is held?") -> Item:
    media = (Media(path="a.jpg", kind="image"),)
    return Item(item_id=name, media=media, question=question, choices=("a cup", "a pan"), answer="A")


def reviewed(folder: Path, items: list[Item]) -> Path:
    begin(folder, protocol_bytes("humanpcr-pc"))
    contents = {one.item_id: msgspec.to_builtins(one) for one in items}
    recorders, _ = submit(read_reviews(folder), contents, by="ann", role="author", at=AT)
    write(folder, recorders)
    return folder


def decide(folder: Path, name: str, kind: str, **more: object) -> None:
    recorder = Recorder(read_reviews(folder), by="bob", role="reviewer", at=AT)
    assert recorder.add("claim", name) == ""
    if "content" in more:
        fault = recorder.revise(name, more["content"], kind="edit", origin="validator_edit")
        assert fault == ""
    checks = dict.fromkeys(CHECKS, "no") if kind == "reject" else CHECKS
    said = Filled(item_id=name, verdict=kind, checks=checks, note="it is wrong")
    assert recorder.add(kind, name, said=said) == ""
    write(folder, [recorder])


def test_without_a_review_all_stay_and_it_is_said(tmp_path):
    found = look_up([item("a")], tmp_path / "review", waiting="hold")
    assert [one.item_id for one in found.items] == ["a"]
    assert "nobody has looked yet" in found.words[0]


def test_decisions_are_taken_over_with_the_last_wording(tmp_path):
    items = [item("a"), item("b"), item("c"), item("d")]
    folder = reviewed(tmp_path / "review", items[:3])
    decide(folder, "a", "accept", content=msgspec.to_builtins(item("a", "Which thing is held?")))
    decide(folder, "b", "reject")
    kept = look_up(items, folder, waiting="keep")
    assert {one.item_id: one.question for one in kept.items} == {
        "a": "Which thing is held?",
        "c": "What is held?",
        "d": "What is held?",
    }
    assert [(one.what, one.reason) for one in kept.dropped] == [("b", "rejected-by-people")]
    held = look_up(items, folder, waiting="hold")
    assert {one.what: one.reason for one in held.dropped} == {
        "b": "rejected-by-people",
        "c": "waiting",
        "d": "waiting",
    }


def test_a_question_that_is_made_otherwise_since_is_refused(tmp_path):
    folder = reviewed(tmp_path / "review", [item("a")])
    decide(folder, "a", "accept")
    with pytest.raises(DataError, match="a was made otherwise when it was put into"):
        look_up([item("a", "What lies there?")], folder, waiting="keep")
