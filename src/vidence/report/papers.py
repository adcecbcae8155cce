"""Runs as a paper prints them: tables of its shape, and what it prints with our rows below."""

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
    """The parts that there is something for.

    Args:
        runs: one run or more.
        draws: where the draws of intervals and tests come from.
        with_published: whether the printed tables are wanted.
        people: the folders of runs of people, none of which is marked as the best.

    Raises:
        UsageError: printed tables are wanted and none is about what these runs were asked.
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
    """The tables for a paper: those of the sections; without a table of the benchmark one of the scores."""
    tables = [table for section in sections for table in section.tables]
    is_there = any(section.title == _AS_PAPER for section in sections)
    return tuple(tables) if is_there else (*paper_tables(runs, draws=draws), *tables)


# --------------------------------------------------------------------------- shaped as in the papers


def paper_tables(runs: Sequence[Run], *, draws: Draws, people: Container[Path] = ()) -> tuple[Table, ...]:
    """The tables of the benchmarks of these runs, shaped as in their papers; else the scores by small tags.

    Columns of which no run has a question are left out, and tables without columns. Where all runs of a
    benchmark have the same questions, the best value of a column is marked if it can be told from every
    other one (`Cell.mark`).

    Args:
        runs: one run or more.
        draws: where the draws of intervals and tests come from.
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
    """A row for each name, whose cells may come from several runs of it, and a column for each of a paper.

    Args:
        name: of the table.
        title: of the table.
        rows: the runs of each row, by its name.
        columns: those of which a run has a question.
        draws: where the draws of intervals and tests come from.
        people: the rows of people, which are no best value.
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
    """Mark the best cell of each column where it is told apart from all others; what to say of it."""
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
    """The tables that a benchmark names; none where it is not installed here."""
    if not is_known("benchmark", benchmark):
        return {}
    values: Mapping[str, tuple[PaperColumn, ...]] = getattr(
        create("benchmark", benchmark), "paper_tables", {}
    )
    return values


def columns_of(runs: Sequence[Run]) -> Iterator[tuple[str, list[PaperColumn]]]:
    """The tables of the benchmark of these runs by title, with the columns that one has a question of."""
    for title, columns in _columns(runs).items():
        if kept := [column for column in columns if any(column_rows(run, column) for run in runs)]:
            yield title, kept


def _columns(runs: Sequence[Run]) -> Mapping[str, tuple[PaperColumn, ...]]:
    """The columns that the benchmark names, by the title of their table; else those of small tags."""
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
    """What stands in one column for one run; a dash where the run has nothing for it."""
    if run.no_score:
        return Cell()
    rows = column_rows(run, column)
    noun = source_noun(row.item for row in run.rows)  # a column may be about part of its questions
    aggregate = Aggregate.of(rows, column.average, noun=noun, of_points=column.of == "points")
    return Cell(value=aggregate.estimate(draws), kind="points" if aggregate.of_points else "share")


def column_rows(run: Run, column: PaperColumn) -> Sequence[Row]:
    """The trials that a column is about; none where they were scored as something else."""
    rows = chosen(run.rows, column.where)
    return scored_alike(rows, parser=column.parser, alike=column.alike)[0] if rows else ()


def best_of(paired: PairedRuns, column: PaperColumn, *, draws: Draws) -> int | None:
    """The run that is best in a column where it is told apart from all others."""
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
