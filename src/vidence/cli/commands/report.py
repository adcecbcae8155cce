"""Tables, a page, CSV or JSON from run folders; --parser reads replies again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import numpy as np

from vidence.console.files import screen, write_asked
from vidence.console.options import (
    PATH,
    csv_option,
    file_option,
    html_option,
    interval_option,
    items_option,
    latex_option,
    level_option,
)
from vidence.console.screen import Screen
from vidence.engine.environment import cache_root
from vidence.errors import UsageError

if TYPE_CHECKING:
    from vidence.report.results import Run
    from vidence.report.scores import Draws
    from vidence.report.sections import Section
    from vidence.tables.table import Table

SECTION = "Explain"
ALL = "all"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=PATH)
@click.option(
    "--parser",
    help="Read the stored replies again with this parser; all: show what each of them reads. Asks nothing.",
)
@html_option
@csv_option("trial, with all that is known of it")
@file_option("--jsonl", "jsonl_path", "Write the same as JSON lines.")
@file_option("--parquet", "parquet_path", "Write the same as Parquet.")
@file_option("--json", "json_path", "Write plan, facts, tables and trials as JSON.")
@file_option("--inspect", "inspect_path", "Write a log for inspect_ai (.eval), which inspect view opens.")
@file_option("--hub", "hub_path", "Write scores for .eval_results/ of a model on the Hugging Face hub.")
@click.option(
    "--hub-task", metavar="OWNER/NAME:TASK", help="With --hub: the benchmark's data set there, and its task."
)
@level_option("Level of the intervals.")
@items_option
@click.option("--against-chance", is_flag=True, help="How far the scores lie above chance, with intervals.")
@click.option("--published", is_flag=True, help="Set the runs under the rows that their papers print.")
@latex_option
@interval_option("pm")
@click.option("--tables", "tables_dir", type=PATH, help="Write each table as CSV into this folder.")
def report(
    *,
    folders: tuple[Path, ...],
    parser: str | None,
    html: Path | None,
    csv_path: Path | None,
    jsonl_path: Path | None,
    parquet_path: Path | None,
    json_path: Path | None,
    inspect_path: Path | None,
    hub_path: Path | None,
    hub_task: str | None,
    level: float,
    items: int,
    against_chance: bool,
    published: bool,
    latex: Path | None,
    interval: Literal["pm", "brackets", "none"],
    tables_dir: Path | None,
) -> None:
    """Tables from one or several run FOLDERS; a FILE of ``-`` is the standard output, without the tables."""
    from vidence.media.whole import write_file
    from vidence.report import export
    from vidence.report.hub import eval_results
    from vidence.report.inspect_log import write_inspect_log
    from vidence.report.results import load_run
    from vidence.tables.latex import latex as latex_of

    rows = (csv_path, jsonl_path, parquet_path, inspect_path)
    console = screen(*rows, json_path, hub_path, html, latex)
    if inspect_path is not None and len(folders) > 1:
        raise UsageError("--inspect takes one run folder at a time: a log of inspect_ai is about one model")
    if hub_task is not None and hub_path is None:
        raise UsageError("--hub-task goes with --hub FILE")
    has_trials = any((*rows, json_path))
    again = None if parser == ALL else parser
    runs = [load_run(folder, parser=again, are_brief=not has_trials) for folder in folders]
    write_asked(
        (csv_path, lambda file: export.write_csv(runs, file)),
        (jsonl_path, lambda file: export.write_jsonl(runs, file)),
        (parquet_path, lambda file: export.write_parquet(runs, file)),
        (inspect_path, lambda file: write_inspect_log(runs[0], file)),
        (hub_path, lambda file: write_file(file, eval_results(runs, task=hub_task))),
    )
    if console.quiet and not any((json_path, html, latex, tables_dir)):
        return  # nobody sees the tables, which take most of the time
    tabled = _Tabled.of(
        runs, level=level, against_chance=against_chance, published=published, all_parsers=parser == ALL
    )
    write_asked(
        (json_path, lambda file: export.write_json(tabled.reports, file)),
        (latex, lambda file: write_file(file, latex_of(tabled.printed, intervals=interval))),
        (html, lambda file: tabled.write_page(file, level=level, n_items=items)),
    )
    if tables_dir is not None:
        n = len(export.write_tables(tabled.files, tables_dir))
        click.echo(f"wrote {n} tables into {tables_dir}", err=True)
    tabled.draw(console)


@dataclass(frozen=True, kw_only=True)
class _Tabled:
    """What a report of some runs shows: the tables of each, and the sections about all."""

    runs: "Sequence[Run]"
    tables: "Sequence[Sequence[Table]]"
    sections: "Sequence[Section]"
    draws: "Draws"

    @classmethod
    def of(
        cls,
        runs: "Sequence[Run]",
        *,
        level: float,
        against_chance: bool = False,
        published: bool = False,
        all_parsers: bool = False,
    ) -> "_Tabled":
        from vidence.report.papers import paper_sections
        from vidence.report.parsers import ROBUST
        from vidence.report.results import SEED
        from vidence.report.scores import Draws, margin_table
        from vidence.report.tables import all_tables

        draws = Draws(rng=np.random.default_rng(SEED), level=level)
        parsers = () if all_parsers else (ROBUST,)
        tables = [all_tables(run, rng=draws.fresh(), level=level, parsers=parsers) for run in runs]
        if against_chance:
            margins = [margin_table(run, level=level) for run in runs]
            tables = [(*some, margin) for some, margin in zip(tables, margins, strict=True)]
        sections = paper_sections(runs, draws=draws, with_published=published)
        return cls(runs=runs, tables=tables, sections=sections, draws=draws)

    @property
    def _of_sections(self) -> "list[Table]":
        return [table for section in self.sections for table in section.tables]

    @property
    def reports(self) -> "list[tuple[Run, Sequence[Table]]]":
        """Each run with all its tables; those of the sections stand with the first."""
        added = [self._of_sections, *([] for _ in self.runs[1:])]
        return [(run, (*some, *more)) for run, some, more in zip(self.runs, self.tables, added, strict=True)]

    @property
    def files(self) -> "list[Table]":
        """What each has a file of its own."""
        from vidence.report.side_by_side import side_by_side

        if len(self.runs) == 1:
            return [*self._of_sections, *self.tables[0]]
        scores = [[table for table in some if table.figure == "scores"] for some in self.tables]
        return [*self._of_sections, *side_by_side(self.runs, scores)]

    @property
    def printed(self) -> "Sequence[Table]":
        """What stands in a paper."""
        from vidence.report.papers import for_print

        return for_print(self.runs, self.sections, draws=self.draws)

    def write_page(self, page: Path, *, level: float = 0.95, n_items: int = 300) -> None:
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
            n_items=n_items,
            extra_sections=self.sections,
            level=level,
            rng=np.random.default_rng(SEED),
        )

    def draw(self, console: Screen) -> None:
        """Show the tables in the terminal; last, since whoever reads may close the pipe."""
        from vidence.report.terminal import draw, draw_section

        for run, some in zip(self.runs, self.tables, strict=True):
            draw(run, some, console)
        for section in self.sections:
            draw_section(section, console)


def show_run(folder: Path, *, page: Path | None, json_path: Path | None = None) -> None:
    """Write the page of a run and its JSON where they are wanted, and draw its tables in the terminal."""
    from vidence.report.export import write_json
    from vidence.report.results import load_run

    console = screen(page, json_path)
    tabled = _Tabled.of([load_run(folder, are_brief=json_path is None)], level=0.95)
    write_asked(
        (page, tabled.write_page),
        (json_path, lambda file: write_json(tabled.reports, file)),
    )
    tabled.draw(console)
