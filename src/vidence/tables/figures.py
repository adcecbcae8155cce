"""Figures of tables: bars, matrices of shares, differences, letters, counts, outcomes.

`plots` has those of diagnostics. Every mark has its own shape besides its colour, and every number drawn is
also written.
"""

import math
from collections.abc import Sequence

from vidence.tables import svg
from vidence.tables.svg import Drawing, Tick
from vidence.tables.table import CellText, Row, Table, has_interval, percent, shown

# Columns of a score table that become marks, in the order of the shapes. The median rule is not
# among them: it says nothing of most questions.
MARKS = ("planted", "chance", "guessing", "expected", "constant", "longest")
# Shapes of the marks, around the point (0, 0); the n-th kind of mark takes the n-th shape.
SHAPES = ("M0-8V8", "M0-5.5 5.5 0 0 5.5-5.5 0Z", "M0-5 5.2 4-5.2 4Z", "M-4-4H4V4H-4Z")

_BAR_PX, _DIFFERENCE_PX, _LETTER_PX = 42, 36, 44
# Columns of a table of counts that are drawn, the heaviest first.
SEVERITIES = ("severe", "warning", "note")
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_MOST_STEPS = 3  # to either side of 0 with a number; of more, every second is drawn
_CLEAR = '<path d="M-5-5H5V5H-5Z" class="point"/>'
_UNCLEAR = '<circle r="4.5" class="point-open"/>'
_INTERVAL = (svg.swatch('<path d="M2 8H14M2 4V12M14 4V12" class="whisker"/>'), "interval")

FEW_COLUMNS, MOST_WRITTEN = 6, 13  # of a matrix: with one digit behind the point, with numbers at all
SHADES = 5  # of a matrix, from 0 to 1
_HEAD_PX = 18

Numbered = tuple[Row, CellText]


def draw_figure(table: Table) -> Drawing | None:
    """Draw the table's figure; None for tables without one, and if there is nothing to draw."""
    match table.figure:
        case "scores" if rows := _numbered(table, "accuracy"):
            return _bars(table, rows, "accuracy")
        case "shares" if rows := _numbered(table, "share"):
            return _bars(table, rows, "share")
        case "counts" if table.rows:
            return _counts(table)
        case "differences" if rows := _numbered(table, "difference"):
            return _differences(table, rows)
        case "letters" if table.rows:
            return _letters(table)
        case "matrix" if table.rows:
            return _matrix(table)
        case "outcomes" if table.rows:
            return _strip(table)
        case _:
            return None


def _whole(body: Sequence[str], title: str, *, height: float, legend: Sequence[tuple[str, str]]) -> Drawing:
    return Drawing(svg=svg.whole(body, height=height, title=title), legend=tuple(legend))


def _numbered(table: Table, column: str) -> list[Numbered]:
    """Return the rows with a number in a column, with that number."""
    entries = [(row, shown(table, row.key, column)) for row in table.rows if row.is_drawn]
    return [(row, cell) for row, cell in entries if cell.value is not None]


def _ends(cell: CellText) -> tuple[float, ...]:
    """Return both bounds of an interval; empty without one."""
    estimate = cell.estimate
    return (estimate.low, estimate.high) if estimate is not None and has_interval(estimate) else ()


def _named(row: Row, number: str, *, y: float, weight: str = "") -> list[str]:
    """Draw the text above a bar: its name on the left, its number on the right."""
    whole = ", ".join(filter(None, (row.label, row.detail)))
    most = min(svg.LABEL, svg.ABOVE_BAR - len(number))
    label = svg.shorten(whole if len(whole) <= most else row.label, most=most)
    return [
        svg.text(label, x="0", y=y, style=f"label{weight}"),
        svg.text(number, x="100%", y=y, anchor="end", style="number"),
    ]


