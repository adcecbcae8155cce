"""The end of a session of written questions: what a review decides about them."""

from pathlib import Path

import msgspec

from vidence.make.pipeline.session import BuildContext, MakeOverrides
from vidence.make.release.made_release import MakingRelease
from vidence.make.review.files import read_reviews
from vidence.make.review.protocol import protocol_bytes
from vidence.make.review.recording import Filled, Recorder, begin, submit, write
from vidence.make.writing.choices_config import ChoicesConfig, ChoicesReview
from vidence.make.writing.session import WritingSession
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


def session(folder: Path, items: list[Item], waiting: str = "keep") -> WritingSession:
    """The session behind its review."""
    work = WritingSession(
        root=folder,
        out=folder / "out",
        context=BuildContext(cache_root=folder / "cache", memory=folder / "replies.sqlite"),
        overrides=MakeOverrides(),
        config=ChoicesConfig(name="set", records=(), tasks={}, review=ChoicesReview(waiting=waiting)),
        tally="task",
    )
    work.take(items)
    work.reviewed({one.item_id: msgspec.to_builtins(one) for one in items}, by="maker")
    return work


def dropped(work: WritingSession) -> dict[str, str]:
    return {one.what: one.reason for one in work.ledger.dropped}


def test_what_is_new_is_put_in_and_stays_or_waits(tmp_path):
    assert [one.item_id for one in session(tmp_path, [item("a")]).items] == ["a"]
    assert read_reviews(tmp_path / "review").states["a"].state == "submitted"
    held = session(tmp_path, [item("a"), item("b")], "hold")
    assert dropped(held) == {"a": "waits-for-review", "b": "waits-for-review"}
    assert "2 wait for people: vidence items review draw" in held.sentences[0]


def test_decisions_are_taken_over_with_the_last_wording(tmp_path):
    items = [item("a"), item("b"), item("c"), item("d")]
    folder = reviewed(tmp_path / "review", items[:3])
    decide(folder, "a", "accept", content=msgspec.to_builtins(item("a", "Which thing is held?")))
    decide(folder, "b", "reject")
    kept = session(tmp_path, items)
    assert {one.item_id: one.question for one in kept.items} == {
        "a": "Which thing is held?",
        "c": "What is held?",
        "d": "What is held?",
    }
    assert dropped(kept) == {"b": "rejected"}
    assert dropped(session(tmp_path, items, "hold")) == {
        "b": "rejected",
        "c": "waits-for-review",
        "d": "waits-for-review",
    }


def test_nothing_is_released_while_a_question_waits(tmp_path):
    folder = reviewed(tmp_path / "review", [item("a"), item("b")])
    decide(folder, "a", "accept")
    work = session(tmp_path, [item("a"), item("b")], "hold")
    work.config = msgspec.structs.replace(work.config, release=MakingRelease(version="1"))
    work.released()
    assert work.sentences[-1].startswith("Nothing is released while 1 questions wait")
    assert not (tmp_path / "out" / "release").exists()


def test_the_wording_of_the_review_counts_where_a_question_is_made_otherwise_since(tmp_path):
    folder = reviewed(tmp_path / "review", [item("a")])
    decide(folder, "a", "accept")
    work = session(tmp_path, [item("a", "What lies there?")])
    assert [one.question for one in work.items] == ["What is held?"]
    assert "1 drafts differ from what the review holds, such as a" in work.sentences[0]
