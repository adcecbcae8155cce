"""Small figures as SVG text. Positions across are per cent of the width, so they fit any screen.

Colours come from the style sheet of the page through class names; every mark also has its own
shape, and every number drawn is also written.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias
from xml.sax.saxutils import quoteattr

from vidence.records import Record
from vidence.report.results import FATES, Fate
from vidence.tables import svg
from vidence.tables.cells import Table, has_interval
from vidence.tables.forest import Difference, ForestFigure, draw_forest
from vidence.tables.svg import Drawing

# Columns of a score table that become marks, in the order of the shapes. The median rule is not
# among them: it speaks of other questions than the bar does.
BASELINES = ("chance", "constant", "longest")

_ROW_PX = 42


class Mark(Record, kw_only=True):
    """A point to compare a bar with; `kind` is its name in the legend."""

    kind: str
    value: float


class Bar(Record, kw_only=True, omit_defaults=True):
    """One bar from 0 to `value`; `low` and `high` are its interval, `text` is written at its end."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    marks: tuple[Mark, ...] = ()


class BarFigure(Record, kw_only=True, omit_defaults=True):
    """Horizontal bars on one axis from 0 to `top`; `is_share` writes the axis in per cent."""

    title: str
    bars: tuple[Bar, ...]
    top: float = 1.0
    is_share: bool = True


class Letter(Record, kw_only=True):
    """How often a letter was right, and how often it was read."""

    letter: str
    n_gold: int
    n_read: int


class LetterFigure(Record, kw_only=True):
    """Letters that were right against letters that were read."""

    title: str
    letters: tuple[Letter, ...]


class Part(Record, kw_only=True):
    """One part of a strip; `style` is what it stands for and gives its colour."""

    label: str
    style: Fate | Literal["missing"]
    n: int


class StripFigure(Record, kw_only=True):
    """What became of all trials, as one strip."""

    title: str
    parts: tuple[Part, ...]


Figure: TypeAlias = BarFigure | LetterFigure | StripFigure | ForestFigure


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
            return draw_forest(figure)


def figure_of(table: Table) -> Figure | None:
    """The figure that shows a table of scores, differences, letters or outcomes; None for other tables."""
    if not table.lines:
        return None
    match table.kind:
        case "scores":
            return _bars_of(table)
        case "differences":
            return _forest_of(table)
        case "letters":
            return LetterFigure(
                title=table.title,
                letters=tuple(
                    Letter(
                        letter=line.cells[0].text,
                        n_gold=_whole(table, line.key, "gold"),
                        n_read=_whole(table, line.key, "read"),
                    )
                    for line in table.lines
                ),
            )
        case "outcomes":
            known: tuple[Fate | Literal["missing"], ...] = (*FATES, "missing")
            lines = {line.key: line for line in table.lines}
            parts = [
                Part(label=lines[style].cells[0].text, style=style, n=_whole(table, style, "n"))
                for style in known
                if style in lines
            ]
            return StripFigure(title=table.title, parts=tuple(parts))
        case _:
            return None


def _whole(table: Table, line: str, column: str) -> int:
    return int(table.cell(line, column).value or 0)


def _bars_of(table: Table) -> BarFigure | None:
    bars: list[Bar] = []
    titles = {c.key: c.title for c in table.columns}
    baselines = [key for key in BASELINES if table.has(key)]
    for line in table.lines:
        score = table.cell(line.key, "accuracy")
        estimate = score.estimate
        if estimate is None or math.isnan(estimate.value):
            continue
        marks = [(titles[key], table.cell(line.key, key).value) for key in baselines]
        is_drawn = has_interval(estimate)
        bars.append(
            Bar(
                label=", ".join(filter(None, (line.cells[0].text, line.cells[0].detail))),
                value=estimate.value,
                low=estimate.low if is_drawn else None,
                high=estimate.high if is_drawn else None,
                text=score.text,
                marks=tuple(Mark(kind=kind, value=value) for kind, value in marks if value is not None),
            )
        )
    return BarFigure(title=table.title, bars=tuple(bars)) if bars else None


def _forest_of(table: Table) -> ForestFigure | None:
    rows = []
    for line in table.lines:
        cell = table.cell(line.key, "difference")
        if cell.estimate is None or math.isnan(cell.estimate.value):
            continue
        is_drawn = has_interval(cell.estimate)
        rows.append(
            Difference(
                label=", ".join(filter(None, (line.cells[0].text, line.cells[0].detail))),
                value=cell.estimate.value,
                low=cell.estimate.low if is_drawn else None,
                high=cell.estimate.high if is_drawn else None,
                text=cell.text,
                is_clear=table.cell(line.key, "clear").value == 1,
                is_main=line.key == "headline",
            )
        )
    return ForestFigure(title=table.title, rows=tuple(rows)) if rows else None


