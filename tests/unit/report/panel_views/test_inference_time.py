"""The view of diagnostics of test time, which says what to run where there is none."""

import pytest

from vidence import catalog
from vidence.errors import UsageError
from vidence.report.panel_grid import open_view
from vidence.report.panel_views import inference_time


def test_without_findings_it_names_the_diagnostics(cell, grid, draws):
    with pytest.raises(UsageError, match="best-of-n, self-refine, hints"):
        open_view("test-time").show(grid(cell()), draws)


def test_each_diagnostic_that_was_run_has_a_table(bare, grid, draws, monkeypatch):
    from vidence.explain.diagnostics.mrfs import MrfsFinding

    monkeypatch.setattr(inference_time, "DIAGNOSTICS", ("best-of-n", "mrfs"))
    finding = MrfsFinding(category="undefined", right={0: False, 4: False}, n_delivered=4)
    cells = [
        bare([finding] * 3, diagnostic="mrfs", version=2, options={"max": "4"}, model=name)
        for name in ("m", "n")
    ]
    (table,) = open_view("test-time").show(grid(*cells), draws)
    assert table.name == "test-time:mrfs"
    assert [row.label for row in table.rows] == ["m: all questions", "n: all questions"]
    assert catalog.summary("view", "test-time").startswith("What more work")
