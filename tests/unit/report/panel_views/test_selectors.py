"""Selectors against a base, of runs and of findings, adjusted over the whole grid."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.selector_gap import GapFinding
from vidence.report.panel_grid import open_view
from vidence.tables.table import DASH, shown


def test_runs_that_differ_in_their_selector(cell, grid, draws):
    order = np.random.default_rng(0).permutation(120)
    cells = [
        cell("m", "uniform", right=order < 30, selector="midpoints"),
        cell("m", "all", right=order < 90, selector="all"),
        cell("n", "uniform", selector="midpoints"),
        cell("n", "first", selector="first", seed=1),
    ]
    scores, apart = open_view("selectors").show(grid(*cells), draws)
    assert [column.title for column in scores.columns] == ["midpoints", "all", "first"]
    assert shown(scores, "row:1", "selector:all").text == DASH
    assert [row.label for row in apart.rows] == ["m: all less midpoints", "n: first less midpoints"]
    assert shown(apart, "pair:0", "difference").text == "+50.0"
    assert shown(apart, "pair:0", "clear").text == "clear"


def test_findings_of_selector_gap(bare, grid, draws):
    def finding(i):
        right = {"plan": i < 30, "evidence-frames": i < 90, "text": i < 10}
        marks = {name: (ReplyScore(value=float(so), kind="answered"),) for name, so in right.items()}
        return GapFinding(
            marks=marks, recall=dict.fromkeys(right), n_frames=dict.fromkeys(right, 4), n_pieces=1
        )

    order = np.random.default_rng(0).permutation(120)
    whole = grid(bare([finding(i) for i in order], diagnostic="selector-gap", version=1))
    scores, apart = open_view("selectors").show(whole, draws)
    assert [column.title for column in scores.columns] == ["midpoints", "evidence"]
    assert shown(apart, "pair:0", "difference").text == "+50.0"
    other = open_view("selectors?base=evidence").show(whole, draws)[1]
    assert shown(other, "pair:0", "difference").text == "-50.0"
    with pytest.raises(UsageError, match="no run has the selector 'aks'; there are midpoints, evidence"):
        open_view("selectors?base=aks").show(whole, draws)


def test_one_selector_is_none(cell, grid, draws):
    with pytest.raises(UsageError, match="differ in their selector"):
        open_view("selectors").show(grid(cell("m", "a"), cell("m", "b")), draws)
