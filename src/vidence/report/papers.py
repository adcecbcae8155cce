"""Runs in the form of a paper: tables of its shape, and its printed rows with ours below."""

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.catalog import create, is_known
from vidence.contracts import PaperColumn
from vidence.records import source_noun
from vidence.report.pairing import PairedRuns, pair_where_possible
from vidence.report.printed_comparison import is_by_rules, published_tables, scored_alike
from vidence.report.provenance import how_asked
from vidence.report.results import Row, Run
from vidence.report.scores import ANSWERED, NO_VALUE, Aggregate, Draws, chosen, macro_tag, natural_order
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
from vidence.statistics.groups import group_rule
from vidence.statistics.paired import rank
from vidence.tables.table import Cell, Column, Table, videos_row
from vidence.tables.table import Row as TableRow

# Where a benchmark names no columns: the headline, and the values of tags with at most so many.
MOST_VALUES = 8
_AS_PAPER = "As in the paper"


def paper_sections(
    runs: Sequence[Run], *, draws: Draws, with_published: bool, people: Container[Path] = ()
) -> tuple[Section, ...]:
    """Return the sections that have content.

    Args:
        runs: one or more runs.
        draws: source of the bootstrap draws and tests.
        with_published: whether to include the printed tables.
        people: the folders of people's runs, which are never marked as best.

    Raises:
        UsageError: printed tables are requested and none fits these runs.
    """
    sections = []
    tables = paper_tables(runs, draws=draws, people=people)
    if tables and any(map(declared, {run.plan.benchmark for run in runs})):
        sections.append(Section(title=_AS_PAPER, tables=tables, place="after"))
    if with_published:
        sections.append(
            Section(
                title="Beside the published tables",
                paragraphs=(
                    "A printed value and ours compare only where both were asked and scored alike; the lines "
                    "below each table say how ours were, and why a run has no value in a column.",
                ),
                tables=published_tables(runs, draws=draws),
                place="after",
            )
        )
    return tuple(sections)


def for_print(runs: Sequence[Run], sections: Sequence[Section], *, draws: Draws) -> tuple[Table, ...]:
    """Return the tables for a paper: those of the sections, or the scores if the benchmark has no table."""
    tables = [table for section in sections for table in section.tables]
    is_there = any(section.title == _AS_PAPER for section in sections)
    return tuple(tables) if is_there else (*paper_tables(runs, draws=draws), *tables)


# --------------------------------------------------------------------------- shaped as in the papers


def paper_tables(runs: Sequence[Run], *, draws: Draws, people: Container[Path] = ()) -> tuple[Table, ...]:
    """Return the tables of the runs' benchmarks as in their papers; else scores by small tags.

    Columns without questions are left out, and tables without columns. If all runs of a benchmark have the
    same questions, a column's best value is marked if it differs clearly from every other one (`Cell.mark`).

    Args:
        runs: one or more runs.
        draws: source of the bootstrap draws and tests.
        people: as for `paper_sections`.
    """
    tables: list[Table] = []
    for owner in dict.fromkeys(run.plan.benchmark for run in runs):
        own = [run for run in runs if run.plan.benchmark == owner]
        rows = {name: [run] for name, run in zip(run_names(own), own, strict=True)}
        others = {name for name, (run,) in rows.items() if run.folder in people}
        for title, columns in columns_of(own):
            name = f"paper-{len(tables) + 1}"
            tables.append(
                paper_table(name, f"{owner}: {title}", rows=rows, columns=columns, draws=draws, people=others)
            )
    return tuple(tables)


def paper_table(
    name: str,
    title: str,
    *,
    rows: Mapping[str, Sequence[Run]],
    columns: Sequence[PaperColumn],
    draws: Draws,
    people: Container[str],
) -> Table:
    """Return a table with a row per name, from one or more runs, and a column per paper column.

    Args:
        name: of the table.
        title: of the table.
        rows: the runs of each row, by name.
        columns: those with questions in a run.
        draws: source of the bootstrap draws and tests.
        people: the rows of people, which are never the best.
    """
    runs = [run for some in rows.values() for run in some]
    known = [
        {row: [run for run in some if column_rows(run, c)] for row, some in rows.items()} for c in columns
    ]
    alone = [{row: some[0] for row, some in of.items() if len(some) == 1} for of in known]
    cells = {
        row: [
            column_cell(of[row], column, draws=draws) if row in of else Cell()
            for column, of in zip(columns, alone, strict=True)
        ]
        for row in rows
    }
    are_several = any(len(run.people) > 1 for run in runs)
    noun, n_several = _noun(runs), sum(len(some) > 1 for of in known for some in of.values())
    notes = [
        f"Accuracy in per cent with {100 * draws.level:g} % intervals, clustered by {noun}.",
        "A row joins the runs of a model and condition." if len(runs) > len(rows) else "",
        f"{n_several} cells are empty since several runs of the row hold them." if n_several else "",
        f"Rows of several people have people and {noun}s crossed." if are_several else "",
        "Points are on the scale of the judge." if any(c.of == "points" for c in columns) else "",
        _mark_best(cells, alone, columns, people=people, draws=draws),
    ]
    how = {row: "; ".join(dict.fromkeys(map(how_asked, some))) for row, some in rows.items()}
    if len(set(how.values())) == 1:  # said once
        notes.append(f"{'All rows' if len(how) > 1 else next(iter(how))}: {how.popitem()[1]}.")
        how = {}
    headings = tuple(
        Column(key=f"column:{i}", title=column.title, group=column.group, note=_meaning(column))
        for i, column in enumerate(columns)
    )
    lines = [TableRow(key=f"row:{i}", label=row, values=tuple(cells[row])) for i, row in enumerate(rows)]
    videos = videos_row(lines, headings, label=f"{noun}s")
    by_rules = (
        f"{row}, {column.group} {column.title}: {column.by_rules}."
        for column, of in zip(columns, alone, strict=True)
        for row, run in of.items()
        if column.by_rules and is_by_rules(column_rows(run, column))
    )
    return Table(
        name=name,
        title=title,
        note=" ".join(filter(None, notes)),
        label=Column(key="name", title="model"),
        columns=headings,
        rows=(*lines, *([] if videos is None else [videos])),
        footnotes=tuple(dict.fromkeys((*(f"{row}: {message}." for row, message in how.items()), *by_rules))),
    )


