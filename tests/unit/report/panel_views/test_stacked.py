"""Tables of one diagnostic below each other: what a run lacks is missing, never nothing."""

from dataclasses import replace

from vidence.report.panel_views.stacked import found_of, stacked
from vidence.tables.table import DASH, Column, Row, Table, shown


def table(*keys):
    columns = tuple(Column(key=key, title=key) for key in keys)
    return Table(
        name="t",
        title="t",
        label="",
        columns=columns,
        rows=(Row(key="all", label="all", values=(1,) * len(keys)),),
    )


def test_all_columns_of_any_run_stand_there(bare, grid, draws):
    from vidence.explain.diagnostics.mrfs import MrfsFinding

    finding = MrfsFinding(category="undefined", right={0: False, 4: False}, n_delivered=4)
    whole = grid(bare([finding], diagnostic="mrfs", version=2, options={"max": "4"}))
    ((cell, one),) = found_of(whole, "mrfs", draws=draws)
    found = [(cell, replace(one, statements=(table(*keys),))) for keys in (("a", "b"), ("b", "c"))]
    made = stacked("s", found)
    assert made.keys == ("a", "b", "c")
    assert shown(made, "1:all", "a").text == DASH
    assert shown(made, "1:all", "c").text == "1"
    assert made.rows[0].detail == "table, max 4"