# --------------------------------------------------------------------------- the three figures


def _draw_bars(figure: BarFigure) -> Drawing:
    kinds: list[str] = []
    for bar in figure.bars:
        kinds.extend(m.kind for m in bar.marks if m.kind not in kinds)
    bottom = len(figure.bars) * _ROW_PX + 2

    def x(value: float) -> float:
        return 100 * min(max(value / figure.top, 0.0), 1.0)

    body: list[str] = []
    for tick in range(5):
        at = 25.0 * tick
        anchor = "start" if tick == 0 else "end" if tick == 4 else "middle"
        value = figure.top * tick / 4
        label = f"{100 * value:g} %" if figure.is_share else f"{value:g}"
        body.append(svg.line(x1=at, x2=at, y1=0, y2=bottom, style="grid"))
        body.append(svg.text(label, x=f"{at:g}%", y=bottom + 15, anchor=anchor, style="axis"))
    for i, bar in enumerate(figure.bars):
        top = i * _ROW_PX
        middle = top + 26
        body.append(svg.text(svg.shorten(bar.label), x="0", y=top + 14, style="label"))
        body.append(svg.text(bar.text, x="100%", y=top + 14, anchor="end", style="number"))
        body.append(svg.rect(x=0, width=x(bar.value), y=top + 20, height=12, style="bar"))
        if bar.low is not None and bar.high is not None:
            low, high = x(bar.low), x(bar.high)
            body.append(svg.line(x1=low, x2=high, y1=middle, y2=middle, style="whisker"))
            body.extend(
                svg.line(x1=end, x2=end, y1=middle - 4, y2=middle + 4, style="whisker") for end in (low, high)
            )
        body.extend(svg.shape(kinds.index(m.kind), x=x(m.value), y=middle) for m in bar.marks)
    return Drawing(
        svg=svg.whole(body, height=bottom + svg.AXIS_PX, title=f"Bars: {figure.title}"),
        legend=_bar_legend(figure, kinds),
    )


def _bar_legend(figure: BarFigure, kinds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    legend: list[tuple[str, str]] = []
    if any(bar.low is not None for bar in figure.bars):
        whisker = '<path d="M2 8H14M2 4V12M14 4V12" class="whisker"/>'
        legend.append((svg.swatch(whisker), "interval"))
    for index, kind in enumerate(kinds):
        shape = index % len(svg.SHAPES)
        path = f'<path d="{svg.SHAPES[shape]}" class="mark mark-{shape}" transform="translate(8 8)"/>'
        legend.append((svg.swatch(path), kind))
    return tuple(legend)


def _draw_letters(figure: LetterFigure) -> Drawing:
    most = max((max(row.n_gold, row.n_read) for row in figure.letters), default=0) or 1
    body: list[str] = []
    for i, row in enumerate(figure.letters):
        top = i * 44
        numbers = f"read {row.n_read:,}, right answer {row.n_gold:,}"
        body.append(svg.text(row.letter, x="0", y=top + 13, style="label"))
        body.append(svg.text(numbers, x="100%", y=top + 13, anchor="end", style="number"))
        body.append(svg.rect(x=0, width=100 * row.n_read / most, y=top + 19, height=9, style="bar"))
        body.append(svg.rect(x=0, width=100 * row.n_gold / most, y=top + 29, height=7, style="gold"))
    swatches = (
        (svg.swatch('<rect y="3" width="16" height="10" class="bar"/>'), "letter read"),
        (svg.swatch('<rect y="3" width="16" height="10" class="gold"/>'), "letter of the right answer"),
    )
    return Drawing(
        svg=svg.whole(body, height=len(figure.letters) * 44, title=f"Letters: {figure.title}"),
        legend=swatches,
    )


def _draw_strip(figure: StripFigure) -> Drawing:
    total = sum(part.n for part in figure.parts) or 1
    body: list[str] = []
    legend: list[tuple[str, str]] = []
    at = 0.0
    for part in figure.parts:
        if part.n == 0:
            continue
        width = 100 * part.n / total
        style = f"part part-{part.style}"
        body.append(svg.rect(x=at, width=width, y=0, height=22, style=style))
        legend.append(
            (
                svg.swatch(f'<rect y="2" width="16" height="12" class={quoteattr(style)}/>'),
                f"{part.label} {part.n:,}",
            )
        )
        at += width
    return Drawing(svg=svg.whole(body, height=22, title=f"Strip: {figure.title}"), legend=tuple(legend))
