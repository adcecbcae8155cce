"""Who is on the frontier of accuracy and cost, planted."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.frontier import frontier_shares, on_frontier
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, shown


def plain(x, y):
    n = len(x)
    return [
        not any(x[i] <= x[j] and y[i] >= y[j] and (x[i] < x[j] or y[i] > y[j]) for i in range(n))
        for j in range(n)
    ]


def test_the_frontier_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    for _ in range(50):
        x, y = rng.integers(0, 4, 6).astype(float), rng.integers(0, 4, 6).astype(float)
        assert on_frontier(x, y).tolist() == plain(x, y)


def test_what_is_beaten_is_on_the_frontier_in_no_draw(cell, grid, draws):
    cheap = cell("cheap", right=np.arange(120) % 4 == 0, tokens=10)
    good = cell("good", right=np.arange(120) % 4 != 0, tokens=1000)
    waste = cell("waste", right=np.zeros(120, bool), tokens=5000)
    figure, table = open_view("frontier").show(grid(cheap, good, waste), draws)
    assert [shown(table, f"run:{i}", "on-tokens").text for i in range(3)] == ["100.0", "100.0", "0.0"]
    assert [shown(table, f"run:{i}", "tokens").text for i in range(3)] == ["10.00", "1,000", "5,000"]
    # 1,000 input tokens at 2 and the output at 10 US dollars per million, for 1,000 questions
    assert shown(table, "run:0", "money").text == "2.10"
    assert [dot.kind for dot in figure.dots] == [0, 0, 1]
    drawing = draw_plot(figure)
    assert [words for _, words in drawing.legend] == ["on the frontier", "beaten"]
    assert ">10<" in drawing.svg
    assert ">10,000<" in drawing.svg


def test_what_is_not_known_is_missing_and_never_nothing(cell, grid, draws):
    known, silent = cell("a", tokens=10), cell("b", tokens=None, seed=1)
    figure, table = open_view("frontier").show(grid(known, cell("c", seed=2), silent), draws)
    assert shown(table, "run:2", "tokens").text == DASH
    assert shown(table, "run:2", "on-tokens").text == DASH
    assert shown(table, "run:0", "seconds").text == DASH
    assert "not known: b" in figure.note
    assert len(figure.dots) == 2


def test_two_equals_share_the_frontier():
    rng = np.random.default_rng(3)
    right = (rng.random((300, 2)) < 0.5).astype(float)
    amounts = np.ones((300, 2)) + rng.random((300, 2))
    from vidence.report.scores import Draws

    found = frontier_shares(
        right, amounts, [str(i) for i in range(300)], draws=Draws(rng=np.random.default_rng(0))
    )
    assert found.min() > 0
    assert found.sum() >= 1


def test_runs_on_other_questions_have_no_frontier(cell, grid, draws):
    with pytest.raises(UsageError, match="two runs or more with a score for the same questions"):
        open_view("frontier").show(grid(cell("a"), cell("b", questions="x")), draws)
