"""Frame shares of several models, right and wrong answers apart."""

import pytest

from vidence.errors import UsageError
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import shown


def finding(top, *, is_right):
    rest = (1 - top) / 2
    return FrameSharesFinding(
        method="logprobs",
        times_s=(0.0, 1.0, 2.0),
        chosen="A",
        is_right=is_right,
        deltas=(top, rest, rest),
        shares=(top, rest, rest),
        top_share=top,
        entropy=0.5,
    )


def test_models_stand_below_each_other(bare, grid, draws):
    cells = [
        bare(
            [finding(top, is_right=i % 2 == 0) for i in range(12)],
            diagnostic="frame-shares",
            version=1,
            model=name,
        )
        for name, top in (("m", 0.5), ("n", 0.9))
    ]
    table, violins = open_view("shares").show(grid(*cells), draws)
    assert shown(table, "0:all", "top").text == "50.0"
    assert shown(table, "1:all", "top").text == "90.0"
    assert shown(table, "0:all", "even").text == "33.3"
    assert table.row("1:right").label.startswith("n: ")
    assert [group.label for group in violins.groups][:2] == ["m, table, right", "m, table, wrong"]
    assert draw_plot(violins) is not None


def test_nobody_looked(cell, grid, draws):
    with pytest.raises(UsageError, match="frame-shares"):
        open_view("shares").show(grid(cell()), draws)
