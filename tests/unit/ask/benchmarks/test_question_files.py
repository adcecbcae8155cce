"""Names in every spelling, and the nearest one to a name that is not known."""

import pytest

from vidence.ask.benchmarks.question_files import KnownNames
from vidence.ask.files import FieldError

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
    with pytest.raises(FieldError) as caught:
        NAMES.read("task", "Action Countng")
    assert str(caught.value) == (
        "task: 'Action Countng' found; did you mean Action Counting (AC)? "
        "expected one of Electric & Crafting, AC"
    )
    with pytest.raises(FieldError, match="task: 'zzz' found; expected one of Electric & Crafting, AC"):
        NAMES.read("task", "zzz")
