"""``vidence contrast``."""

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
@click.option("--tag", required=True, help="The tag whose values are set against each other.")
@click.option("--of", "of", multiple=True, help="The value of the tag whose score is taken. [repeatable]")
@click.option("--to", "to", help="The value whose score is subtracted from it.")
@click.option("--trend", is_flag=True, help="The growth from one value of the tag to the next.")
@parser_option
@level_option("Level of the intervals; 1 less the level of the tests.")
@html_option
@csv_option("contrast")
@json_option
@latex_option
@interval_option("pm")
@items_option
def contrast(
    *,
    folders: tuple[Path, ...],
    tag: str,
    of: tuple[str, ...],
    to: str | None,
    trend: bool,
    parser: str | None,
    level: float,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    items: int,
) -> None:
    """Inside run FOLDERS: questions with one value of a tag less those with another, or the trend."""
    from vidence.report.contrasts import contrast_runs, section, write_contrast_csv, write_contrast_json
    from vidence.report.export import write_file
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    if bool(of) != bool(to):
        raise UsageError("--of and --to belong together: --of 3 --to 1 gives the score of 3 less that of 1")
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in dict.fromkeys(folders)]
    pairs = [(value, to) for value in dict.fromkeys(of) if to]
    found = contrast_runs(runs, tag=tag, pairs=pairs, has_trend=trend, level=level)
    shown = section(found)
    if csv_path is not None:
        write_contrast_csv(found, csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        write_contrast_json(found, json_path)
        click.echo(f"wrote {json_path}", err=True)
    if latex is not None:
        write_file(latex, latex_of(shown.tables, intervals=interval))
        click.echo(f"wrote {latex}", err=True)
    if html is not None:
        write_runs_page(runs, html, section=shown, level=level, n_items=items)
    draw_section(shown, Screen())  # last: whoever reads may close the pipe
