"""Step by step less direct, for the models of a panel that were asked in both ways."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.table import Table, shown


def both(cell, model, *, gain, **more):
    """A model's two runs: of the questions that are wrong directly, each `gain`-th is right step by step."""
    direct = np.arange(120) % 2 == 0
    cot = direct | (np.arange(120) % gain == 1)
    return (
        cell(model, "direct", right=direct, style="direct", **more),
        cell(model, "cot", right=cot, style="cot", **more),
    )


def test_each_model_is_set_against_itself(cell, grid, draws):
    cells = [*both(cell, "m", gain=4), *both(cell, "n", gain=8)]
    models, *_ = (one for one in open_view("cot").show(grid(*cells), draws) if isinstance(one, Table))
    assert [row.label for row in models.rows] == ["m", "n"]
    assert [shown(models, row.key, "difference").text for row in models.rows] == ["+25.0", "+12.5"]


def test_who_was_asked_in_one_way_only_is_left_out(cell, grid, draws):
    cells = [*both(cell, "m", gain=4), cell("n", "direct", style="direct")]
    models, *_ = (one for one in open_view("cot").show(grid(*cells), draws) if isinstance(one, Table))
    assert [row.label for row in models.rows] == ["m"]


def test_two_benchmarks_of_a_model_are_told_apart(cell, grid, draws):
    cells = [*both(cell, "m", gain=4), *both(cell, "m", gain=4, title="other", questions="o")]
    models, *_ = (one for one in open_view("cot").show(grid(*cells), draws) if isinstance(one, Table))
    assert len({row.label for row in models.rows}) == 2


def test_nobody_asked_in_both_ways(cell, grid, draws):
    with pytest.raises(UsageError, match="style = 'cot'"):
        open_view("cot").show(grid(cell("m", style="direct")), draws)


def test_two_runs_asked_alike(cell, grid, draws):
    cells = [*both(cell, "m", gain=4), cell("m", "again", style="cot")]
    with pytest.raises(UsageError, match="'m, cot' and 'm, again' are both asked with style = 'cot'"):
        open_view("cot").show(grid(*cells), draws)
