"""The parts of a report that set runs beside a paper: its tables, its printed rows, budgets."""

from collections.abc import Sequence

from vidence.report.beside import published_tables
from vidence.report.budgets import budget_table
from vidence.report.paper_shaped import Drawn, has_paper_tables, paper_tables
from vidence.report.results import Run
from vidence.report.sections import Section
from vidence.tables.cells import Table


def paper_sections(runs: Sequence[Run], *, drawn: Drawn, with_published: bool) -> tuple[Section, ...]:
    """The parts that there is something for.

    Args:
        runs: one run or more.
        drawn: where the draws of intervals and tests come from.
        with_published: whether the printed tables are wanted.

    Raises:
        UsageError: printed tables are wanted and none is about what these runs were asked.
    """
    sections = []
    if has_paper_tables(runs):
        sections.append(Section(title="As in the paper", tables=paper_tables(runs, drawn=drawn)))
    if with_published:
        sections.append(
            Section(
                title="Beside the published tables",
                paragraphs=(
                    "A printed value and ours compare only where both were asked and marked alike; the lines "
                    "below each table say how ours were.",
                ),
                tables=published_tables(runs, drawn=drawn),
            )
        )
    budgets = budget_table(runs, drawn=drawn)
    if budgets is not None:
        sections.append(Section(title="Frame budgets", tables=(budgets,)))
    return tuple(sections)


def for_print(runs: Sequence[Run], sections: Sequence[Section], *, drawn: Drawn) -> tuple[Table, ...]:
    """The tables for a paper: those of the sections; without a table of the benchmark one of the scores."""
    tables = [table for section in sections for table in section.tables]
    return tuple(tables) if has_paper_tables(runs) else (*paper_tables(runs, drawn=drawn), *tables)
