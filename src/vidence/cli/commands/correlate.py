"""Two scores over models, tasks or rows of a table: do they go together?"""

from dataclasses import replace
from pathlib import Path

import click

from vidence.cli.outputs import Outputs, outputs
from vidence.console.options import PATH, parser_option
from vidence.errors import UsageError

SECTION = "Explain"


@click.command()
@click.argument("folders", nargs=-1, type=PATH)
@click.option("--x", required=True, help="Questions of the runs: all, or TAG=VALUE. Without runs a column.")
@click.option("--y", required=True, help="The same; with runs and --with a column of the table.")
@click.option("--by", help="A point for each run and value of this tag, not for each run alone.")
@click.option(
    "--over-runs",
    is_flag=True,
    help="With --by: a point for each value, its mean over the runs; with the ceiling.",
)
@click.option("--with", "with_table", metavar="TABLE", help="A CSV, or the name of a published table.")
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="Without runs: the column of what rows have in common. With --over-runs: a tag.",
)
@click.option("--within", metavar="COLUMN", help="Without runs: the column of what kind of row it is.")
@click.option("--as", "names", multiple=True, help="What each run is called in the table, in order.")
@parser_option
@outputs(level="Level of the intervals.", csv="point", interval="brackets")
def correlate(
    *,
    folders: tuple[Path, ...],
    x: str,
    y: str,
    by: str | None,
    over_runs: bool,
    with_table: str | None,
    cluster: str | None,
    within: str | None,
    names: tuple[str, ...],
    parser: str | None,
    files: Outputs,
) -> None:
    """Whether two scores go together over run FOLDERS, or over the rows of a table."""
    from vidence.report import correlation
    from vidence.report.correlation_values import shown_of
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section
    from vidence.tables.charts import table_of

    console = files.screen()
    if parser and not folders:
        raise UsageError(correlation.FOR_RUNS)
    axes = correlation.Axes(x=x, y=y, by=by, table=with_table, cluster=cluster, within=within, names=names)
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in folders]
    found, statements = shown_of(runs, axes, over_runs=over_runs, level=files.level)
    tables = tuple(map(table_of, statements[1:]))  # the first is the figure of the points
    named = {"runs": ", ".join(map(str, folders)), "with": with_table, "x": x, "y": y, "by": by}
    settings = {**{key: value for key, value in named.items() if value}, "level": files.level}
    files.write(
        tables,
        csv=lambda file: correlation.write_points_csv(found, file),
        json=lambda file: correlation.write_correlation_json(found, file),
        html=lambda file: correlation.write_correlation_page(found, statements, file, settings=settings),
    )
    draw_section(
        replace(correlation.section(found), tables=tables), console
    )  # last: whoever reads may close the pipe
