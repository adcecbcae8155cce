"""Accuracy and size: ranks over all, slopes within a family only."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, shown


def test_a_planted_slope_is_recovered_within_its_family(cell, grid, draws):
    order = np.random.default_rng(0).permutation(120)

    def sized(name, size, n_right, family):
        about = ModelFacts(family=family, size_b=size)
        return cell(name, right=order < n_right, about=about)

    whole = grid(
        sized("a-2", 2.0, 20, "a"),
        sized("a-4", 4.0, 40, "a"),
        sized("a-8", 8.0, 60, "a"),
        sized("b-8", 8.0, 90, "b"),
        sized("c", 30.0, 100, ""),
    )
    chart, slopes = open_view("size").show(whole, draws)
    assert [one.label for one in chart.series] == ["a", "b", "no family"]
    assert "Spearman's rho over 5 runs" in chart.note
    assert shown(slopes, "a", "slope").text == "+16.7"
    assert shown(slopes, "b", "slope").text == DASH
    assert [row.key for row in slopes.rows] == ["a", "b"]
    assert draw_plot(chart) is not None


def test_without_sizes_it_says_what_to_give(cell, grid, draws):
    with pytest.raises(UsageError, match="size_b"):
        open_view("size").show(grid(cell()), draws)
