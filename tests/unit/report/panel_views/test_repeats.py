"""Repeats of several models below each other, as table 11 of HumanPCR has them."""

import msgspec
import pytest

from vidence.errors import UsageError
from vidence.records import Answered
from vidence.report.panel_grid import GridCell, open_view
from vidence.report.results import load_run
from vidence.tables.table import shown


@pytest.fixture
def repeated(runs):
    def make(model, marks):
        items = [
            runs.question(f"q{i}", f"v{i}", "A", tags={"level": "low" if i < 2 else "high", "hue": str(i)})
            for i in range(len(marks))
        ]
        trials = [
            msgspec.structs.replace(runs.marked(item, Answered(answer="A" if mark else "B")), repeat=k)
            for item, row in zip(items, marks, strict=True)
            for k, mark in enumerate(row)
        ]
        folder = runs.write(model, items=items, trials=trials, repeats=3)
        return GridCell(benchmark="table", model=model, condition="", run=load_run(folder))

    return make


def test_means_variances_and_deviations_by_model_and_level(repeated, grid, draws):
    a = repeated("a", [(1, 1, 1), (1, 1, 0), (0, 1, 0), (0, 0, 0)])  # .5, .75, .25 of 4 questions
    b = repeated("b", [(1, 1, 1)] * 4)
    means, variances, deviations = open_view("repeats").show(grid(a, b), draws)
    headline = means.columns[0].key
    assert [row.label for row in means.rows] == ["a", "b"]
    assert shown(means, "model:a", headline).text == "50.0"
    assert shown(variances, "model:a", headline).text == "625.00"
    assert shown(deviations, "model:a", headline).text == "25.00"
    assert {column.key for column in means.columns if ":" in column.key} == {"level:low", "level:high"}
    assert shown(variances, "model:b", "level:low").text == "0.00"


def test_a_panel_without_repeats(cell, grid, draws):
    with pytest.raises(UsageError, match="repeats = 3"):
        open_view("repeats").show(grid(cell()), draws)
