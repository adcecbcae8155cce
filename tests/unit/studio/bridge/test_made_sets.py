"""Sets and files of questions are read once, and again when they change."""

import os

import pytest

from vidence.errors import DataError
from vidence.studio.bridge.made_sets import made_set, questions_of


def test_a_file_is_read_again_only_when_it_changes(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"item_id": "a", "question": "?", "answer": "x", "answer_kind": "text"}\n')
    first = questions_of(file)
    assert questions_of(file) is first
    file.write_text('{"item_id": "b", "question": "?", "answer": "x", "answer_kind": "text"}\n')
    os.utime(file, ns=(1, 1))
    assert [item.item_id for item in questions_of(file).items] == ["b"]


def test_a_set_without_an_account_says_so_and_damaged_lines_are_counted(tmp_path):
    (tmp_path / "dropped.jsonl").write_text('{"what": "a", "stage": "s", "reason": "r"}\n' + "no\n" * 60)
    made = made_set(tmp_path)
    assert made.account is None
    assert "account.json is missing" in made.problems[0]
    assert dict(made.reasons) == {("s", "r"): 1}
    assert made.dropped.problems[-1] == "and 10 more lines"
    assert not made.has_items


def test_a_file_without_questions_is_refused(tmp_path):
    (tmp_path / "q.jsonl").write_text("nothing\n")
    with pytest.raises(DataError):
        questions_of(tmp_path / "q.jsonl")