def _bars(table: Table, rows: Sequence[Numbered], drawn: str) -> Drawing:
    """Draw horizontal bars of a column's shares, with intervals and reference marks."""
    titles = {column.key: column.title for column in table.columns}
    values = {key: [shown(table, row.key, key).value for row, _ in rows] for key in MARKS if key in titles}
    marks = {key: some for key, some in values.items() if any(value is not None for value in some)}
    shapes = [f'<path d="{SHAPES[i]}" class="mark mark-{i}"/>' for i in range(len(marks))]
    bottom = len(rows) * _BAR_PX + 2
    body = svg.axis([Tick(at=at, words=f"{at:g} %") for at in (0, 25, 50, 75, 100)], bottom=bottom)
    x = svg.scale(0, 1, start=0, end=100)
    for i, (row, cell) in enumerate(rows):
        top = i * _BAR_PX
        body += _named(row, cell.text + _few(table, row), y=top + 14)
        body.append(svg.rect(x=0, width=x(cell.value or 0), y=top + 20, height=12, style="bar"))
        body += svg.interval([x(end) for end in _ends(cell)], y=top + 26)
        for shape, some in zip(shapes, marks.values(), strict=True):
            if (value := some[i]) is not None:
                body.append(svg.dot(shape, x=x(value), y=top + 26))
    legend = [(svg.box_swatch("bar"), titles[drawn])]
    legend += [_INTERVAL] if any(_ends(cell) for _, cell in rows) else []
    legend += [(svg.dot_swatch(shape), titles[key]) for shape, key in zip(shapes, marks, strict=True)]
    return _whole(body, f"Bars: {table.title}", height=bottom + svg.AXIS_PX, legend=legend)


def _few(table: Table, row: Row) -> str:
    """Mark a bar that is about few videos; the table has their number."""
    detail = shown(table, row.key, "videos").detail if "videos" in table.keys else ""
    return f" ({detail})" if detail else ""


def _differences(table: Table, rows: Sequence[Numbered]) -> Drawing:
    """Draw differences of shares around zero; clear ones as filled squares, others as open circles.

    The axis is in percentage points, symmetric.
    """
    step, n_steps = _steps([value for _, cell in rows for value in (cell.value or 0, *_ends(cell))])
    bottom = len(rows) * _DIFFERENCE_PX + 2
    x = svg.scale(-step * n_steps, step * n_steps, start=0, end=100)
    ticks = [
        Tick(at=x(n * step), words=f"{100 * n * step:+g}") if n else Tick(at=50, words="0", style="zero")
        for n in range(-n_steps, n_steps + 1)
        if n_steps <= _MOST_STEPS or n % 2 == 0
    ]
    body = svg.axis(ticks, bottom=bottom)
    clear = [table.value(row.key, "clear") == 1 for row, _ in rows]
    for i, (row, cell) in enumerate(rows):
        middle = i * _DIFFERENCE_PX + 25
        body += _named(row, cell.text, y=middle - 12, weight=" strong" if row.key == "headline" else "")
        body += svg.interval([x(end) for end in _ends(cell)], y=middle)
        body.append(svg.dot(_CLEAR if clear[i] else _UNCLEAR, x=x(cell.value or 0), y=middle))
    legend = [_INTERVAL] if any(_ends(cell) for _, cell in rows) else []
    legend += [(svg.dot_swatch(_CLEAR), "clear")] if any(clear) else []
    legend += [(svg.dot_swatch(_UNCLEAR), "not clear")] if not all(clear) else []
    return _whole(body, f"Differences: {table.title}", height=bottom + svg.AXIS_PX, legend=legend)


def _steps(values: Sequence[float]) -> tuple[float, int]:
    """Return the grid spacing, and the number of lines on either side; at most to 1."""
    most = min(1.0, max(map(abs, values)))
    step = next((s for s in _STEPS if most <= 4 * s), _STEPS[-1])
    return step, max(1, math.ceil(round(most / step, 9)))


