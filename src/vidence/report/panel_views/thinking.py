"""Thinking weights less the instruct weights that they were made from, parted from what the prompt does."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.panel_grid import Grid, GridCell, PanelView
from vidence.report.panel_views.cot import asked_alike, of_style
from vidence.report.reasoning import ThinkingPair, thinking_effect
from vidence.report.scores import Draws
from vidence.tables.charts import Statement


class Settings(Record):
    """Options of the view."""

    shared: Annotated[
        bool, Meta(description="compare what two runs share where frames or readers differ, and say so")
    ] = False


class Thinking:
    """Each model with a `base` less that base, each asked directly or step by step; see `thinking_effect`.

    Source: PerceptionComp, section 4.1 and table 2.
    Departs: as `thinking_effect`.
    """

    name = "thinking"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The tables.

        Raises:
            UsageError: no model has a base in the panel, or two runs of one are asked in the same way.
        """
        pairs, done = [], set()
        for cell in grid.scored:
            key = (cell.model, *asked_alike(cell))
            base = _runs(grid, cell.about.base, like=cell)
            if base and key not in done:
                done.add(key)
                pairs.append(_pair(cell, _runs(grid, cell.model, like=cell), base))
        names = Counter(one.family for one in pairs)
        if twice := [name for name, n in names.items() if n > 1]:
            raise UsageError(f"{twice[0]} would stand in two rows; give their runs conditions with names")
        if not pairs:
            raise UsageError(
                "no thinking model of the panel names its instruct model; write base = MODEL beside it"
            )
        return thinking_effect(pairs, draws=draws, shared=self.settings.shared)


def _runs(grid: Grid, model: str, *, like: GridCell) -> list[GridCell]:
    """The runs of a model that are asked as another one, but for the style; none without a name."""
    return [one for one in grid.scored if one.model == model and asked_alike(one) == asked_alike(like)]


def _pair(cell: GridCell, own: Sequence[GridCell], base: Sequence[GridCell]) -> ThinkingPair:
    corners = {
        f"{kind}_{style}": None if (found := of_style(cells, style)) is None else found.run
        for kind, cells in (("instruct", base), ("thinking", own))
        for style in ("direct", "cot")
    }
    plan = cell.run.plan
    frames = f"{cell.benchmark}, {plan.n_frames} frames of {plan.selector}"
    return ThinkingPair(family=f"{cell.about.base}, {cell.model} ({frames})", **corners)


def create(settings: Settings) -> PanelView:
    """The view."""
    return Thinking(settings)
