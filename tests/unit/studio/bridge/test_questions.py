"""The drawn questions of a made set as wordings, and what people say of them in its review."""

import msgspec
import pytest

from subjects.gated import draft, questions
from vidence.errors import DataError, UsageError
from vidence.make.gates.model_gates import GateVerdict, GateVote
from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.output import json_lines
from vidence.make.review.audit import read_audit, review_id, wording_of
from vidence.make.review.revisions import Event
from vidence.make.review.sample import draw_sample
from vidence.studio.bridge.questions import (
    drawn_of,
    gate_words,
    items_of,
    progress,
    verdicts_of,
    wordings,
    write_verdicts,
)

AT = "2026-11-23T09:00:00.000000Z"


@pytest.fixture
def made(tmp_path):
    """A made set of twelve questions in two tasks, a quarter of each drawn, and one that a gate left open."""
    drafts = [draft(f"d{i}", task="AC" if i < 8 else "FAM", question=f'"=1+{i}",\nwhich?') for i in range(12)]
    some = questions(drafts)
    drawn = draw_sample(some, ReviewRules(share=0.25), seed=1, open_gates={"d0": ["text-only"]})
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "questions.jsonl").write_bytes(json_lines(map(wording_of, drawn.rows)))
    items = [one.item for one in some]
    (tmp_path / "items.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, items)) + b"\n")
    vote = GateVote(model="m", frame_index=7)
    verdict = GateVerdict(
        item_id="d0", gate="text-only", decision="open", votes=(vote,), n_unusable=1, why="quiet"
    )
    (tmp_path / "verdicts.jsonl").write_bytes(json_lines([verdict]))
    return tmp_path, drawn.rows


def event(kind, message="", by="bob", **checks):
    return Event(
        event_id="e",
        item_id="q",
        revision="r",
        kind=kind,
        role="reviewer",
        by=by,
        at=AT,
        checks=checks,
        message=message,
    )


def test_verdicts_are_written_into_the_review_once(made, tmp_path):
    folder, rows = made
    place = tmp_path / "reviews"
    names = [one.name for one in drawn_of(folder)]
    said = {
        names[0]: event("reject", "two are right,\nsee 4 s", unique="no", frames="yes"),
        names[1]: event("accept", by="cid", frames="yes", unique="yes", apart="yes"),
    }
    with pytest.raises(UsageError, match="holds no review"):
        write_verdicts(place, said, at=AT)
    assert read_audit(rows, folder=place, at=AT) == ()
    assert write_verdicts(place, said, at=AT) == 2
    assert write_verdicts(place, said, at=AT) == 0
    found = read_audit(rows, folder=place, at=AT)
    assert [(one.item_id, one.is_accepted, one.failed_checks) for one in found] == [
        (rows[0].question.question_id, False, ("unique",)),
        (rows[1].question.question_id, True, ()),
    ]
    assert found[0].note == "two are right,\nsee 4 s"
    with pytest.raises(DataError, match="was decided otherwise by bob: reject"):
        write_verdicts(place, {names[0]: event("accept"), names[2]: event("accept")}, at=AT)
    assert len(read_audit(rows, folder=place, at=AT)) == 2


def test_wordings_hold_what_a_person_needs_and_progress_what_is_released(made):
    folder, _ = made
    drawn, items = drawn_of(folder), items_of(folder)
    rules = ReviewRules(most_rejected=0.9)
    begun = {one.task: one for one in progress(drawn, items, {}, rules=rules)}
    assert (begun["AC"].n, begun["AC"].n_queued) == (8, 1)
    assert begun["AC"].rejected is None
    assert "to go; the rest is released with up to" in begun["AC"].words
    said = {one.name: event("accept") for one in drawn}
    ended = {one.task: one for one in progress(drawn, items, said, rules=rules)}
    assert ended["AC"].words == "the rest is released"
    assert ended["AC"].rejected.value == 0.0
    usual = {one.task: one for one in progress(drawn, items, said, rules=ReviewRules())}
    assert "held back anyway" in usual["AC"].words
    none = {name: event("reject") for name in said}
    assert {one.words for one in progress(drawn, items, none, rules=rules)} == {"the rest is held back"}
    folder, rows = made
    drawn = drawn_of(folder)
    found = wordings(folder, drawn)
    assert list(found) == [review_id(row) for row in rows]
    first = next(one for one in found.values() if one["question_id"] == "AC_0000")
    assert first["why"] == "open-gate (text-only)"
    assert first["choices"] == ["apple", "pear", "plum", "fig", "kiwi"]
    assert first["gates"] == ["text-only: open (quiet); 0 of 1 votes right; frames tried: 7"]
    assert first["evidence"][0]["start_s"] == 1.0
    assert first["media"][0]["path"].startswith(str(folder))
    assert first["tags"] == {"task": "AC", "structure": "pair"}
    (folder / "items.jsonl").unlink()
    bare = next(one for one in wordings(folder, drawn).values() if one["question_id"] == "AC_0000")
    assert (bare["media"], bare["gates"], bare["evidence"][0]) == ([], [], "1.0-2.0 s")


def test_faults_of_files_are_named(made):
    folder, _ = made
    (folder / "items.jsonl").write_bytes(b"{}\n")
    with pytest.raises(DataError, match=r"items\.jsonl, line 1"):
        items_of(folder)
    assert verdicts_of(folder / "nowhere") == {}
    path = folder / "review" / "questions.jsonl"
    path.write_bytes(b'{"item_id": "q"}\n')
    with pytest.raises(DataError, match="q has no question_id"):
        drawn_of(folder)
    path.unlink()
    with pytest.raises(DataError, match="is not there"):
        drawn_of(folder)


def test_gates_are_told_in_words():
    bare = GateVerdict(item_id="d", gate="one-frame", decision="kept")
    assert gate_words(bare) == "one-frame: kept; 0 of 0 votes right"
