"""The plan of a configuration: tasks in their order, with their homes and words."""

import pytest

from vidence.errors import UsageError
from vidence.make.writing.choices_config import read_plan

TEXT = """
name = "x"
[[records]]
name = "a"
format = "jsonl"
path = "a.jsonl"
split = "val"
[tasks.b-task]
records = "a"
way = "template"
seeds = ["What is it?"]
dimension = "Contact"
aspect = "what is touched"
[tasks.a-task]
records = ["a"]
way = "template"
seeds = ["What is it?"]
dimension = "Scene"
title = "Second"
"""


def test_tasks_stand_in_their_order_with_what_they_are_called(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(TEXT)
    orders = read_plan(path).orders
    assert [(one.name, one.title, one.aspect, one.home.level) for one in orders] == [
        ("b-task", "b task", "what is touched", "perception"),
        ("a-task", "Second", "Second", "comprehension"),
    ]
    assert [one.name for one in read_plan(path, only=("a-task",)).orders] == ["a-task"]
    with pytest.raises(UsageError, match="no task 'c' in the configuration; it has b-task, a-task"):
        read_plan(path, only=("c",))


def test_two_sources_of_one_name_are_refused(tmp_path):
    path = tmp_path / "x.toml"
    again = '[[records]]\nname = "a"\nformat = "jsonl"\npath = "b.jsonl"\nsplit = "val"\n'
    path.write_text(f"{TEXT}{again}")
    with pytest.raises(UsageError, match="have one name"):
        read_plan(path)
