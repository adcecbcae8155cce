"""The three structures of what never occurs, on a pool made by hand."""

import re
from collections import Counter

import numpy as np
import pytest

from subjects.kitchens import event, events, material
from vidence.make.herbench.tasks.absence import AbsenceTask, Absent, Pool, Present, TaskWording, facts, spans
from vidence.make.pipeline.material import Corpus, Draft

WORDS = TaskWording(
    things="fruits", absent="Which is missing?", which_of_four="Which occur?", all_occur="Where do all?"
)
NAMES = ("apple", "pear", "plum", "fig", "kiwi", "lime", "date", "grape", "melon", "peach", "mango")


def present(i: int, *times: tuple[float, float], n_elsewhere: int = 3) -> Present:
    spans_ = times or ((4.0 * i, 4.0 * i + 2),)
    occurrences = tuple(event(i, "wash", NAMES[i], start_s=a, end_s=b) for a, b in spans_)
    return Present(text=NAMES[i], occurrences=occurrences, n_elsewhere=n_elsewhere)


def absent(name: str, n_elsewhere: int = 3) -> Absent:
    return Absent(text=name, n_elsewhere=n_elsewhere)


class Fruits(AbsenceTask):
    """Asks about a pool that a test gives."""

    code, title, version = "FRUIT", "Fruits", 1

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self.given = pool

    def pool(self, context) -> Pool:
        return self.given


def ask(n_present: int, absents: int, *, most: int = 60):
    pool = Pool(
        present=[present(i) for i in range(n_present)],
        absent=[absent(f"foil{i}") for i in range(absents)],
        words=WORDS,
    )
    here = events([("wash", "carrot")])
    flow = Fruits(pool).draft(
        material(here), Corpus(events={"v": here}), most=most, rng=np.random.default_rng(0)
    )
    with pytest.raises(StopIteration) as stop:
        next(flow)
    made = stop.value.value
    drafts = [one for one in made if isinstance(one, Draft)]
    return drafts, Counter(one.reason for one in made if not isinstance(one, Draft))


def test_the_one_that_does_not_occur_is_right_among_four_that_do():
    drafts, _ = ask(4, 2)
    missing = [one for one in drafts if one.structure == "absent"]
    assert {one.choices[one.answer_index] for one in missing} == {"foil0", "foil1"}
    for one in missing:
        assert set(one.choices) == {*NAMES[:4], one.choices[one.answer_index]}
        assert len(one.evidence) == 4


def test_the_numbers_that_are_right_are_those_of_what_occurs():
    drafts, _ = ask(4, 9)
    asked = [one for one in drafts if one.structure == "which-of-four"]
    assert len(asked) >= 9
    for one in asked:
        listed = dict(re.findall(r"^(\d)\. (\w+)$", one.question, re.MULTILINE))
        true = [number for number, name in listed.items() if name in NAMES]
        said = re.findall(r"\d", one.choices[one.answer_index])
        assert said == true
        assert len(true) in (3, 4)


def test_everything_of_the_right_group_occurs_and_one_of_each_other_does_not():
    drafts, _ = ask(11, 4)
    (one,) = [one for one in drafts if one.structure == "all-occur"]
    groups = [choice.split("; ") for choice in one.choices]
    n_absent = [sum(name.startswith("foil") for name in group) for group in groups]
    assert n_absent == [int(i != one.answer_index) for i in range(5)]
    assert {len(group) for group in groups} == {3}


@pytest.mark.parametrize(
    ("n_present", "n_absent", "n_refused"), [(3, 9, 3), (9, 0, 3), (10, 4, 1), (11, 3, 1)]
)
def test_too_few_of_either_are_refused_by_structure(n_present, n_absent, n_refused):
    assert ask(n_present, n_absent)[1]["too-few-fruits"] == n_refused


def test_of_several_occurrences_those_that_overlap_least_and_last_longest_are_shown():
    busy = present(0, (0, 4))
    twice = present(1, (1, 9), (10, 12), (20, 23))
    shown = spans([twice, busy])
    assert [(one.start_s, one.end_s) for one in shown] == [(0, 4), (20, 23)]
    crowded = spans([busy, present(1, (1, 3), (1, 2))])  # nothing is free: the longest all the same
    assert [(one.start_s, one.end_s) for one in crowded] == [(0, 4), (1, 3)]


def test_reviewers_see_how_often_and_when():
    foil = Absent(text="foil", n_elsewhere=7, why=", never named")
    assert facts([present(0, (1, 2), n_elsewhere=5)], [foil]) == {
        "occurs: apple": "once (1.00-2.00 s); 5 times elsewhere",
        "does not occur: foil": "0 times here, 7 times elsewhere, never named",
    }
