"""Verdicts of an earlier call: kept and dropped by them, and refused where they are on something else."""

import msgspec
import pytest

from subjects.asked_items import question
from vidence.errors import DataError
from vidence.make.gates.model_gates import GateVerdict
from vidence.make.gates.verdicts import content_of, filter_items, read_verdicts
from vidence.make.pipeline.output import json_lines
from vidence.records import Media

ITEMS = tuple(question(i) for i in range(4))
DECISIONS = ("kept", "dropped", "open", "untried")
VERDICTS = tuple(
    GateVerdict(
        item_id=item.item_id,
        content=content_of(item),
        gate="text-only",
        decision=decision,
        reason="solved-blind" if decision == "dropped" else "",
    )
    for item, decision in zip(ITEMS, DECISIONS, strict=True)
)


def test_only_what_is_dropped_goes_and_the_others_where_that_is_wanted(tmp_path):
    (tmp_path / "v.jsonl").write_bytes(json_lines(VERDICTS))
    verdicts = read_verdicts(tmp_path / "v.jsonl")
    assert verdicts == VERDICTS
    kept, dropped = filter_items(ITEMS, verdicts)
    assert [item.item_id for item in kept] == ["q0", "q2", "q3"]
    assert [one.reason for one in dropped] == ["solved-blind"]
    _, dropped = filter_items(ITEMS, verdicts, drop={"dropped", "open"})
    assert [one.reason for one in dropped] == ["solved-blind", "open-text-only"]


def test_a_question_without_a_verdict_is_kept():
    assert filter_items(ITEMS, ()) == (ITEMS, ())


def test_verdicts_on_an_older_wording_and_on_others_are_refused(tmp_path):
    changed = (msgspec.structs.replace(ITEMS[0], question="What else?"), *ITEMS[1:])
    with pytest.raises(DataError, match=r"1 question changed after the verdict: 'q0'"):
        filter_items(changed, VERDICTS)
    with pytest.raises(DataError, match=r"1 verdict about questions outside the set: 'q3'"):
        filter_items(ITEMS[:3], VERDICTS)
    (tmp_path / "v.jsonl").write_text("{}\n")
    with pytest.raises(DataError, match=r"v.jsonl:1: no verdict"):
        read_verdicts(tmp_path / "v.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        read_verdicts(tmp_path / "w.jsonl")


def test_the_hash_is_of_what_is_asked_and_not_of_where_it_lies():
    item = ITEMS[0]
    moved = msgspec.structs.replace(item, media=(Media(path="elsewhere/clip-0.mp4"),), tags={})
    assert content_of(moved) == content_of(item)
    cut = msgspec.structs.replace(item, media=(Media(path="clip-0.mp4", end_s=3.0),))
    for other in (cut, msgspec.structs.replace(item, answer="B"), item.with_order((1, 0, 2, 3, 4))):
        assert content_of(other) != content_of(item)
