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
@outputs(
    level="Level of the intervals; 1 less the level of the tests.",
    csv="question, a score per run",
    interval="brackets",
    has_items=True,
)
def compare(*, folders: tuple[Path, ...], parser: str | None, shared: bool, files: Outputs) -> None:
    """Two runs on the same questions: the second less the first. With more FOLDERS a ranking."""
    from vidence.report.comparison import compare_runs
    from vidence.report.comparison_tables import section, write_comparison_csv, write_comparison_json
    from vidence.report.pairing import pair
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section

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
