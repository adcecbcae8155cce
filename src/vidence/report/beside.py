"""Our runs under the rows that a paper prints, every printed value as printed."""

from collections.abc import Sequence

from vidence.contracts import PaperColumn
from vidence.errors import UsageError
from vidence.explain.published.printed import PublishedCell, PublishedColumn, PublishedTable, is_blank
from vidence.explain.published.published import beside
from vidence.report.paper_shaped import Drawn, figure, how_asked
from vidence.report.results import Run
from vidence.report.side_by_side import run_names
from vidence.tables.cells import DASH, Cell, Column, Line, Table, estimated, words

PROBLEM, REMARK = "†", "*"


def published_tables(runs: Sequence[Run], *, drawn: Drawn) -> tuple[Table, ...]:
    """Each published table that a run can stand in, with the runs below the printed rows.

    A run stands only in tables of its benchmark and split, and there only in columns of which it has
    questions. Printed values that arithmetic contradicts carry a dagger, remarks an asterisk; the footnotes
    say what is known.

    Args:
        runs: one run or more.
        drawn: where the draws of the intervals come from.

    Raises:
        UsageError: no published table is about what these runs were asked.
    """
    names = run_names(runs)
    found: dict[str, tuple[PublishedTable, list[int]]] = {}
    for i, run in enumerate(runs):
        for table in beside(run.plan.benchmark, run.plan.split):
            found.setdefault(table.name, (table, []))[1].append(i)
    tables = []
    for table, members in found.values():
        ours = [
            (i, cells)
            for i in members
            if (cells := _our_cells(runs[i], names[i], table, drawn=drawn)) is not None
        ]
        if ours:
            lines = [Line(key=f"ours:{i}", cells=tuple(cells)) for i, cells in ours]
            tables.append(_with_ours(table, lines, [(names[i], how_asked(runs[i])) for i, _ in ours]))
    if not tables:
        asked = ", ".join(dict.fromkeys(f"{run.plan.benchmark} ({run.plan.split})" for run in runs))
        raise UsageError(
            f"no published table is about {asked}; `vidence audit-table` lists those that there are"
        )
    return tuple(tables)


def _our_cells(run: Run, name: str, table: PublishedTable, *, drawn: Drawn) -> list[Cell] | None:
    """The cells of a run, None where it has nothing for any column."""
    cells = [words(name)]
    for column in table.columns[1:]:
        found = None
        if column.measure is not None:
            measure = PaperColumn(
                title=column.name, average=column.measure.average, where=column.measure.where
            )
            found = figure(run, measure, drawn=drawn)
        cells.append(Cell(text=DASH) if found is None else estimated(found))
    return cells if any(cell.estimate for cell in cells) else None


def _with_ours(table: PublishedTable, ours: Sequence[Line], how: Sequence[tuple[str, str]]) -> Table:
    footnotes: dict[str, str] = {}
    printed = [
        Line(
            key=f"printed:{n}",
            cells=tuple(
                _printed_cell(column, cell, footnotes)
                for column, cell in zip(table.columns, row.cells, strict=True)
            ),
        )
        for n, row in enumerate(table.rows)
    ]
    source = ", ".join(filter(None, (table.source.paper, table.source.where)))
    return Table(
        name=f"published:{table.name}",
        title=f"{table.title}: as printed, and ours",
        note=f"Printed values are from {source}. Ours stand below, with their intervals. "
        f"{PROBLEM}: arithmetic contradicts the printed value; {REMARK}: a remark.",
        columns=tuple(
            Column(key=f"column:{i}", title=c.name, note=c.means, is_text=c.kind == "text")
            for i, c in enumerate(table.columns)
        ),
        lines=(*printed, *ours),
        footnotes=(
            *(f"{name} was asked {said}." for name, said in how),
            *table.notes,
            *(f"{sign} {says}" for says, sign in footnotes.items()),
        ),
    )


def _printed_cell(column: PublishedColumn, cell: PublishedCell, footnotes: dict[str, str]) -> Cell:
    """A printed cell with the signs of its footnotes; new ones are added."""
    signs = []
    for flag in cell.flags:
        says = f"{column.name}: {flag.says}" if column.kind != "text" else flag.says
        sign = f"{PROBLEM if flag.is_problem else REMARK}{len(footnotes) + 1}"
        signs.append(footnotes.setdefault(says, sign))
    return Cell(text=DASH if is_blank(cell.text) else cell.text, detail=" ".join(signs))
