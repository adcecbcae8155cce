"""What a diagnostic says, as tables: sheets cell by cell, and the numbers behind its figures."""

import math
from collections.abc import Sequence

from vidence.records import Estimate
from vidence.tables.cells import DASH, Cell, Column, Line, Table, estimated, has_interval, p_cell, words
from vidence.tables.findings import Chart, Heading, Scatter, Sheet, Statement, Value, Violins


def table_of(statement: Statement) -> Table:
    """A statement as a table; of a figure, the numbers that it is drawn from."""
    match statement:
        case Sheet():
            return _sheet(statement)
        case Chart():
            return _chart(statement)
        case Violins():
            return _violins(statement)
        case Scatter():
            return _scatter(statement)


def _sheet(sheet: Sheet) -> Table:
    return Table(
        name=sheet.name,
        title=sheet.title,
        note=sheet.note,
        columns=(
            Column(key="label", title=sheet.label, is_text=True),
            *(
                Column(
                    key=h.key,
                    title=f"{h.title}, %" if h.is_share else h.title,
                    note=h.note,
                    is_text=bool(sheet.entries) and all(isinstance(e.values[i], str) for e in sheet.entries),
                )
                for i, h in enumerate(sheet.headings)
            ),
        ),
        lines=tuple(
            Line(
                key=entry.key,
                cells=(
                    words(entry.label, detail=entry.detail),
                    *(cell_of(v, h) for v, h in zip(entry.values, sheet.headings, strict=True)),
                ),
            )
            for entry in sheet.entries
        ),
    )


def cell_of(value: Value, heading: Heading) -> Cell:
    """One value of a sheet; shares are shown in per cent."""
    match value:
        case None:
            return words(DASH)
        case str():
            return words(value)
        case Estimate():
            return estimated(value) if heading.is_share else _plain(value)
        case bool() | int():
            return Cell(text=f"{value:,}", value=float(value))
        case float() if heading.is_p:
            return p_cell(value)
        case float():
            shown = 100 * value if heading.is_share else value
            text = DASH if math.isnan(value) else f"{shown:.1f}" if heading.is_share else _number(value)
            return Cell(text=text, value=None if math.isnan(value) else value)


def _plain(estimate: Estimate) -> Cell:
    """An estimate that is no share, such as a number of frames."""
    if math.isnan(estimate.value):
        return Cell(text=DASH, estimate=estimate)
    interval = "no interval"
    if has_interval(estimate):
        interval = f"{_number(estimate.low)} to {_number(estimate.high)}"
    return Cell(text=_number(estimate.value), detail=interval, value=estimate.value, estimate=estimate)


def _number(value: float) -> str:
    """Two digits behind the point where they say something; what is not 0 is never printed as 0.00.

    >>> _number(1234.5), _number(0.5), _number(0.0), _number(-0.0004), _number(3e-9)
    ('1,234', '0.50', '0.00', '-0.0004', '3e-09')
    """
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1g}" if 0 < abs(value) < 0.005 else f"{value + 0.0:.2f}"


def _chart(chart: Chart) -> Table:
    xs = sorted({point.x for series in chart.series for point in series.points})
    headings = [
        Heading(key=f"series:{i}", title=s.label, is_share=chart.is_share) for i, s in enumerate(chart.series)
    ]
    found = [{point.x: point.y for point in series.points} for series in chart.series]
    words_at = dict(chart.x_labels)
    lines = [
        Line(
            key=f"x:{x:g}",
            cells=(
                words(words_at.get(x, f"{x:g}")),
                *(cell_of(f.get(x), h) for f, h in zip(found, headings, strict=True)),
            ),
        )
        for x in xs
    ]
    notes = [f"{label}: {x:g}." for x, label in chart.marks]
    notes += [
        f"{label}: {100 * y:.1f} %." if chart.is_share else f"{label}: {y:g}." for y, label in chart.y_marks
    ]
    return _figure_table(
        chart,
        label=chart.x_title,
        headings=headings,
        lines=lines,
        note=" ".join([chart.note, *notes]).strip(),
    )


def _violins(violins: Violins) -> Table:
    headings = [Heading(key="n", title="values")]
    headings += [Heading(key=f"q{q}", title=f"{q} % quantile") for q in (5, 25, 50, 75, 95)]
    lines = []
    for i, group in enumerate(violins.groups):
        values = sorted(group.values)
        cells = [cell_of(_quantile(values, q / 100), headings[1]) for q in (5, 25, 50, 75, 95)]
        lines.append(
            Line(key=f"group:{i}", cells=(words(group.label), cell_of(len(values), headings[0]), *cells))
        )
    return _figure_table(violins, label=violins.y_title, headings=headings, lines=lines, note=violins.note)


def _quantile(values: Sequence[float], share: float) -> float:
    """Linear between neighbours; `values` ascend."""
    if not values:
        return math.nan
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def _scatter(scatter: Scatter) -> Table:
    headings = [
        Heading(key="x", title=scatter.x_title, is_share=scatter.x_is_share),
        Heading(key="y", title=scatter.y_title, is_share=scatter.y_is_share),
    ]
    lines = [
        Line(
            key=f"dot:{i}",
            cells=(words(dot.label), cell_of(dot.x, headings[0]), cell_of(dot.y, headings[1])),
        )
        for i, dot in enumerate(scatter.dots)
    ]
    return _figure_table(scatter, label="", headings=headings, lines=lines, note=scatter.note)


def _figure_table(
    figure: Chart | Violins | Scatter,
    *,
    label: str,
    headings: Sequence[Heading],
    lines: Sequence[Line],
    note: str,
) -> Table:
    columns = (
        Column(key="label", title=label, is_text=True),
        *(Column(key=h.key, title=f"{h.title}, %" if h.is_share else h.title) for h in headings),
    )
    return Table(name=figure.name, title=figure.title, columns=columns, lines=tuple(lines), note=note)
