"""Every expected number is worked out by hand from the seven questions in conftest.py.

Marked are q1..q6: 1 0 0 1 0 0 on videos v1 v1 v1 v2 v2 v3; q7 waits for a judge. Right letters are
A B C C A A, so the best constant letter is A (3 of 6). q6 has five choices, the others four.
"""

import math

import pytest

from vidence.records import Answered, Failed, Item, Unreadable
from vidence.report.parsers import parser_tables
from vidence.report.scores import score_tables
from vidence.report.tables import (
    MOST_REASONS,
    all_tables,
    outcome_table,
    position_table,
    reason_table,
    usage_table,
)
from vidence.report.tables import headline as headline_of
from vidence.tables.figures import draw_figure
from vidence.tables.table import shown, shown_columns, shown_rows


def texts(table, line):
    """The texts of one line by column."""
    return {c.key: shown(table, line, c.key).text for c in shown_columns(table)}


@pytest.fixture
def tables(runs, rng):
    return {t.name: t for t in score_tables(runs.load(), rng=rng)}


def test_the_headline_is_the_mean_over_marked_questions(tables):
    cell = shown(tables["score"], "headline", "accuracy")
    assert cell.value == pytest.approx(2 / 6)
    assert cell.text == "33.3"
    assert (cell.estimate.n, cell.estimate.n_clusters, cell.estimate.level) == (6, 3, 0.95)
    # Deviations by video 0, 1/3, -1/3 of 3, 2 and 1 questions: CR2 error
    # sqrt(1/9 / (1 - 2/6) + 1/9 / (1 - 1/6)) / 6 = 0.0913; parts of unseen videos; t with
    # 1.71 degrees of freedom and these parts.
    assert (cell.estimate.low, cell.estimate.high) == pytest.approx((0.0604, 0.7955), abs=1e-4)
    assert cell.detail == "6.0 to 79.6"


def test_baselines_and_counts_stand_beside_the_score(tables):
    assert texts(tables["score"], "headline") == {
        "name": "mean over questions",
        "items": "6",
        "videos": "3",
        "accuracy": "33.3",
        "chance": "24.2",  # (5/4 + 1/5) / 6
        "constant": "50.0",
        "longest": "0.0",  # of q2 "green" is as long as another, so that no choice is the longest
        "median": "\u2013",  # it applies to two questions, and says nothing on so few
        "answered": "3",
        "unreadable": "1",
        "refused": "1",
        "failed": "1",
        "unmarked": "1",
    }
    assert shown(tables["score"], "headline", "median").detail == "applies to 2"
    assert [c.title for c in shown_columns(tables["score"]) if c.key == "constant"] == ["always A"]


def test_the_other_aggregates_stand_below(tables):
    # Means over tags that nothing asks for are left out: `--headline macro:TAG` asks for that of a tag.
    assert [line.key for line in shown_rows(tables["score"])] == ["headline", "answered"]
    assert shown(tables["score"], "answered", "accuracy").value == pytest.approx(2 / 3)


def test_each_tag_has_a_table_in_natural_order_with_the_rest_last(tables):
    assert list(tables) == ["score", "score:task", "score:level"]
    assert [line.key for line in shown_rows(tables["score:level"])] == ["1", "2", "10", "(none)"]
    count = texts(tables["score:task"], "count")
    assert (count["items"], count["videos"], count["accuracy"]) == ("4", "3", "25.0")
    assert (count["unreadable"], count["refused"], count["failed"], count["unmarked"]) == ("1", "1", "1", "0")
    order = texts(tables["score:task"], "order")
    assert (order["items"], order["answered"], order["unmarked"]) == ("2", "2", "1")


def test_a_single_video_has_no_interval(tables):
    cell = shown(tables["score:level"], "10", "accuracy")
    assert math.isnan(cell.estimate.low)
    assert cell.detail == "too few videos (1)"


def test_the_headline_follows_the_plan(runs, rng):
    score = score_tables(runs.load(headline="macro:task"), rng=rng)[0]
    assert shown_rows(score)[0].key == "headline"
    assert shown(score, "headline", "accuracy").value == pytest.approx(0.375)
    assert shown(score, "headline", "name").text == "mean over task"
    assert shown(score, "micro", "accuracy").value == pytest.approx(2 / 6)
    # level 1: q1 q4 = 1; 2: q2 q5 = 0; 10: q3 = 0; none: q6 = 0.
    score = score_tables(runs.load("b", headline="macro:level"), rng=rng)[0]
    assert shown(score, "headline", "accuracy").value == pytest.approx(1 / 4)
    assert shown(score, "headline", "name").detail == "4 values, each alike"


def test_the_headline_may_leave_out_what_could_not_be_read(runs, rng):
    run = runs.load(headline="answered")
    score = score_tables(run, rng=rng)[0]
    assert shown(score, "headline", "accuracy").value == pytest.approx(2 / 3)
    assert (shown(score, "headline", "items").value, shown(score, "micro", "items").value) == (3, 6)
    assert any("left out of the score" in sentence for sentence in headline_of(run, score))


