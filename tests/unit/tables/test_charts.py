"""The numbers behind the figures of diagnostics, and where the marks of their plots stand."""

import xml.etree.ElementTree as ET

import pytest

from vidence.records import Estimate
from vidence.tables.charts import Chart, Dot, Group, Point, Scatter, Series, Violins, table_of
from vidence.tables.plots import draw_plot, round_ticks
from vidence.tables.table import Row, shown_columns, shown_rows

NAN = float("nan")


def estimate(value, low=NAN, high=NAN):
    return Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="m")


CHART = Chart(
    name="c",
    title="C",
    x_title="frames",
    y_title="accuracy",
    series=(
        Series(label="one", points=(Point(x=1, y=estimate(0.2, 0.1, 0.3)), Point(x=4, y=estimate(0.6)))),
        Series(label="<two>", points=(Point(x=4, y=estimate(NAN)),)),
    ),
    is_log=True,
    y_marks=((0.25, "chance"),),
    x_labels=((4.0, "four"),),
    note="n.",
)
VIOLINS = Violins(
    name="v",
    title="V",
    y_title="share",
    groups=(Group(label="right", values=(0.0, 0.5, 1.0)),),
    low=0,
    high=1,
)
SCATTER = Scatter(
    name="s",
    title="S",
    x_title="MRFS",
    y_title="accuracy",
    dots=(
        Dot(label="a", x=estimate(2.0, 1.0, 3.0), y=estimate(0.5, 0.4, 0.6)),
        Dot(label="b", x=estimate(NAN), y=estimate(1.0)),
    ),
)


def by_class(svg, name):
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    return [e for e in root.iter() if name in (e.get("class") or "").split()]


def texts(table):
    return [[cell.text for cell in row.cells] for row in shown_rows(table)]


def test_the_numbers_of_a_chart_have_a_row_for_each_x():
    table = table_of(CHART)
    assert [c.title for c in shown_columns(table)] == ["frames", "one, %", "<two>, %"]
    assert texts(table) == [["1", "20.0", "\u2013"], ["four", "60.0", "\u2013"]]
    assert table.rows[0] == Row(key="x:1", label="1", values=(estimate(0.2, 0.1, 0.3), None))
    assert table.note == "n. chance: 25.0 %."


def test_the_numbers_of_distributions_are_their_quantiles():
    assert texts(table_of(VIOLINS)) == [["right", "3", "0.05", "0.25", "0.50", "0.75", "0.95"]]
    empty = Violins(name="v", title="V", y_title="y", groups=(Group(label="none", values=()),))
    assert texts(table_of(empty))[0][2:] == ["\u2013"] * 5
    drawing = draw_plot(VIOLINS)
    (median,) = by_class(drawing.svg, "whisker")
    assert median.get("x1") == median.get("x2") == "50.000%"
    assert [e.text for e in by_class(drawing.svg, "axis")] == ["0", "0.25", "0.5", "0.75", "1", "share"]


def test_the_numbers_of_a_scatter_are_its_dots():
    table = table_of(SCATTER)
    assert [c.title for c in shown_columns(table)] == ["", "MRFS", "accuracy, %"]
    assert texts(table) == [["a", "2.00", "50.0"], ["b", "\u2013", "100.0"]]
    svg = draw_plot(SCATTER).svg  # without both numbers there is no dot
    assert len(by_class(svg, "dot")) == 1
    assert [e.text for e in by_class(svg, "number")] == ["a"]


def test_curves_stand_where_their_numbers_say():
    drawing = draw_plot(CHART)
    # The axis of shares beyond a half ends at 1: 24 px; 0 is at 260 px. x is a logarithm, with a margin of 3.
    curve = by_class(drawing.svg, "curve-0")
    path = next(e for e in curve if e.get("x1") != e.get("x2"))
    assert (path.get("x1"), path.get("x2")) == ("14.500%", "95.000%")
    assert (path.get("y1"), path.get("y2")) == ("212.8", "118.4")
    whisker = next(e for e in curve if e.tag == "line" and e.get("x1") == e.get("x2"))
    assert (whisker.get("y1"), whisker.get("y2")) == ("236.4", "189.2")
    assert {"1", "four", "frames", "accuracy", "100 %"} <= {e.text for e in by_class(drawing.svg, "axis")}
    assert {"chance"} <= {e.text for e in by_class(drawing.svg, "number")}
    assert [words for _, words in drawing.legend] == ["one", "<two>"]


@pytest.mark.parametrize(
    ("low", "high", "is_share", "ticks"),
    [
        (0, 0, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 0, True, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (0, 16, False, [0, 5, 10, 15, 20]),
        (0, 4.2, False, [0, 1, 2, 3, 4, 5]),
        (0, 3.75, False, [0, 1, 2, 3, 4]),
        (0, 0.25, True, [0, 0.05, 0.1, 0.15, 0.2, 0.25]),
        (0, 0.111, True, [0, 0.05, 0.1, 0.15]),
        (0, 1.04, True, [0, 0.25, 0.5, 0.75, 1]),
        (-0.3, 0.2, True, [-0.3, -0.2, -0.1, 0, 0.1, 0.2]),
        (-0.7, 1.04, True, [-1, -0.5, 0, 0.5, 1]),
        (-2, 3, False, [-2, -1, 0, 1, 2, 3]),
    ],
)
def test_axes_have_round_numbers_with_zero_among_them(low, high, is_share, ticks):
    assert round_ticks(low, high, is_share=is_share) == pytest.approx(ticks)


def test_a_distribution_is_drawn_as_bars_with_their_intervals():
    points = (Point(x=1, y=estimate(0.4, 0.2, 0.5)), Point(x=2, y=estimate(0.0)))
    series = tuple(Series(label=f"s{i}", points=points) for i in range(6))
    chart = Chart(name="c", title="C", x_title="x", y_title="y", series=series, is_bars=True)
    drawing = draw_plot(chart)
    bars = [bar for i in range(5) for bar in by_class(drawing.svg, f"fill-{i}")]
    assert len(bars) == 12
    # The axis ends at .5: 24 px; 0 is at 260 px.
    assert sorted({bar.get("height") for bar in bars}) == ["0", "188.8"]
    assert len(by_class(drawing.svg, "whisker")) == 6
    assert by_class(drawing.svg, "curve") == []
    assert len(drawing.legend) == len({swatch for swatch, _ in drawing.legend}) + 1 == 6


@pytest.mark.parametrize("hostile", ["<script>x</script>", '" onload="x', "a \x00 b"])
def test_labels_are_words_never_markup(hostile):
    one = estimate(0.5)
    named = {"title": hostile, "y_title": hostile}
    series = Series(label=hostile, points=(Point(x=1, y=one),))
    plots = (
        Chart(name="c", x_title=hostile, series=(series,), **named),
        Violins(name="v", groups=(Group(label=hostile, values=(0.5, 0.6)),), **named),
        Scatter(name="s", x_title=hostile, dots=(Dot(label=hostile, x=one, y=one),), **named),
    )
    for plot in plots:
        root = ET.fromstring(draw_plot(plot).svg)  # noqa: S314 - our own drawing
        assert {e.tag for e in root.iter()} <= {"svg", "text", "rect", "line", "path"}
        assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)
