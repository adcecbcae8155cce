"""The papers' published tables, for reprinting next to a run."""

import functools
from collections.abc import Iterator, Mapping
from importlib import resources

import msgspec

from vidence.ask.benchmarks.paper_facts import NamedRow
from vidence.catalog import create
from vidence.contracts import Benchmark, PaperColumn
from vidence.errors import UnknownNameError
from vidence.explain.published.printed_tables import (
    Across,
    Flag,
    Measure,
    Notes,
    PublishedCell,
    PublishedColumn,
    PublishedRow,
    PublishedTable,
    read_table,
)
from vidence.installation import packaged


class Printed(Notes):
    """A table in its paper's file: the CSV, and its notes."""

    csv: str


@functools.cache
def _papers() -> dict[str, Printed]:
    folder = resources.files("vidence.explain.published") / "papers"
    papers = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return {
        f"{paper.removesuffix('.toml')}-{name}": table
        for paper in papers
        for name, table in packaged(
            "vidence.explain.published", f"papers/{paper}", dict[str, Printed]
        ).items()
    }


def names() -> tuple[str, ...]:
    """Return the names of the built-in tables, such as ``mmvu-table3``, sorted."""
    return tuple(sorted(_papers()))


def load(name: str) -> PublishedTable:
    """Return the table of that name, with flags on its cells.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in names():
        raise UnknownNameError("published table", name, names())
    table = _papers()[name]
    return read_table(table.csv, name=name, where=f"{name}.csv", notes=table)


def beside(run_benchmark: str, split: str) -> tuple[PublishedTable, ...]:
    """The tables whose rows can be compared with a run, with one row for each model.

    The columns with a `measure` are those that a run can fill: of its questions those whose tags are in
    `where`, averaged as `average` says; with none of these questions in the run there is no value.

    Args:
        run_benchmark: the name of the benchmark of the run.
        split: its split.

    Returns:
        The tables in the order of their names, none for a benchmark without published tables.
    """
    tables = [load(name) for name in names() if name.startswith(f"{run_benchmark}-")]
    tables += _of_benchmark(run_benchmark)
    return tuple(
        _widened(table, table.across) if table.across else table
        for table in tables
        if table.benchmark == run_benchmark and split in table.splits
    )


def _of_benchmark(name: str) -> Iterator[PublishedTable]:
    """Yield the rows in a benchmark's file, under the columns of its paper's tables."""
    benchmark: Benchmark = create("benchmark", name)
    rows: tuple[NamedRow, ...] = getattr(benchmark, "published", ())
    tables: Mapping[str, tuple[PaperColumn, ...]] = getattr(benchmark, "paper_tables", {})
    printed = {title for row in rows for title in row.values}
    columns = {column.title: column for some in tables.values() for column in some if column.title in printed}
    if not rows:
        return
    texts = ("Model", "Frames", "Remark")
    measured = (
        PublishedColumn(
            name=title,
            kind="number" if column.of == "points" else "percent",
            measure=Measure(average=column.average, where=column.where),
        )
        for title, column in columns.items()
    )
    entries = []
    for number, row in enumerate(rows, 1):
        condition = " / ".join(filter(None, (row.model, row.frames, row.note)))
        values = (f"{row.values[title]:g}" if title in row.values else "" for title in columns)
        model = PublishedCell(text=row.model, flags=(Flag(says=f"seen in {row.source}"),))
        others = (PublishedCell(text=text) for text in (row.frames, row.note, *values))
        entries.append(PublishedRow(name=condition, cells=(model, *others), line=number))
    yield PublishedTable(
        name=f"{name}-published",
        title=f"{name}: published results",
        benchmark=name,
        splits=benchmark.splits,
        names=texts,
        columns=(*(PublishedColumn(name=text, kind="text") for text in texts), *measured),
        rows=tuple(entries),
    )


def _widened(table: PublishedTable, across: Across) -> PublishedTable:
    """Return the table with one row per model: the values of the column `across` become columns."""
    kept = [column for column in table.columns if column.name in table.names and column.name != across.column]
    spread = [
        (column, value, _narrowed(column, value, where))
        for value, where in across.where.items()
        for column in table.columns
        if column.kind != "text"
    ]
    groups: dict[tuple[str, ...], dict[str, PublishedRow]] = {}
    for row in table.rows:
        key = tuple(table.text(row, column.name) for column in kept)
        groups.setdefault(key, {})[table.text(row, across.column)] = row
    rows = []
    for by_value in groups.values():
        first = next(iter(by_value.values()))
        remarks = dict.fromkeys(flag for row in by_value.values() for flag in row.cells[0].flags)
        cells = [first.cells[table.position(column.name)] for column in kept]
        cells[0] = PublishedCell(text=cells[0].text, flags=tuple(remarks))
        cells += [
            by_value[value].cells[table.position(column.name)]
            if value in by_value
            else PublishedCell(text="")
            for column, value, _ in spread
        ]
        rows.append(
            msgspec.structs.replace(first, name=cells[0].text, cells=tuple(cells), n={}, is_n_known=False)
        )
    columns = (*kept, *(narrowed for *_, narrowed in spread))
    return msgspec.structs.replace(
        table, columns=columns, rows=tuple(rows), names=tuple(c.name for c in kept), across=None
    )


def _narrowed(column: PublishedColumn, value: str, where: Mapping[str, tuple[str, ...]]) -> PublishedColumn:
    """Return the column for one value only."""
    measure = column.measure and msgspec.structs.replace(
        column.measure, where={**column.measure.where, **where}
    )
    return msgspec.structs.replace(column, name=f"{column.name}, {value}", measure=measure)
