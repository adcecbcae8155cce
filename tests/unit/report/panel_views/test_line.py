"""Budgets and sizes: neighbours in pairs, and trends that are planted."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.records import Sampling
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, shown


@pytest.fixture
def rising(cell):
    """8, 16 and 32 frames, of which each doubling makes a sixth of the questions right."""
    order = np.random.default_rng(0).permutation(120)
    return [cell("m", f"{n}", right=order < 20 * k, frames=n) for n, k in ((8, 1), (16, 2), (32, 3))]


def test_a_planted_trend_is_recovered(rising, grid, draws):
    curve, neighbours, trend = open_view("line").show(grid(*rising), draws)
    assert [point.x for point in curve.series[0].points] == [8, 16, 32]
    assert curve.is_log
    assert draw_plot(curve).svg.count("<path") == 3
    assert [row.label for row in neighbours.rows] == ["m: 16 less 8 frames", "m: 32 less 16 frames"]
    assert shown(trend, "curve:0", "slope").text == "+16.7"


def test_no_trend_where_all_budgets_are_alike(cell, grid, draws):
    flat = [cell("m", str(n), seed=n, frames=n) for n in (8, 16, 32)]
    _, neighbours, trend = open_view("line").show(grid(*flat), draws)
    assert trend.value("curve:0", "p_holm") > 0.05
    assert {shown(neighbours, row.key, "clear").text for row in neighbours.rows} == {"not clear"}


def test_curves_by_pieces_of_evidence(cell, grid, draws):
    tags = lambda i: {"n_evidence": str(2 + i % 6)}  # noqa: E731
    runs = [cell("m", str(n), seed=n, frames=n, tags=tags) for n in (8, 16)]
    *figures, neighbours, _ = open_view("line?by=evidence").show(grid(*runs), draws)
    parts = ["table", *(f"table, {n} pieces" for n in ("2-3", "4-5", "6+"))]
    assert [one.title.partition(":")[0] for one in figures] == parts
    assert neighbours.rows[1].label == "m, 2-3 pieces: 16 less 8 frames"


def test_one_budget_is_none_and_limits_of_replies_are_budgets(cell, grid, draws):
    with pytest.raises(UsageError, match="size_b"):
        open_view("line?over=size").show(grid(cell()), draws)
    runs = [cell("m", str(n), seed=n, sampling=Sampling(max_tokens=n)) for n in (64, 128)]
    curve, *_ = open_view("line?over=max_tokens").show(grid(*runs), draws)
    assert [point.x for point in curve.series[0].points] == [64, 128]
    with pytest.raises(UsageError, match="differ in frames"):
        open_view("line").show(grid(cell("m", "a"), cell("m", "b")), draws)


def test_budgets_of_thinking_are_options_of_the_model(cell, grid, draws):
    order = np.random.default_rng(0).permutation(120)
    spec = "gemini:g?thinking_budget={}".format
    runs = [
        cell("g", str(n), right=order < 30 * k, model_spec=spec(n))
        for k, n in enumerate((1024, 2048, 4096), 1)
    ]
    other = cell("h", "", model_spec="gemini:h")  # says nothing of thinking, and has no place on the axis
    curve, neighbours, trend = open_view("line?over=thinking_budget").show(grid(*runs, other), draws)
    told = [(point.x, point.y.value) for point in curve.series[0].points]
    assert told == [(1024, 0.25), (2048, 0.5), (4096, 0.75)]
    assert curve.x_title == "thinking_budget"
    assert neighbours.rows[0].label == "g: 2048 less 1024 thinking_budget"
    assert shown(trend, "curve:0", "slope").text == "+25.0"
    with pytest.raises(UsageError, match=r"options = \{ effort = N \}"):
        open_view("line?over=effort").show(grid(*runs), draws)


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
    chart, slopes = open_view("line?over=size").show(whole, draws)
    assert [one.label for one in chart.series] == ["a", "b", "no family"]
    assert shown(slopes, "curve:0", "slope").text == "+16.7"
    assert shown(slopes, "curve:1", "slope").text == DASH
    assert [row.label for row in slopes.rows] == ["a", "b"]
    assert draw_plot(chart) is not None
