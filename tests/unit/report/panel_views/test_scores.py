"""One row for each model, from all its runs; matrices by a tag; the best of several budgets."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.records import Item
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.paired_cells import Lineup
from vidence.report.panel_views.scores import optimism
from vidence.tables.figures import draw_figure
from vidence.tables.table import DASH, shown


def where(n):
    return lambda i: {"level": n}


def test_two_runs_of_a_model_fill_one_row_and_what_none_has_is_missing(cell, grid, draws):
    parts = {"split": "p", "tags": where("perception")}, {"split": "r", "tags": where("reasoning")}
    whole = grid(
        cell("m", right=np.ones(30, bool), **parts[0]),
        cell("m", right=np.zeros(30, bool), **parts[1]),
        cell("n", right=np.ones(30, bool), **parts[0]),
    )
    table, bars = open_view("scores").show(whole, draws)
    titles = [column.title for column in table.columns]
    assert [row.label for row in table.rows] == ["m", "n"]
    at = {title: f"column:{i}" for i, title in enumerate(titles)}
    assert shown(table, "row:0", at["perception"]).text == "100.0"
    assert shown(table, "row:0", at["reasoning"]).text == "0.0"
    assert shown(table, "row:1", at["reasoning"]).text == DASH
    assert len(bars.rows) == 3
    assert draw_figure(bars) is not None


def test_a_matrix_has_the_values_of_a_tag_by_models_with_chance(cell, grid, draws):
    right = np.arange(40) % 2 == 1
    (table,) = open_view("scores?by=task").show(grid(cell("m", right=right, n=40), cell("n")), draws)
    assert [row.label for row in table.rows] == ["count", "order", "all"]
    assert [shown(table, f"value:{v}", "model:0").text for v in ("count", "order", "")] == [
        "0.0",
        "100.0",
        "50.0",
    ]
    assert shown(table, "value:order", "chance").text == "25.0"
    drawing = draw_figure(table)
    assert drawing is not None
    assert [words for _, words in drawing.legend] == ["m", "n", "chance"]


def test_a_matrix_of_some_questions(cell, grid, draws):
    tags = lambda i: {"set": "single" if i < 10 else "social", "label": f"l{i % 4}"}  # noqa: E731
    (table,) = open_view("scores?by=label&where=set=single").show(grid(cell(tags=tags, n=40)), draws)
    assert shown(table, "value:", "model:0").estimate.n == 10


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("scores?by=colour", "no question of the panel has the tag 'colour'"),
        ("scores?where=a=b", "say by=TAG"),
        ("scores?by=task&where=x", "expected TAG=VALUE"),
    ],
)
def test_bad_options_are_refused(cell, grid, draws, spec, says):
    with pytest.raises(UsageError, match=says):
        open_view(spec).show(grid(cell()), draws)


def test_the_best_budget_stands_apart_with_what_choosing_adds(cell, grid, draws):
    budgets = [cell("m", str(n), seed=n, n_frames=n) for n in (32, 64, 128)]
    tables = {table.name: table for table in open_view("scores").show(grid(*budgets), draws)}
    best = tables["scores-best"]
    assert [column.title for column in best.columns][:3] == ["32 frames", "64 frames", "128 frames"]
    assert best.value("row:0", "best") == max(best.value("row:0", f"n:{n}").value for n in (32, 64, 128))
    assert best.value("row:0", "inflation") > 0


def test_choosing_among_equal_budgets_adds_what_is_planted(draws):
    n, k = 400, 3
    items = tuple(
        Item(item_id=f"q{i}", question="?", answer="A", choices=("x", "y"), media=()) for i in range(n)
    )
    rng, gained, said = np.random.default_rng(5), [], []
    for _ in range(40):
        values = {str(j): (rng.random(n) < 0.5).astype(float) for j in range(k)}
        gained.append(max(v.mean() for v in values.values()) - 0.5)
        said.append(optimism(Lineup(items=items, values=values), draws=draws))
    # The bootstrap knows which was best here, so that it says less than the truth; never the opposite sign.
    assert 0.4 * np.mean(gained) < np.mean(said) < 1.6 * np.mean(gained)
