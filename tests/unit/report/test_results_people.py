"""The run folders of people as a row of their own: mean over answers, people crossed with videos."""

from dataclasses import replace

import msgspec
import pytest

from vidence.engine.panel import PanelFile, PanelFolder, given_runs
from vidence.engine.people import person_folders
from vidence.errors import UsageError
from vidence.records import Answered
from vidence.report.comparison import compare_runs
from vidence.report.comparison_tables import sentences
from vidence.report.pairing import pair
from vidence.report.panel_runs import AskedPanel, read_panel
from vidence.report.provenance import how_asked
from vidence.report.results import load_run
from vidence.report.scores import Aggregate, Draws, headline_accuracy
from vidence.statistics.crossed import crossed_interval, crossed_mean
from vidence.tables.table import shown

TAGS = [{"task": "order"}, {"task": "count"}, {"task": "order"}, {"task": "count"}]
MARKS = {"P01": [1, 1, 1, 0], "P02": [1, 0, 1, 1], "P03": [0, 0, 1, 1]}


def answered(runs, folder, marks, *, only=None, **plan):
    """Write a run folder in which A is right, with an answer to each question, or to some of them."""
    items = [runs.question(f"q{i}", f"v{i}", "A", tags=TAGS[i]) for i in range(len(marks))]
    pairs = [
        (item, mark)
        for i, (item, mark) in enumerate(zip(items, marks, strict=True))
        if only is None or i in only
    ]
    trials = [runs.marked(item, Answered(answer="BA"[mark])) for item, mark in pairs]
    settings = {"facts": {"n_items": len(items), "n_planned": len(pairs)}, **plan}
    return runs.write(folder, items=[item for item, _ in pairs], trials=trials, **settings)


@pytest.fixture
def study(runs):
    (runs.folder / "study" / "people").mkdir(parents=True)
    for name, marks in MARKS.items():
        answered(runs, f"study/people/{name}", marks, model=f"person:{name}?answers={name}.jsonl")
    return runs.folder / "study"


@pytest.fixture
def draws(rng):
    return Draws(rng=rng)


def test_a_study_is_a_run_whose_interval_speaks_of_other_people(study, draws):
    run = load_run(study)
    assert run.people == ("P01", "P02", "P03")
    assert (run.plan.model, len(run.rows), run.n_missing) == ("people", 12, 0)
    found = headline_accuracy(run, draws=draws)
    expected = crossed_interval(
        [mark for marks in MARKS.values() for mark in marks],
        people=[name for name in MARKS for _ in range(4)],
        clusters=["v0.mp4", "v1.mp4", "v2.mp4", "v3.mp4"] * 3,
    )
    assert (found.value, found.low, found.high) == pytest.approx((8 / 12, expected.low, expected.high))
    assert (found.n, found.n_people, found.n_clusters) == (12, 3, 4)
    assert how_asked(run) == "3 people; scored by robust"


@pytest.mark.parametrize("order", [1, -1])
def test_people_and_a_model_are_compared_answer_by_answer(study, runs, order):
    model = answered(runs, "model", [0, 0, 1, 0], name="model")
    found = compare_runs(pair([load_run(one) for one in (study, model)[::order]]))
    gaps = [
        mark - theirs for marks in MARKS.values() for mark, theirs in zip(marks, [0, 0, 1, 0], strict=True)
    ]
    names = {"people": [name for name in MARKS for _ in range(4)], "clusters": ["a", "b", "c", "d"] * 3}
    mean = crossed_mean([-order * gap for gap in gaps], **names, items=["a", "b", "c", "d"] * 3)
    expected, p_value = mean.difference()
    difference = found.headline.difference
    assert (difference.value, difference.low) == pytest.approx((-order * 5 / 12, expected.low))
    assert found.headline.p_value == pytest.approx(p_value)
    assert (difference.n, difference.n_people, difference.n_clusters) == (12, 3, 4)
    assert sorted((found.headline.mean_first, found.headline.mean_second)) == pytest.approx([1 / 4, 2 / 3])
    assert "people and videos as crossed random factors" in found.notes[0]
    assert "paired, 3 people and 4 videos crossed; p =" in " ".join(sentences(found))
    assert {one.tag for one in found.tags} == {"task"}
    assert all(one.comparison.difference.n == 6 for one in found.tags)


def test_two_phases_are_compared_person_by_person_and_strangers_by_question(runs):
    (runs.folder / "people").mkdir()
    for name, first, second in (("P01", [1, 0, 0, 0], [1, 1, 0, 0]), ("P02", [0, 0, 0, 1], [1, 1, 0, 1])):
        answered(runs, f"people/{name}-once", first, headline="macro:task")
        answered(runs, f"people/{name}-free", second, headline="macro:task")
        answered(runs, f"people/{name}9-other", second, headline="macro:task")
    runs_of = {one: load_run(runs.folder / "people" / f"*-{one}") for one in ("once", "free", "other")}
    found = compare_runs(pair([runs_of["once"], runs_of["free"]]))
    assert (found.macro_tag, found.headline.difference.n_people) == ("task", 2)
    assert found.headline.difference.value == pytest.approx(3 / 8)
    strangers = compare_runs(pair([runs_of["once"], runs_of["other"]]))
    assert strangers.headline.difference.n_people == 0
    assert strangers.notes[0].startswith("People are fixed")


