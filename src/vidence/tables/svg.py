"""Building blocks of figures as SVG: text, boxes, lines, intervals, dots, axes, legends.

Horizontal positions are per cent of the width, so figures fit any screen. Colours come from the page's style
sheet through class names. All text is escaped here.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

from vidence.records import Record
from vidence.text import visible

AXIS_PX = 22  # the height of the numbers below a figure
LABEL, ABOVE_BAR = 44, 50  # letters of the name above a bar, and of name and number on a narrow screen
Scale: TypeAlias = Callable[[float], float]  # where a value is drawn


class Drawing(Record):
    """An SVG element, and for its legend a small SVG element and a label per mark."""

    svg: str
    legend: tuple[tuple[str, str], ...] = ()


class Tick(Record):
    """A tick on a horizontal axis, in per cent of the width, with its label; `style` is its line's."""

    at: float
    words: str
    style: str = "grid"


def scale(low: float, high: float, *, start: float, end: float) -> Scale:
    """Map `low`..`high` to `start`..`end`; values outside are clipped."""
    span = high - low or 1.0

    def at(value: float) -> float:
        return start + (end - start) * min(max((value - low) / span, 0.0), 1.0)

    return at


def text(words: str, *, x: str, y: float, anchor: str = "start", style: str = "") -> str:
    """Draw a text at a position."""
    attributes = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f"<text {attributes} class={quoteattr(style)}>{escape(visible(words))}</text>"


def rect(*, x: float, width: float, y: float, height: float, style: str) -> str:
    """Draw a box; position and width in per cent of the figure."""
    place = f'x="{x:.3f}%" width="{width:.3f}%" y="{y:g}" height="{height:g}"'
    return f"<rect {place} class={quoteattr(style)}/>"


def line(*, x1: float, x2: float, y1: float, y2: float, style: str) -> str:
    """Draw a line; horizontal positions in per cent of the figure."""
    place = f'x1="{x1:.3f}%" x2="{x2:.3f}%" y1="{y1:g}" y2="{y2:g}"'
    return f"<line {place} class={quoteattr(style)}/>"


def interval(ends: Sequence[float], *, y: float) -> list[str]:
    """Draw a horizontal interval with end marks; empty if there is none."""
    if not ends:
        return []
    whiskers = [line(x1=end, x2=end, y1=y - 4, y2=y + 4, style="whisker") for end in ends]
    return [line(x1=ends[0], x2=ends[1], y1=y, y2=y, style="whisker"), *whiskers]


def dot(path: str, *, x: float, y: float) -> str:
    """Draw a mark, defined around (0, 0), at a position."""
    return f'<svg x="{x:.3f}%" y="{y:g}" width="1" height="1" overflow="visible">{path}</svg>'


def axis(ticks: Sequence[Tick], *, bottom: float, has_lines: bool = True) -> list[str]:
    """Draw a horizontal axis below a figure, with end labels inside the figure."""
    body = []
    for i, tick in enumerate(ticks):
        anchor = "start" if i == 0 else "end" if i == len(ticks) - 1 else "middle"
        if has_lines:
            body.append(line(x1=tick.at, x2=tick.at, y1=0, y2=bottom, style=tick.style))
        body.append(text(tick.words, x=f"{tick.at:.3f}%", y=bottom + 15, anchor=anchor, style="axis"))
    return body


def whole(body: Sequence[str], *, height: float, title: str) -> str:
    """Draw the complete figure."""
    label = quoteattr(visible(title))
    inside = "".join(body)
    return (
        f'<svg class="figure" role="img" aria-label={label} width="100%" height="{height:g}">{inside}</svg>'
    )


def swatch(inside: str) -> str:
    """Return a small picture for a legend."""
    return f'<svg class="swatch" width="16" height="16" aria-hidden="true">{inside}</svg>'


def box_swatch(style: str) -> str:
    """Return a filled box for a legend."""
    return swatch(f'<rect y="2" width="16" height="12" class={quoteattr(style)}/>')


def dot_swatch(path: str) -> str:
    """Return a mark, defined around (0, 0), for a legend."""
    return swatch(f'<g transform="translate(8 8)">{path}</g>')


def number_swatch(number: int) -> str:
    """Return a number for a legend."""
    return swatch(f'<text x="8" y="13" text-anchor="middle" class="axis">{number}</text>')


def shorten(label: str, *, most: int = LABEL) -> str:
    """Shorten a label to fit above its bar."""
    return label if len(label) <= most else label[: most - 1] + "…"
