"""What each condition or method adds to its base, question by question."""

from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.panel_grid import Grid, GridCell, PanelView
from vidence.report.panel_views.paired_cells import Lineup, Versus, differences
from vidence.report.scores import Draws
from vidence.tables.charts import Statement


class Settings(Record):
    """Options of the view."""

    against: Annotated[
        str, Meta(description="the condition that others are set against; of a model with a base, its base's")
    ] = ""


class Gain:
    """Each model less the model it was made from, and each condition less a base condition of its model.

    Source: HumanPCR, figure 7 and table 9 (methods less their base model on two benchmarks).
    Departs: paired by question, with intervals and Holm's adjustment over all lines.
    """

    name = "gain"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The differences and their figure.

        Raises:
            UsageError: no run has a base.
        """
        pairs = [(cell, base) for cell in grid.scored if (base := self._base(cell, grid)) is not None]
        if not pairs:
            raise UsageError(
                "no run of the panel has a base; name one: base = MODEL beside a model, or "
                "--as gain?against=CONDITION"
            )
        some = []
        for cell, base in pairs:
            lineup = Lineup.of({"own": cell, "base": base})
            found = None if lineup is None else lineup.versus("own", "base", level=draws.level)
            label = f"{cell.label} less {base.label}"
            if cell.model == base.model:
                label = f"{cell.model}: {cell.condition} less {base.condition}"
            some.append(Versus(label=label, detail=cell.benchmark, found=found))
        return (differences("gain", "What is gained over the base", some, draws=draws, notes=grid.gaps()),)

    def _base(self, cell: GridCell, grid: Grid) -> GridCell | None:
        """The run that this one is set against; None where it has no base."""
        wanted = self.settings.against
        if cell.about.base:
            row = (cell.about.base, cell.condition)
        elif wanted and cell.condition != wanted:
            row = (cell.model, wanted)
        else:
            return None
        plan = cell.run.plan
        return next(
            (
                one
                for one in grid.scored
                if one.row == row and (one.benchmark, one.run.plan.split) == (cell.benchmark, plan.split)
            ),
            None,
        )


def create(settings: Settings) -> PanelView:
    """The view."""
    return Gain(settings)
