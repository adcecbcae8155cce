"""Means over models, each alike."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.model_means import over_models
from vidence.tables.table import shown


def tags(i):
    return {"task": "3afc" if i % 2 else "description", "set": "single" if i < 20 else "social"}


def test_each_model_counts_alike(cell, grid, draws):
    choice = np.arange(40) % 2 == 1
    whole = grid(
        cell("a", right=choice, tags=tags),
        cell("b", right=np.ones(40, bool), tags=tags),
        cell("c", right=np.zeros(40, bool), tags=tags),
    )
    (table,) = open_view("model-means").show(whole, draws)
    assert [column.title for column in table.columns] == ["single", "social"]
    assert shown(table, "row:3afc", "column:single").text == "66.7"
    assert shown(table, "row:description", "column:single").text == "33.3"
    assert shown(table, "row:", "column:social").text == "50.0"


def test_the_interval_is_students_over_models():
    found = over_models([0.2, 0.4, 0.6], level=0.95)
    assert (found.low, found.high) == (0.0, pytest.approx(0.4 + 4.302653 * 0.2 / 3**0.5))
    assert over_models([0.2, 0.4], level=0.95).reason == "too few models (2)"
    assert over_models([], level=0.95) is None


def test_without_the_tags_it_says_so(cell, grid, draws):
    with pytest.raises(UsageError, match="rows=TAG&columns=TAG"):
        open_view("model-means").show(grid(cell()), draws)


def test_people_and_printed_rows_stand_below_and_in_no_mean(cell, grid, draws):
    people = ModelFacts(people=True)
    whole = grid(
        cell("a", right=np.zeros(40, bool), tags=tags),
        cell("one", right=np.ones(40, bool), tags=tags, about=people),
    )
    (table,) = open_view("model-means?printed=actpld-table4").show(whole, draws)
    assert shown(table, "row:3afc", "column:single").text == "0.0"
    assert shown(table, "people:one:3afc", "column:single").text == "100.0"
    assert table.row("people:one:3afc").detail == "people"
    assert shown(table, "printed:2", "column:social").text == "37.14"