def test_a_run_that_nobody_answered_has_no_score(runs, rng):
    no_server = Failed(stage="model", error="TransientModelError", message="no connection; is it running?")
    trials = [runs.marked(item, no_server) for item in runs.items]
    run = runs.load(trials=trials)
    score = score_tables(run, rng=rng)[0]
    assert all(texts(score, row.key)["accuracy"] == "\u2013" for row in score.rows)
    sentences = headline_of(run, score)
    why = "no connection; is it running?"
    assert sentences[0] == f"No score, since none of {len(runs.items)} questions was ever answered: {why}"
    assert not any("Accuracy" in sentence or "Without looking" in sentence for sentence in sentences)
    answered = runs.load("other", trials=[runs.trials[0], *trials[1:]])
    assert headline_of(answered, score_tables(answered, rng=rng)[0])[0].startswith("Accuracy")


@pytest.mark.parametrize(("n_cut", "is_said"), [(0, False), (1, False), (2, True), (20, True)])
def test_many_replies_that_were_cut_off_are_a_matter_of_the_headline(runs, rng, n_cut, is_said):
    items = [runs.question(f"i{n}", f"v{n}", "A") for n in range(20)]
    replies = [runs.said("A", finish="length" if n < n_cut else "stop") for n in range(20)]
    trials = [
        runs.marked(item, Answered(answer="A"), reply=reply)
        for item, reply in zip(items, replies, strict=True)
    ]
    run = runs.load(items=items, trials=trials)
    sentences = headline_of(run, score_tables(run, rng=rng)[0])
    limit = run.plan.sampling.max_tokens
    at = "the server's limit of tokens" if limit is None else f"{limit:,} tokens"
    cut = f"{n_cut} of 20 replies were cut off at {at}; --max-tokens sets a higher limit."
    assert (cut in sentences) == is_said


def test_a_question_counts_with_the_mean_of_its_repeats(runs, rng):
    one, two = runs.items[0], runs.items[3]
    trials = [
        runs.marked(one, Answered(answer="A"), repeat=0),
        runs.marked(one, Answered(answer="B"), repeat=1),
        runs.marked(two, Unreadable(reason="-"), repeat=0),
        runs.marked(two, Answered(answer="C"), repeat=1),
    ]
    score = score_tables(runs.load(items=[one, two], trials=trials, repeats=2), rng=rng)[0]
    assert shown(score, "headline", "accuracy").value == pytest.approx(0.5)
    assert shown(score, "headline", "accuracy").estimate.n == 2
    # Answered only: q1 has (1 + 0) / 2, q4 has 1.
    assert shown(score, "answered", "accuracy").value == pytest.approx(0.75)
    assert shown(score, "headline", "answered").text == "3"
    assert shown(score, "headline", "items").text == "2"


def test_a_run_that_waits_for_its_judge_has_no_score(runs, rng):
    item = runs.items[6]
    run = runs.load(items=[item], trials=[runs.trials[6]])
    score = score_tables(run, rng=rng)[0]
    assert texts(score, "headline")["accuracy"] == "\u2013"
    assert texts(score, "headline")["unmarked"] == "1"
    assert texts(score, "headline")["chance"] == "\u2013"
    assert draw_figure(score) is None
    assert position_table(run, rng=rng).rows == ()


def test_tags_with_many_values_are_named_but_have_no_table(runs, rng):
    items = [runs.question(f"i{n}", f"v{n}", "A", tags={"clip": str(n)}) for n in range(41)]
    trials = [runs.marked(item, Answered(answer="A")) for item in items]
    tables = score_tables(runs.load(items=items, trials=trials), rng=rng)
    assert [t.name for t in tables] == ["score"]
    assert "clip (41 values)" in tables[0].note


def test_outcomes_add_up_to_the_planned_trials(runs):
    table = outcome_table(runs.load(trials=runs.trials[:3], facts={"n_planned": 8}))
    counts = {line.key: shown(table, line.key, "n").value for line in shown_rows(table)}
    assert counts == {"right": 1, "wrong": 1, "unreadable": 1, "refused": 0, "failed": 0, "missing": 5}
    assert shown(table, "missing", "share").text == "62.5"
    assert table.note == "1 replies were cut off at the limit of tokens."


def test_reasons_are_counted_by_outcome(runs):
    table = reason_table(runs.load())
    assert [tuple(c.text for c in line.cells) for line in shown_rows(table)] == [
        ("answered", "answer-line", "3"),
        ("answered", "whole-reply", "1"),
        ("unreadable", "no letter", "1"),
        ("refused", "policy", "1"),
        ("failed", "MediaError (media)", "1"),
    ]
    example = "for example: v3.mp4: cannot be read"
    assert [line.cells[1].detail for line in shown_rows(table)] == ["", "", "", "", example]


