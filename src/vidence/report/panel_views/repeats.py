"""How much each model's scores vary over repeats."""

from typing import Annotated

from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.panel_grid import Grid, PanelView, SettingsView, by_benchmark
from vidence.report.repeats import repeat_tables
from vidence.report.scores import Draws
from vidence.tables.charts import Statement
from vidence.tables.table import Cell, Column, Row, Table


class Settings(Record):
    """Options of the view."""

    by: Annotated[
        tuple[str, ...],
        Meta(description="tags of which each value has a column, too, such as level|dimension"),
    ] = ("level", "dimension")


class Repeats(SettingsView[Settings]):
    """The mean of each model's repeats with its t interval, and their variance, by aggregate and tag.

    Source: HumanPCR, appendix F.3 and table 11.
    Departs: variance and standard deviation are both given, because the paper's caption and rows differ in
    which it is.
    """

    name = "repeats"

    def show(self, grid: Grid, draws: Draws) -> tuple[Statement, ...]:
        """Return tables of means, variances and standard deviations for each benchmark.

        Raises:
            UsageError: no run has repeats.
        """
        statements: list[Statement] = []
        groups = by_benchmark(grid.scored, lambda cell: f"{cell.benchmark}, {cell.run.plan.split}")
        for title, cells in groups.items():
            values = {
                cell.label: tables[1]
                for cell in cells
                if (tables := repeat_tables(cell.run, level=draws.level))
            }
            if values:
                statements += [
                    self._table(title, values, measure)
                    for measure in (
                        Column(key="mean", title="mean, t interval over repeats", kind="share"),
                        Column(key="variance", title="sample variance, squared points", kind="points"),
                        Column(key="sd", title="standard deviation, points", kind="points"),
                    )
                ]
        if not statements:
            raise UsageError("no run of the panel asked its questions several times; say repeats = 3")
        return tuple(statements)

    def _table(self, title: str, values: dict[str, Table], measure: Column) -> Table:
        rows = {row.key: row.label for table in values.values() for row in table.rows}
        kept = {
            k: label for k, label in rows.items() if ":" not in k or k.partition(":")[0] in self.settings.by
        }
        return Table(
            name=f"repeats-{measure.key}:{title}",
            title=f"{title}: {measure.title}",
            label="model",
            columns=tuple(Column(key=key, title=label, kind=measure.kind) for key, label in kept.items()),
            rows=tuple(
                Row(
                    key=f"model:{label}",
                    label=label,
                    values=tuple(
                        table.cell(key, measure.key) if key in {row.key for row in table.rows} else Cell()
                        for key in kept
                    ),
                )
                for label, table in values.items()
            ),
            note="Of questions with a score in every repeat. The intervals are over replies, not over other "
            "questions.",
        )


def create(settings: Settings) -> PanelView:
    """Create the view."""
    return Repeats(settings)
