"""Tasks that say the same of models, and no claim from few of them."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.tables.table import shown

TASKS = ("first", "twin", "other", "fourth")


def tags(i):
    return {"task": TASKS[i % 4]}


def models(cell, n_models, n=800):
    """Each model has one profile for the first two tasks and others for the rest."""
    rng = np.random.default_rng(7)
    made = []
    for k in range(n_models):
        a, b, c = rng.uniform(0.1, 0.9, 3)
        share = np.tile([a, a, b, c], n // 4)
        made.append(cell(f"m{k}", right=rng.random(n) < share, n=n, tags=tags))
    return made


def test_twins_are_not_told_from_the_same_and_others_are_apart(cell, grid, draws):
    pairs, parts = open_view("redundancy").show(grid(*models(cell, 10)), draws)
    assert pairs.rows[0].label in {"first, twin", "twin, first"}
    assert shown(pairs, "pair:0", "verdict").text == "not told from the same"
    assert {shown(pairs, f"pair:{i}", "verdict").text for i in range(1, 6)} == {"apart"}
    assert all(parts.value(f"part:{task}", "reliability") > 0.8 for task in TASKS)
    assert "gives -0.33 for parts that have nothing in common" in pairs.note


def test_nothing_is_claimed_of_few_models(cell, grid, draws):
    pairs, _ = open_view("redundancy").show(grid(*models(cell, 5)), draws)
    assert {shown(pairs, row.key, "verdict").text for row in pairs.rows} == {"too few models"}
    assert "5 models: a verdict needs 8" in pairs.note


def test_two_parts_or_two_models_are_refused(cell, grid, draws):
    with pytest.raises(UsageError, match="no benchmark of the panel has three values of 'task'"):
        open_view("redundancy").show(grid(cell("a"), cell("b", seed=1), cell("c", seed=2)), draws)
