"""``vidence report``."""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from vidence.cli.surroundings import cache_root
from vidence.errors import UsageError

_SEED = 0  # the same report from the same run, bit for bit


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--reader", help="Read the stored replies again with this reader; nothing is asked.")
@click.option("--html", type=click.Path(path_type=Path), help="Write one self-contained page.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write one row per trial.")
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the tables and the manifest."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option(
    "--items",
    type=click.IntRange(min=0),
    default=300,
    show_default=True,
    help="Most items shown on the page.",
)
def report(
    *,
    folders: tuple[Path, ...],
    reader: str | None,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    level: float,
    items: int,
) -> None:
    """Tables from one or several run FOLDERS."""
    from vidence.reporting.export import write_csv, write_json
    from vidence.reporting.results import load_run
    from vidence.reporting.tables import all_tables

    if len(folders) > 1 and (csv_path or json_path):
        raise UsageError("--csv and --json take one run folder at a time")
    run = load_run(folders[0], reader=reader)
    if csv_path is not None:
        write_csv(run, csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        write_json(run, all_tables(run, rng=np.random.default_rng(_SEED), level=level), json_path)
        click.echo(f"wrote {json_path}", err=True)
    if html is not None:
        write_report(folders, html, reader=reader, level=level, n_items=items)
    draw_runs(folders, reader=reader, level=level)  # last: whoever reads may close the pipe


def draw_runs(folders: Sequence[Path], *, reader: str | None = None, level: float = 0.95) -> None:
    """Draw the tables of some runs in the terminal."""
    from vidence.reporting.results import load_run
    from vidence.reporting.tables import all_tables
    from vidence.reporting.terminal import draw

    console = Console()
    for folder in folders:
        run = load_run(folder, reader=reader)
        draw(run, all_tables(run, rng=np.random.default_rng(_SEED), level=level), console)


def write_report(
    folders: Sequence[Path],
    page: Path,
    *,
    reader: str | None = None,
    level: float = 0.95,
    n_items: int = 300,
) -> None:
    """Write the page of some runs."""
    from vidence.reporting.page import write_page
    from vidence.reporting.results import load_run

    runs = [load_run(folder, reader=reader) for folder in folders]
    write_page(
        runs,
        page,
        cache_root=cache_root(),
        media_root=Path(runs[0].facts.media_root) if runs[0].facts.media_root else None,
        n_items=n_items,
        level=level,
        rng=np.random.default_rng(_SEED),
    )
    click.echo(f"wrote {page}", err=True)
