"""``vidence compare``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from vidence.cli.outputs import (
    csv_option,
    html_option,
    interval_option,
    items_option,
    json_option,
    latex_option,
    level_option,
    parser_option,
    screen,
    write_asked,
    write_runs_page,
    write_said,
)
from vidence.errors import UsageError


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path))
@parser_option
@click.option(
    "--shared", is_flag=True, help="Compare the questions that all runs have a score for, where they differ."
)
@click.option(
    "--effect",
    type=click.Choice(["reasoning"]),
    help="What reasoning first adds: FOLDERS are DIRECT COT of one model, then of the next.",
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
    effect: str | None,
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

    if effect is not None:
        if csv_path is not None:
            raise UsageError("--csv has no form for --effect; use --json, which has every figure")
        options = _Asked(html=html, json_path=json_path, latex=latex, interval=interval, items=items)
        _reasoning(folders, options, parser=parser, shared=shared, level=level)
        return
    console = screen(html, csv_path, json_path, latex)
    if len(folders) < 2:
        raise UsageError(f"{len(folders)} run folder given; expected two or more, for example runs/a runs/b")
    paired = pair([load_run(folder, parser=parser, are_brief=True) for folder in folders], shared=shared)
    compared = compare_runs(paired, level=level)
    shown = section(compared)
    write_asked(
        (csv_path, lambda file: write_comparison_csv(paired, file)),
        (json_path, lambda file: write_comparison_json(paired, compared, file)),
        (latex, lambda file: write_file(file, latex_of(shown.tables, intervals=interval))),
    )
    if html is not None:
        write_runs_page(paired.runs, html, section=shown, level=level, n_items=items)
    draw_section(shown, console)  # last: whoever reads may close the pipe


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """Where a comparison goes, and in which form."""

    html: Path | None
    json_path: Path | None
    latex: Path | None
    interval: Literal["pm", "brackets", "none"]
    items: int


def _reasoning(
    folders: tuple[Path, ...], options: _Asked, *, parser: str | None, shared: bool, level: float
) -> None:
    """What reasoning first adds, for one model or several."""
    import numpy as np

    from vidence.report.export import write_file
    from vidence.report.reasoning import ReasoningPair, reasoning_effect, reasoning_section
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import Draws
    from vidence.report.side_by_side import run_names
    from vidence.report.terminal import draw_section
    from vidence.tables.latex import latex as latex_of

    if len(folders) % 2:
        raise UsageError(
            f"{len(folders)} run folders given; expected two for each model, the direct one first: "
            "DIRECT COT DIRECT COT"
        )
    console = screen(options.html, options.json_path, options.latex)
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in folders]
    direct, cot = runs[::2], runs[1::2]
    pairs = [
        ReasoningPair(model=name, direct=first, cot=second)
        for name, first, second in zip(run_names(direct), direct, cot, strict=True)
    ]
    draws = Draws(rng=np.random.default_rng(SEED), level=level)
    shown = reasoning_section(reasoning_effect(pairs, draws=draws, shared=shared))
    write_said(options.json_path, "compare", sentences=shown.paragraphs, tables=shown.tables)
    write_asked(
        (options.latex, lambda file: write_file(file, latex_of(shown.tables, intervals=options.interval)))
    )
    if options.html is not None:
        write_runs_page(runs, options.html, section=shown, level=level, n_items=options.items)
    draw_section(shown, console)
