"""``vidence correlate``."""

from pathlib import Path
from typing import Literal

import click
import numpy as np

from vidence.cli.console import Screen
from vidence.cli.outputs import (
    csv_option,
    html_option,
    interval_option,
    json_option,
    latex_option,
    level_option,
    parser_option,
)
from vidence.errors import UsageError


@click.command()
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path))
@click.option("--x", required=True, help="Questions of the runs: all, or TAG=VALUE. Without runs a column.")
@click.option("--y", required=True, help="The same; with runs and --with a column of the table.")
@click.option("--by", help="A point for each run and value of this tag, not for each run alone.")
@click.option("--with", "with_table", metavar="TABLE", help="A CSV, or the name of a published table.")
@click.option("--cluster", metavar="COLUMN", help="Without runs: the column of what rows have in common.")
@click.option("--within", metavar="COLUMN", help="Without runs: the column of what kind of row it is.")
@click.option("--as", "names", multiple=True, help="What each run is called in the table, in order.")
@parser_option
@level_option("Level of the intervals.")
@html_option
@csv_option("point")
@json_option
@latex_option
@interval_option("brackets")
def correlate(
    *,
    folders: tuple[Path, ...],
    x: str,
    y: str,
    by: str | None,
    with_table: str | None,
    cluster: str | None,
    within: str | None,
    names: tuple[str, ...],
    parser: str | None,
    level: float,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
) -> None:
    """Whether two scores go together over run FOLDERS, or over the rows of a table."""
    from vidence.report import correlated
    from vidence.report.export import write_file
    from vidence.report.results import SEED, load_run
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    if parser and not folders:
        raise UsageError(correlated.FOR_RUNS)
    axes = correlated.Axes(x=x, y=y, by=by, table=with_table, cluster=cluster, within=within, names=names)
    points = correlated.points_of(
        [load_run(folder, parser=parser, are_brief=True) for folder in folders], axes
    )
    found = correlated.correlate(points, rng=np.random.default_rng(SEED), level=level)
    if csv_path is not None:
        correlated.write_points_csv(found, csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        correlated.write_correlation_json(found, json_path)
        click.echo(f"wrote {json_path}", err=True)
    if latex is not None:
        write_file(latex, latex_of(correlated.tables(found), intervals=interval))
        click.echo(f"wrote {latex}", err=True)
    if html is not None:
        named = {"runs": ", ".join(map(str, folders)), "with": with_table, "x": x, "y": y, "by": by}
        settings = {key: value for key, value in named.items() if value}
        correlated.write_correlation_page(found, html, settings={**settings, "level": level})
        click.echo(f"wrote {html}", err=True)
    draw_section(correlated.section(found), Screen())  # last: whoever reads may close the pipe
