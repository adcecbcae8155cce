"""How a comparison depends on replies that were not read; every number can be counted by hand."""

import pytest

from vidence.records import Answered, Failed, Refused, Unreadable
from vidence.report.comparison import compare_runs, rank_runs
from vidence.report.comparison_tables import outcomes, ranked_sentences, sentences, tables_of_two
from vidence.report.pairing import pair
from vidence.report.unread import AS_COMPARED, applicable_parsers, unread
from vidence.tables.table import shown

RIGHT, WRONG = Answered(answer="A"), Answered(answer="B")
SILENT = Unreadable(reason="no letter")


@pytest.fixture
def two(runs):
    """Two runs from the outcomes of each on questions with the right answer A, one for each video."""

    def make(first, second, **plan):
        tags = [{"task": "ab"[i % 2]} for i in range(len(first))]
        both = (("x", first), ("y", second))
        return pair([runs.asked(n, some, tags=tags, model=f"scripted:{n}", **plan) for n, some in both])

    return make


def test_bounds_and_the_questions_that_both_answered(two):
    # 40 questions: x is right on 20 and wrong on 20; y is right on 10, wrong on 10, silent on 20.
    found = unread(two([RIGHT] * 20 + [WRONG] * 20, [RIGHT, SILENT] * 10 + [WRONG, SILENT] * 10))
    assert [run.n_unread for run in found.runs] == [0, 20]
    assert found.runs[1].outcomes == {"answered": 20, "unreadable": 20, "refused": 0, "failed": 0}
    assert found.readings[0].comparison.difference.value == -0.25
    # Of 20 that both answered each has 10 right.
    assert (found.both_answered.difference.n, found.both_answered.difference.value) == (20, 0.0)
    assert (found.worst.difference.value, found.best.difference.value) == (-0.25, 0.25)
    assert found.is_open


def test_silence_of_the_first_run_moves_the_other_bound(two):
    found = unread(two([RIGHT] * 10 + [SILENT] * 10, [RIGHT] * 15 + [WRONG] * 5))
    values = [one.difference.value for one in (found.worst, found.readings[0].comparison, found.best)]
    assert values == [-0.25, 0.25, 0.25]


def test_the_first_sentence_says_what_the_sign_depends_on(two):
    paired = two([RIGHT] * 20 + [WRONG] * 20, [RIGHT, SILENT] * 10 + [WRONG, SILENT] * 10)
    found = compare_runs(paired)
    said = sentences(found)
    assert said[0].startswith(
        "scripted:y is 25.0 points below scripted:x, but this depends on 20 trials without an answer "
        "(all wrong or right: -25.0 to +25.0); 25.0 % against 50.0 %; 95 % interval of the difference"
    )
    assert (
        "Trials without an answer count as wrong here (scripted:x: 0 of 40, 0 unreadable, 0 refused, "
        "0 failed; scripted:y: 20 of 40, 20 unreadable, 0 refused, 0 failed)."
    ) in said
    assert any(
        s.startswith("On the 20 questions that both answered: scripted:y and scripted:x") for s in said
    )
    names = [table.name for table in tables_of_two(found)]
    assert names == ["difference", "outcomes", "unread", "difference:task", "provenance"]
    table = tables_of_two(found)[2]
    assert [shown(table, key, "difference").text for key in ("worst", "best")] == ["-25.0", "+25.0"]


def test_a_difference_that_stands_in_any_case_is_said_as_before(two):
    found = compare_runs(two([WRONG] * 39 + [SILENT], [RIGHT] * 40))
    assert not found.unread.is_open
    assert sentences(found)[0].startswith(
        "scripted:y is 100.0 points above scripted:x (100.0 % against 0.0 %"
    )


def test_failed_and_refused_trials_are_counted_apart(two):
    failed = Failed(stage="model", error="E", message="m")
    found = compare_runs(two([failed, Refused(reason="policy")] + [RIGHT] * 38, [RIGHT] * 40))
    said = next(s for s in sentences(found) if s.startswith("Trials without an answer"))
    assert "scripted:x: 2 of 40, 0 unreadable, 1 refused, 1 failed" in said
    assert said.endswith("Resume asks failed ones again.")


def test_no_question_that_both_answered(two):
    found = compare_runs(two([RIGHT] * 5 + [SILENT] * 5, [SILENT] * 5 + [RIGHT] * 5))
    assert found.unread.both_answered is None
    assert "No question has an answer from both." in sentences(found)


