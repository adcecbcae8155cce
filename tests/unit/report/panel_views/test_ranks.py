"""Orders of models from setting to setting: planted changes of places are named, and luck is not."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import shown


def shares(*, count, order):
    """Right answers by task: of questions of count with one share, of order with the other."""
    return lambda seed: np.array(
        [np.random.default_rng((seed, i)).random() < (order if i % 2 else count) for i in range(120)]
    )


def test_models_that_change_places_between_tasks_are_clear(cell, grid, draws):
    a = cell("a", right=shares(count=0.9, order=0.2)(1))
    b = cell("b", right=shares(count=0.2, order=0.9)(2))
    figure, taus, places = open_view("ranks?by=task").show(grid(a, b), draws)
    assert [one.label for one in figure.series] == ["a", "b"]
    assert [words for _, words in figure.x_labels] == ["count", "order"]
    assert draw_plot(figure).legend[0][1] == "a"
    assert taus.value("setting:count", "setting:order") == -1.0
    assert shown(taus, "setting:count", "setting:order").detail == "draws -1.00 to -1.00"
    assert shown(places, "swap:0", "clear").text == "clear"
    assert places.value("swap:0", "draws") > 0.99
    assert "Of 1 pairs of models in two settings 1 are in opposite orders, 1 of them clearly." in places.note


def test_copies_of_a_model_do_not_clearly_change_places(cell, grid, draws):
    cells = [cell(f"m{k}", name, seed=10 * k + j) for k in range(4) for j, name in enumerate(("few", "many"))]
    _, taus, places = open_view("ranks").show(grid(*cells), draws)
    assert [row.label for row in taus.rows] == ["few", "many"]
    assert {shown(places, row.key, "clear").text for row in places.rows} <= {"not clear"}


def test_benchmarks_are_settings_of_models_that_are_in_all(cell, grid, draws):
    cells = [
        cell("a", right=0.9, title="one"),
        cell("b", right=0.1, seed=1, title="one"),
        cell("a", right=0.1, seed=2, title="two"),
        cell("b", right=0.9, seed=3, title="two"),
        cell("c", right=0.5, seed=4, title="two"),
    ]
    _, taus, places = open_view("ranks?by=benchmark").show(grid(*cells), draws)
    assert taus.value("setting:one, all", "setting:two, all") == -1.0
    assert "Left out, since not in every setting: c." in taus.note
    assert places.rows[0].detail == "one, all, two, all"


def test_a_condition_on_other_questions_is_left_out_and_said(cell, grid, draws):
    cells = [
        cell(name, condition, seed=i, questions=questions)
        for i, (name, condition, questions) in enumerate(
            [
                *(("a", c, "all") for c in ("x", "y", "z")),
                *(("b", c, "other" if c == "z" else "all") for c in ("x", "y", "z")),
            ]
        )
    ]
    _, taus, _ = open_view("ranks").show(grid(*cells), draws)
    assert [row.label for row in taus.rows] == ["x", "y"]
    assert "z is left out: its runs are not on the same questions." in taus.note


@pytest.mark.parametrize(
    ("by", "says"),
    [("condition", "no two conditions"), ("benchmark", "benchmarks"), ("hue", "values of 'hue'")],
)
def test_one_setting_is_none(cell, grid, draws, by, says):
    with pytest.raises(UsageError, match=says):
        open_view(f"ranks?by={by}").show(grid(cell("a"), cell("b", seed=1)), draws)
