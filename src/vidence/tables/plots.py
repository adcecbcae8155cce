"""Plots of diagnostics: curves, distributions and scatter plots, as SVG."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from vidence.records import Estimate
from vidence.tables import svg
from vidence.tables.charts import Chart, Point, Scatter, Violins
from vidence.tables.svg import AXIS_PX, Drawing, Tick, line, text
from vidence.tables.table import has_interval, percent

PLOT_PX = 260
LEFT, RIGHT = 11.5, 98.0  # per cent of the width that the plot takes
LABEL_PX = 20  # from the lowest line to the words below it, so that a mark at 0 leaves them free
VIOLIN_PX = 62
N_TICKS = 5
N_STEPS = 64
_STYLES = 5
_FEW_CURVES, _ASIDE = 2, 0.7  # more curves than these stand so many per cent of the width beside each other
_MOST_STEPS = 5  # between the lines of an axis
_STEPS = (1, 2, 5, 10)
_MOST_BELOW = 48  # letters that fit below an axis of a narrow figure; more stand upright
_MOST_UPRIGHT = 24  # words that stand upright at full size
LETTER_PX, _LONGEST = 6.5, 28  # of upright words
MOST_LABELS, MOST_LETTERS = 8, 24  # of points that have their names beside them; others have numbers
LETTER, LABEL_GAP = 2.0, 12  # per cent of a narrow figure that a letter takes, pixels from label to label
_SHARE_STEPS = (0.01, 0.02, 0.05, 0.1, 0.25, 0.5)


def draw_plot(plot: Chart | Violins | Scatter) -> Drawing:
    """Draw the plot as SVG."""
    match plot:
        case Chart():
            return _draw_chart(plot)
        case Violins():
            return _draw_violins(plot)
        case Scatter():
            return _draw_scatter(plot)


# --------------------------------------------------------------------------- axes


def round_ticks(low: float, high: float, *, is_share: bool) -> list[float]:
    """Return evenly spaced round numbers covering `low` to `high`, including 0.

    Shares above one half get the whole axis to 1, and none exceeds it.

    >>> round_ticks(0, 0.23, is_share=True), round_ticks(0, 5.3, is_share=False)
    ([0.0, 0.05, 0.1, 0.15, 0.2, 0.25], [0.0, 2.0, 4.0, 6.0])
    """
    low, high = min(low, 0.0), max(high, 0.0)
    if is_share:
        low, high = (-1.0 if low < -0.5 else low), (1.0 if high > 0.5 else high)
        steps: Sequence[float] = _SHARE_STEPS
    else:
        power = 10.0 ** math.floor(math.log10((high - low) / _MOST_STEPS)) if high > low else 0.1
        steps = [n * power for n in _STEPS]
    if not high > low:
        high = steps[-1]

    def ends(step: float) -> tuple[int, int]:
        return math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)

    step = next((s for s in steps if ends(s)[1] - ends(s)[0] <= _MOST_STEPS), steps[-1])
    first, last = ends(step)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _ticks(estimates: Sequence[Estimate], *, is_share: bool) -> list[float]:
    """Return axis ticks for estimates with their intervals."""
    ticks = [v for e in estimates for v in (e.value, e.low, e.high) if math.isfinite(v)]
    return round_ticks(min(ticks, default=0.0), max(ticks, default=0.0), is_share=is_share)


def _written(values: Sequence[float], *, is_share: bool) -> list[tuple[float, str]]:
    """Return axis ticks with their labels."""
    return [(v, f"{percent(v, digits=0)} %" if is_share else f"{v:g}") for v in values]


def _frame(
    y: Callable[[float], float],
    numbers: Sequence[tuple[float, str]],
    *,
    x_title: str,
    y_title: str,
    below_px: float = 0.0,
) -> list[str]:
    """Draw horizontal grid lines with numbers, and both axis titles."""
    body = [text(y_title, x="0", y=12, style="axis")]
    for value, result in numbers:
        body.append(line(x1=LEFT, x2=RIGHT, y1=y(value), y2=y(value), style="grid"))
        body.append(text(result, x=f"{LEFT - 1:g}%", y=y(value) + 4, anchor="end", style="axis"))
    bottom = PLOT_PX + LABEL_PX + 18 + below_px
    return [*body, text(x_title, x=f"{RIGHT:g}%", y=bottom, anchor="end", style="axis")]


def _below(places: Sequence[tuple[float, str]], *, is_upright: bool = False) -> list[str]:
    """Draw labels below an axis; those at its ends stay inside the figure."""
    if not is_upright:
        return [_inside(words, at=at, y=PLOT_PX + LABEL_PX) for at, words in places]
    style = "axis crowded" if len(places) > _MOST_UPRIGHT else "axis"
    texts = [
        text(svg.shorten(words, most=_LONGEST), x=f"{at:.2f}%", y=PLOT_PX + LABEL_PX - 10, style=style)
        for at, words in places
    ]
    return [name.replace("<text ", '<text writing-mode="vertical-rl" ', 1) for name in texts]


def _inside(words: str, *, at: float, y: float) -> str:
    if at + LETTER * len(words) / 2 > 100:
        return text(words, x="100%", y=y, anchor="end", style="axis")
    return text(words, x=f"{at:.2f}%", y=y, anchor="middle", style="axis")


def _whole(body: Sequence[str], title: str, *, below_px: float = 0.0) -> str:
    return svg.whole(body, height=PLOT_PX + AXIS_PX + LABEL_PX + 2 + below_px, title=title)


# --------------------------------------------------------------------------- curves


def _draw_chart(chart: Chart) -> Drawing:
    points = [point for series in chart.series for point in series.points]
    ticks = _ticks([point.y for point in points], is_share=chart.is_share)
    y = svg.scale(ticks[0], ticks[-1], start=PLOT_PX, end=24.0)
    xs = sorted({point.x for point in points})
    place = _across(chart, xs, margin=_group_width(len(xs)) / 2 if chart.is_bars else 3)
    numbers = _written(ticks, is_share=chart.is_share)
    words_at = dict(chart.x_labels)
    words = [words_at.get(value, f"{value:g}") for value in xs]
    upright = _upright_px(words)
    body = _frame(y, numbers, x_title=chart.x_title, y_title=chart.y_title, below_px=upright)
    body += _below([*zip(map(place, xs), words, strict=True)], is_upright=upright > 0)
    marks = [
        part
        for value, message in chart.y_marks
        for part in (
            line(x1=LEFT, x2=RIGHT, y1=y(value), y2=y(value), style="zero"),
            text(message, x=f"{RIGHT:g}%", y=y(value) - 5, anchor="end", style="number"),
        )
    ]
    if chart.is_bars:
        body += _columns(chart, place, y, whole=_group_width(len(xs)))
        swatches = [svg.box_swatch(f"fill-{i % _STYLES}") for i in range(len(chart.series))]
    else:
        for i, series in enumerate(chart.series):
            body += _curve(series.points, _beside(place, i, n=len(chart.series)), y, index=i)
        swatches = [svg.dot_swatch(_mark(i)) for i in range(len(chart.series))]
    legend = tuple((swatch, values.label) for swatch, values in zip(swatches, chart.series, strict=True))
    return Drawing(svg=_whole([*body, *marks], chart.title, below_px=upright), legend=legend)


def _upright_px(words: Sequence[str]) -> float:
    """Return the height of rotated labels below an axis; 0 if they fit horizontally."""
    longest = max(map(len, words), default=0)
    return 0.0 if (longest + 1) * len(words) <= _MOST_BELOW else LETTER_PX * min(longest, _LONGEST)


def _across(chart: Chart, xs: Sequence[float], *, margin: float) -> Callable[[float], float]:
    is_log = chart.is_log and bool(xs) and xs[0] > 0

    def measured(value: float) -> float:
        return math.log2(value) if is_log and value > 0 else value

    low, high = (measured(xs[0]), measured(xs[-1])) if xs else (0.0, 1.0)
    inner = svg.scale(low, high, start=LEFT + margin, end=RIGHT - margin)
    if low == high:
        return lambda value: (LEFT + RIGHT) / 2
    return lambda value: inner(measured(value))


def _beside(x: Callable[[float], float], index: int, *, n: int) -> Callable[[float], float]:
    """Offset positions from other curves if intervals would overlap."""
    aside = (index - (n - 1) / 2) * _ASIDE if n > _FEW_CURVES else 0.0
    return lambda value: x(value) + aside


def _group_width(n_places: int) -> float:
    """Return the width of the bars at one position."""
    return 0.7 * (RIGHT - LEFT) / max(1, n_places)


def _columns(
    chart: Chart, x: Callable[[float], float], y: Callable[[float], float], *, whole: float
) -> list[str]:
    """Draw bars from 0 with intervals; several series are grouped."""
    body: list[str] = []
    width = whole / max(1, len(chart.series))
    for i, series in enumerate(chart.series):
        for point in series.points:
            if not math.isfinite(point.y.value):
                continue
            left = x(point.x) - whole / 2 + i * width
            top, bottom = sorted((y(point.y.value), y(0)))
            body.append(
                svg.rect(x=left, width=width, y=top, height=bottom - top, style=f"fill-{i % _STYLES}")
            )
            body += _upright(point.y, y, at=left + width / 2, style="whisker")
    return body


def _upright(value: Estimate, y: Callable[[float], float], *, at: float, style: str) -> list[str]:
    """Draw a vertical interval; empty if there is none."""
    return [line(x1=at, x2=at, y1=y(value.low), y2=y(value.high), style=style)] if has_interval(value) else []


def _curve(
    points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float], *, index: int
) -> list[str]:
    known = [p for p in points if math.isfinite(p.y.value)]
    style = f"curve curve-{index % _STYLES}"
    body = [
        line(x1=x(a.x), x2=x(b.x), y1=y(a.y.value), y2=y(b.y.value), style=style) for a, b in pairwise(known)
    ]
    for point in known:
        body += _upright(point.y, y, at=x(point.x), style=style)
        body.append(svg.dot(_mark(index), x=x(point.x), y=y(point.y.value)))
    return body


def _mark(index: int) -> str:
    shapes = (
        "M0-5A5 5 0 1 1 0 5 5 5 0 1 1 0-5Z",
        "M0-6 6 0 0 6-6 0Z",
        "M0-6 6 5-6 5Z",
        "M-5-5H5V5H-5Z",
        "M0 6 6-5-6-5Z",
    )
    shape = shapes[(index + index // _STYLES) % len(shapes)]  # a colour comes again with another shape
    return f'<path d="{shape}" class="dot curve-{index % _STYLES}"/>'


# --------------------------------------------------------------------------- distributions


def _draw_violins(violins: Violins) -> Drawing:
    body: list[str] = []
    x = svg.scale(violins.low, violins.high, start=0.0, end=100.0)
    for i, group in enumerate(violins.groups):
        top = i * VIOLIN_PX
        n = f"{len(group.values):,} values"
        body.append(text(svg.shorten(group.label), x="0", y=top + 14, style="label"))
        body.append(text(n, x="100%", y=top + 14, anchor="end", style="number"))
        if group.values:
            body.append(_violin(group.values, violins, top=top + 18))
            for share, style in ((0.25, "grid"), (0.5, "whisker"), (0.75, "grid")):
                at = x(float(np.quantile(np.asarray(group.values), share)))
                body.append(line(x1=at, x2=at, y1=top + 22, y2=top + VIOLIN_PX - 8, style=style))
    bottom = len(violins.groups) * VIOLIN_PX
    span = violins.high - violins.low
    numbers = _written([violins.low + span * i / (N_TICKS - 1) for i in range(N_TICKS)], is_share=False)
    ticks = [Tick(at=x(value), words=result) for value, result in numbers]
    body += svg.axis(ticks, bottom=bottom - 1, has_lines=False)
    body.append(text(violins.y_title, x="50%", y=bottom + 32, anchor="middle", style="axis"))
    legend = ((svg.swatch('<path d="M8 1V15" class="whisker"/>'), "median; thin lines: quartiles"),)
    return Drawing(svg=svg.whole(body, height=bottom + AXIS_PX + 16, title=violins.title), legend=legend)


def _violin(values: Sequence[float], violins: Violins, *, top: float) -> str:
    """Draw the mirrored density of values; Gaussian kernel, bandwidth by Silverman's rule."""
    array = np.asarray(values, np.float64)
    span = violins.high - violins.low
    grid = np.linspace(violins.low, violins.high, N_STEPS)
    std = float(array.std())
    spread = min(std, float(np.subtract(*np.quantile(array, (0.75, 0.25)))) / 1.34) or std
    width = max(0.9 * spread * len(array) ** -0.2, span / 60)
    density = np.exp(-0.5 * ((grid[:, None] - array[None, :]) / width) ** 2).sum(axis=1)
    density /= density.max() or 1.0
    half = (VIOLIN_PX - 30) / 2
    across = 100 * np.arange(N_STEPS) / (N_STEPS - 1)
    outline = [*zip(across, half - half * density, strict=True)]
    outline += zip(across[::-1], half + half * density[::-1], strict=True)
    path = f'<path d="M{" L".join(f"{at:.2f} {down:.2f}" for at, down in outline)}Z" class="bar"/>'
    box = f'x="0" y="{top:g}" width="100%" height="{2 * half:g}"'
    return f'<svg {box} viewBox="0 0 100 {2 * half:g}" preserveAspectRatio="none">{path}</svg>'