def _noun(runs: Sequence[Run]) -> str:
    return source_noun(row.item for run in runs for row in run.rows)


def _mark_best(
    cells: Mapping[str, list[Cell]],
    alone: Sequence[Mapping[str, Run]],
    columns: Sequence[PaperColumn],
    *,
    people: Container[str],
    draws: Draws,
) -> str:
    """Mark each column's best cell if it differs clearly from all others; return a note."""
    pairs: dict[tuple[str, ...], PairedRuns | None] = {}
    for i, (column, of) in enumerate(zip(columns, alone, strict=True)):
        names = tuple(row for row in of if row not in people)
        if len(names) < 2:
            continue
        if names not in pairs:
            pairs[names] = pair_where_possible([of[row] for row in names])
        if (paired := pairs[names]) and (best := best_of(paired, column, draws=draws)) is not None:
            cells[names[best]][i] = msgspec.structs.replace(cells[names[best]][i], mark="best")
    if not pairs:
        return ""
    if not any(pairs.values()):
        return "The rows are not about the same questions, so that no value is marked as best."
    noun = _noun([run for of in alone for run in of.values()])
    return f"Bold: best, and told apart from every other row (test by {noun}, Holm over all pairs)."


def declared(benchmark: str) -> Mapping[str, tuple[PaperColumn, ...]]:
    """Return the tables that a benchmark declares; none if it is not installed."""
    if not is_known("benchmark", benchmark):
        return {}
    values: Mapping[str, tuple[PaperColumn, ...]] = getattr(
        create("benchmark", benchmark), "paper_tables", {}
    )
    return values


def columns_of(runs: Sequence[Run]) -> Iterator[tuple[str, list[PaperColumn]]]:
    """Yield the benchmark's tables by title, with the columns that have questions."""
    for title, columns in _columns(runs).items():
        if kept := [column for column in columns if any(column_rows(run, column) for run in runs)]:
            yield title, kept


def _columns(runs: Sequence[Run]) -> Mapping[str, tuple[PaperColumn, ...]]:
    """Return the columns that the benchmark declares, by table title; else those of small tags."""
    if entries := declared(runs[0].plan.benchmark):
        return entries
    values: dict[str, set[str]] = {}
    for run in runs:
        for row in run.rows:
            for tag, value in row.item.tags.items():
                values.setdefault(tag, set()).add(value)
    columns = [PaperColumn(title="overall", average=runs[0].plan.headline)]
    for tag, some in values.items():
        if 2 <= len(some - {NO_VALUE}) <= MOST_VALUES:
            ordered = sorted(some, key=natural_order)
            columns += [PaperColumn(title=v, group=tag, where={tag: (v,)}) for v in ordered]
    return {"scores": tuple(columns)}


def _meaning(column: PaperColumn) -> str:
    where = "; ".join(f"{tag} {' or '.join(values)}" for tag, values in column.where.items())
    of, tag = " of the points of the judge" if column.of == "points" else "", column.average.partition(":")[2]
    over = {"micro": "questions", "answered": "readable replies"}
    what = f"mean{of} over {over.get(column.average, f'{tag}, each value alike')}"
    return f"{what}: {where}" if where else what


def column_cell(run: Run, column: PaperColumn, *, draws: Draws) -> Cell:
    """Return a run's cell in a column; a dash if it has none."""
    if run.no_score:
        return Cell()
    rows = column_rows(run, column)
    noun = source_noun(row.item for row in run.rows)  # a column may be about part of its questions
    aggregate = Aggregate.of(rows, column.average, noun=noun, of_points=column.of == "points")
    return Cell(value=aggregate.estimate(draws), kind="points" if aggregate.of_points else "share")


def column_rows(run: Run, column: PaperColumn) -> Sequence[Row]:
    """Return a column's trials; none if they were scored differently."""
    rows = chosen(run.rows, column.where)
    return scored_alike(rows, parser=column.parser, alike=column.alike)[0] if rows else ()


def best_of(paired: PairedRuns, column: PaperColumn, *, draws: Draws) -> int | None:
    """Return the run that is clearly best in a column."""
    keep = [
        i
        for i, item in enumerate(paired.items)
        if all(item.tags.get(tag) in values for tag, values in column.where.items())
    ]
    is_mean = column.average != ANSWERED and group_rule(column.average) is None
    if column.of != "accuracy" or not is_mean or column.parser or not keep:
        return None
    part = paired.part(keep)
    tag = macro_tag(column.average)
    groups = part.groups(tag) if tag else None
    if tag and groups is None:
        return None
    ranking = rank(
        {str(i): part.values[:, i] for i in range(len(paired.runs))},
        clusters=part.clusters,
        groups=groups,
        level=draws.level,
    )
    return int(ranking.names[0]) if ranking.places[0] == (1, 1) else None
