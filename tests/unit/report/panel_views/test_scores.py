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


def test_runs_on_two_files_of_questions_stand_in_tables_of_their_own(cell, grid, draws):
    whole = grid(cell("m", title="one"), cell("m", title="two", tags=lambda i: {"colour": f"c{i % 2}"}))
    *tables, _ = open_view("scores").show(whole, draws)
    assert [table.title for table in tables] == ["one: scores", "two: scores"]
    assert all(shown(table, "row:0", "column:0").value is not None for table in tables)


def test_two_runs_of_a_model_fill_one_row_and_what_none_has_is_missing(cell, grid, draws):
    def part(level, title, **rest):
        dimension = "Spatiality" if level == "perception" else "Behavior"
        tags = {"dimension": dimension, "level": level, "task": f"{level} task"}
        return {"benchmark": "humanpcr", "split": title, "title": title, "tags": lambda _: tags, **rest}

    parts = part("perception", "p"), part("comprehension", "c")
    whole = grid(
        cell("m", right=np.ones(30, bool), **parts[0]),
        cell("m", right=np.zeros(30, bool), **parts[1]),
        cell("n", right=np.ones(30, bool), **parts[0]),
    )
    *tables, bars = open_view("scores").show(whole, draws)
    joined = [{shown(t, "row:0", key).text for key in t.keys} for t in tables]
    assert any({"100.0", "0.0"} <= texts for texts in joined)
    (table,) = (t for t, texts in zip(tables, joined, strict=True) if {"100.0", "0.0"} <= texts)
    assert [row.label for row in table.rows] == ["m", "n"]
    # the mean over both parts is of no single run
    assert "several runs of the row hold them" in table.note
    empty = [key for key in table.keys if shown(table, "row:1", key).text == DASH]
    assert {shown(table, "row:0", key).text for key in empty} >= {"0.0"}
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
