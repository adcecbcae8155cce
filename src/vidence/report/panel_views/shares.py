"""Whether answers rest on one frame, model by model."""

from vidence.errors import UsageError
from vidence.explain.diagnostics.frame_shares import FrameSharesFinding
from vidence.report.panel_grid import Grid, PanelView
from vidence.report.panel_views.stacked import found_of, stacked
from vidence.report.scores import Draws
from vidence.tables.charts import Group, Statement, Violins


class Shares:
    """The findings of ``frame-shares`` of several models: right and wrong answers apart.

    Source: HERBench, section 5.2 and figure 5.
    Departs: the even share, the least that a largest share can be, stands beside it.
    """

    name = "shares"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The headlines of all, and the distributions.

        Raises:
            UsageError: nobody ran the diagnostic on a run of this panel.
        """
        found = found_of(grid, "frame-shares", draws=draws)
        if not found:
            raise UsageError(
                "no run of the panel has findings of frame-shares; `vidence diagnose RUN frame-shares` makes "
                "them"
            )
        groups = []
        for cell, one in found:
            for is_right, words in ((True, "right"), (False, "wrong")):
                tops = tuple(
                    finding.top_share
                    for e in one.examined
                    if isinstance(finding := e.finding, FrameSharesFinding)
                    and finding.top_share is not None
                    and finding.is_right is is_right
                )
                if tops:
                    groups.append(Group(label=f"{cell.label}, {cell.benchmark}, {words}", values=tops))
        violins = Violins(
            name="shares-violins",
            title="Largest share of a frame",
            y_title="top-1 share",
            groups=tuple(groups),
        )
        return stacked("shares", found), *([violins] if groups else [])


def create() -> PanelView:
    """The view."""
    return Shares()