def test_people_who_answered_different_questions_count_by_their_answers(runs, draws):
    (runs.folder / "people").mkdir()
    answered(runs, "people/P01", [1, 1, 1, 1])
    answered(runs, "people/P02", [0, 0, 0, 0], only=[0])
    found = headline_accuracy(load_run(runs.folder), draws=draws)
    assert (found.value, found.n) == (4 / 5, 5)


def test_macro_means_count_each_task_alike(runs, draws):
    (runs.folder / "people").mkdir()
    for name in ("P01", "P02"):
        answered(runs, f"people/{name}", [1, 0, 1, 0], only=[0, 1, 2], headline="macro:task")
    assert headline_accuracy(load_run(runs.folder), draws=draws).value == 0.5


def test_the_mean_of_columns_and_points_of_people_are_over_their_answers(study, runs, draws):
    answered(runs, "model", [0, 0, 1, 0], name="model")
    file = PanelFile(runs=tuple(PanelFolder(folder=name) for name in ("study", "model")))
    panel = read_panel("t", AskedPanel(runs=list(given_runs(file, beside=runs.folder))))
    view, *_ = panel.view("pivot?columns=task&models=sorted").statements
    mean = view.estimate("row:people", "mean")
    expected = crossed_interval(
        [mark for marks in MARKS.values() for mark in marks],
        people=[name for name in MARKS for _ in range(4)],
        clusters=["v0", "v1", "v2", "v3"] * 3,
        groups=["order", "count"] * 6,
    )
    assert (mean.value, mean.low, mean.n_people) == (pytest.approx(8 / 12), pytest.approx(expected.low), 3)
    rows = [
        replace(row, score=msgspec.structs.replace(row.score, points=4 * row.score.value))
        for row in load_run(study).rows
    ]
    found = Aggregate.of(rows, of_points=True).estimate(draws)
    assert (found.value, found.n, found.n_people) == (pytest.approx(4 * 8 / 12), 12, 3)


def test_a_panel_has_a_row_of_people_beside_models(study, runs):
    answered(runs, "model", [0, 0, 1, 0], name="model")
    answered(runs, "other", [0, 0, 0, 0], name="other")
    file = PanelFile(runs=tuple(PanelFolder(folder=name) for name in ("study", "model", "other")))
    panel = read_panel("t", AskedPanel(runs=list(given_runs(file, beside=runs.folder))))
    assert [cell.is_people for cell in panel.cells] == [True, False, False]
    row = shown(panel.scores, "run:people", "benchmark:table")
    assert row.text == "66.7"
    assert row.estimate.n_people == 3
    assert row.mark == ""
    (view,) = panel.view("pivot?columns=task").statements
    assert [line.label for line in view.rows][:3] == ["model", "other", "people"]
    assert shown(view, "row:people:", "share:0").text == "50.0"
    with pytest.raises(UsageError, match="no run of the panel has findings"):
        panel.view("pivot?finding=mrfs")
    panel.write_page(runs.folder / "panel.html", cache_root=runs.folder)
    assert "3 people" in (runs.folder / "panel.html").read_text()


def test_of_several_phases_each_is_a_row(runs):
    (runs.folder / "study" / "people").mkdir(parents=True)
    for phase, right in (("closed", 0), ("open", 1)):
        for name in ("P01", "P02"):
            answered(runs, f"study/people/{name}-{phase}", [right] * 4)
    with pytest.raises(UsageError, match=r"several phases; name one of them: .*/\*-closed, .*/\*-open"):
        load_run(runs.folder / "study")
    row = PanelFolder(folder="study/people/*-open", condition="open book")
    (run,) = given_runs(PanelFile(runs=(row,)), beside=runs.folder)
    assert (run.model, run.condition, run.about.people) == ("people", "open book", True)
    assert [row.correct for row in load_run(run.folder).rows] == [1.0] * 8


def test_what_is_no_row_of_people_is_refused(runs):
    (runs.folder / "people").mkdir()
    with pytest.raises(UsageError, match="holds no run folder; `vidence study close"):
        load_run(runs.folder)
    with pytest.raises(UsageError, match=r"no run folder .* matches .*X\*"):
        person_folders(runs.folder / "people" / "X*")
    answered(runs, "people/P01", [1, 1, 1, 1])
    answered(runs, "people/P02", [1, 1, 1, 1], split="test")
    with pytest.raises(
        UsageError, match=r"P01 and .*P02 differ in the split .'all' and 'test'.*one phase of one study"
    ):
        load_run(runs.folder)


def test_one_person_is_a_row_whose_interval_is_by_videos(runs, draws):
    (runs.folder / "people").mkdir()
    answered(runs, "people/P01", [1, 0, 1, 1])
    run = load_run(runs.folder)
    assert headline_accuracy(run, draws=draws).n_people == 0
    assert how_asked(run).startswith("one person, whose interval is by videos alone")
