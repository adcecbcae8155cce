"""Findings of a blind panel as verdicts: flagged goes, undecided stays open, the unasked is untried."""

import msgspec
import pytest

from subjects.asked_items import question
from vidence.engine.rows import Header
from vidence.errors import DataError, UsageError
from vidence.explain.diagnostics.blind_panel import PanelFinding, Vote
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.make.gates.panel_findings import is_diagnosis, panel_verdicts
from vidence.make.gates.verdicts import filter_items
from vidence.records import Failed

ITEMS = tuple(question(i) for i in range(6))
RIGHT = ReplyScore(value=1.0, kind="answered", answer="A")
WRONG = ReplyScore(value=0.0, kind="answered", answer="B")
UNREAD = ReplyScore(value=0.0, kind="unreadable")
UNJUDGED = ReplyScore(value=None, kind="answered", answer="a thing")


def finding(*marks: ReplyScore) -> PanelFinding:
    n_right = sum(one.value == 1.0 for one in marks)
    is_flagged = None if any(one.value is None for one in marks) else n_right == len(marks)
    votes = tuple(Vote(member="", run=i, order=(), mark=mark) for i, mark in enumerate(marks))
    return PanelFinding(votes=votes, n_right=n_right, is_flagged=is_flagged)


FOUND = {
    "q0": finding(RIGHT, RIGHT, RIGHT),
    "q1": finding(RIGHT, WRONG, RIGHT),
    "q2": finding(RIGHT, UNREAD, RIGHT),
    "q3": finding(UNJUDGED, UNJUDGED, UNJUDGED),
    "q4": Failed(stage="model", error="TransientModelError", message="nobody there"),
}


def header(**changes: object) -> Header:
    settings: dict[str, object] = {
        "diagnostic": "blind-panel",
        "version": 1,
        "options": {},
        "plan_digest": "p",
        "content_hash": "these",
        "model_identities": {"": "m"},
        "prompts_digest": "w",
    }
    return Header(**settings | changes)


def as_lines(path, head: Header):
    rows = [head]
    for name, one in FOUND.items():
        key = "failed" if isinstance(one, Failed) else "finding"
        rows.append({"item_id": name, key: one})
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def as_whole(path, head: Header):
    findings = [{"item_id": name, "finding": one} for name, one in FOUND.items()]
    whole = {"format": "vidence-diagnosis/1", "header": head, "plan": {}, "findings": findings}
    path.write_bytes(msgspec.json.encode(whole) + b"\n")
    return path


@pytest.mark.parametrize("write", [as_lines, as_whole])
def test_findings_in_a_file_are_verdicts(tmp_path, write):
    path = write(tmp_path / "blind-panel.jsonl", header())
    assert is_diagnosis(path)
    verdicts = panel_verdicts(path, ITEMS, content_hash="these")
    said = {one.item_id: (one.decision, one.reason) for one in verdicts}
    assert said == {
        "q0": ("dropped", "solved-blind"),
        "q1": ("kept", ""),
        "q2": ("open", ""),
        "q3": ("open", ""),
        "q4": ("untried", ""),
        "q5": ("untried", ""),
    }
    kept, dropped = filter_items(ITEMS, verdicts)
    assert [item.item_id for item in kept] == ["q1", "q2", "q3", "q4", "q5"]
    assert dropped[0].detail == "3 of 3 answers right, 3 are wanted"


def test_the_rule_is_that_of_the_diagnosis(tmp_path):
    path = as_lines(tmp_path / "f.jsonl", header(options={"at_least": "2"}))
    verdicts = {one.item_id: one.decision for one in panel_verdicts(path, ITEMS, content_hash="these")}
    assert [verdicts[f"q{i}"] for i in range(4)] == ["dropped", "dropped", "dropped", "open"]


def test_findings_about_another_file_or_of_another_diagnostic_are_refused(tmp_path):
    path = as_lines(tmp_path / "f.jsonl", header())
    with pytest.raises(DataError, match="another file of questions"):
        panel_verdicts(path, ITEMS, content_hash="others")
    path = as_lines(tmp_path / "g.jsonl", header(diagnostic="mrfs"))
    with pytest.raises(UsageError, match="findings of mrfs"):
        panel_verdicts(path, ITEMS, content_hash="these")
    path.write_bytes(msgspec.json.encode(header()) + b"\nnothing\n")
    with pytest.raises(DataError, match="no findings of blind-panel"):
        panel_verdicts(path, ITEMS, content_hash="these")


def test_verdicts_are_no_diagnosis(tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text('{"item_id": "q1", "content": "c", "gate": "checks", "decision": "kept"}\n')
    assert not is_diagnosis(path)
    assert not is_diagnosis(tmp_path / "nothing")
    assert is_diagnosis(tmp_path)
