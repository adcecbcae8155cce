"""Repeats of the same questions: scores, t interval, parts of the uncertainty."""

import msgspec
import pytest

from vidence.records import Answered
from vidence.report.tables import repeat_tables
from vidence.tables.table import shown


def trials(runs, marks):
    """One trial for each mark; `marks` has a row for each question."""
    made = []
    for item, row in zip(runs.items, marks, strict=False):
        for repeat, mark in enumerate(row):
            letter = item.answer if mark else next(x for x in item.letters if x != item.answer)
            trial = runs.marked(item, Answered(answer=letter))
            made.append(msgspec.structs.replace(trial, repeat=repeat))
    return made


def test_the_t_interval_is_that_of_table_11(runs):
    # Four questions, three repeats with 2, 3 and 1 right: scores .5, .75, .25, variance .0625.
    marks = [(1, 1, 1), (1, 1, 0), (0, 1, 0), (0, 0, 0)]
    (table,) = repeat_tables(runs.load(items=runs.items[:4], trials=trials(runs, marks), repeats=3))
    assert [shown(table, f"repeat:{i}", "value").text for i in range(3)] == ["50.0", "75.0", "25.0"]
    mean = shown(table, "mean", "value").estimate
    assert mean.value == pytest.approx(0.5)
    assert mean.high - mean.value == pytest.approx(4.302653 * (0.0625 / 3) ** 0.5)
    assert shown(table, "variance", "value").text == "625.00"
    # Mean variance within a question: (0 + 1/3 + 1/3 + 0) / 4 = 1/6; its error over 12 asks 0.118.
    assert shown(table, "error-repeats", "value").text == "11.8"
    assert shown(table, "questions", "value").text == "4"


def test_questions_that_lack_a_repeat_do_not_enter(runs):
    made = trials(runs, [(1, 1), (0, 1)])[:-1]
    (table,) = repeat_tables(runs.load(items=runs.items[:2], trials=made, repeats=2))
    assert shown(table, "questions", "value").text == "1"


def test_a_run_without_repeats_has_no_such_table(runs):
    assert repeat_tables(runs.load(items=runs.items[:2], trials=trials(runs, [(1,), (0,)]))) == ()


def test_where_no_question_has_every_repeat_there_is_no_such_table(runs):
    none_whole = trials(runs, [(1, 1), (0, 1)])
    assert (
        repeat_tables(runs.load(items=runs.items[:2], trials=[none_whole[0], none_whole[3]], repeats=2)) == ()
    )
