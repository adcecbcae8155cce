"""Two runs or more on the same questions: is the difference real?"""

from pathlib import Path

import click

from vidence.cli.outputs import Outputs, outputs
from vidence.console.options import PATH, parser_option
from vidence.errors import UsageError

SECTION = "Explain"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH)
@parser_option
@click.option(
    "--shared", is_flag=True, help="Compare the questions that all runs have a score for, where they differ."
)
@click.option(
    "--effect",
    type=click.Choice(["reasoning"]),
    help="What reasoning first adds: FOLDERS are DIRECT COT of one model, then of the next.",
)
@outputs(
    level="Level of the intervals; 1 less the level of the tests.",
    csv="question, a score per run",
    interval="brackets",
    has_items=True,
)
def compare(
    *, folders: tuple[Path, ...], parser: str | None, shared: bool, effect: str | None, files: Outputs
) -> None:
    """Two runs on the same questions: the second less the first. With more FOLDERS a ranking."""
    from vidence.report.comparison import compare_runs
    from vidence.report.comparison_tables import section, write_comparison_csv, write_comparison_json
    from vidence.report.pairing import pair
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section

    if effect is not None:
        _reasoning(folders, files, parser=parser, shared=shared)
        return
    console = files.screen()
    if len(folders) < 2:
        raise UsageError(f"{len(folders)} run folder given; expected two or more, for example runs/a runs/b")
    paired = pair([load_run(folder, parser=parser, are_brief=True) for folder in folders], shared=shared)
    compared = compare_runs(paired, level=files.level)
    shown = section(compared)
    files.write(
        shown.tables,
        csv=lambda file: write_comparison_csv(paired, file),
        json=lambda file: write_comparison_json(paired, compared, file),
        html=lambda file: files.write_runs(paired.runs, shown, file),
    )
    draw_section(shown, console)  # last: whoever reads may close the pipe


def _reasoning(folders: tuple[Path, ...], files: Outputs, *, parser: str | None, shared: bool) -> None:
    """What reasoning first adds, for one model or several."""
    import numpy as np

    from vidence.media.whole import write_file
    from vidence.report.reasoning import ReasoningPair, reasoning_effect, reasoning_section
    from vidence.report.results import SEED, load_run
    from vidence.report.scores import Draws
    from vidence.report.side_by_side import run_names
    from vidence.report.terminal import draw_section
    from vidence.tables.export import said_as_json

    if files.csv_path is not None:
        raise UsageError("--csv has no form for --effect; use --json, which has every figure")
    if len(folders) % 2:
        raise UsageError(
            f"{len(folders)} run folders given; expected two for each model, the direct one first: "
            "DIRECT COT DIRECT COT"
        )
    console = files.screen()
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in folders]
    direct, cot = runs[::2], runs[1::2]
    pairs = [
        ReasoningPair(model=name, direct=first, cot=second)
        for name, first, second in zip(run_names(direct), direct, cot, strict=True)
    ]
    draws = Draws(rng=np.random.default_rng(SEED), level=files.level)
    shown = reasoning_section(reasoning_effect(pairs, draws=draws, shared=shared))
    said = said_as_json("compare", sentences=shown.paragraphs, tables=shown.tables, values={})
    files.write(
        shown.tables,
        csv=lambda file: None,
        json=lambda file: write_file(file, said),
        html=lambda file: files.write_runs(runs, shown, file),
    )
    draw_section(shown, console)
