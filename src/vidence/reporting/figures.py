"""Small figures as SVG text. Positions across are per cent of the width, so they fit any screen.

Colours come from the style sheet of the page through class names; every mark also has its own
shape, and every number drawn is also written.
"""

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from vidence.records import Record
from vidence.reporting.cells import Table, has_interval
from vidence.reporting.results import FATES, Fate
from vidence.reporting.visible import visible

# Shapes of the marks, around the point (0, 0); the n-th kind of mark takes the n-th shape.
SHAPES = (
    "M0-8V8",
    "M0-5.5 5.5 0 0 5.5-5.5 0Z",
    "M0-5 5.2 4-5.2 4Z",
    "M-4-4H4V4H-4Z",
)
# Columns of a score table that become marks, in the order of the shapes. The median rule is not
# among them: it speaks of other questions than the bar does.
BASELINES = ("chance", "constant", "longest")

_ROW_PX = 42
_AXIS_PX = 22


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


Figure: TypeAlias = BarFigure | LetterFigure | StripFigure


class Drawing(Record, kw_only=True):
    """An SVG element, and for its legend a small SVG element and its words for each mark."""

    svg: str
    legend: tuple[tuple[str, str], ...] = ()


def draw_figure(figure: Figure) -> Drawing:
    """The figure as SVG."""
    match figure:
        case BarFigure():
            return _draw_bars(figure)
        case LetterFigure():
            return _draw_letters(figure)
        case StripFigure():
            return _draw_strip(figure)


def figure_of(table: Table) -> Figure | None:
    """The figure that shows a table of scores, letters or outcomes; None for other tables."""
    if not table.lines:
        return None
    match table.kind:
        case "scores":
            return _bars_of(table)
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


# --------------------------------------------------------------------------- pieces of SVG


def _text(words: str, *, x: str, y: float, anchor: str = "start", style: str = "") -> str:
    attributes = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f"<text {attributes} class={quoteattr(style)}>{escape(visible(words))}</text>"


def _rect(*, x: float, width: float, y: float, height: float, style: str) -> str:
    place = f'x="{x:.3f}%" width="{width:.3f}%" y="{y:g}" height="{height:g}"'
    return f"<rect {place} class={quoteattr(style)}/>"


def _line(*, x1: float, x2: float, y1: float, y2: float, style: str) -> str:
    place = f'x1="{x1:.3f}%" x2="{x2:.3f}%" y1="{y1:g}" y2="{y2:g}"'
    return f"<line {place} class={quoteattr(style)}/>"


def _shape(index: int, *, x: float, y: float) -> str:
    kind = index % len(SHAPES)
    path = f'<path d="{SHAPES[kind]}" class="mark mark-{kind}"/>'
    return f'<svg x="{x:.3f}%" y="{y:g}" width="1" height="1" overflow="visible">{path}</svg>'


def _svg(body: Sequence[str], *, height: float, title: str) -> str:
    label = quoteattr(visible(title))
    inside = "".join(body)
    return (
        f'<svg class="figure" role="img" aria-label={label} width="100%" height="{height:g}">{inside}</svg>'
    )


def _swatch(inside: str) -> str:
    return f'<svg class="swatch" width="16" height="16" aria-hidden="true">{inside}</svg>'


def _shorten(label: str, *, most: int = 44) -> str:
    return label if len(label) <= most else label[: most - 1] + "…"


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
        body.append(_line(x1=at, x2=at, y1=0, y2=bottom, style="grid"))
        body.append(_text(label, x=f"{at:g}%", y=bottom + 15, anchor=anchor, style="axis"))
    for i, bar in enumerate(figure.bars):
        top = i * _ROW_PX
        middle = top + 26
        body.append(_text(_shorten(bar.label), x="0", y=top + 14, style="label"))
        body.append(_text(bar.text, x="100%", y=top + 14, anchor="end", style="number"))
        body.append(_rect(x=0, width=x(bar.value), y=top + 20, height=12, style="bar"))
        if bar.low is not None and bar.high is not None:
            low, high = x(bar.low), x(bar.high)
            body.append(_line(x1=low, x2=high, y1=middle, y2=middle, style="whisker"))
            body.extend(
                _line(x1=end, x2=end, y1=middle - 4, y2=middle + 4, style="whisker") for end in (low, high)
            )
        body.extend(_shape(kinds.index(m.kind), x=x(m.value), y=middle) for m in bar.marks)
    return Drawing(
        svg=_svg(body, height=bottom + _AXIS_PX, title=f"Bars: {figure.title}"),
        legend=_bar_legend(figure, kinds),
    )


def _bar_legend(figure: BarFigure, kinds: Sequence[str]) -> tuple[tuple[str, str], ...]:
    legend: list[tuple[str, str]] = []
    if any(bar.low is not None for bar in figure.bars):
        whisker = '<path d="M2 8H14M2 4V12M14 4V12" class="whisker"/>'
        legend.append((_swatch(whisker), "interval"))
    for index, kind in enumerate(kinds):
        shape = index % len(SHAPES)
        path = f'<path d="{SHAPES[shape]}" class="mark mark-{shape}" transform="translate(8 8)"/>'
        legend.append((_swatch(path), kind))
    return tuple(legend)


def _draw_letters(figure: LetterFigure) -> Drawing:
    most = max((max(row.n_gold, row.n_read) for row in figure.letters), default=0) or 1
    body: list[str] = []
    for i, row in enumerate(figure.letters):
        top = i * 44
        numbers = f"read {row.n_read:,}, right answer {row.n_gold:,}"
        body.append(_text(row.letter, x="0", y=top + 13, style="label"))
        body.append(_text(numbers, x="100%", y=top + 13, anchor="end", style="number"))
        body.append(_rect(x=0, width=100 * row.n_read / most, y=top + 19, height=9, style="bar"))
        body.append(_rect(x=0, width=100 * row.n_gold / most, y=top + 29, height=7, style="gold"))
    swatches = (
        (_swatch('<rect y="3" width="16" height="10" class="bar"/>'), "letter read"),
        (_swatch('<rect y="3" width="16" height="10" class="gold"/>'), "letter of the right answer"),
    )
    return Drawing(
        svg=_svg(body, height=len(figure.letters) * 44, title=f"Letters: {figure.title}"), legend=swatches
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
        body.append(_rect(x=at, width=width, y=0, height=22, style=style))
        legend.append(
            (
                _swatch(f'<rect y="2" width="16" height="12" class={quoteattr(style)}/>'),
                f"{part.label} {part.n:,}",
            )
        )
        at += width
    return Drawing(svg=_svg(body, height=22, title=f"Strip: {figure.title}"), legend=tuple(legend))
