"""What may stand in one grid: one run in one place, one release of a benchmark."""

from dataclasses import replace

import pytest

from vidence.engine.panel import ModelFacts, PanelRun
from vidence.errors import UsageError
from vidence.records import Answered
from vidence.report.panel_grid import Grid, GridCell, as_measured, grid_of


@pytest.fixture
def cell(runs):
    def make(name, *, model="m", condition="", **rest):
        run = runs.load(name, **rest)
        return GridCell(benchmark="table", model=model, condition=condition, run=run)

    return make


def test_runs_of_one_name_or_of_several_revisions_are_refused(cell):
    with pytest.raises(UsageError, match="both m on table"):
        Grid(cells=(cell("c"), cell("d")))
    first = cell("a", facts={"benchmark_revision": "1"})
    second = cell("b", model="n", facts={"benchmark_revision": "2"})
    with pytest.raises(UsageError, match=r"several releases: they differ in revision \(m: 1; n: 2\)"):
        Grid(cells=(first, second))


def test_another_question_under_one_id_is_refused(cell, runs):
    item = runs.question("q1", "v1", "B")
    other = cell("b", model="n", items=[item], trials=[])
    assert Grid(cells=(cell("a"), other))  # it was never put
    asked = cell("c", model="o", items=[item], trials=[runs.marked(item, Answered(answer="B"))])
    with pytest.raises(UsageError, match="question 'q1' \\(m against o\\)"):
        Grid(cells=(cell("d"), asked))


def test_two_files_of_questions_may_have_the_same_ids(cell, runs):
    item = runs.question("q1", "v1", "B")
    other = cell("b", items=[item], trials=[runs.marked(item, Answered(answer="B"))])
    titles = [one.benchmark for one in Grid(cells=(cell("a"), replace(other, benchmark="Kitchen"))).cells]
    assert titles == ["table", "Kitchen"]


def test_a_run_without_trials_is_there_and_has_no_score(cell, runs):
    whole = Grid(cells=(cell("a"), cell("b", model="n", trials=[])), missing=("x: no key",))
    assert [one.model for one in whole.scored] == ["m"]
    assert whole.gaps() == ("Missing: x: no key.",)
    with pytest.raises(UsageError, match="no run on mmvu; there is table"):
        whole.of(("mmvu",))
    x, y = cell("d", condition="x"), cell("e", condition="y")
    assert Grid(cells=(x, y, cell("f", model="n", condition="x"))).gaps() == (
        "The condition 'y' is there for m alone, of 2 models.",
    )
    found = Grid(cells=(x, replace(cell("g", model="one"), about=ModelFacts(people=True))))
    assert [[one.model for one in some] for some in (found.scored, found.people)] == [["m"], ["one"]]


def test_a_grid_is_read_from_the_folders_of_a_panel(runs):
    run = runs.load("a")
    place = PanelRun(benchmark="B", model="m", condition="c", plan=run.plan, folder=run.folder)
    (only,) = grid_of([place]).cells
    assert (only.label, only.benchmark, len(only.run.rows)) == ("m, c", "B", 7)
    assert only.found("mrfs", level=0.95) == ()


TAGS = {"set": "single", "task": "3afc", "target": "label", "cell": "single/3afc/label"}


def measured_run(runs, name="a", **plan):
    item = runs.question("walk/label", "v1", "A", tags=TAGS)
    return runs.load(name, items=[item], trials=[runs.marked(item, Answered(answer="A"))], **plan)


def test_a_log_that_is_marked_is_a_description(runs):
    run = as_measured(measured_run(runs, benchmark="actpld", parser="description-match"))
    assert run.rows[0].item.tags == TAGS | {"task": "description", "cell": "single/description/label"}


def test_letters_and_other_benchmarks_stay_what_they_are(runs):
    letters = measured_run(runs, benchmark="actpld", parser="robust")
    assert as_measured(letters).rows[0] is letters.rows[0]
    other = measured_run(runs, "b", benchmark="mmvu", parser="description-match")
    assert as_measured(other) is other
    gone = measured_run(runs, "c", benchmark="not-installed-here")
    assert as_measured(gone) is gone
