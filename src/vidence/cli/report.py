"""``vidence report``."""

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
from rich.console import Console

from vidence.cli.surroundings import cache_root

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
def report(
    *,
    folders: tuple[Path, ...],
    reader: str | None,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    level: float,
) -> None:
    """Tables from one or several run FOLDERS."""
    show(folders, reader=reader, page=html, csv_path=csv_path, json_path=json_path, level=level)


def show(
    folders: Sequence[Path],
    *,
    reader: str | None = None,
    page: Path | None = None,
    csv_path: Path | None = None,
    json_path: Path | None = None,
    level: float = 0.95,
) -> None:
    """Draw the tables of some runs and write what else was asked for."""
