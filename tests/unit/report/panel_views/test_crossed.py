"""Models under the values of tags, with numbers of replies, people and printed rows."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.table import shown

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
    (table,) = open_view("crossed?rows=target&where=set=single").show(grid(people, model), draws)
    assert [row.key for row in table.rows] == [
        *("row:m:label", "row:m:intention", "row:one:label", "row:one:intention"),
        *("chance:label", "chance:intention"),
    ]
    assert [column.group for column in table.columns[1::3]] == ["3afc", "description"]
    assert [shown(table, "row:m:label", key).text for key in ("share:0", "n:0", "left:0")] == [
        "0.0",
        "15",
        "0",
    ]
    assert shown(table, "row:one:label", "share:1").text == "100.0"
    assert shown(table, "row:one:label", "label").detail == "people"


def test_printed_rows_stand_below_with_their_numbers(cell, grid, draws):
    model = cell("m", tags=tags, benchmark="actpld")
    view = open_view("crossed?rows=target&where=set=social&printed=actpld-table3")
    (table,) = view.show(grid(model), draws)
    assert shown(table, "printed:6", "label").text == "Gemini 2.5 Pro *1 (as printed)"
    assert [shown(table, "printed:6", key).text for key in ("row", "share:0", "n:0")] == [
        "Label",
        "41.27",
        "63",
    ]
    assert any("Only shares of 63 clips" in note for note in table.footnotes)


def test_models_are_sorted_by_the_mean_of_their_columns(cell, grid, draws):
    cells = [
        cell("low", right=right(choice=0.2, description=0.4), tags=tags, benchmark="actpld"),
        cell("high", right=right(choice=0.8, description=0.6), tags=tags, benchmark="actpld"),
        cell("people", right=right(choice=1.0, description=1.0), tags=tags, benchmark="actpld", about=PEOPLE),
    ]
    (table,) = open_view("crossed?columns=task&mean=true").show(grid(*cells), draws)
    assert [row.label for row in table.rows] == ["high", "low", "people", "mean over 2 models", "chance"]
    assert [shown(table, f"row:{name}", "mean").text for name in ("high", "low")] == ["70.0", "30.0"]
    assert table.estimate("row:high", "mean").n == 120
    # People are in no mean over models.
    assert [shown(table, "models", key).text for key in ("share:0", "share:1", "mean")] == ["50.0"] * 3
    assert table.figure == "matrix"


def test_a_model_without_one_of_the_columns_has_no_mean(cell, grid, draws):
    some = cell("some", n=60, tags=lambda i: tags(i) | {"task": "3afc"}, benchmark="actpld")
    (table,) = open_view("crossed?mean=true").show(grid(some, cell(tags=tags, benchmark="actpld")), draws)
    assert table.value("row:some", "mean") is None
    assert [row.label for row in table.rows][:2] == ["m", "some"]


def test_two_runs_of_one_row_with_one_question_are_refused(cell, grid, draws):
    both = grid(
        cell(tags=tags, benchmark="actpld", title="a"), cell(tags=tags, benchmark="actpld", title="b")
    )
    with pytest.raises(UsageError, match="both hold 'all-0' of m; give one of them another condition"):
        open_view("crossed").show(both, draws)


def test_options_that_say_nothing_are_refused(cell, grid, draws):
    with pytest.raises(UsageError, match="mean=true sorts whole models"):
        open_view("crossed?rows=target&mean=true")
    with pytest.raises(UsageError, match="no question of the panel where set=single has the tags colour"):
        open_view("crossed?columns=colour&where=set=single").show(grid(cell()), draws)