def _counts(table: Table) -> Drawing:
    """Draw stacked counts by severity, scaled to the longest row."""
    titles = {column.key: column.title for column in table.columns if column.key in SEVERITIES}
    keys = [key for key in SEVERITIES if key in titles]
    counts = [[int(shown(table, row.key, key).value or 0) for key in keys] for row in table.rows]
    most = max(map(sum, counts)) or 1
    body: list[str] = []
    for i, (row, some) in enumerate(zip(table.rows, counts, strict=True)):
        top = i * _DIFFERENCE_PX
        message = ", ".join(f"{n:,} {titles[key]}" for key, n in zip(keys, some, strict=True) if n)
        body += _named(row, message, y=top + 14)
        at = 0.0
        for key, n in zip(keys, some, strict=True):
            width = 100 * n / most
            body.append(svg.rect(x=at, width=width, y=top + 19, height=11, style=f"part part-{key}"))
            at += width
    legend = [
        (svg.box_swatch(f"part part-{key}"), titles[key])
        for i, key in enumerate(keys)
        if any(some[i] for some in counts)
    ]
    return _whole(body, f"Counts: {table.title}", height=len(counts) * _DIFFERENCE_PX, legend=legend)


def _letters(table: Table) -> Drawing:
    """Draw how often each letter was answered and was right."""
    counts = [[int(shown(table, r.key, key).value or 0) for key in ("read", "gold")] for r in table.rows]
    most = max(map(max, counts)) or 1
    body: list[str] = []
    for i, (row, (n_read, n_gold)) in enumerate(zip(table.rows, counts, strict=True)):
        top = i * _LETTER_PX
        body += _named(row, f"read {n_read:,}, right answer {n_gold:,}", y=top + 13)
        body.append(svg.rect(x=0, width=100 * n_read / most, y=top + 19, height=9, style="bar"))
        body.append(svg.rect(x=0, width=100 * n_gold / most, y=top + 29, height=7, style="gold"))
    legend = [(svg.box_swatch("bar"), "letter read"), (svg.box_swatch("gold"), "letter of the right answer")]
    return _whole(body, f"Letters: {table.title}", height=len(counts) * _LETTER_PX, legend=legend)


def _matrix(table: Table) -> Drawing:
    """Draw shares as shades: a line per row, a box per column; a dash for a missing share."""
    keys = [c.key for c in table.columns]
    width = 100 / max(1, len(keys))
    body: list[str] = []
    for i, row in enumerate(table.rows):
        top = _HEAD_PX + i * _DIFFERENCE_PX
        body += _named(row, "", y=top + 12)
        for k, key in enumerate(keys):
            cell = shown(table, row.key, key)
            share = min(1.0, max(0.0, cell.value)) if cell.value is not None else None
            style = f"shade-{int(min(share, 0.999) * SHADES)}" if share is not None else "shade-none"
            body.append(svg.rect(x=k * width, width=width - 0.3, y=top + 16, height=17, style=style))
            middle = f"{(k + 0.5) * width:.3f}%"
            if share is None or len(keys) <= MOST_WRITTEN:
                words = cell.text if share is None or len(keys) <= FEW_COLUMNS else percent(share, digits=0)
                body.append(svg.text(words, x=middle, y=top + 29, anchor="middle", style="number"))
    for k in range(len(keys)):
        body.append(svg.text(str(k + 1), x=f"{(k + 0.5) * width:.3f}%", y=12, anchor="middle", style="axis"))
    height = _HEAD_PX + len(table.rows) * _DIFFERENCE_PX
    legend = [(svg.number_swatch(k), column.title) for k, column in enumerate(table.columns, start=1)]
    return _whole(body, f"Matrix: {table.title}", height=height, legend=legend)


def _strip(table: Table) -> Drawing:
    """Draw the outcomes of all trials as one strip; a row's key is its colour."""
    counts = [int(shown(table, row.key, "n").value or 0) for row in table.rows]
    body: list[str] = []
    legend: list[tuple[str, str]] = []
    n_before = 0
    for row, n in zip(table.rows, counts, strict=True):
        if n:
            style = f"part part-{row.key}"
            at, width = (100 * some / sum(counts) for some in (n_before, n))
            body.append(svg.rect(x=at, width=width, y=0, height=22, style=style))
            legend.append((svg.box_swatch(style), f"{row.label} {n:,}"))
            n_before += n
    return _whole(body, f"Strip: {table.title}", height=22, legend=legend)
