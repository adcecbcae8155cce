"""The forest plot: differences with their intervals about a line at zero."""

import math
from collections.abc import Sequence

from vidence.records import Record
from vidence.tables import svg
from vidence.tables.svg import Drawing

_ROW_PX = 36
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
_CLEAR = '<path d="M-5-5H5V5H-5Z" class="point"/>'
_UNCLEAR = '<circle r="4.5" class="point-open"/>'


class Difference(Record, kw_only=True, omit_defaults=True):
    """One row: a difference of shares, from -1 to 1, with its interval where there is one.

    `text` is written at the end of the row. A row that `is_clear` gets a full square, others an open circle.
    """

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""
    is_clear: bool = False
    is_main: bool = False


class ForestFigure(Record, kw_only=True):
    """Differences on one axis with zero in its middle."""

    title: str
    rows: tuple[Difference, ...]


def draw_forest(figure: ForestFigure) -> Drawing:
    """The figure as SVG: the axis is in points (hundredths of the share), alike to both sides of zero."""
    step, reach = _axis(figure.rows)
    bottom = len(figure.rows) * _ROW_PX + 2

    def x(value: float) -> float:
        return 50 + 50 * min(max(value / reach, -1.0), 1.0)

    body: list[str] = []
    n_steps = round(reach / step)
    for tick in range(-n_steps, n_steps + 1):
        at = x(tick * step)
        anchor = "start" if tick == -n_steps else "end" if tick == n_steps else "middle"
        style = "zero" if tick == 0 else "grid"
        body.append(svg.line(x1=at, x2=at, y1=0, y2=bottom, style=style))
        label = f"{100 * tick * step:+g}" if tick else "0"
        body.append(svg.text(label, x=f"{at:.3f}%", y=bottom + 15, anchor=anchor, style="axis"))
    for i, row in enumerate(figure.rows):
        top, middle = i * _ROW_PX, i * _ROW_PX + 25
        weight = " strong" if row.is_main else ""
        body.append(svg.text(svg.shorten(row.label), x="0", y=top + 13, style=f"label{weight}"))
        body.append(svg.text(row.text, x="100%", y=top + 13, anchor="end", style="number"))
        if row.low is not None and row.high is not None:
            low, high = x(row.low), x(row.high)
            body.append(svg.line(x1=low, x2=high, y1=middle, y2=middle, style="whisker"))
            body.extend(
                svg.line(x1=end, x2=end, y1=middle - 4, y2=middle + 4, style="whisker") for end in (low, high)
            )
        point = _CLEAR if row.is_clear else _UNCLEAR
        body.append(
            f'<svg x="{x(row.value):.3f}%" y="{middle}" width="1" height="1" overflow="visible">{point}</svg>'
        )
    return Drawing(
        svg=svg.whole(body, height=bottom + svg.AXIS_PX, title=f"Differences: {figure.title}"),
        legend=_legend(figure.rows),
    )


def _axis(rows: Sequence[Difference]) -> tuple[float, float]:
    """The distance of two lines of the grid, and how far the axis reaches to either side; at most 1."""
    ends = [abs(v) for row in rows for v in (row.value, row.low, row.high) if v is not None]
    most = min(1.0, max(ends, default=0.0))
    step = next((s for s in _STEPS if most <= 4 * s), _STEPS[-1])
    return step, step * max(1, math.ceil(round(most / step, 9)))


def _legend(rows: Sequence[Difference]) -> tuple[tuple[str, str], ...]:
    legend = []
    if any(row.low is not None for row in rows):
        legend.append((svg.swatch('<path d="M2 8H14M2 4V12M14 4V12" class="whisker"/>'), "interval"))
    for is_clear, point, says in ((True, _CLEAR, "clear"), (False, _UNCLEAR, "not clear")):
        if any(row.is_clear is is_clear for row in rows):
            legend.append((svg.swatch(f'<g transform="translate(8 8)">{point}</g>'), says))
    return tuple(legend)
