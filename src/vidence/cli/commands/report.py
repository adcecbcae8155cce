"""Report runs as tables, HTML, CSV, JSON or LaTeX."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import numpy as np

from vidence.console.files import STANDARD_OUTPUT, screen, write_asked
from vidence.console.flags import EVERYTHING, HTML, LATEX, LEVEL, argument, command, file_flag, flag
from vidence.console.screen import Screen
from vidence.engine.environment import cache_root
from vidence.errors import UsageError
from vidence.records import Record
from vidence.study.showing import StudyReportWanted, is_study, show_report

if TYPE_CHECKING:
    from vidence.report.results import Run
    from vidence.report.scores import Draws
    from vidence.report.sections import Section
    from vidence.tables.table import Table

SECTION = "Start here"
ORDER = 6
ALL = "all"
MOST_LINES, MOST_PUBLISHED = 40, 60  # in the terminal


class Report(Record):
    """The runs to report, and the outputs."""

    folders: Annotated[tuple[Path, ...], argument()]
    parser: Annotated[
        str | None,
        flag(
            "Parse the stored replies again with this parser (all: compare all parsers); no model is asked."
        ),
    ] = None
    html: Annotated[Path | None, HTML] = None
    csv_path: Annotated[Path | None, file_flag("Write one row per trial, with every field.", "--csv")] = None
    jsonl_path: Annotated[Path | None, file_flag("Write the rows as JSON Lines.", "--jsonl")] = None
    parquet_path: Annotated[Path | None, file_flag("Write the rows as Parquet.", "--parquet")] = None
    json_path: Annotated[
        Path | None, file_flag("Write plan, facts, tables and trials as JSON.", "--json")
    ] = None
    inspect_path: Annotated[
        Path | None, file_flag("Write a log for inspect_ai (.eval), which inspect view opens.", "--inspect")
    ] = None
    hub_path: Annotated[
        Path | None, file_flag("Write scores for .eval_results/ of a model on the Hugging Face hub.", "--hub")
    ] = None
    hub_task: Annotated[
        str | None,
        flag("With --hub: the benchmark's data set and task on the hub.", metavar="OWNER/NAME:TASK"),
    ] = None
    level: Annotated[float, LEVEL] = 0.95
    items: Annotated[int, flag("Maximum number of items on the page.", type=click.IntRange(min=0))] = 1000
    against_chance: Annotated[bool, flag("Show how far scores lie above chance, with intervals.")] = False
    published: Annotated[bool, flag("Compare the runs with the rows printed in their papers.")] = False
    everything: Annotated[bool, EVERYTHING] = False
    latex: Annotated[Path | None, LATEX] = None
    tables_dir: Annotated[Path | None, flag("Write each table as CSV to this folder.", "--tables")] = None

    @property
    def rows(self) -> tuple[Path | None, ...]:
        """Return the files with a row per trial."""
        return (self.csv_path, self.jsonl_path, self.parquet_path, self.inspect_path)


@command()
def report(given: Report) -> None:
    """Report one or more run FOLDERS as tables; a FILE of `-` writes to standard output instead.

    For a study folder, the report is that of `vidence study report`, and the other runs are models to
    compare people with. With --parser, --tables, --against-chance or row files, people count as a run.
    """
    from vidence.media.whole import write_file
    from vidence.report import export
    from vidence.report.export import eval_results
    from vidence.report.inspect_log import write_inspect_log
    from vidence.report.results import load_runs
    from vidence.tables.latex import latex as latex_of

    others = (*given.rows, given.parser, given.hub_path, given.tables_dir, given.against_chance)
    if is_study(given.folders[0]) and not any(others):
        folder, *models = given.folders
        show_report(
            StudyReportWanted(
                folder=folder,
                models=tuple(models),
                published=given.published,
                level=given.level,
                html=given.html,
                json_path=given.json_path,
                latex=given.latex,
            )
        )
        return
    console = screen(*given.rows, given.json_path, given.hub_path, given.html, given.latex)
    _check_flags(given)
    has_trials = any((*given.rows, given.json_path))
    again = None if given.parser == ALL else given.parser
    runs = load_runs(given.folders, parser=again, are_brief=not has_trials)
    for_hub = eval_results(runs, task=given.hub_task) if given.hub_path else ""
    write_asked(  # what may be refused is made before the first file is written
        (given.parquet_path, lambda file: export.write_parquet(runs, file)),
        (given.inspect_path, lambda file: write_inspect_log(runs[0], file)),
        (given.csv_path, lambda file: export.write_csv(runs, file)),
        (given.jsonl_path, lambda file: export.write_jsonl(runs, file)),
        (given.hub_path, lambda file: write_file(file, for_hub)),
    )
    if console.quiet and not any((given.json_path, given.html, given.latex, given.tables_dir)):
        return  # nobody sees the tables, which take most of the time
    tabled = _Tabled.of(runs, given)
    write_asked(
        (given.json_path, lambda file: export.write_json(tabled.reports, file)),
        (given.latex, lambda file: write_file(file, latex_of(tabled.printed, intervals="pm"))),
        (given.html, tabled.write_page),
    )
    if given.tables_dir is not None:
        n = len(export.write_tables(tabled.files, given.tables_dir))
        click.echo(f"wrote {n} tables into {given.tables_dir}", err=True)
    tabled.draw(console)


def _check_flags(given: Report) -> None:
    """Reject invalid flags before reading runs."""
    if given.inspect_path is not None and len(given.folders) > 1:
        raise UsageError("--inspect takes one run folder at a time: a log of inspect_ai is about one model")
    if given.hub_task is not None and given.hub_path is None:
        raise UsageError("--hub-task goes with --hub FILE")
    wanted = (("--inspect", given.inspect_path, ".eval"), ("--hub", given.hub_path, ".yaml"))
    for flag_name, path, ending in wanted:
        if path and path != STANDARD_OUTPUT and path.suffix != ending:
            raise UsageError(f"{flag_name} {path}: the file's name must end in {ending} for other programs")


@dataclass(frozen=True, kw_only=True)
class _Tabled:
    """What a report shows: tables per run, and common sections."""

    given: Report
    runs: "Sequence[Run]"
    tables: "Sequence[Sequence[Table]]"
    sections: "Sequence[Section]"
    draws: "Draws"

    @classmethod
    def of(cls, runs: "Sequence[Run]", given: Report) -> "_Tabled":
        from vidence.report.papers import paper_sections
        from vidence.report.parsers import ROBUST
        from vidence.report.results import SEED
        from vidence.report.scores import Draws, margin_table
        from vidence.report.tables import all_tables

        draws = Draws(rng=np.random.default_rng(SEED), level=given.level)
        parsers = () if given.parser == ALL else (ROBUST,)
        tables = [all_tables(run, rng=draws.fresh(), level=given.level, parsers=parsers) for run in runs]
        if given.against_chance:
            margins = [margin_table(run, level=given.level) for run in runs]
            tables = [(*some, margin) for some, margin in zip(tables, margins, strict=True)]
        sections = paper_sections(runs, draws=draws, with_published=given.published)
        return cls(given=given, runs=runs, tables=tables, sections=sections, draws=draws)

    @property
    def _of_sections(self) -> "list[Table]":
        return [table for section in self.sections for table in section.tables]

    @property
    def reports(self) -> "list[tuple[Run, Sequence[Table]]]":
        """Return each run with all its tables; the sections' tables are with the first."""
        added = [self._of_sections, *([] for _ in self.runs[1:])]
        return [(run, (*some, *more)) for run, some, more in zip(self.runs, self.tables, added, strict=True)]

    @property
    def files(self) -> "list[Table]":
        """Return the tables that each get a file."""
        from vidence.report.side_by_side import side_by_side

        if len(self.runs) == 1:
            return [*self._of_sections, *self.tables[0]]
        scores = [[table for table in some if table.figure == "scores"] for some in self.tables]
        return [*self._of_sections, *side_by_side(self.runs, scores)]

    @property
    def printed(self) -> "Sequence[Table]":
        """Return the tables for print."""
        from vidence.report.papers import for_print

        return for_print(self.runs, self.sections, draws=self.draws)

    def write_page(self, page: Path) -> None:
        """Write the page of all runs."""
        from vidence.report.page import write_page
        from vidence.report.results import SEED

        root = self.runs[0].facts.media_root
        write_page(
            self.runs,
            page,
            cache_root=cache_root(),
            media_root=Path(root) if root else None,
            tables=self.tables,
            n_items=self.given.items,
            extra_sections=self.sections,
            level=self.given.level,
            rng=np.random.default_rng(SEED),
        )

    def draw(self, console: Screen) -> None:
        """Show the tables in the terminal; last, because the reader may close the pipe.

        Several runs are shown next to each other; with --all, each also separately.
        """
        from vidence.report.side_by_side import overview
        from vidence.report.terminal import draw_head, draw_section, draw_tables
        from vidence.tables.terminal import Sheet

        given, is_alone = self.given, len(self.runs) == 1
        most = MOST_PUBLISHED if given.published else MOST_LINES
        sheet = Sheet(console, most_lines=None if given.everything else most)
        if not is_alone:
            sheet.table(overview(self.runs, [some[0] for some in self.tables]))
        if is_alone or given.everything:
            for run, some in zip(self.runs, self.tables, strict=True):
                draw_head(run, some, sheet)
        for section in reversed(self.sections):  # printed tables before those of ours alone
            draw_section(section, sheet)
        for some in self.tables if is_alone or given.everything else ():
            draw_tables(some, sheet)
        sheet.end("Use --all to print it, or --html FILE to write the page.")


def show_run(folder: Path, *, page: Path | None, json_path: Path | None = None) -> None:
    """Write a finished run's page and JSON if requested, and show its tables.

    The run's summary line is cached.
    """
    from vidence.report.export import write_json
    from vidence.report.results import load_run
    from vidence.report.run_list import keep_line

    console = screen(page, json_path)
    runs = [load_run(folder, are_brief=json_path is None)]
    keep_line(folder, runs[0])
    tabled = _Tabled.of(runs, Report(folders=(folder,)))
    write_asked((page, tabled.write_page), (json_path, lambda file: write_json(tabled.reports, file)))
    tabled.draw(console)
