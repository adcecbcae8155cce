"""Compare groups of questions within a run, or test the trend over a tag."""

from pathlib import Path
from typing import Annotated

from vidence.cli.outputs import Outputs, write_runs
from vidence.console.flags import LEVEL, PARSER, argument, command, flag
from vidence.errors import UsageError
from vidence.records import Record

GROUP = "stats"


class Contrast(Record):
    """The tag values to compare within runs."""

    folders: Annotated[tuple[Path, ...], argument()]
    tag: Annotated[str, flag("Tag that groups the questions.")]
    of: Annotated[tuple[str, ...], flag("The value of the tag to compare. [repeatable]")] = ()
    to: Annotated[str | None, flag("The value to compare it with.")] = None
    trend: Annotated[bool, flag("Estimate the change from one value of the tag to the next.")] = False
    parser: Annotated[str | None, PARSER] = None
    level: Annotated[float, LEVEL] = 0.95
    files: Outputs


@command()
def contrast(given: Contrast) -> None:
    """Compare questions by the values of a tag within each run of FOLDERS, or test the trend."""
    from vidence.report.contrasts import JSON_FORMAT, contrast_runs, section, write_contrast_csv
    from vidence.report.results import load_runs
    from vidence.report.terminal import draw_section
    from vidence.tables.terminal import Sheet

    console = given.files.screen()
    if bool(given.of) != bool(given.to):
        raise UsageError("give --of and --to together: --of 3 --to 1 is the score of 3 minus that of 1")
    runs = load_runs(dict.fromkeys(given.folders), parser=given.parser, are_brief=True)
    pairs = [(value, given.to) for value in dict.fromkeys(given.of) if given.to]
    contrasts = contrast_runs(runs, tag=given.tag, pairs=pairs, has_trend=given.trend, level=given.level)
    result = section(contrasts)
    given.files.write(
        result.tables,
        csv=lambda file: write_contrast_csv(contrasts, file),
        json=lambda file: result.write_json(file, JSON_FORMAT, contrasts=contrasts),
        html=lambda file: write_runs(runs, result, file, level=given.level),
        interval="pm",
    )
    draw_section(result, Sheet(console))  # last: the reader may close the pipe
