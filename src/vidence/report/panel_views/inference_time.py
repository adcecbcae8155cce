"""What more work at test time gains: several samples, refining, hints."""

from typing import Final

from vidence.errors import UsageError
from vidence.report.panel_grid import Grid, PanelView
from vidence.report.panel_views.stacked import found_of, stacked
from vidence.report.scores import Draws
from vidence.tables.charts import Statement

NAMES = ("test-time",)  # a file of that name would be one of tests
SUMMARIES = {"test-time": "What more work at test time gains: several samples, refining, hints."}
DIAGNOSTICS: Final = ("best-of-n", "self-refine", "hints")


class InferenceTime:
    """The headlines of the diagnostics of test time, of all models below each other.

    Source: HumanPCR, tables 4, 6 and 12.
    Departs: intervals and controls are those of the diagnostics.
    """

    name = "test-time"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """A table for each diagnostic that was run; its figures are on the pages of the runs.

        Raises:
            UsageError: none was run on a run of this panel.
        """
        ran = {header.diagnostic for cell in grid.cells for header in cell.headers().values()}
        made = tuple(
            stacked(f"test-time:{name}", found_of(grid, name, draws=draws))
            for name in DIAGNOSTICS
            if name in ran
        )
        if not made:
            raise UsageError(
                f"no run of the panel has findings of {', '.join(DIAGNOSTICS)}; `vidence diagnose` makes them"
            )
        return made


def create(*, name: str) -> PanelView:
    """The view of that name."""
    del name
    return InferenceTime()
