"""The planted log: how often things are done and in which order, by hand."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.make.planted.kitchen import Deed, Kitchen, log_of, plan_kitchen
from vidence.make.planted.kitchen_claims import n_done, true_choices

DONE = ("wash pan", "cut lemon", "wash pan", "stir soup", "wash spoon")
KITCHEN = Kitchen(
    name="k",
    deeds=tuple(
        Deed(verb=words.split()[0], noun=words.split()[1], start_s=10.0 * i, end_s=10.0 * i + 5)
        for i, words in enumerate(DONE)
    ),
)


def trues(question, choices, task, structure):
    found = true_choices(KITCHEN, question, choices=choices, task=task, structure=structure)
    return [choice for choice, is_true in zip(choices, found, strict=True) if is_true]


def test_a_log_has_what_was_planned():
    kitchen = plan_kitchen("k", rng=np.random.default_rng(3))
    assert kitchen == plan_kitchen("k", rng=np.random.default_rng(3))
    rows = list(csv.DictReader(io.StringIO(log_of([kitchen, KITCHEN]))))
    assert [row["narration"] for row in rows if row["start"] == "30.0"] == ["stir the soup"]
    ours = rows[: len(kitchen.deeds)]
    assert all(float(a["end"]) <= float(b["start"]) for a, b in pairwise(ours))
    counts = sorted(
        (len(kitchen.starts_s(words)) for words in {d.words for d in kitchen.deeds}), reverse=True
    )
    assert counts == [7, 6, 5, 4, 4, 3] + [1] * 9


def test_deeds_are_counted():
    assert n_done(KITCHEN, "How often does 'wash pan' occur?", structure="pair") == 2
    assert n_done(KITCHEN, "How often does 'wash' occur?", structure="verb") == 3
    assert trues("How often does 'wash pan' occur?", ["1", "2", "3"], "AC", "pair") == ["2"]
    assert trues("", ["cut lemon", "wash pan", "dry pan"], "AC", "most-often") == ["wash pan"]
    with pytest.raises(DataError, match="no deed is quoted"):
        n_done(KITCHEN, "How often?", structure="pair")


def test_orders_are_those_of_the_plan():
    listed = "In which order?\n1. stir soup\n2. cut lemon\n3. wash pan"
    orders = ["2 -> 3 -> 1", "3 -> 2 -> 1", "1 -> 2 -> 3"]
    assert trues(listed, orders, "ASII", "same-events") == orders[:2]  # the pan is washed twice
    own = ["cut lemon -> stir soup -> wash spoon", "wash spoon -> stir soup"]
    assert trues("", own, "ASII", "own-events") == own[:1]
    between = ["wash pan -> stir soup", "stir soup -> wash pan"]
    question = "What happens after 'cut lemon' and before 'wash spoon'?"
    assert trues(question, between, "ASII", "between") == between[:1]


def test_what_is_not_done_is_known():
    assert trues("", ["dry pan", "wash pan"], "FAM", "absent") == ["dry pan"]
    listed = "Which?\n1. wash pan\n2. dry pan\n3. cut lemon\n4. stir soup"
    assert trues(listed, ["Only 1, 3 and 4", "All actions: 1, 2, 3 and 4"], "FAM", "which-of-four") == [
        "Only 1, 3 and 4"
    ]


def test_other_tasks_are_refused():
    with pytest.raises(DataError, match="nothing is planted for the task 'FOM'"):
        trues("", ["a"], "FOM", "absent")
