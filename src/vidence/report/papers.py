"""Runs as a paper prints them: tables of its shape, and what it prints with our rows below."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

import msgspec

from vidence.catalog import create, names
from vidence.contracts import PaperColumn
from vidence.records import source_noun
from vidence.report.pairing import PairedRuns, pair_where_possible
from vidence.report.printed_comparison import is_by_rules, published_tables, scored_alike
from vidence.report.provenance import how_asked
from vidence.report.results import Row, Run
from vidence.report.scores import (
    ANSWERED,
    NO_VALUE,
    Aggregate,
    Draws,
    chosen,
    macro_tag,
    natural_order,
    points,
)
from vidence.report.sections import Section
from vidence.report.side_by_side import run_names
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
    for name in dict.fromkeys(run.plan.benchmark for run in runs):
        own = [run for run in runs if run.plan.benchmark == name]
        for title, columns in columns_of(own).items():
            kept = [c for c in columns if any(column_rows(run, c) for run in own)]
            if kept:
                tables.append(
                    _table(f"paper-{len(tables) + 1}", title, own, kept, draws=draws, people=people)
                )
    return tuple(tables)


def _table(  # noqa: PLR0917 - name and title belong together, runs and columns make the cells
    name: str,
    title: str,
    runs: Sequence[Run],
    columns: Sequence[PaperColumn],
    *,
    draws: Draws,
    people: Container[Path],
) -> Table:
    cells = [[column_cell(run, column, draws=draws) for column in columns] for run in runs]
    noun = source_noun(row.item for run in runs for row in run.rows)
    note = f"Accuracy in per cent with {100 * draws.level:g} % intervals, clustered by {noun}."
    if any(len(run.people) > 1 for run in runs):
        note += f" Rows of several people have people and {noun}s crossed."
    if any(column.of == "points" for column in columns):
        note += " Points are on the scale of the judge."
    models = [i for i, run in enumerate(runs) if run.folder not in people]
    if len(models) > 1:
        paired = pair_where_possible([runs[i] for i in models])
        if paired is None:
            note += " The rows are not about the same questions, so that no value is marked as best."
        else:
            for place, column in enumerate(columns):
                if (best := best_of(paired, column, draws=draws)) is not None:
                    row = cells[models[best]]
                    row[place] = msgspec.structs.replace(row[place], mark="best")
            note += f" Bold: best, and told apart from every other row (test by {noun}, Holm over all pairs)."
    labels, how = run_names(runs), [how_asked(run) for run in runs]
    if len(set(how)) == 1:  # said once
        note, how = f"{note} {'All rows' if len(how) > 1 else labels[0]}: {how[0]}.", [""] * len(how)
    headings = tuple(
        Column(key=f"column:{i}", title=column.title, group=column.group, note=_meaning(column))
        for i, column in enumerate(columns)
    )
    lines = [
        TableRow(key=f"run:{i}", label=label, detail=detail, values=tuple(some))
        for i, (label, detail, some) in enumerate(zip(labels, how, cells, strict=True))
    ]
    videos = videos_row(lines, headings, label=f"{noun}s")
    return Table(
        name=name,
        title=f"{runs[0].plan.benchmark}: {title}",
        note=note,
        label=Column(key="name", title="model", note="and how it was asked and scored"),
        columns=headings,
        rows=(*lines, *([] if videos is None else [videos])),
        footnotes=tuple(
            dict.fromkeys(
                f"{label}, {column.group} {column.title}: {column.by_rules}."
                for label, run in zip(labels, runs, strict=True)
                for column in columns
                if column.by_rules and (rows := column_rows(run, column)) and is_by_rules(rows)
            )
        ),
    )


def declared(benchmark: str) -> Mapping[str, tuple[PaperColumn, ...]]:
    """The tables that a benchmark names; none where it is not installed here."""
    if benchmark not in names("benchmark"):
        return {}
    found: Mapping[str, tuple[PaperColumn, ...]] = getattr(create("benchmark", benchmark), "paper_tables", {})
    return found


def columns_of(runs: Sequence[Run]) -> Mapping[str, tuple[PaperColumn, ...]]:
    """The columns that the benchmark names, by the title of their table; else those of small tags."""
    if found := declared(runs[0].plan.benchmark):
        return found
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
    if column.of == "points":
        what = "mean of the points of the judge"
    elif column.average == "micro":
        what = "mean over questions"
    elif column.average == "answered":
        what = "mean over readable replies"
    else:
        what = f"mean over {column.average.partition(':')[2]}, each value alike"
    return f"{what}: {where}" if where else what


def column_cell(run: Run, column: PaperColumn, *, draws: Draws) -> Cell:
    """What stands in one column for one run; a dash where the run has nothing for it."""
    if run.no_score:
        return Cell()
    rows = column_rows(run, column)
    if column.of == "points":
        return Cell(value=points(rows, draws=draws), kind="points")
    noun = source_noun(row.item for row in run.rows)  # a column may be about part of its questions
    return Cell(value=Aggregate.of(rows, column.average, noun=noun).estimate(draws), kind="share")


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
    if column.of != "accuracy" or column.average == ANSWERED or column.parser or not keep:
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
