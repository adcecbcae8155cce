"""Words alone, one frame, all frames: ratios, also beyond guessing."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.explain.diagnostics.conditions import ReplyScore
from vidence.explain.diagnostics.modality import CONDITIONS, ModalityFinding
from vidence.report.panel_grid import open_view
from vidence.tables.plots import draw_plot
from vidence.tables.table import shown


def finding(**right):
    marks = {name: (ReplyScore(value=float(right.get(name, 0)), kind="answered"),) for name in CONDITIONS}
    return ModalityFinding(
        marks=marks, n_frames=8, solved={name: bool(right.get(name)) for name in CONDITIONS}
    )


def test_the_ratio_beyond_guessing_takes_chance_from_both_sides(bare, grid, draws):
    # 70 % with all frames, 40 % with words alone, 25 % by guessing: (0.40 - 0.25) / (0.70 - 0.25) is a third
    at = np.random.default_rng(0).permutation(120)
    findings = [finding(full=k < 84, text=k < 48, central=k < 60) for k in at]
    cell = bare(findings, diagnostic="modality", version=1)
    table, bars = open_view("modality").show(grid(cell), draws)
    assert [shown(table, "line:0", key).text for key in ("text", "central", "full")] == [
        "40.0",
        "50.0",
        "70.0",
    ]
    assert table.value("line:0", "text-ratio").value == pytest.approx(4 / 7)
    assert table.value("line:0", "text-beyond").value == pytest.approx(1 / 3)
    assert draw_plot(bars).svg.count("<rect") == 3


def test_nobody_looked(cell, grid, draws):
    with pytest.raises(UsageError, match="diagnose RUN modality"):
        open_view("modality").show(grid(cell()), draws)
