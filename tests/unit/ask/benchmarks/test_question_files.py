"""Names in every spelling, and the nearest one to a name that is not known."""

import pytest

from vidence.ask.benchmarks import question_files
from vidence.ask.benchmarks.question_files import Fault, KnownNames
from vidence.records import Item

NAMES = KnownNames({"Electric & Crafting": (), "AC": ("Action Counting",)})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Electric & Crafting", "Electric & Crafting"),
        ("electric_and_crafting", "Electric & Crafting"),
        ("ELECTRIC-CRAFTING", "Electric & Crafting"),
        ("ac", "AC"),
        ("action counting", "AC"),
        ("", None),
        ("Electric", None),
    ],
)
def test_case_blanks_and_marks_do_not_matter(text: str, name: str | None) -> None:
    assert NAMES.find(text) == name


def test_a_name_that_is_not_known_is_a_fault_with_the_nearest_one() -> None:
    assert NAMES.read("task", "action-counting") == "AC"
    found = NAMES.read("task", "Action Countng")
    assert found == Fault(
        "task",
        "'Action Countng' found; did you mean Action Counting (AC)? expected one of Electric & Crafting, AC",
    )
    assert NAMES.read("task", "zzz") == Fault("task", "'zzz' found; expected one of Electric & Crafting, AC")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"3", b'"3"'),
        (b"-1.50", b'"-1.50"'),
        (b"1e3", b'"1e3"'),
        (b'[1, "two", 3.0]', b'["1","two","3.0"]'),
        (b'{"A": 1, "B": [2]}', b'{"A":"1","B":["2"]}'),
        (b"true", b"true"),
        (b"null", b"null"),
        (b'"3"', b'"3"'),
    ],
)
def test_numbers_become_the_texts_that_were_written(value: bytes, expected: bytes) -> None:
    assert question_files.numbers_as_texts(value) == expected


def test_choices_and_answer_may_be_numbers() -> None:
    line = b'{"item_id": "q", "question": "How many?", "choices": [1, 2.50, "many"], "answer": 2.50}'
    found = question_files.item(line)
    assert isinstance(found, Item)
    assert (found.choices, found.answer) == (("1", "2.50", "many"), "2.50")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'{"item_id": "q", "question": "?", "choices": ["a", true], "answer": "A"}', "choices[1]"),
        (b'{"item_id": "q", "question": "?", "choices": [1, null], "answer": "A"}', "choices[1]"),
        (b'{"item_id": 7, "question": "?", "choices": ["a", "b"], "answer": "A"}', "item_id"),
    ],
)
def test_what_is_neither_text_nor_number_is_a_fault(line: bytes, field: str) -> None:
    found = question_files.item(line)
    assert isinstance(found, Fault)
    assert found.field == field
