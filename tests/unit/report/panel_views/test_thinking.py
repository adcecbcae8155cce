"""Thinking models less the instruct models that they are made from."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.table import Table, shown

HALF = np.arange(120) % 2 == 0
MORE = HALF | (np.arange(120) % 4 == 1)


def differences(statements):
    """The differences of the first table."""
    table = next(one for one in statements if isinstance(one, Table))
    return [shown(table, row.key, "difference").text for row in table.rows]


def test_the_papers_diagonal_is_said_to_be_confounded(cell, grid, draws):
    own = ModelFacts(base="instruct")
    cells = [
        cell("instruct", "direct", right=HALF, style="direct"),
        cell("thinking", "cot", right=MORE, style="cot", about=own),
    ]
    found = open_view("thinking").show(grid(*cells), draws)
    assert differences(found) == ["+25.0"]
    assert "confounded with the prompt" in " ".join(map(str, found))


def test_with_all_four_runs_weights_and_prompt_are_parted(cell, grid, draws):
    own = ModelFacts(base="instruct")
    cells = [
        cell("instruct", "direct", right=HALF, style="direct"),
        cell("instruct", "cot", right=MORE, style="cot"),
        cell("thinking", "direct", right=HALF, style="direct", about=own),
        cell("thinking", "cot", right=MORE, style="cot", about=own),
    ]
    found = open_view("thinking").show(grid(*cells), draws)
    assert differences(found) == ["0.0", "0.0", "+25.0", "+25.0", "+25.0"]


def test_without_a_base_it_says_what_to_name(cell, grid, draws):
    with pytest.raises(UsageError, match="base = MODEL"):
        open_view("thinking").show(grid(cell("m", style="cot")), draws)
