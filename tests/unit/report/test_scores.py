"""Aggregates, and what stands beside a score in the same aggregate."""

import msgspec
import pytest

from vidence.engine.plan import Stratum
from vidence.errors import UsageError
from vidence.records import Answered, Failed, Score, Unreadable
from vidence.report.contrasts import contrast_runs
from vidence.report.correlation import points_of_runs
from vidence.report.export import eval_results
from vidence.report.opened_run import open_run
from vidence.report.pairing import pair
from vidence.report.run_list import listed
from vidence.report.scores import (
    LEAST_MEDIAN,
    Aggregate,
    Draws,
    SimpleRules,
    headline_accuracy,
    margin_table,
    score_tables,
)
from vidence.report.tables import headline
from vidence.tables.table import shown


@pytest.fixture
def draws(rng):
    return Draws(rng=rng)


def unlike(runs):
    """Thirty questions of one task, A right in all, and six of another, B right in all; each on its video."""
    tasks = ["order"] * 30 + ["count"] * 6
    items = [
        runs.question(f"q{n}", f"v{n}", "A" if task == "order" else "B", tags={"task": task})
        for n, task in enumerate(tasks)
    ]
    return items, [runs.marked(item, Answered(answer="A", rule="r")) for item in items]


def test_a_rule_beside_a_macro_score_is_a_macro_mean(runs, rng):
    items, trials = unlike(runs)
    run = runs.load(items=items, trials=trials, headline="macro:task")
    score = score_tables(run, rng=rng)[0]
    assert shown(score, "headline", "accuracy").text == "50.0"
    assert shown(score, "headline", "constant").text == "50.0"
    assert shown(score, "micro", "constant").text == "83.3"
    assert "always A 50.0 %" in " ".join(headline(run, score))


def test_a_rule_gets_nothing_where_it_does_not_apply(runs, rng):
    # Nine of ten questions are open; a model that always says A is right on the other one.
    items = [runs.question(f"o{n}", f"v{n}", "a dog", choices=(), answer_kind="text") for n in range(9)]
    judged = Score(outcome=Answered(answer="a dog"), value=1.0, scorer="judge", scorer_version=1)
    trials = [msgspec.structs.replace(runs.marked(i, Unreadable(reason="-")), score=judged) for i in items]
    choice = runs.question("c", "vc", "A")
    run = runs.load(items=[*items, choice], trials=[*trials, runs.marked(choice, Answered(answer="A"))])
    score = score_tables(run, rng=rng)[0]
    assert [shown(score, "headline", key).text for key in ("constant", "chance")] == ["10.0", "2.5"]
    # Its choices are equally long, so that the rule of the longest says nothing at all.
    said = "Without looking: chance 2.5 % (applies to 1 of 10), always A 10.0 %."
    assert said in headline(run, score)


def test_rules_follow_the_order_in_which_choices_were_shown(runs, rng):
    item, order = runs.items[0], (1, 0, 2, 3)
    turned = item.with_order(order)
    trials = [
        runs.marked(item, Answered(answer="A"), repeat=0),
        msgspec.structs.replace(runs.marked(turned, Answered(answer="A")), repeat=1, choice_order=order),
    ]
    run = runs.load(items=[item], trials=trials, repeats=2)
    rules = SimpleRules.of(run.rows)
    assert rules.letter == "A"
    values, n_applies = rules.over("constant", Aggregate.of(run.rows))
    assert (values.tolist(), n_applies) == ([0.5], 1)
    assert shown(score_tables(run, rng=rng)[0], "headline", "constant").text == "50.0"


@pytest.mark.parametrize(("n", "text"), [(LEAST_MEDIAN - 1, "\u2013"), (LEAST_MEDIAN, "50.0")])
def test_the_median_says_nothing_on_few_questions(runs, rng, n, text):
    numbers = [runs.question(f"n{k}", f"v{k}", "B", choices=("1", "2", "3")) for k in range(n)]
    words = [runs.question(f"w{k}", f"w{k}", "A") for k in range(n)]
    items = [*numbers, *words]
    run = runs.load(items=items, trials=[runs.marked(i, Answered(answer="A")) for i in items])
    score = score_tables(run, rng=rng)[0]
    assert shown(score, "headline", "median").text == text
    assert any(row.key == "numeric" for row in score.rows) == (n >= LEAST_MEDIAN)
    said = " ".join(headline(run, score))
    assert ("median" in said) == (n >= LEAST_MEDIAN)
    if n >= LEAST_MEDIAN:
        cell = shown(score, "headline", "median")
        assert (cell.text, cell.detail) == ("50.0", "applies to 10 of 20")
        assert "On the 10 questions whose choices are numbers: accuracy 0.0 %, median 100.0 %." in said


