"""Demand across benchmarks: beside its guess line, and refused where it was found in other ways."""

import pytest

from vidence.errors import UsageError
from vidence.explain.diagnostics.mrfs import MrfsFinding
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import DASH, shown


def needs(n):
    right = {0: False} | {k: k >= n for k in range(1, 5)}
    letters = {k: "A" if so else "BCD"[k % 3] for k, so in right.items()}
    return MrfsFinding(
        category="visual-required", right=right, letters=letters, mrfs=n, asked=(0, 4), n_delivered=4
    )


@pytest.fixture
def found(bare):
    def make(n, **rest):
        options = {"max": "4", "mode": "exhaustive", **rest.pop("options", {})}
        return bare([needs(n)] * 30, diagnostic="mrfs", version=2, options=options, **rest)

    return make


def test_folders_without_trials_stand_beside_each_other(found, grid, draws):
    whole = grid(found(1, title="one"), found(4, title="four"))
    assert not whole.scored
    table, scatter = open_view("mrfs").show(whole, draws)
    assert [row.label for row in table.rows] == ["one", "four"]
    assert [shown(table, f"run:{i}", "mean").text for i in (0, 1)] == ["1.00", "4.00"]
    assert all(shown(table, f"run:{i}", "line").value is not None for i in (0, 1))
    assert {dot.kind for dot in scatter.dots} == {0, 1}
    assert draw_plot(scatter).legend[1][1] == "guess line"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"options": {"max": "8"}}, "differ in x"),
        ({"options": {"selector": "aks:other"}}, "differ in ranking"),
        ({"spec": "scripted:other"}, "differ in model"),
    ],
)
def test_what_was_found_in_another_way_is_refused(found, grid, draws, other, says):
    with pytest.raises(UsageError, match=says):
        open_view("mrfs").show(grid(found(2, title="one"), found(2, title="two", **other)), draws)


def test_nobody_looked(cell, grid, draws):
    with pytest.raises(UsageError, match="diagnose RUN mrfs"):
        open_view("mrfs").show(grid(cell()), draws)


def test_a_row_for_each_value_of_a_tag_and_two_means_over_all(runs, bare, grid, draws):
    tags = ["order"] * 20 + ["count"] * 10
    items = [runs.question(f"q{i}", f"v{i}", "A", tags={"task": tag}) for i, tag in enumerate(tags)]
    findings = [needs(4 if tag == "order" else 1) for tag in tags]
    some = bare(
        findings, diagnostic="mrfs", version=2, options={"max": "4", "mode": "exhaustive"}, items=items
    )
    table, scatter = open_view("mrfs?by=task").show(grid(some), draws)
    assert [(row.label, shown(table, row.key, "n").text) for row in table.rows] == [
        ("count", "10"),
        ("order", "20"),
        ("all", "30"),
        ("weighted", DASH),
    ]
    assert [shown(table, row.key, "mean").text for row in table.rows] == ["1.00", "4.00", "3.00", "3.00"]
    assert [dot.label for dot in scatter.dots] == ["count", "order", "all"]
    with pytest.raises(UsageError, match="parted by 'family'"):
        open_view("mrfs?by=family").show(grid(some), draws)
