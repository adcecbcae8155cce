"""Models, tags and conditions as rows and columns, with people, printed rows and chance."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.figures import draw_figure
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, shown

PEOPLE = ModelFacts(people=True)


def tags(i):
    return {
        "set": "single" if i < 60 else "social",
        "task": "description" if i % 2 else "3afc",
        "target": "label" if i % 4 < 2 else "intention",
    }


def right(*, choice, description):
    return np.array([(i % 20 < 20 * (description if i % 2 else choice)) for i in range(120)])


def test_each_value_has_its_replies_and_people_stand_below(cell, grid, draws):
    people = cell("one", right=1.0, tags=tags, benchmark="actpld", about=PEOPLE)
    model = cell("m", right=0.0, tags=tags, benchmark="actpld", headline="answered")
    (table,) = open_view("pivot?rows=target&columns=task&where=set=single").show(grid(people, model), draws)
    assert [row.key for row in table.rows] == [
        *("row:m:label", "row:m:intention", "row:one:label", "row:one:intention"),
        *("chance:label", "chance:intention"),
    ]
    assert [column.group for column in table.columns[1::3]] == ["3afc", "description"]
    told = [shown(table, "row:m:label", key).text for key in ("share:0", "n:0", "left:0")]
    assert told == ["0.0", "15", "0"]
    assert shown(table, "row:one:label", "share:1").text == "100.0"
    assert shown(table, "row:one:label", "label").detail == "people"


def test_printed_rows_stand_below_with_their_numbers(cell, grid, draws):
    model = cell("m", tags=tags, benchmark="actpld")
    view = open_view("pivot?rows=target&columns=task&where=set=social&printed=actpld-table3")
    (table,) = view.show(grid(model), draws)
    assert shown(table, "printed:6", "label").text == "Gemini 2.5 Pro *1 (as printed)"
    told = [shown(table, "printed:6", key).text for key in ("row", "share:0", "n:0")]
    assert told == ["Label", "41.27", "63"]
    assert any("Only shares of 63 clips" in note for note in table.footnotes)


def test_models_are_sorted_by_the_mean_of_their_columns(cell, grid, draws):
    cells = [
        cell("low", right=right(choice=0.2, description=0.4), tags=tags, benchmark="actpld"),
        cell("high", right=right(choice=0.8, description=0.6), tags=tags, benchmark="actpld"),
        cell("people", right=right(choice=1.0, description=1.0), tags=tags, benchmark="actpld", about=PEOPLE),
    ]
    table, bars = open_view("pivot?columns=task&models=sorted").show(grid(*cells), draws)
    assert [row.label for row in table.rows] == ["high", "low", "people", "mean over 2 models", "chance"]
    assert [shown(table, f"row:{name}", "mean").text for name in ("high", "low")] == ["70.0", "30.0"]
    assert table.estimate("row:high", "mean").n == 120
    # People are in no mean over models.
    assert [shown(table, "models", key).text for key in ("share:0", "share:1", "mean")] == ["50.0"] * 3
    # As the paper's figure: for each model a group of bars, and people at the end.
    assert bars.is_bars
    assert [one.label for one in bars.series] == ["3afc", "description"]
    assert [words for _, words in bars.x_labels] == ["high", "low", "people", "mean over 2 models"]
    assert [point.y.value for point in bars.series[0].points][:2] == pytest.approx([0.8, 0.2])
    assert draw_plot(bars).svg.count('class="fill-1"') == 4
    some = cell("some", n=60, tags=lambda i: tags(i) | {"task": "3afc"}, benchmark="actpld")
    whole = grid(some, cell(tags=tags, benchmark="actpld"))
    table, _ = open_view("pivot?columns=task&models=sorted").show(whole, draws)
    assert table.value("row:some", "mean") is None
    assert [row.label for row in table.rows][:2] == ["m", "some"]
    twice = grid(*(cell(tags=tags, benchmark="actpld", title=title) for title in "ab"))
    with pytest.raises(UsageError, match="both hold 'all-0' of m; give one of them another condition"):
        open_view("pivot?columns=task").show(twice, draws)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("pivot?columns=task&rows=target&models=sorted", "leave out rows="),
        ("pivot?models=mean", "needs columns"),
        ("pivot?columns=task&rows=a|b", "name one tag"),
        ("pivot?where=a=b", "go with columns="),
        ("pivot?columns=task&where=x", "expected TAG=VALUE"),
        ("pivot?columns=colour&where=set=single", "panel where set=single has the tags colour"),
        ("pivot?rows=colour&columns=model", "has the tags colour"),
    ],
)
def test_bad_options_are_refused(cell, grid, draws, spec, says):
    with pytest.raises(UsageError, match=says):
        open_view(spec).show(grid(cell()), draws)


def test_runs_on_two_files_of_questions_stand_in_tables_of_their_own(cell, grid, draws):
    whole = grid(cell("m", title="one"), cell("m", title="two", tags=lambda i: {"colour": f"c{i % 2}"}))
    tables = open_view("pivot").show(whole, draws)
    assert [table.title for table in tables] == ["one: scores", "two: scores"]
    assert all(shown(table, "row:0", "column:0").value is not None for table in tables)


def test_two_runs_of_a_model_fill_one_row_and_what_none_has_is_missing(cell, grid, draws):
    def part(level, title, **rest):
        dimension = "Spatiality" if level == "perception" else "Behavior"
        tags = {"dimension": dimension, "level": level, "task": f"{level} task"}
        return {"benchmark": "humanpcr", "split": title, "title": title, "tags": lambda _: tags, **rest}

    parts = part("perception", "p"), part("comprehension", "c")
    whole = grid(
        cell("m", right=np.ones(30, bool), **parts[0]),
        cell("m", right=np.zeros(30, bool), **parts[1]),
        cell("n", right=np.ones(30, bool), **parts[0]),
    )
    tables = open_view("pivot").show(whole, draws)
    joined = [{shown(t, "row:0", key).text for key in t.keys} for t in tables]
    assert any({"100.0", "0.0"} <= texts for texts in joined)
    (table,) = (t for t, texts in zip(tables, joined, strict=True) if {"100.0", "0.0"} <= texts)
    assert [row.label for row in table.rows] == ["m", "n", "videos"]
    # the mean over both parts is of no single run
    assert "several runs of the row hold them" in table.note
    empty = [key for key in table.keys if shown(table, "row:1", key).text == DASH]
    assert {shown(table, "row:0", key).text for key in empty} >= {"0.0"}


def test_a_matrix_has_the_values_of_a_tag_by_models_with_chance(cell, grid, draws):
    right = np.arange(40) % 2 == 1
    (table,) = open_view("pivot?rows=task&columns=model").show(
        grid(cell("m", right=right, n=40), cell("n")), draws
    )
    assert [row.label for row in table.rows] == ["count", "order", "all"]
    told = [shown(table, f"value:{v}", "model:0").text for v in ("count", "order", "")]
    assert told == ["0.0", "100.0", "50.0"]
    assert shown(table, "value:order", "chance").text == "25.0"
    drawing = draw_figure(table)
    assert [words for _, words in drawing.legend] == ["m", "n", "chance"]


def test_the_best_budget_stands_apart(cell, grid, draws):
    budgets = [cell("m", str(n), seed=n, frames=n) for n in (32, 64, 128)]
    tables = {table.name: table for table in open_view("pivot").show(grid(*budgets), draws)}
    best = tables["pivot-best"]
    assert [column.title for column in best.columns][:3] == ["32 frames", "64 frames", "128 frames"]
    assert best.value("row:0", "best") == max(best.value("row:0", f"n:{n}").value for n in (32, 64, 128))


def sets(i):
    return {"task": "3afc" if i % 2 else "description", "set": "single" if i < 20 else "social"}


def test_each_model_counts_alike(cell, grid, draws):
    choice = np.arange(40) % 2 == 1
    whole = grid(
        cell("a", right=choice, tags=sets),
        cell("b", right=np.ones(40, bool), tags=sets),
        cell("c", right=np.zeros(40, bool), tags=sets),
    )
    (table,) = open_view("pivot?rows=task&columns=set&models=mean").show(whole, draws)
    assert [column.title for column in table.columns] == ["single", "social"]
    assert shown(table, "row:3afc", "share:0").text == "66.7"
    assert shown(table, "row:description", "share:0").text == "33.3"
    assert shown(table, "row:", "share:1").text == "50.0"


def test_people_and_printed_rows_stand_below_and_in_no_mean(cell, grid, draws):
    people = ModelFacts(people=True)
    whole = grid(
        cell("a", right=np.zeros(40, bool), tags=sets),
        cell("one", right=np.ones(40, bool), tags=sets, about=people),
    )
    (table,) = open_view("pivot?rows=task&columns=set&models=mean&printed=actpld-table4").show(whole, draws)
    assert shown(table, "row:3afc", "share:0").text == "0.0"
    assert shown(table, "people:one:3afc", "share:0").text == "100.0"
    assert table.row("people:one:3afc").detail == "people"
    assert shown(table, "printed:2", "share:1").text == "37.14"