def test_many_ways_to_be_unreadable_do_not_hide_a_failure(runs):
    items = [runs.question(f"i{n}", "v", "A") for n in range(40)]
    trials = [runs.marked(item, Unreadable(reason=f"way {n}")) for n, item in enumerate(items[:-1])]
    down = Failed(stage="model", error="ServerError", message="nobody answers")
    table = reason_table(runs.load(items=items, trials=[*trials, runs.marked(items[-1], down)]))
    assert shown(table, "failed:ServerError (model)", "reason").detail == "for example: nobody answers"
    assert len(table.rows) == MOST_REASONS + 1
    assert table.note == f"{39 - MOST_REASONS} more reasons are not shown."


def test_parsers_are_compared_on_the_same_replies(runs):
    table, _ = parser_tables(runs.load(), ["robust", "herbench-official"])
    robust, official = texts(table, "robust"), texts(table, "herbench-official")
    # Five questions with choices have a reply: q1..q5; the official rule reads A for q3, wrong as well.
    assert (robust["read"], robust["changed"], robust["accuracy"]) == ("3", "0", "40.0")
    assert (official["read"], official["changed"], official["accuracy"]) == ("4", "1", "40.0")
    assert official["against:robust"] == "1"
    assert shown(table, "herbench-official", "accuracy").detail == "+0.0"


def test_replies_on_which_parsers_disagree_are_listed(runs, rng):
    run = runs.load()
    few = {t.name: t for t in all_tables(run, rng=rng)}
    assert [row.key for row in few["parsers"].rows] == ["robust"]
    tables = {t.name: t for t in all_tables(run, rng=rng, parsers=())}
    changed = tables["parsers-changed"]
    cells = texts(changed, "q3#0")
    assert (cells["item"], cells["gold"], cells["read:robust"]) == ("q3", "C", "\u2013")
    assert cells["read:herbench-official"] == "A"
    assert "1 of 5 replies." in changed.note


def test_letters_read_stand_beside_the_right_ones(runs, rng):
    table = position_table(runs.load(), rng=rng)
    rows = {x: (texts(table, x)["gold"], texts(table, x)["read"]) for x in (r.key for r in table.rows)}
    # Right: A B C C A A. Read: A C - C - -. q6 has a fifth choice.
    assert rows == {"A": ("3", "1"), "B": ("1", "0"), "C": ("2", "2"), "D": ("0", "0"), "E": ("0", "0")}
    assert texts(table, "A")["accuracy"] == "33.3"
    assert texts(table, "D")["accuracy"] == "\u2013"
    # The one wrong answer (q2, right B, read C) falls on A, C, D alike if no letter is preferred.
    assert [texts(table, x)["expected"] for x in "ABCDE"] == ["0.3", "0.0", "0.3", "0.3", "0.0"]
    assert "3 questions have no letter read." in table.note


def test_spending_counts_new_replies_only(runs):
    table = usage_table(runs.load())
    # Six replies, q2's remembered; the refusal does not say its tokens. 4 x 1000 in, 4 x 10 out.
    assert [line.cells[1].text for line in shown_rows(table)] == [
        *("6", "5", "16.7", "4,000", "40"),
        *("10", "not known", "0.0084"),
    ]
    assert table.note == "1 of 5 new replies report no token counts."


def test_spending_without_prices_or_replies(runs):
    table = usage_table(runs.load(trials=[runs.trials[5]], price_in=0.0, price_out=0.0))
    told = [line.cells[1].text for line in shown_rows(table)]
    assert told == ["0", "0", "\u2013", *["not reported"] * 3, "not known", "no prices given"]


def test_choices_that_are_no_letters_do_not_break_the_tables(runs, rng):
    item = Item(item_id="x", question="?", choices=("yes", "no"), answer="A")
    run = runs.load(items=[item], trials=[runs.marked(item, Answered(answer="E"), reply=runs.said("E"))])
    tables = {t.name: t for t in all_tables(run, rng=rng)}
    assert shown(tables["score"], "headline", "accuracy").value == 0.0
    assert "1 letters read are not among the choices." in tables["positions"].note


def test_tables_choose_their_figures(runs, rng):
    run = runs.load()
    bars = draw_figure(score_tables(run, rng=rng)[1])
    # count: 25 % on four questions, of which A is right on two; chance (3/4 + 1/5) / 4 = 0.2375.
    assert bars.svg.index(">count<") < bars.svg.index('width="25.000%"') < bars.svg.index(">order<")
    assert [words for _, words in bars.legend] == ["accuracy", "interval", "chance", "always A", "longest"]
    assert [f'x="{at}%"' in bars.svg for at in ("23.750", "50.000", "0.000")] == [True] * 3
    letters = draw_figure(position_table(run, rng=rng))
    assert letters.svg.count("read 2, right answer 2") == 1
    strip = draw_figure(outcome_table(run))
    assert sum(int(words.rpartition(" ")[2]) for _, words in strip.legend) == 7
