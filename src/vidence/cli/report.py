"""``vidence report``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np

from vidence.cli.console import Screen
from vidence.cli.outputs import (
    csv_option,
    html_option,
    interval_option,
    items_option,
    latex_option,
    level_option,
)
from vidence.engine.environment import cache_root
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.report.results import Run
    from vidence.report.sections import Section
    from vidence.tables.table import Table


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--parser", help="Read the stored replies again with this parser; nothing is asked.")
@html_option
@csv_option("trial")
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the tables and the manifest."
)
@level_option("Level of the intervals.")
@items_option
@click.option("--against-chance", is_flag=True, help="How far the scores lie above chance, with intervals.")
@click.option("--published", is_flag=True, help="Set the runs under the rows that their papers print.")
@latex_option
@interval_option("pm")
@click.option(
    "--tables",
    "tables_dir",
    type=click.Path(path_type=Path),
    help="Write each table as CSV into this folder.",
)
def report(
    *,
    folders: tuple[Path, ...],
    parser: str | None,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    level: float,
    items: int,
    against_chance: bool,
    published: bool,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    tables_dir: Path | None,
) -> None:
    """Tables from one or several run FOLDERS."""
    from vidence.report.export import write_csv, write_file, write_json, write_tables
    from vidence.report.papers import for_print, paper_sections
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import Draws, margin_table
    from vidence.report.side_by_side import side_by_side
    from vidence.report.tables import all_tables
    from vidence.report.terminal import draw, draw_section
    from vidence.tables.latex import latex as latex_of

    if len(folders) > 1 and (csv_path or json_path):
        raise UsageError("--csv and --json take one run folder at a time")
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in folders]
    draws = Draws(rng=np.random.default_rng(SEED), level=level)
    tables = [all_tables(run, rng=draws.fresh(), level=level) for run in runs]
    if against_chance:
        margins = [margin_table(run, level=level) for run in runs]
        tables = [(*some, margin) for some, margin in zip(tables, margins, strict=True)]
    sections = paper_sections(runs, draws=draws, with_published=published)
    added = [table for section in sections for table in section.tables]
    if csv_path is not None:
        write_csv(runs[0], csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        write_json(runs[0], [*tables[0], *added], json_path)
        click.echo(f"wrote {json_path}", err=True)
    if latex is not None:
        printed = for_print(runs, sections, draws=draws)
        write_file(latex, latex_of(printed, intervals=interval))
        click.echo(f"wrote {latex}", err=True)
    if tables_dir is not None:
        scores = [[table for table in some if table.figure == "scores"] for some in tables]
        found = tables[0] if len(runs) == 1 else side_by_side(runs, scores)
        written = write_tables([*added, *found], tables_dir)
        click.echo(f"wrote {len(written)} tables into {tables_dir}", err=True)
    if html is not None:
        _write_page(runs, tables, html, sections=sections, level=level, n_items=items)
    console = Screen()
    for run, some in zip(runs, tables, strict=True):  # last: whoever reads may close the pipe
        draw(run, some, console)
    for section in sections:
        draw_section(section, console)


def show_run(folder: Path, *, page: Path | None) -> None:
    """Write the page of a run where one is wanted, and draw its tables in the terminal."""
    from vidence.report.papers import paper_sections
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import Draws
    from vidence.report.tables import all_tables
    from vidence.report.terminal import draw

    run = load_run(folder, are_brief=True)
    draws = Draws(rng=np.random.default_rng(SEED))
    tables = all_tables(run, rng=draws.fresh())
    if page is not None:
        sections = paper_sections([run], draws=draws, with_published=False)
        _write_page([run], [tables], page, sections=sections)
    draw(run, tables, Screen())  # after the page: whoever reads may close the pipe


def _write_page(
    runs: "Sequence[Run]",
    tables: "Sequence[Sequence[Table]]",
    page: Path,
    *,
    sections: "Sequence[Section]",
    level: float = 0.95,
    n_items: int = 300,
) -> None:
    from vidence.report.page import write_page
    from vidence.report.results import SEED

    write_page(
        runs,
        page,
        cache_root=cache_root(),
        media_root=Path(runs[0].facts.media_root) if runs[0].facts.media_root else None,
        tables=tables,
        n_items=n_items,
        extra_sections=sections,
        level=level,
        rng=np.random.default_rng(SEED),
    )
    click.echo(f"wrote {page}", err=True)