# --------------------------------------------------------------------------- scatters


def _draw_scatter(scatter: Scatter) -> Drawing:
    y_ticks = _ticks([dot.y for dot in scatter.dots], is_share=scatter.y_is_share)
    y = svg.scale(y_ticks[0], y_ticks[-1], start=PLOT_PX, end=24.0)
    numbers = _written(y_ticks, is_share=scatter.y_is_share)
    body = _frame(y, numbers, x_title=scatter.x_title, y_title=scatter.y_title)
    x, below = _scatter_axis(scatter)
    body += _below([(x(v), result) for v, result in below])
    taken: list[_Box] = []
    known = [d for d in scatter.dots if math.isfinite(d.x.value) and math.isfinite(d.y.value)]
    for dot in known:
        at, height = x(dot.x.value), y(dot.y.value)
        if has_interval(dot.x):
            body.append(line(x1=x(dot.x.low), x2=x(dot.x.high), y1=height, y2=height, style="spread"))
        body += _upright(dot.y, y, at=at, style="spread")
        taken.append(_Box(left=at - 1, right=at + 1, y=height))
    are_numbered = len(known) > MOST_LABELS or any(len(dot.label) > MOST_LETTERS for dot in known)
    for i, dot in enumerate(known, start=1):
        at, height = x(dot.x.value), y(dot.y.value)
        body.append(svg.dot(_mark(dot.kind), x=at, y=height))
        body.append(_named(str(i) if are_numbered else dot.label, at=at, height=height, taken=taken))
    legend = tuple((svg.dot_swatch(_mark(i)), words) for i, words in enumerate(scatter.kinds))
    if are_numbered:
        legend += tuple((svg.number_swatch(i), dot.label) for i, dot in enumerate(known, start=1))
    return Drawing(svg=_whole(body, scatter.title), legend=legend)


