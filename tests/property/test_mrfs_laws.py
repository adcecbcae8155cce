"""Laws of the searches for the number of frames that is enough."""

import math

from hypothesis import given
from hypothesis import strategies as st

from subjects.simulated import Driven, Simulated, drive, times_shown
from vidence import catalog
from vidence.contracts import Ask
from vidence.records import Item, Reply

ITEM = Item(item_id="q1", question="?", choices=("yes", "no"), answer="A")
MARKS = st.lists(st.booleans(), min_size=2, max_size=33)  # without frames, with 1, with 2, ...


def searched(marks: list[bool], mode: str, *, least: int = 1) -> Driven:
    n = len(marks) - 1
    subject = Simulated(ITEM, {"ranked": tuple(float(-t) for t in range(n))})

    def answers(ask: Ask) -> Reply:
        return Reply(text="A" if marks[len(times_shown(ask))] else "B")

    options = {"mode": mode, "max": str(n), "min": str(least)}
    return drive(
        catalog.create("diagnostic", catalog.Spec(name="mrfs", options=options)).examine(subject), answers
    )


@given(marks=MARKS)
def test_every_search_agrees_on_the_category(marks: list[bool]) -> None:
    wanted = "text-only" if marks[0] else "visual-required" if marks[-1] else "undefined"
    for mode in ("nested-bisect", "exhaustive", "official"):
        assert searched(marks, mode).made.category == wanted


@given(marks=MARKS)
def test_what_is_found_is_right_and_never_below_the_minimum(marks: list[bool]) -> None:
    marks = [False, *marks[1:-1], True]
    least = marks.index(True)
    assert searched(marks, "exhaustive").made.mrfs == least
    for mode in ("nested-bisect", "official"):
        found = searched(marks, mode).made.mrfs
        assert found >= least
        assert marks[found]
    halved = searched(marks, "nested-bisect").made.mrfs
    assert halved == 1 or not marks[halved - 1]


@given(marks=MARKS, least=st.integers(1, 33))
def test_the_cost_is_bounded_and_nothing_is_asked_twice(marks: list[bool], least: int) -> None:
    n = len(marks) - 1
    asked = searched(marks, "nested-bisect", least=min(least, n)).made.asked
    assert len(asked) <= 2 + math.ceil(math.log2(n))
    assert len(set(asked)) == len(asked)


@given(marks=MARKS)
def test_monotone_is_what_it_says(marks: list[bool]) -> None:
    by_size = marks[1:]
    assert searched(marks, "exhaustive").made.is_monotone is (by_size == sorted(by_size))
    for mode in ("nested-bisect", "official"):
        said = searched(marks, mode).made.is_monotone
        assert said in (None, by_size == sorted(by_size))
