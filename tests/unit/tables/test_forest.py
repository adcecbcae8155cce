"""Where the marks of a forest plot stand."""

import io
import xml.etree.ElementTree as ET

import pytest
from rich.console import Console

from vidence.records import Estimate
from vidence.report.figures import draw_figure, figure_of
from vidence.tables.cells import Cell, Column, Line, Table, difference, words
from vidence.tables.forest import Difference, ForestFigure
from vidence.tables.grids import MOST_LINES, print_table


def by_class(svg, name):
    root = ET.fromstring(svg)  # noqa: S314 - our own drawing
    return [e for e in root.iter() if name in (e.get("class") or "").split()]


def drawn(*rows):
    return draw_figure(ForestFigure(title="t", rows=rows))


def test_zero_is_in_the_middle_and_the_ends_where_they_belong():
    drawing = drawn(
        Difference(label="all", value=0.04, low=0.02, high=0.06, text="+4.0", is_clear=True, is_main=True),
        Difference(label="<one>", value=-0.02, low=-0.08, high=0.04, text="-2.0"),
        Difference(label="two", value=0.0, text="0.0"),
    )
    # The farthest end is 8 points away: steps of 2 points, 8 to either side.
    assert [e.text for e in by_class(drawing.svg, "axis")] == [
        *("-8", "-6", "-4", "-2", "0", "+2", "+4", "+6", "+8"),
    ]
    (zero,) = by_class(drawing.svg, "zero")
    assert zero.get("x1") == zero.get("x2") == "50.000%"
    first, second = [w for w in by_class(drawing.svg, "whisker") if w.get("x1") != w.get("x2")]
    assert (first.get("x1"), first.get("x2")) == ("62.500%", "87.500%")
    assert (second.get("x1"), second.get("x2")) == ("0.000%", "75.000%")
    assert len(by_class(drawing.svg, "point")) == 1
    assert len(by_class(drawing.svg, "point-open")) == 2
    assert [e.text for e in by_class(drawing.svg, "strong")] == ["all"]
    assert [words for _, words in drawing.legend] == ["interval", "clear", "not clear"]
    places = [e.get("x") for e in ET.fromstring(drawing.svg).iter("svg") if e.get("overflow")]  # noqa: S314
    assert places == ["75.000%", "37.500%", "50.000%"]


@pytest.mark.parametrize(
    ("most", "ends"), [(0.0, "1"), (0.01, "1"), (0.011, "2"), (0.3, "30"), (0.9, "100"), (2.0, "100")]
)
def test_the_axis_reaches_as_far_as_it_must(most, ends):
    svg = drawn(Difference(label="x", value=most)).svg
    assert by_class(svg, "axis")[-1].text == f"+{ends}"


def line(key, value, low=float("nan"), high=float("nan"), *, clear=0.0):
    one = Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="")
    return Line(key=key, cells=(words(key), difference(one), Cell(text="", value=clear)))


def differences(*lines):
    columns = (
        Column(key="name", title="n", is_text=True),
        Column(key="difference", title="difference, points"),
        Column(key="clear", title="verdict"),
    )
    return Table(name="d", title="D", kind="differences", columns=columns, lines=lines)


def test_a_table_of_differences_has_its_figure():
    figure = figure_of(
        differences(line("headline", 0.1, 0.05, 0.15, clear=1.0), line("b", 0.1), line("c", float("nan")))
    )
    assert figure.rows == (
        Difference(
            label="headline", value=0.1, low=0.05, high=0.15, text="+10.0", is_clear=True, is_main=True
        ),
        Difference(label="b", value=0.1, text="+10.0"),
    )
    assert figure_of(differences(line("c", float("nan")))) is None


def printed(table, width=80):
    out = io.StringIO()
    print_table(table, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_wide_tables_are_printed_in_blocks_that_fit():
    columns = (
        Column(key="n", title="name", is_text=True),
        *(Column(key=f"{i}", title=f"c{i}", group="g") for i in range(12)),
    )
    cells = (
        words("a long name of a model that goes on and on " * 3),
        *(words("12.3", detail="1.0 to 2.0") for _ in range(12)),
    )
    text = printed(
        Table(
            name="w", title="Wide", columns=columns, lines=(Line(key="x", cells=cells),), footnotes=("†1 so",)
        ),
        width=60,
    )
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("12.3") == 12
    assert text.count("a long name") > 1
    assert all(f"c{i}" in text for i in range(12))
    assert "†1 so" in text


def test_long_tables_and_signs_of_footnotes():
    long = differences(*(line(f"l{n}", 0.1) for n in range(MOST_LINES + 1)))
    assert f"{MOST_LINES + 1} lines, on the page and in the files." in printed(long)
    signed = Table(
        name="s",
        title="S",
        columns=(Column(key="n", title="n"),),
        lines=(Line(key="x", cells=(words("GPT", detail="†1"),)),),
    )
    assert "GPT †1" in printed(signed)
    empty = Table(name="e", title="E", columns=(Column(key="n", title="n"),), lines=())
    assert "E" in printed(empty)