@pytest.mark.parametrize(("n_videos", "detail"), [(9, "few"), (10, "")])
def test_few_videos_are_marked_in_every_line(runs, rng, n_videos, detail):
    items = [runs.question(f"q{n}", f"v{n % n_videos}", "A") for n in range(20)]
    run = runs.load(items=items, trials=[runs.marked(i, Answered(answer=i.answer)) for i in items])
    score = score_tables(run, rng=rng)[0]
    videos = shown(score, "headline", "videos")
    assert (videos.text, videos.detail) == (str(n_videos), detail)
    assert ("fewer than 10 videos" in score.note) == bool(detail)
    assert any(said.startswith("Caution: only 9 videos") for said in headline(run, score)) == bool(detail)


def test_the_margin_is_of_the_same_aggregate(runs):
    items, trials = unlike(runs)
    run = runs.load(items=items, trials=trials, headline="macro:task")
    with pytest.raises(UsageError, match="no trials yet"):
        margin_table(runs.load("none", trials=[]))
    free = runs.load("free", items=[runs.items[6]], trials=[runs.trials[6]])
    assert shown(margin_table(free), "headline", "chance").text == "\u2013"
    table = margin_table(run, level=0.9)
    # Half of the tasks right, chance 1/4 in each; the best letter is what was answered.
    assert shown(table, "headline", "chance").text == "+25.0"
    assert shown(table, "headline", "constant").text == "0.0"
    assert shown(table, "micro", "chance").text == "+58.3"
    assert table.estimate("micro", "chance").level == 0.9
    assert shown(table, "task:count", "chance").text == "-25.0"
    assert shown(table, "task:count", "videos").detail == "few"
    score = table.estimate("micro", "accuracy")
    margin = table.estimate("micro", "chance")
    assert (margin.low, margin.high) == pytest.approx((score.low - 0.25, score.high - 0.25))


def test_a_rule_is_averaged_as_the_scores_are(runs):
    run = runs.load()
    # order: q1 q2; count: q3 q4 q5 q6, of which two have a letter behind B.
    hits = {(r.item.item_id, r.trial.repeat): {"constant": float(r.item.answer == "C")} for r in run.rows}
    rules = SimpleRules(letter="C", hits=hits)
    behind = rules.on("constant", Aggregate.of(run.rows, "macro:task"))
    assert behind.value == pytest.approx((0 + 2 / 4) / 2)
    assert rules.on("constant", Aggregate.of([])).value is None


def test_a_model_that_never_answered_has_no_score_not_the_score_0(runs, draws):
    failed = Failed(stage="model", error="OutageError", message="nobody there")
    items = runs.items[:6]
    trials = [runs.marked(item, failed) for item in items]
    run = runs.load("silent", items=items, trials=trials, facts={"n_planned": 6})
    assert headline_accuracy(run, draws=draws) is None
    assert headline_accuracy(runs.asked("unread", [None]), draws=draws).value == 0.0
    opened = open_run(run.folder)
    assert opened.score is None
    assert "the model never answered" in repr(opened)
    line = listed(run.folder)
    assert (line.score, line.low, line.status) == (None, None, "failures")
    with pytest.raises(UsageError, match="the model never answered"):
        eval_results([run], task="lab/set:all")
    answered = runs.load("answered", items=runs.items[:6], trials=runs.trials[:6])
    for refused in (
        lambda: pair([answered, run]),
        lambda: contrast_runs([run], tag="task", has_trend=True),
        lambda: points_of_runs([answered, run], ["a", "b"], x="task=order", y="task=count"),
    ):
        with pytest.raises(UsageError, match="silent has no score: its model never answered"):
            refused()


def test_a_stratified_sample_has_a_table_with_the_weighted_mean(runs, rng):
    """Six of sixty counting questions and all thirty of order: 60 wrong of 90 in the set, 6 of 36 asked."""
    items, trials = unlike(runs)
    strata = (
        Stratum(tag="task", value="count", n=60, n_sampled=6),
        Stratum(tag="task", value="order", n=30, n_sampled=30),
    )
    run = runs.load(items=items, trials=trials, facts={"n_planned": 36, "strata": strata})
    tables = {table.name: table for table in score_tables(run, rng=rng)}
    sample = tables["sample"]
    weighted = sample.estimate("all", "accuracy")
    assert weighted.value == pytest.approx(30 / 90)
    assert weighted.low < 30 / 90 < weighted.high
    assert tables["score"].estimate("headline", "accuracy").value == pytest.approx(30 / 36)
    assert sample.value("task=count", "probability") == 0.1
    assert (sample.value("all", "there"), sample.value("all", "asked")) == (90, 36)
    plain = runs.load("plain", items=items, trials=trials, facts={"n_planned": 36})
    assert "sample" not in {table.name for table in score_tables(plain, rng=rng)}
