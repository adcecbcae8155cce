"""Findings of diagnostics on the runs of a panel, stacked by run."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from vidence.errors import UsageError
from vidence.records import Record
from vidence.report.diagnosis import Diagnosed
from vidence.report.panel_grid import Grid, GridCell
from vidence.report.scores import Draws, headline_accuracy
from vidence.tables.charts import Statement, Violins, table_of
from vidence.tables.table import Cell, Column, Row, Table

Found = tuple[GridCell, Diagnosed]


class FindingSettings(Record):
    """Options of a view that shows findings: which diagnostics, and which values."""

    finding: Annotated[
        tuple[str, ...], Meta(description="diagnostics whose tables replace the scores, one run per row")
    ] = ()
    tables: Annotated[tuple[str, ...], Meta(description="tables of the findings; none: the first")] = ()
    values: Annotated[
        tuple[str, ...],
        Meta(description="a row for each run, with figures of the findings: TITLE:TABLE/ROW/COLUMN"),
    ] = ()
    alike: Annotated[bool, Meta(description="refuse findings of several models or options")] = False

    direct: Annotated[
        bool, Meta(description="tables of findings with the scores of the models asked directly")
    ] = False


def found_of(grid: Grid, diagnostics: Sequence[str], *, draws: Draws) -> list[Found]:
    """Return some diagnostics' findings in all folders of a panel.

    Raises:
        UsageError: there are none, or no question could be examined.
    """
    entries = [
        (cell, diagnosed)
        for name in diagnostics
        for cell in grid.cells
        for diagnosed in cell.found(name, level=draws.level)
    ]
    if not entries:
        raise UsageError(
            f"no run of the panel has findings of {', '.join(diagnostics)}; "
            f"`vidence diagnose {diagnostics[0]} RUN` makes them"
        )
    return entries


def findings_of(grid: Grid, wanted: FindingSettings, *, draws: Draws) -> tuple[Statement, ...]:
    """Return tables of each diagnostic with the rows of all runs, and all runs' distributions.

    Args:
        grid: the runs.
        wanted: which diagnostics, and which values.
        draws: the level of the intervals.

    Raises:
        UsageError: no run has findings or such a table, or they are not comparable.
    """
    everything = found_of(grid, wanted.finding, draws=draws)
    statements: list[Statement] = []
    for name in wanted.finding:
        findings = [(cell, diagnosed) for cell, diagnosed in everything if diagnosed.diagnostic.name == name]
        if not findings:
            continue
        if wanted.alike:
            check_alike(findings)
        if wanted.values:
            statements.append(_picked(name, findings, wanted.values))
        if wanted.tables or not wanted.values:
            some = _stacked_all(name, findings, wanted.tables or ("",))
            statements += (
                [_with_direct(table, findings, grid, draws=draws) for table in some]
                if wanted.direct
                else some
            )
        statements += _violins(name, findings)
    return tuple(statements)


def _stacked_all(name: str, entries: Sequence[Found], tables: Sequence[str]) -> list[Table]:
    """Return the tables of all runs; of several names those that a run has, with a note on the others."""
    known = {table for _, diagnosed in entries for table in diagnosed.tables()}
    kept = [table for table in tables if not table or table in known] or list(tables[:1])
    parts = [stacked(f"pivot:{name}{f':{word}' if word else ''}", entries, word) for word in kept]
    if absent := [table for table in tables if table not in kept]:
        note = f"{parts[0].note} No run has the table {' or '.join(absent)}.".strip()
        parts[0] = msgspec.structs.replace(parts[0], note=note)
    return parts


def _with_direct(table: Table, entries: Sequence[Found], grid: Grid, *, draws: Draws) -> Table:
    """Add the scores of models asked directly, and of models without findings, to a stacked table.

    The latter, such as thinking models, are asked to reason first: a single reply, in the place of M = 0.

    Source: HumanPCR, tables 4 and 12.
    """
    directly = {
        (cell.model, cell.benchmark, cell.run.plan.split): Cell(
            value=headline_accuracy(cell.run, draws=draws)
        )
        for cell in grid.scored
        if cell.run.plan.style == "direct"
    }

    def direct(cell: GridCell) -> Cell:
        return directly.get((cell.model, cell.benchmark, cell.run.plan.split), Cell())

    of_place = [cell for cell, _ in entries]
    rows = [
        msgspec.structs.replace(row, values=(direct(of_place[int(row.key.partition(":")[0])]), *row.values))
        for row in table.rows
    ]
    named, single = {cell.model for cell, _ in entries}, "m0" if "m0" in table.keys else "accuracy"
    for i, cell in enumerate(grid.scored):
        if cell.model not in named and cell.run.plan.style == "cot":
            score = headline_accuracy(cell.run, draws=draws)
            values = (direct(cell), *(Cell(value=score if key == single else None) for key in table.keys))
            detail = f"{cell.benchmark}, a single reply"
            rows.append(Row(key=f"single:{i}", label=cell.label, detail=detail, values=values))
    heading = Column(key="direct", title="direct", kind="share", note="the run with style = direct")
    return msgspec.structs.replace(table, columns=(heading, *table.columns), rows=tuple(rows))


def check_alike(entries: Sequence[Found]) -> None:
    """Reject findings with different models, selectors or options, which are not comparable.

    Raises:
        UsageError: they differ; the message says how.
    """
    how = [
        {"model": diagnosed.plan.model, "selector": diagnosed.plan.selector, **diagnosed.header.options}
        for _, diagnosed in entries
    ]
    for what in dict.fromkeys(key for options in how for key in options):
        values = [options.get(what, "") for options in how]
        if len(set(values)) > 1:
            places = "; ".join(
                f"{cell.benchmark}, {cell.label}: {value or 'the default'}"
                for (cell, _), value in zip(entries, values, strict=True)
            )
            raise UsageError(
                f"findings of {entries[0][1].diagnostic.name} do not compare across these runs, which differ "
                f"in {what} ({places}); put those that are alike into a panel of their own"
            )


def stacked(name: str, entries: Sequence[Found], table: str = "") -> Table:
    """Stack a table of all runs: all columns of any; cells that a run lacks are missing.

    Args:
        name: of the table.
        entries: findings of one diagnostic on one or more runs.
        table: the name of a table of the diagnostic; empty for the first.

    Raises:
        UsageError: no run has that table.
    """
    own = [
        (place, cell, entry, known)
        for place, (cell, entry) in enumerate(entries)
        if (known := entry.tables().get(table) if table else table_of(entry.statements[0])) is not None
    ]
    if not own:
        there = ", ".join(dict.fromkeys(name for _, entry in entries for name in entry.tables()))
        raise UsageError(
            f"no findings of {entries[0][1].diagnostic.name} have the table {table!r}; there are {there}"
        )
    columns = list({c.key: c for *_, known in own for c in known.columns}.values())
    rows = []
    for place, cell, diagnosed, known in own:
        options = ", ".join(f"{key} {value}" for key, value in diagnosed.header.options.items())
        for row in known.rows:
            values = tuple(known.cell(row.key, c.key) if c.key in known.keys else Cell() for c in columns)
            detail = ", ".join(filter(None, (cell.benchmark, options, row.detail)))
            label = f"{cell.label}: {row.label}"
            rows.append(Row(key=f"{place}:{row.key}", label=label, detail=detail, values=values))
    return msgspec.structs.replace(
        own[0][3],
        name=name,
        columns=tuple(columns),
        rows=tuple(rows),
        note=" ".join(dict.fromkeys(known.note for *_, known in own if known.note)),
    )


def figure_of(diagnosed: Diagnosed, place: str) -> Cell:
    """Return the value at ``TABLE/ROW/COLUMN``; of several rows separated by commas, the first present."""
    table, rows, column = place.split("/")
    known = diagnosed.tables().get(table)
    if known is None or column not in known.keys:
        return Cell()
    there = {row.key for row in known.rows}
    cells = [known.cell(row, column) for row in rows.split(",") if row in there]
    return next((cell for cell in cells if cell.value is not None), Cell())


def _picked(name: str, entries: Sequence[Found], values: Sequence[str]) -> Table:
    """Return a table with a row per run and a column per named value."""
    columns, places = [], []
    for i, value in enumerate(values):
        title, sign, place = value.partition(":")
        if not sign or place.count("/") != 2:
            raise UsageError(f"pivot: values={value!r}; expected TITLE:TABLE/ROW/COLUMN")
        columns.append(Column(key=f"value:{i}", title=title))
        places.append(place)
    return Table(
        name=f"pivot:{name}",
        title=f"{name} by benchmark and model",
        label=Column(key="name", title="benchmark"),
        columns=tuple(columns),
        rows=tuple(
            Row(
                key=f"run:{i}",
                label=cell.benchmark,
                detail=cell.label,
                values=tuple(figure_of(diagnosed, place) for place in places),
            )
            for i, (cell, diagnosed) in enumerate(entries)
        ),
        note=f"Model {entries[0][1].plan.model}."
        if len({diagnosed.plan.model for _, diagnosed in entries}) == 1
        else "",
    )


def _violins(name: str, entries: Sequence[Found]) -> list[Statement]:
    """Return the distributions of all runs, if the diagnostic draws any."""
    own = [
        (cell, statement)
        for cell, diagnosed in entries
        for statement in diagnosed.statements
        if isinstance(statement, Violins)
    ]
    groups = tuple(
        msgspec.structs.replace(group, label=f"{cell.label}, {cell.benchmark}, {group.label}")
        for cell, statement in own
        for group in statement.groups
    )
    return [msgspec.structs.replace(own[0][1], name=f"pivot-violins:{name}", groups=groups)] if groups else []
