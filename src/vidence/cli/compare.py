"""``vidence compare``."""

from pathlib import Path

import click
import numpy as np
from rich.console import Console

from vidence.engine.environment import cache_root
from vidence.errors import UsageError


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--parser", help="Read all stored replies again with this parser; nothing is asked.")
@click.option(
    "--shared", is_flag=True, help="Compare the questions that all runs have a score for, where they differ."
)
@click.option(
    "--level",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Level of the intervals; 1 less the level of the tests.",
)
@click.option("--html", type=click.Path(path_type=Path), help="Write one self-contained page.")
@click.option(
    "--csv", "csv_path", type=click.Path(path_type=Path), help="Write one row per question, a score per run."
)
@click.option(
    "--json", "json_path", type=click.Path(path_type=Path), help="Write the sentences, tables and figures."
)
@click.option(
    "--items", type=click.IntRange(min=0), default=300, show_default=True, help="Most items on the page."
)
def compare(
    *,
    folders: tuple[Path, ...],
    parser: str | None,
    shared: bool,
    level: float,
    html: Path | None,
    csv_path: Path | None,
    json_path: Path | None,
    items: int,
) -> None:
    """Two runs on the same questions: the second less the first. With more FOLDERS a ranking."""
    from vidence.report.compared import section, write_comparison_csv, write_comparison_json
    from vidence.report.comparing import compare_runs
    from vidence.report.page import write_page
    from vidence.report.pairing import pair
    from vidence.report.results import SEED, load_run
    from vidence.report.terminal import draw_section

    if len(folders) < 2:
        raise UsageError(f"{len(folders)} run folder given; expected two or more, for example runs/a runs/b")
    paired = pair([load_run(folder, parser=parser) for folder in folders], shared=shared)
    compared = compare_runs(paired, level=level)
    shown = section(compared)
    if csv_path is not None:
        write_comparison_csv(paired, csv_path)
        click.echo(f"wrote {csv_path}", err=True)
    if json_path is not None:
        write_comparison_json(paired, compared, json_path)
        click.echo(f"wrote {json_path}", err=True)
    if html is not None:
        write_page(
            paired.runs,
            html,
            cache_root=cache_root(),
            media_root=None,
            n_items=items,
            extra_sections=[shown],
            level=level,
            rng=np.random.default_rng(SEED),
        )
        click.echo(f"wrote {html}", err=True)
    draw_section(shown, Console())  # last: whoever reads may close the pipe
