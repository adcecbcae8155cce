"""Figures of scores and outcomes: bars, differences, letters, strips. `plots` has those of diagnostics.

Every mark has its own shape beside its colour, and every number drawn is also written.
"""

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

import msgspec

from vidence.records import Record
from vidence.tables import svg
from vidence.tables.svg import Drawing, Tick
from vidence.tables.table import Row, Table, has_interval, shown, shown_columns

# Columns of a score table that become marks, in the order of the shapes. The median rule is not
# among them: it speaks of other questions than the bar does.
BASELINES = ("chance", "constant", "longest")
# Shapes of the marks, around the point (0, 0); the n-th kind of mark takes the n-th shape.
SHAPES = ("M0-8V8", "M0-5.5 5.5 0 0 5.5-5.5 0Z", "M0-5 5.2 4-5.2 4Z", "M-4-4H4V4H-4Z")

_BAR_PX, _DIFFERENCE_PX, _LETTER_PX = 42, 36, 44
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_CLEAR = '<path d="M-5-5H5V5H-5Z" class="point"/>'
_UNCLEAR = '<circle r="4.5" class="point-open"/>'
_INTERVAL = (svg.swatch('<path d="M2 8H14M2 4V12M14 4V12" class="whisker"/>'), "interval")


class Mark(Record):
    """A point to compare a bar with; `kind` is its name in the legend."""

    kind: str
    value: float


