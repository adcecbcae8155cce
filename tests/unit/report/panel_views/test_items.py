"""One question, all models."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.table import shown


def test_every_model_has_a_row(cell, grid, draws):
    whole = grid(cell("m", right=np.ones(3, bool)), cell("n", right=np.zeros(3, bool)))
    (table,) = open_view("items:all-1").show(whole, draws)
    assert [row.label for row in table.rows] == ["m", "n"]
    assert [shown(table, f"trial:{i}", "answer").text for i in (0, 1)] == ["A", "B"]
    assert [shown(table, f"trial:{i}", "status").text for i in (0, 1)] == ["right", "wrong"]
    assert "A. red B. green" in table.note
    with pytest.raises(UsageError, match="was asked the question 'x'"):
        open_view("items:x").show(whole, draws)
