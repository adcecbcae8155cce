"""Subjects and concepts: what cannot be used is named, each for its own reason."""

import json

import pytest

from vidence.errors import DataError, UsageError
from vidence.make.writing.subjects import Subject, check_readable, read_concepts, read_subjects

SUBJECTS = {"Mechanics": Subject(subject="Mechanics", textbooks=("Motion",))}
GOOD = {
    "concept_id": "good",
    "subject": "Mechanics",
    "textbook": "Motion",
    "chapter": "1",
    "why_moving": "It moves.",
    "state": "filmed",
}
FAULTS = {
    "unknown-subject": {"subject": "Alchemy"},
    "textbook-not-listed": {"textbook": "Notes"},
    "no-chapter": {"chapter": " "},
    "no-why-moving": {"why_moving": ""},
    "dropped-without-reason": {"state": "dropped"},
    "dropped-by-people": {"state": "dropped", "reason": "no video"},
    "unreadable": {"state": "lost"},
    "repeated-id": {"concept_id": "good"},
}


def test_each_planted_fault_of_a_concept_is_found_and_no_other(tmp_path):
    lines = [GOOD, *(GOOD | {"concept_id": reason} | changes for reason, changes in FAULTS.items())]
    path = tmp_path / "concepts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    found = read_concepts(path, SUBJECTS)
    assert [one.reason for one in found.dropped] == list(FAULTS)
    assert list(found.usable) == ["good"]
    assert len(found.concepts) == len(lines)
    assert len({one.concept_id for one in found.concepts}) == len(lines)


def test_reasoning_about_domains_needs_no_textbook(tmp_path):
    path = tmp_path / "concepts.jsonl"
    path.write_text('{"concept_id": "repair", "subject": "Mechanics"}\n')
    assert list(read_concepts(path, SUBJECTS, needs_textbook=False).usable) == ["repair"]
    assert list(read_concepts(path, SUBJECTS).usable) == []


def test_subjects_are_read_each_once(tmp_path):
    path = tmp_path / "subjects.toml"
    path.write_text('[[subjects]]\nsubject = "Art"\ntextbooks = ["Light"]\n')
    assert read_subjects(path)["Art"].textbooks == ("Light",)
    path.write_text('[[subjects]]\nsubject = "Art"\n[[subjects]]\nsubject = "Art"\n')
    with pytest.raises(UsageError, match="'Art' is there twice"):
        read_subjects(path)
    with pytest.raises(DataError, match=r"concepts\.jsonl is not there"):
        check_readable([path, tmp_path / "concepts.jsonl"])
