"""``vidence compare``."""

from pathlib import Path
from typing import Literal

import click

from vidence.cli.console import Screen
from vidence.cli.outputs import (
    csv_option,
    html_option,
    interval_option,
    items_option,
    json_option,
    latex_option,
    level_option,
    parser_option,
    write_runs_page,
)
from vidence.errors import UsageError


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@parser_option
@click.option(
    "--shared", is_flag=True, help="Compare the questions that all runs have a score for, where they differ."
)
@level_option("Level of the intervals; 1 less the level of the tests.")
@html_option
@csv_option("question, a score per run")
@json_option
@latex_option
@interval_option("brackets")
@items_option
def compare(
    *,
    folders: tuple[Path, ...],
    parser: str | None,
    shared: bool,
    level: float,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    items: int,
) -> None:
    """Two runs on the same questions: the second less the first. With more FOLDERS a ranking."""
    from vidence.report.compared import section, write_comparison_csv, write_comparison_json
    from vidence.report.comparing import compare_runs
    from vidence.report.export import write_file
    from vidence.report.pairing import pair
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    if len(folders) < 2:
        raise UsageError(f"{len(folders)} run folder given; expected two or more, for example runs/a runs/b")
    paired = pair([load_run(folder, parser=parser, are_brief=True) for folder in folders], shared=shared)
    compared = compare_runs(paired, level=level)
    shown = section(compared)
    if csv_path is not None:
        write_comparison_csv(paired, csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        write_comparison_json(paired, compared, json_path)
        click.echo(f"wrote {json_path}", err=True)
    if latex is not None:
        write_file(latex, latex_of(shown.tables, intervals=interval))
        click.echo(f"wrote {latex}", err=True)
    if html is not None:
        write_runs_page(paired.runs, html, section=shown, level=level, n_items=items)
    draw_section(shown, Screen())  # last: whoever reads may close the pipe
