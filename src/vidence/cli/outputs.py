"""Options that commands about finished runs have in common: how to read them, where to write what."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click
import numpy as np

from vidence.engine.environment import cache_root

if TYPE_CHECKING:
    from vidence.report.results import Run
    from vidence.report.sections import Section

Option: TypeAlias = Callable[[Callable[..., object]], Callable[..., object]]

parser_option = click.option(
    "--parser", help="Read all stored replies again with this parser; nothing is asked."
)
html_option = click.option("--html", type=click.Path(path_type=Path), help="Write one self-contained page.")
json_option = click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the sentences, tables and figures."
)
latex_option = click.option(
    "--latex", type=click.Path(path_type=Path), help="Write the tables for a paper, for \\input."
)
items_option = click.option(
    "--items", type=click.IntRange(min=0), default=300, show_default=True, help="Most items on the page."
)


def csv_option(what: str) -> Option:
    """``--csv``, which writes one row per `what`."""
    return click.option(
        "--csv", "csv_path", type=click.Path(path_type=Path), help=f"Write one row per {what}."
    )


def level_option(says: str) -> Option:
    """``--level``, with what it says of itself."""
    within = click.FloatRange(0.5, 1, min_open=True, max_open=True)
    return click.option("--level", type=within, default=0.95, show_default=True, help=says)


def interval_option(default: str) -> Option:
    """``--interval``, the form of intervals in LaTeX."""
    return click.option(
        "--interval",
        type=click.Choice(["pm", "brackets", "none"]),
        default=default,
        show_default=True,
        help="How --latex writes intervals: half the width behind a plus-minus, both ends, or not at all.",
    )


def write_runs_page(
    runs: "Sequence[Run]", path: Path, *, section: "Section", level: float, n_items: int
) -> None:
    """Write the page of some runs with a section of its own, and say so."""
    from vidence.report.page import write_page
    from vidence.report.results import SEED

    write_page(
        runs,
        path,
        cache_root=cache_root(),
        media_root=None,
        n_items=n_items,
        extra_sections=[section],
        level=level,
        rng=np.random.default_rng(SEED),
    )
    click.echo(f"wrote {path}", err=True)
