"""What reasoning first adds to each model: step by step less direct, question by question."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.panel_grid import Grid, GridCell, PanelView
from vidence.report.reasoning import FAMILY, MEMBER, ReasoningPair, reasoning_effect
from vidence.report.scores import Draws
from vidence.tables.charts import Statement


class Settings(Record):
    """Options of the view."""

    family: Annotated[
        str, Meta(description="a tag whose values hold several of member, such as dimensions of tasks")
    ] = FAMILY
    member: Annotated[str, Meta(description="the tag of those parts")] = MEMBER
    shared: Annotated[
        bool, Meta(description="compare what two runs share where frames or readers differ, and say so")
    ] = False


class Cot:
    """Each model asked step by step less the same model asked for the answer; see `reasoning_effect`.

    Source: HumanPCR, figure 9; MMVU, figures 4 and 16.
    Departs: as `reasoning_effect`.
    """

    name = "cot"

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The tables and the figure.

        Raises:
            UsageError: no model was asked in both ways, with the same frames, or two of its runs are
                asked in the same way.
        """
        settings = self.settings
        pairs = _pairs(grid)
        if not pairs:
            raise UsageError(
                "no model of the panel has a run with style = 'direct' and one with style = 'cot' that are "
                "asked alike otherwise; name both as conditions"
            )
        return reasoning_effect(
            pairs, draws=draws, shared=settings.shared, family=settings.family, member=settings.member
        )


def asked_alike(cell: GridCell) -> tuple[object, ...]:
    """What runs share that differ in their style and model alone: benchmark, split, frames, strategy."""
    plan = cell.run.plan
    return cell.benchmark, plan.split, plan.selector, plan.n_frames, plan.strategy


def of_style(cells: Sequence[GridCell], style: str) -> GridCell | None:
    """The only run in a style; None where there is none.

    Raises:
        UsageError: there are several.
    """
    found = [cell for cell in cells if cell.run.plan.style == style]
    if len(found) > 1:
        named = " and ".join(repr(cell.label) for cell in found)
        raise UsageError(f"{named} are both asked with style = {style!r}; leave one out of the panel")
    return found[0] if found else None


def _pairs(grid: Grid) -> list[ReasoningPair]:
    """The models that were asked in both ways; one asked so several times is named with its conditions."""
    found: dict[tuple[object, ...], list[GridCell]] = {}
    for cell in grid.scored:
        found.setdefault((cell.model, *asked_alike(cell)), []).append(cell)
    both = [
        (direct, cot)
        for cells in found.values()
        if (direct := of_style(cells, "direct")) is not None
        if (cot := of_style(cells, "cot")) is not None
    ]
    n_of = Counter(direct.model for direct, _ in both)
    return [
        ReasoningPair(
            model=direct.model if n_of[direct.model] == 1 else f"{direct.label}, {direct.benchmark}",
            direct=direct.run,
            cot=cot.run,
        )
        for direct, cot in both
    ]


def create(settings: Settings) -> PanelView:
    """The view."""
    return Cot(settings)
