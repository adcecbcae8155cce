"""The drawn questions of a made set as wordings, and what people say of them as the filled sheet."""

import msgspec
import pytest

from subjects.gated import draft, questions
from vidence.errors import DataError
from vidence.make.gates.model_gates import GateVerdict, GateVote
from vidence.make.gates.rules import ReviewRules
from vidence.make.pipeline.output import item_of, json_lines
from vidence.make.review.audit import as_csv, drawn_lines, read_audit, review_id
from vidence.make.review.revisions import Event
from vidence.make.review.sample import draw_sample
from vidence.studio.bridge.questions import (
    drawn_of,
    filled,
    gate_words,
    items_of,
    progress,
    verdicts_of,
    wordings,
    write_filled,
)


@pytest.fixture
def made(tmp_path):
    """A made set of twelve questions in two tasks, a quarter of each drawn, and one that a gate left open."""
    drafts = [draft(f"d{i}", task="AC" if i < 8 else "FAM", question=f'"=1+{i}",\nwhich?') for i in range(12)]
    some = questions(drafts)
    drawn = draw_sample(some, ReviewRules(share=0.25), seed=1, open_gates={"d0": ["text-only"]})
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "sheet.csv").write_bytes(as_csv(drawn.rows))
    (tmp_path / "review" / "questions.jsonl").write_bytes(json_lines(drawn_lines(drawn.rows)))
    items = [item_of(one, maker="test") for one in some]
    (tmp_path / "items.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, items)) + b"\n")
    vote = GateVote(model="m", frame_index=7)
    verdict = GateVerdict(
        item_id="d0", gate="text-only", decision="open", votes=(vote,), n_unusable=1, why="quiet"
    )
    (tmp_path / "verdicts.jsonl").write_bytes(json_lines([verdict]))
    return tmp_path, drawn.rows


def event(kind, message="", **checks):
    return Event(
        event_id="e",
        item_id="q",
        revision="r",
        kind=kind,
        role="reviewer",
        by="bob",
        at="2026-11-23T09:00:00.000000Z",
        checks=checks,
        message=message,
    )


def test_a_sheet_that_nobody_filled_in_is_the_one_that_was_written(made):
    folder, _ = made
    drawn = drawn_of(folder)
    assert filled(drawn, {}) == (folder / "review" / "sheet.csv").read_bytes()


def test_verdicts_are_read_as_if_they_were_typed(made, tmp_path):
    folder, rows = made
    drawn = drawn_of(folder)
    names = [one.name for one in drawn]
    said = {
        names[0]: event("reject", "two are right,\nsee 4 s", unique="no", frames="yes"),
        names[1]: event("accept", frames="yes", unique="yes", apart="yes"),
    }
    (tmp_path / "filled.csv").write_bytes(filled(drawn, said))
    found = read_audit(rows, [tmp_path / "filled.csv"], folder=None, at="2026-11-22T10:00:00.000000Z")
    assert [(one.item_id, one.is_accepted, one.failed_checks) for one in found] == [
        (rows[0].question.question_id, False, ("unique",)),
        (rows[1].question.question_id, True, ()),
    ]
    assert found[0].note == "two are right,\nsee 4 s"
    risky = filled(drawn, {names[0]: event("reject", "=cmd()", unique="no")})
    assert b"'=cmd()" in risky


def test_wordings_hold_what_a_person_needs(made):
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
    with pytest.raises(DataError, match=r"items\.jsonl:1"):
        items_of(folder)
    assert verdicts_of(folder / "nowhere") == {}
    path = folder / "review" / "questions.jsonl"
    path.write_bytes(b'{"item_id": "q"}\n')
    with pytest.raises(DataError, match="q has no question_id"):
        drawn_of(folder)
    path.unlink()
    with pytest.raises(DataError, match="is not there"):
        drawn_of(folder)


def test_what_was_filled_in_elsewhere_stays(made, tmp_path):
    folder, _ = made
    drawn = drawn_of(folder)
    name = drawn[0].name
    path = tmp_path / "filled.csv"
    first = write_filled(path, filled(drawn, {name: event("accept")}), ours=())
    again = write_filled(path, filled(drawn, {name: event("reject", unique="no")}), ours=[first])
    path.write_bytes(path.read_bytes().replace(b"reject", b"accept").replace(b",no,", b",yes,"))
    before = path.read_bytes()
    with pytest.raises(DataError, match="filled in elsewhere"):
        write_filled(path, filled(drawn, {}), ours=[first, again])
    assert path.read_bytes() == before
    path.write_bytes(filled(drawn, {}))
    assert write_filled(path, filled(drawn, {name: event("accept")}), ours=())


def test_progress_says_what_the_sample_can_release(made):
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
    assert "held back whatever is said" in usual["AC"].words
    none = {name: event("reject") for name in said}
    assert {one.words for one in progress(drawn, items, none, rules=rules)} == {"the rest is held back"}


def test_gates_are_told_in_words():
    bare = GateVerdict(item_id="d", gate="one-frame", decision="kept")
    assert gate_words(bare) == "one-frame: kept; 0 of 0 votes right"