def _scatter_axis(scatter: Scatter) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Return the horizontal scale, and its ticks."""
    estimates = [dot.x for dot in scatter.dots]
    if not scatter.is_log:
        ticks = _ticks(estimates, is_share=scatter.x_is_share)
        x = svg.scale(ticks[0], ticks[-1], start=LEFT, end=RIGHT - 2)
        return x, _written(ticks, is_share=scatter.x_is_share)
    values = [value.value for value in estimates]
    powers = log_ticks(min(values), max(values))
    inner = svg.scale(math.log10(powers[0]), math.log10(powers[-1]), start=LEFT, end=RIGHT - 2)

    def at(value: float) -> float:
        return inner(math.log10(max(value, powers[0])))

    return at, [(value, f"{value:,g}" if value < 1e6 else f"{value:g}") for value in powers]


def log_ticks(low: float, high: float) -> list[float]:
    """Return round numbers around two positive values for a log axis: 1, 2, 5 or powers of 10.

    >>> log_ticks(3, 60), log_ticks(0.5, 20_000)
    ([2.0, 5.0, 10.0, 20.0, 50.0, 100.0], [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0])
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > 2:
        return [10.0**power for power in range(first, last + 1)]
    steps = [float(f"{n}e{power}") for power in range(first, last + 1) for n in (1, 2, 5)]
    below = [step for step in steps if step <= low][-1]
    above = next((step for step in steps if step >= high and step > below), steps[-1])
    return [step for step in steps if below <= step <= above]


class _Box(NamedTuple):
    """The area of a mark or label: horizontal in per cent, vertical in pixels."""

    left: float
    right: float
    y: float


def _named(label: str, *, at: float, height: float, taken: list[_Box]) -> str:
    """Place a label next to its point, at the first free position, or else above it."""
    width = min(LETTER * len(label), RIGHT - LEFT)
    anchor, offset = ("end", -1.2) if at + width > RIGHT else ("start", 1.2)
    left = at + offset - (width if anchor == "end" else 0)

    def is_free(y: float) -> bool:
        apart = (
            values.right < left or left + width < values.left or abs(values.y - y) >= LABEL_GAP
            for values in taken
        )
        return 12 < y < PLOT_PX - 2 and all(apart)

    heights = [height - 6 + step for step in (0, 20, -14, 34, -28, 48, -42, 62, -56)]
    y = next(filter(is_free, heights), heights[0])
    taken.append(_Box(left=left, right=left + width, y=y))
    return text(label, x=f"{at + offset:.2f}%", y=y, anchor=anchor, style="number")