class _Drawn(Record, omit_defaults=True):
    """A number with its interval, where there is one; `text` is written at the end of its row."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""


class Bar(_Drawn, omit_defaults=True):
    """One bar from 0 to `value`, with marks to compare it with."""

    marks: tuple[Mark, ...] = ()


class BarFigure(Record, omit_defaults=True):
    """Horizontal bars on one axis from 0 to `top`; `is_share` writes the axis in per cent."""

    title: str
    bars: tuple[Bar, ...]
    top: float = 1.0
    is_share: bool = True


class Difference(_Drawn, omit_defaults=True):
    """A difference of shares, from -1 to 1; one that `is_clear` gets a full square, others an open circle."""

    is_clear: bool = False
    is_main: bool = False


class ForestFigure(Record):
    """Differences on one axis with zero in its middle."""

    title: str
    rows: tuple[Difference, ...]


class Letter(Record):
    """How often a letter was right, and how often it was read."""

    letter: str
    n_gold: int
    n_read: int


class LetterFigure(Record):
    """Letters that were right against letters that were read."""

    title: str
    letters: tuple[Letter, ...]


class Part(Record):
    """One part of a strip; `style` is what it stands for and gives its colour."""

    label: str
    style: str
    n: int


class StripFigure(Record):
    """What became of all trials, as one strip."""

    title: str
    parts: tuple[Part, ...]


Figure: TypeAlias = BarFigure | LetterFigure | StripFigure | ForestFigure


# --------------------------------------------------------------------------- from tables


def figure_of(table: Table) -> Figure | None:
    """The figure that shows a table of scores, differences, letters or outcomes; None for other tables."""
    if not table.rows:
        return None
    match table.figure:
        case "scores":
            bars = tuple(_bars(table))
            return BarFigure(title=table.title, bars=bars) if bars else None
        case "differences":
            rows = tuple(_differences(table))
            return ForestFigure(title=table.title, rows=rows) if rows else None
        case "letters":
            letters = tuple(
                Letter(letter=r.label, n_gold=_count(table, r, "gold"), n_read=_count(table, r, "read"))
                for r in table.rows
            )
            return LetterFigure(title=table.title, letters=letters)
        case "outcomes":
            parts = tuple(Part(label=r.label, style=r.key, n=_count(table, r, "n")) for r in table.rows)
            return StripFigure(title=table.title, parts=parts)
        case _:
            return None


def _count(table: Table, row: Row, column: str) -> int:
    return int(shown(table, row.key, column).value or 0)


def _estimates(table: Table, column: str) -> Iterator[tuple[Row, _Drawn]]:
    """The rows that have a number in a column, with what is drawn of it."""
    for row in table.rows:
        if (estimate := table.estimate(row.key, column)) is not None:
            ends = (estimate.low, estimate.high) if has_interval(estimate) else (None, None)
            yield (
                row,
                _Drawn(
                    label=", ".join(filter(None, (row.label, row.detail))),
                    value=estimate.value,
                    low=ends[0],
                    high=ends[1],
                    text=shown(table, row.key, column).text,
                ),
            )


def _bars(table: Table) -> Iterator[Bar]:
    titles = {c.key: c.title for c in shown_columns(table) if c.key in BASELINES}
    for row, drawn in _estimates(table, "accuracy"):
        marks = [(titles[key], shown(table, row.key, key).value) for key in BASELINES if key in titles]
        known = tuple(Mark(kind=kind, value=value) for kind, value in marks if value is not None)
        yield Bar(**msgspec.structs.asdict(drawn), marks=known)


def _differences(table: Table) -> Iterator[Difference]:
    for row, drawn in _estimates(table, "difference"):
        is_clear = table.value(row.key, "clear") == 1
        yield Difference(**msgspec.structs.asdict(drawn), is_clear=is_clear, is_main=row.key == "headline")


# --------------------------------------------------------------------------- drawn


def draw_figure(figure: Figure) -> Drawing:
    """The figure as SVG."""
    match figure:
        case BarFigure():
            return _draw_bars(figure)
        case LetterFigure():
            return _draw_letters(figure)
        case StripFigure():
            return _draw_strip(figure)
        case ForestFigure():
            return _draw_differences(figure)


def _named(label: str, number: str, *, y: float, weight: str = "") -> list[str]:
    """What stands above a bar: its name to the left, its number to the right."""
    return [
        svg.text(svg.shorten(label), x="0", y=y, style=f"label{weight}"),
        svg.text(number, x="100%", y=y, anchor="end", style="number"),
    ]


def _draw_bars(figure: BarFigure) -> Drawing:
    kinds = list(dict.fromkeys(mark.kind for bar in figure.bars for mark in bar.marks))
    shapes = [f'<path d="{SHAPES[i % 4]}" class="mark mark-{i % 4}"/>' for i in range(len(kinds))]
    bottom = len(figure.bars) * _BAR_PX + 2
    x = svg.scale(0, figure.top, start=0, end=100)
    ends = [figure.top * i / 4 for i in range(5)]
    words = [f"{100 * value:g} %" if figure.is_share else f"{value:g}" for value in ends]
    body = svg.axis([Tick(at=25.0 * i, words=said) for i, said in enumerate(words)], bottom=bottom)
    for i, bar in enumerate(figure.bars):
        top = i * _BAR_PX
        body += _named(bar.label, bar.text, y=top + 14)
        body.append(svg.rect(x=0, width=x(bar.value), y=top + 20, height=12, style="bar"))
        if bar.low is not None and bar.high is not None:
            body += svg.interval(x(bar.low), x(bar.high), y=top + 26)
        body += [svg.dot(shapes[kinds.index(m.kind)], x=x(m.value), y=top + 26) for m in bar.marks]
    has_intervals = any(bar.low is not None for bar in figure.bars)
    marks = [(svg.dot_swatch(shape), kind) for shape, kind in zip(shapes, kinds, strict=True)]
    return Drawing(
        svg=svg.whole(body, height=bottom + svg.AXIS_PX, title=f"Bars: {figure.title}"),
        legend=(*([_INTERVAL] if has_intervals else []), *marks),
    )


def _draw_differences(figure: ForestFigure) -> Drawing:
    """The axis is in points (hundredths of the share), alike to both sides of zero."""
    step, n_steps = _steps(figure.rows)
    bottom = len(figure.rows) * _DIFFERENCE_PX + 2
    x = svg.scale(-step * n_steps, step * n_steps, start=0, end=100)
    ticks = [
        Tick(at=x(n * step), words=f"{100 * n * step:+g}") if n else Tick(at=50, words="0", style="zero")
        for n in range(-n_steps, n_steps + 1)
    ]
    body = svg.axis(ticks, bottom=bottom)
    for i, row in enumerate(figure.rows):
        middle = i * _DIFFERENCE_PX + 25
        body += _named(row.label, row.text, y=middle - 12, weight=" strong" if row.is_main else "")
        if row.low is not None and row.high is not None:
            body += svg.interval(x(row.low), x(row.high), y=middle)
        body.append(svg.dot(_CLEAR if row.is_clear else _UNCLEAR, x=x(row.value), y=middle))
    legend = [_INTERVAL] if any(row.low is not None for row in figure.rows) else []
    for is_clear, point, says in ((True, _CLEAR, "clear"), (False, _UNCLEAR, "not clear")):
        if any(row.is_clear is is_clear for row in figure.rows):
            legend.append((svg.dot_swatch(point), says))
    return Drawing(
        svg=svg.whole(body, height=bottom + svg.AXIS_PX, title=f"Differences: {figure.title}"),
        legend=tuple(legend),
    )


def _steps(rows: Sequence[Difference]) -> tuple[float, int]:
    """The distance of two lines of the grid, and how many of them reach to either side; at most to 1."""
    ends = [abs(v) for row in rows for v in (row.value, row.low, row.high) if v is not None]
    most = min(1.0, max(ends, default=0.0))
    step = next((s for s in _STEPS if most <= 4 * s), _STEPS[-1])
    return step, max(1, math.ceil(round(most / step, 9)))


def _draw_letters(figure: LetterFigure) -> Drawing:
    most = max((max(row.n_gold, row.n_read) for row in figure.letters), default=0) or 1
    body: list[str] = []
    for i, row in enumerate(figure.letters):
        top = i * _LETTER_PX
        body += _named(row.letter, f"read {row.n_read:,}, right answer {row.n_gold:,}", y=top + 13)
        body.append(svg.rect(x=0, width=100 * row.n_read / most, y=top + 19, height=9, style="bar"))
        body.append(svg.rect(x=0, width=100 * row.n_gold / most, y=top + 29, height=7, style="gold"))
    height = len(figure.letters) * _LETTER_PX
    return Drawing(
        svg=svg.whole(body, height=height, title=f"Letters: {figure.title}"),
        legend=(
            (svg.swatch('<rect y="3" width="16" height="10" class="bar"/>'), "letter read"),
            (svg.swatch('<rect y="3" width="16" height="10" class="gold"/>'), "letter of the right answer"),
        ),
    )


def _draw_strip(figure: StripFigure) -> Drawing:
    total = sum(part.n for part in figure.parts) or 1
    body: list[str] = []
    legend: list[tuple[str, str]] = []
    at = 0.0
    for part in figure.parts:
        if not part.n:
            continue
        style = f"part part-{part.style}"
        body.append(svg.rect(x=at, width=100 * part.n / total, y=0, height=22, style=style))
        box = f'<rect y="2" width="16" height="12" class={quoteattr(style)}/>'
        legend.append((svg.swatch(box), f"{part.label} {part.n:,}"))
        at += 100 * part.n / total
    return Drawing(svg=svg.whole(body, height=22, title=f"Strip: {figure.title}"), legend=tuple(legend))
