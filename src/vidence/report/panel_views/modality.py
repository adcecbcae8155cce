"""What of the video the score needs, benchmark by benchmark: words, one frame, all frames."""

from collections.abc import Callable
from dataclasses import dataclass

from vidence.errors import UsageError
from vidence.explain.diagnostics.modality import CENTRAL, FULL, ModalityFinding
from vidence.explain.diagnostics.tables import Figures, SideBySide, guesses, side_by_side
from vidence.records import Estimate
from vidence.report.panel_grid import Grid, GridCell, PanelView
from vidence.report.scores import Draws
from vidence.tables.charts import Chart, Statement, curves
from vidence.tables.table import Measure, RowSpec, Table, number, share, tabulate

TEXT = "text"
SHOWN = {TEXT: "words alone", CENTRAL: "one central frame", FULL: "all frames"}


@dataclass(frozen=True, kw_only=True)
class _Line:
    cell: GridCell
    found: SideBySide[ModalityFinding]

    @property
    def label(self) -> str:
        return f"{self.cell.benchmark}, {self.cell.label}"


class Modality:
    """The findings of ``modality`` on each benchmark, and their ratios.

    A ratio beyond guessing takes what guessing gets from both of its sides.

    Source: HumanPCR, section 4.4 and table 5.
    Departs: intervals (Fieller) and the ratio beyond guessing are ours.
    """

    name = "modality"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """The table and its bars.

        Raises:
            UsageError: nobody ran the diagnostic on a run of this panel.
        """
        figures = Figures(rng=draws.fresh(), level=draws.level)
        lines = [
            _Line(cell=cell, found=found)
            for cell in grid.cells
            for one in cell.found("modality", level=draws.level)
            if (
                found := side_by_side(
                    one.examined,
                    ModalityFinding,
                    lambda finding: finding.marks,
                    conditions=tuple(SHOWN),
                    figures=figures,
                )
            ).items
        ]
        if not lines:
            raise UsageError(
                "no run of the panel has findings of modality; `vidence diagnose RUN modality` makes them"
            )
        return _table(lines), _bars(lines)


def create() -> PanelView:
    """The view."""
    return Modality()


def _table(lines: list[_Line]) -> Table:
    def accuracy(name: str) -> Measure[_Line]:
        return share(name, lambda line: line.found.accuracy(name), SHOWN[name])

    def ratio(name: str, *, is_beyond: bool) -> Callable[[_Line], Estimate]:
        def of(line: _Line) -> Estimate:
            found = line.found
            lost = guesses(found.items) if is_beyond else 0.0
            return found.ratio(found.values[name] - lost, found.values[FULL] - lost)

        return of

    ratios = (
        number(
            f"{name}-{'beyond' if is_beyond else 'ratio'}",
            ratio(name, is_beyond=is_beyond),
            SHOWN[name],
            group="over all frames, beyond guessing" if is_beyond else "over all frames",
        )
        for is_beyond in (False, True)
        for name in (TEXT, CENTRAL)
    )
    return tabulate(
        "modality",
        "What of the video the score needs",
        label="benchmark and model",
        rows=(RowSpec(f"line:{i}", line.label, line) for i, line in enumerate(lines)),
        measures=(
            number("questions", lambda line: len(line.found.items), kind="count"),
            *map(accuracy, SHOWN),
            *ratios,
        ),
        notes=(
            "Ratios with Fieller's intervals. Beyond guessing: what blind guessing gets is taken from both; "
            "no interval where the score with all frames cannot be told from guessing.",
        ),
    )


def _bars(lines: list[_Line]) -> Chart:
    return Chart(
        name="modality-bars",
        title="Score by what is shown",
        x_title="benchmark and model",
        y_title="accuracy",
        series=curves(
            (label, ((i, line.found.accuracy(name)) for i, line in enumerate(lines, start=1)))
            for name, label in SHOWN.items()
        ),
        x_labels=tuple((float(i), line.label) for i, line in enumerate(lines, start=1)),
        is_bars=True,
    )