def test_repeats_without_an_answer_count_by_trial(runs):
    items = [runs.question(f"q{i}", f"v{i}", "A") for i in range(8)]
    trials = [runs.marked(i, o, repeat=r) for i in items for r, o in enumerate((RIGHT, SILENT))]
    first = runs.load("x", items=items, trials=trials, repeats=2, model="scripted:x")
    second = runs.load("y", items=items, trials=[runs.marked(i, RIGHT) for i in items], model="scripted:y")
    found = unread(pair([first, second]))
    assert found.runs[0].n_unread == 8
    assert (found.worst.difference.value, found.best.difference.value) == (0.0, 0.5)
    assert found.both_answered is None


def test_macro_means_are_bounded_as_macro_means(two):
    # Task a has half of the questions, so that both averages are alike but for the name.
    paired = two([RIGHT] * 20, [RIGHT, SILENT] * 10, headline="macro:task")
    found = unread(paired, tag="task")
    assert "macro means of 2 groups" in found.worst.difference.method
    assert (found.worst.difference.value, found.best.difference.value) == (-0.5, 0.0)


def test_other_parsers_read_the_stored_replies_again(runs):
    # A bare letter is read by all; a letter out of prose by the benchmark's own parsers.
    items = [runs.question(f"q{i}", f"v{i}", "A") for i in range(40)]
    texts = {"x": "A", "y": "A red coat, and then something else happens over there."}
    both = []
    for name, text in texts.items():
        outcome = RIGHT if name == "x" else SILENT
        trials = [runs.marked(item, outcome, reply=runs.said(text)) for item in items]
        plan = {"model": f"scripted:{name}", "benchmark": "perceptioncomp"}
        both.append(runs.load(name, items=items, trials=trials, **plan))
    found = compare_runs(pair(both))
    by_name = {one.parser: one for one in found.unread.readings}
    assert by_name[AS_COMPARED].comparison.difference.value == -1.0
    assert by_name["perceptioncomp-gemini"].comparison.difference.value == 0.0
    assert "perceptioncomp-gemini" in {one.parser for one in found.unread.others}
    assert "herbench-official" not in by_name
    assert "but this depends on the parser (perceptioncomp-api: 0.0 (not clear); " in sentences(found)[0]
    assert any(table.name == "parsers" for table in tables_of_two(found))


def test_parsers_of_other_benchmarks_are_left_out():
    parsers = ["herbench-official", "perceptioncomp-api", "robust"]
    assert applicable_parsers("perceptioncomp", parsers) == ("perceptioncomp-api", "robust")
    assert applicable_parsers("table", parsers) == ("robust",)


def test_a_ranking_counts_what_has_no_answer(two):
    paired = two([RIGHT] * 20, [RIGHT, SILENT] * 10)
    ranked = rank_runs(paired, level=0.95)
    assert [run.n_unread for run in ranked.unanswered] == [0, 10]
    said = ranked_sentences(ranked)
    assert any("scripted:y: 10 of 20" in s for s in said)
    assert any(s.startswith("Compare two runs alone to see whether these, or another parser") for s in said)
    assert outcomes(ranked.unanswered).value("scripted:y", "unreadable") == 10


def test_the_sign_of_what_cannot_be_told_from_zero_does_not_depend_on_anything(two):
    # y is ahead by 2 of 40; were the three silent ones of x right, it would be behind by 1.
    first = [RIGHT] * 20 + [SILENT] * 3 + [WRONG] * 17
    found = compare_runs(two(first, [RIGHT] * 22 + [WRONG] * 18)).unread
    assert (found.readings[0].comparison.difference.value, found.worst.difference.value) == (0.05, -0.025)
    assert {one.verdict for one in (found.worst, found.best)} == {"not clear"}
    assert not found.is_open


def test_without_an_interval_a_turned_sign_is_still_said(runs):
    outcomes = {"x": [RIGHT] * 4 + [WRONG] * 6, "y": [RIGHT] * 3 + [SILENT] * 7}
    both = [runs.asked(name, some, per_video=10, model=f"scripted:{name}") for name, some in outcomes.items()]
    assert "but this depends on 7 trials without an answer" in sentences(compare_runs(pair(both)))[0]
