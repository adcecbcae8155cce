"""Inside a run: hard questions less easy ones, or the trend over a tag."""

from pathlib import Path

import click

from vidence.cli.outputs import Outputs, outputs
from vidence.console.options import PATH, parser_option
from vidence.errors import UsageError

SECTION = "Explain"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH)
@click.option("--tag", required=True, help="The tag whose values are set against each other.")
@click.option("--of", "of", multiple=True, help="The value of the tag whose score is taken. [repeatable]")
@click.option("--to", help="The value whose score is subtracted from it.")
@click.option("--trend", is_flag=True, help="The growth from one value of the tag to the next.")
@parser_option
@outputs(
    level="Level of the intervals; 1 less the level of the tests.",
    csv="contrast",
    interval="pm",
    has_items=True,
)
def contrast(
    *,
    folders: tuple[Path, ...],
    tag: str,
    of: tuple[str, ...],
    to: str | None,
    trend: bool,
    parser: str | None,
    files: Outputs,
) -> None:
    """Inside run FOLDERS: questions with one value of a tag less those with another, or the trend."""
    from vidence.report.contrasts import contrast_runs, section, write_contrast_csv, write_contrast_json
    from vidence.report.results import load_run
    from vidence.report.terminal import draw_section

    console = files.screen()
    if bool(of) != bool(to):
        raise UsageError("--of and --to belong together: --of 3 --to 1 gives the score of 3 less that of 1")
    runs = [load_run(folder, parser=parser, are_brief=True) for folder in dict.fromkeys(folders)]
    pairs = [(value, to) for value in dict.fromkeys(of) if to]
    found = contrast_runs(runs, tag=tag, pairs=pairs, has_trend=trend, level=files.level)
    shown = section(found)
    files.write(
        shown.tables,
        csv=lambda file: write_contrast_csv(found, file),
        json=lambda file: write_contrast_json(found, file),
        html=lambda file: files.write_runs(runs, shown, file),
    )
    draw_section(shown, console)  # last: whoever reads may close the pipe
