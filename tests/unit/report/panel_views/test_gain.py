"""Conditions and methods against their bases; in a panel of copies of one model nothing is found."""

import numpy as np
import pytest

from vidence.engine.panel import ModelFacts
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.tables.table import DASH, shown


def test_a_condition_is_set_against_another_question_by_question(cell, grid, draws):
    half = np.arange(120) % 2 == 0
    more = half | (np.arange(120) % 8 == 1)
    (table,) = open_view("gain?against=direct").show(
        grid(cell("m", "direct", right=half), cell("m", "cot", right=more)), draws
    )
    assert table.rows[0].label == "m: cot less direct"
    assert shown(table, "pair:0", "difference").text == "+12.5"
    assert shown(table, "pair:0", "clear").text == "clear"


def test_a_method_is_set_against_the_model_it_was_made_from(cell, grid, draws):
    own = ModelFacts(base="m")
    (table,) = open_view("gain").show(
        grid(cell("m", right=0.2), cell("method", right=0.8, about=own, seed=1)), draws
    )
    assert table.rows[0].label == "method less m"


def test_other_questions_give_no_difference_and_say_so(cell, grid, draws):
    (table,) = open_view("gain?against=a").show(grid(cell("m", "a"), cell("m", "b", n=60)), draws)
    assert shown(table, "pair:0", "difference").text == DASH
    assert "not about the same questions" in table.note


def test_a_condition_that_only_some_models_have_is_named(cell, grid, draws):
    cells = [cell("m", "a"), cell("m", "b"), cell("n", "a")]
    (table,) = open_view("gain?against=a").show(grid(*cells), draws)
    assert "The condition 'b' is there for m alone, of 2 models." in table.note


def test_without_a_base_it_says_what_to_name(cell, grid, draws):
    with pytest.raises(UsageError, match="gain\\?against=CONDITION"):
        open_view("gain").show(grid(cell()), draws)


def test_in_panels_of_copies_of_one_model_no_cell_is_clear_in_95_per_cent(cell, draws):
    items = cell(n=60, right=0.5).run.rows
    rng = np.random.default_rng(1)
    n_panels, n_wrong = 200, 0
    for _ in range(n_panels):
        chances = np.repeat(rng.beta(1, 1, 20), 3)  # questions of one video are alike
        values = {f"copy {k}": (rng.random(60) < chances).astype(float) for k in range(5)}
        lineup = Lineup(items=tuple(row.item for row in items), values=values)
        some = [
            Versus(label=name, detail="", found=lineup.versus(name, "copy 0", level=0.95))
            for name in values
            if name != "copy 0"
        ]
        table = differences("t", "t", some, draws=draws)
        n_wrong += any(table.value(row.key, "clear") == 1 for row in table.rows)
    assert n_wrong <= 17  # 5 % of 200 are 10, and 17 lie below the 99 % quantile of the binomial
