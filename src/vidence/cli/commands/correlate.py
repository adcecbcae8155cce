"""Correlate two scores over models, tasks or rows of a table."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from vidence.cli.outputs import Outputs
from vidence.console.flags import LEVEL, PARSER, argument, command, flag
from vidence.errors import UsageError
from vidence.records import Record
from vidence.report import correlation

GROUP = "stats"


class Correlate(Record):
    """The scores to correlate, and the points."""

    folders: Annotated[tuple[Path, ...], argument()] = ()
    axes: correlation.Axes
    over_runs: Annotated[
        bool, flag("With --by: one point per value, its mean over the runs, and the ceiling.")
    ] = False
    parser: Annotated[str | None, PARSER] = None
    level: Annotated[float, LEVEL] = 0.95
    files: Outputs


@command()
def correlate(given: Correlate) -> None:
    """Correlate two scores over run FOLDERS, or over the rows of a table."""
    from vidence.report.correlation_values import shown_of
    from vidence.report.results import load_runs
    from vidence.report.terminal import draw_section
    from vidence.tables.charts import table_of
    from vidence.tables.terminal import Sheet

    console, axes, level = given.files.screen(), given.axes, given.level
    if given.parser and not given.folders:
        raise UsageError(correlation.FOR_RUNS)
    runs = load_runs(given.folders, parser=given.parser, are_brief=True)
    correlated, statements = shown_of(runs, axes, over_runs=given.over_runs, level=level)
    tables = tuple(map(table_of, statements[1:]))  # the first is the figure of the points
    section = correlation.section(correlated)
    runs_named = ", ".join(str(run.folder) for run in runs)
    named = {"runs": runs_named, "with": axes.table, "x": axes.x, "y": axes.y, "by": axes.by}
    settings = {**{key: value for key, value in named.items() if value}, "level": level}
    given.files.write(
        tables,
        csv=lambda file: correlation.write_points_csv(correlated, file),
        json=lambda file: section.write_json(file, correlation.JSON_FORMAT, correlated=correlated),
        html=lambda file: replace(section, figures=statements, tables=()).write_page(
            file, eyebrow="vidence stats correlate", facts=(("Correlation", settings),)
        ),
        interval="brackets",
    )
    draw_section(replace(section, tables=tables), Sheet(console))  # last: the reader may close the pipe
