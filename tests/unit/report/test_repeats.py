"""Repeats of the same questions: scores, t interval, parts of the uncertainty."""

import dataclasses

import msgspec
import numpy as np
import pytest

from vidence.records import Answered
from vidence.report.papers import paper_tables
from vidence.report.repeats import repeat_tables
from vidence.report.scores import Draws, score_tables
from vidence.tables.table import shown


def trials(runs, marks):
    """One trial for each mark; `marks` has a row for each question."""
    return trials_of(runs.items, marks, runs)


def trials_of(items, marks, runs):
    made = []
    for item, row in zip(items, marks, strict=False):
        for repeat, mark in enumerate(row):
            letter = item.answer if mark else next(x for x in item.letters if x != item.answer)
            trial = runs.marked(item, Answered(answer=letter))
            made.append(msgspec.structs.replace(trial, repeat=repeat))
    return made


def test_the_t_interval_is_that_of_table_11(runs):
    # Four questions, three repeats with 2, 3 and 1 right: scores .5, .75, .25, variance .0625.
    marks = [(1, 1, 1), (1, 1, 0), (0, 1, 0), (0, 0, 0)]
    table, *_ = repeat_tables(runs.load(items=runs.items[:4], trials=trials(runs, marks), repeats=3))
    assert [shown(table, f"repeat:{i}", "value").text for i in range(3)] == ["50.0", "75.0", "25.0"]
    mean = shown(table, "mean", "value").estimate
    assert mean.value == pytest.approx(0.5)
    # t reaches .5 +- 4.302653 * (.0625 / 3) ** .5 = .62, which no score does
    assert (mean.low, mean.high) == (0.0, 1.0)
    close = [(1, 1, 1), (1, 1, 0)] * 50 + [(0, 0, 0)] * 100  # 50, 50 and 25 %
    items = [runs.question(f"c{i}", f"w{i}", "A") for i in range(200)]
    table, *_ = repeat_tables(
        runs.load("close", items=items, trials=trials_of(items, close, runs), repeats=3)
    )
    mean = shown(table, "mean", "value").estimate
    assert mean.value - mean.low == pytest.approx(4.302653 * (0.25**2 / 3 / 3) ** 0.5)
    table, *_ = repeat_tables(runs.load("again", items=runs.items[:4], trials=trials(runs, marks), repeats=3))
    assert shown(table, "variance", "value").text == "625.00"
    # Mean variance within a question: (0 + 1/3 + 1/3 + 0) / 4 = 1/6; its error over 12 asks 0.118.
    assert shown(table, "error-repeats", "value").text == "11.8"
    assert shown(table, "questions", "value").text == "4"


def test_questions_that_lack_a_repeat_do_not_enter(runs):
    made = trials(runs, [(1, 1), (0, 1)])[:-1]
    table, *_ = repeat_tables(runs.load(items=runs.items[:2], trials=made, repeats=2))
    assert shown(table, "questions", "value").text == "1"
    torn = [made[0], trials(runs, [(1, 1), (0, 1)])[3]]
    assert repeat_tables(runs.load("torn", items=runs.items[:2], trials=torn, repeats=2)) == ()
    assert repeat_tables(runs.load("once", items=runs.items[:2], trials=trials(runs, [(1,), (0,)]))) == ()


def test_repeats_are_of_the_headline_and_of_every_tag(runs):
    # order: q1, q2; count: q3, q4. Right in repeats 1 to 3: order 1, 2, 1; count 0, 0, 1.
    marks = [(1, 1, 1), (0, 1, 0), (0, 0, 0), (0, 0, 1)]
    items = [*runs.items[:4], runs.question("q9", "v4", "A", tags={"task": "order", "level": "1"})]
    run = runs.load(items=items, trials=trials_of(items, [*marks, (1, 1, 1)], runs), repeats=3)
    micro, by_tag = repeat_tables(run)
    macro_run = msgspec.structs.replace(run.plan, headline="macro:task")
    macro, macro_by_tag = repeat_tables(dataclasses.replace(run, plan=macro_run))
    # Over questions 2/5, 3/5, 3/5; over tasks (2/3 + 0)/2, (3/3 + 0)/2, (2/3 + 1/2)/2.
    assert [shown(micro, f"repeat:{i}", "value").text for i in range(3)] == ["40.0", "60.0", "60.0"]
    assert [shown(macro, f"repeat:{i}", "value").text for i in range(3)] == ["33.3", "50.0", "58.3"]
    assert macro.columns[0].title == "mean over task"
    assert shown(by_tag, "headline", "mean").estimate == shown(micro, "mean", "value").estimate
    assert shown(macro_by_tag, "headline", "mean").estimate == shown(macro, "mean", "value").estimate
    # Order: 2/3, 1, 2/3, mean 7/9, variance 1/27.
    assert shown(by_tag, "task:order", "mean").value == pytest.approx(7 / 9)
    assert shown(by_tag, "task:order", "variance").text == f"{1e4 / 27:.2f}"
    assert shown(by_tag, "task:order", "sd").text == f"{1e2 / 27**0.5:.2f}"
    assert shown(by_tag, "task:count", "videos").text == "2"
    assert shown(by_tag, "task:count", "videos").detail == "few"


def test_the_mean_over_repeats_is_the_headline_of_the_run(runs, rng):
    marks = [(1, 1, 1), (0, 1, 0), (0, 0, 0), (0, 0, 1)]
    run = runs.load(items=runs.items[:4], trials=trials(runs, marks), repeats=3, headline="macro:task")
    table, by_tag = repeat_tables(run)
    scores = {one.name: one for one in score_tables(run, rng=rng)}
    headline = scores["score"].estimate("headline", "accuracy")
    assert shown(table, "total", "value").estimate == headline
    assert shown(table, "mean", "value").value == pytest.approx(headline.value)
    order = scores["score:task"].estimate("order", "accuracy")
    assert shown(by_tag, "task:order", "total").estimate == order


def test_dimensions_are_averaged_as_in_the_papers_table(runs):
    """Identity has two tasks of 4 and 1 questions: 1/4 and 1 in each repeat are 62.5, not 40.0."""
    tags = [{"level": "perception", "dimension": "Identity", "task": t} for t in ("a", "a", "a", "a", "b")]
    tags.append({"level": "comprehension", "dimension": "Scene", "task": "c"})
    items = [runs.question(f"p{i}", f"v{i}", "A", tags=tag) for i, tag in enumerate(tags)]
    marks = [(1, 0), (0, 1), (0, 0), (0, 0), (1, 1), (0, 0)]
    run = runs.load(
        "h", items=items, trials=trials_of(items, marks, runs), benchmark="humanpcr", repeats=2,
        headline="macro:task",
    )  # fmt: skip
    _, by_tag = repeat_tables(run)
    (own,) = paper_tables([run], draws=Draws(rng=np.random.default_rng(0)))
    printed = {c.title: shown(own, own.rows[0].key, c.key).text for c in own.columns}
    assert shown(by_tag, "dimension:Identity", "mean").text.startswith("62.5")
    assert printed["Identity"].startswith("62.5")
    assert shown(by_tag, "level:perception", "mean").text.startswith("62.5")
