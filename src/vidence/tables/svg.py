"""Pieces of SVG text that the figures are made of.

Positions across are per cent of the width, so they fit any screen. Colours come from the style sheet of the
page through class names. Every text is escaped here.
"""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from vidence.records import Record
from vidence.tables.visible import visible

# Shapes of the marks, around the point (0, 0); the n-th kind of mark takes the n-th shape.
SHAPES = (
    "M0-8V8",
    "M0-5.5 5.5 0 0 5.5-5.5 0Z",
    "M0-5 5.2 4-5.2 4Z",
    "M-4-4H4V4H-4Z",
)
AXIS_PX = 22  # the height of the numbers below a figure


class Drawing(Record, kw_only=True):
    """An SVG element, and for its legend a small SVG element and its words for each mark."""

    svg: str
    legend: tuple[tuple[str, str], ...] = ()


def text(words: str, *, x: str, y: float, anchor: str = "start", style: str = "") -> str:
    """Words at a place."""
    attributes = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f"<text {attributes} class={quoteattr(style)}>{escape(visible(words))}</text>"


def rect(*, x: float, width: float, y: float, height: float, style: str) -> str:
    """A box, its place and width in per cent of the figure."""
    place = f'x="{x:.3f}%" width="{width:.3f}%" y="{y:g}" height="{height:g}"'
    return f"<rect {place} class={quoteattr(style)}/>"


def line(*, x1: float, x2: float, y1: float, y2: float, style: str) -> str:
    """A line, across in per cent of the figure."""
    place = f'x1="{x1:.3f}%" x2="{x2:.3f}%" y1="{y1:g}" y2="{y2:g}"'
    return f"<line {place} class={quoteattr(style)}/>"


def shape(index: int, *, x: float, y: float) -> str:
    """The n-th shape of `SHAPES` at a place."""
    kind = index % len(SHAPES)
    path = f'<path d="{SHAPES[kind]}" class="mark mark-{kind}"/>'
    return f'<svg x="{x:.3f}%" y="{y:g}" width="1" height="1" overflow="visible">{path}</svg>'


def whole(body: Sequence[str], *, height: float, title: str) -> str:
    """The whole figure."""
    label = quoteattr(visible(title))
    inside = "".join(body)
    return (
        f'<svg class="figure" role="img" aria-label={label} width="100%" height="{height:g}">{inside}</svg>'
    )


def swatch(inside: str) -> str:
    """A small picture for a legend."""
    return f'<svg class="swatch" width="16" height="16" aria-hidden="true">{inside}</svg>'


def shorten(label: str, *, most: int = 44) -> str:
    """A label that fits above its bar."""
    return label if len(label) <= most else label[: most - 1] + "…"
