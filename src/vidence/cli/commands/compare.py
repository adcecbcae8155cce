"""Compare runs on the same questions: differences, intervals and tests."""

from pathlib import Path
from typing import Annotated

from vidence.cli.outputs import Outputs, write_runs
from vidence.console.flags import EVERYTHING, LEVEL, PARSER, argument, command, flag
from vidence.errors import UsageError
from vidence.records import Record

SECTION = "Start here"
ORDER = 7
MOST_LINES = 25  # in the terminal


class Compare(Record):
    """The runs to compare."""

    folders: Annotated[tuple[Path, ...], argument()]
    parser: Annotated[str | None, PARSER] = None
    shared: Annotated[bool, flag("Compare only the questions that all runs have a score for.")] = False
    margin: Annotated[
        float | None, flag("Test for equivalence, with the largest difference in points that counts as none.")
    ] = None
    anytime: Annotated[
        bool, flag("Add an interval that stays valid however often the results are looked at.")
    ] = False
    level: Annotated[float, LEVEL] = 0.95
    everything: Annotated[bool, EVERYTHING] = False
    files: Outputs


@command()
def compare(given: Compare) -> None:
    """Compare two runs on the same questions (second minus first), or rank more than two."""
    from vidence.report.comparison import compare_runs
    from vidence.report.comparison_tables import section, write_comparison_csv, write_comparison_json
    from vidence.report.pairing import pair
    from vidence.report.results import load_runs
    from vidence.report.terminal import draw_section
    from vidence.tables.terminal import Sheet

    console = given.files.screen()
    runs = load_runs(given.folders, parser=given.parser, are_brief=True)
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} run folder given; expected at least two: runs/a runs/b")
    paired = pair(runs, shared=given.shared)
    compared = compare_runs(paired, level=given.level, margin=given.margin, anytime=given.anytime)
    result = section(compared)
    given.files.write(
        result.tables,
        csv=lambda file: write_comparison_csv(paired, file),
        json=lambda file: write_comparison_json(paired, compared, file),
        html=lambda file: write_runs(paired.runs, result, file, level=given.level),
        interval="brackets",
    )
    sheet = Sheet(console, most_lines=None if given.everything else MOST_LINES)
    draw_section(result, sheet, is_ranking=len(runs) > 2)  # last: the reader may close the pipe
    sheet.end("Use --all to print it, or --html FILE to write the page.")
