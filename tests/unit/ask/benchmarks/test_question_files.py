"""Names in every spelling, and the nearest one to a name that is not known."""

import msgspec
import pytest

from vidence.ask.benchmarks.question_files import KnownNames, lettered, said_answer
from vidence.ask.files import FieldError
from vidence.records import Item

NAMES = KnownNames({"Electric & Crafting": (), "AC": ("Action Counting",)})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Electric & Crafting", "Electric & Crafting"), ("electric_and_crafting", "Electric & Crafting"),
        ("ELECTRIC-CRAFTING", "Electric & Crafting"), ("ac", "AC"), ("action counting", "AC"), ("", None),
        ("Electric", None),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize("right", range(5))
@pytest.mark.parametrize("choices", [tuple("EADCB"), tuple("ABCDE"), tuple("abcde")])
def test_an_answer_that_is_written_is_read_as_the_same(choices, right):
    item = Item(item_id="q", question="Which key?", choices=choices, answer="ABCDE"[right])
    written = msgspec.structs.replace(item, answer=said_answer(item))
    assert lettered(written).answer == item.answer


def test_a_choice_in_brackets_is_still_a_text():
    item = Item(item_id="q", question="Which?", choices=("(B)", "(C)"), answer="(B)")
    assert lettered(item).answer == "A"
