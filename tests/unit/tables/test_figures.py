import xml.etree.ElementTree as ET

import pytest

from vidence.records import Estimate
from vidence.tables.figures import (
    Bar,
    BarFigure,
    Difference,
    ForestFigure,
    Letter,
    LetterFigure,
    Mark,
    Part,
    StripFigure,
    draw_figure,
    figure_of,
)
from vidence.tables.table import Cell, Column, Row, Table


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def by_class(svg, name):
    return [e for e in parsed(svg).iter() if name in (e.get("class") or "").split()]


def test_bars_intervals_and_marks_stand_where_their_numbers_say():
    figure = BarFigure(
        title="t",
        bars=(
            Bar(
                label="one",
                value=0.4,
                low=0.25,
                high=0.5,
                text="40.0",
                marks=(Mark(kind="chance", value=0.2),),
            ),
            Bar(label="two", value=0.0, text="0.0", marks=(Mark(kind="planted", value=1.0),)),
        ),
    )
    drawing = draw_figure(figure)
    assert [b.get("width") for b in by_class(drawing.svg, "bar")] == ["40.000%", "0.000%"]
    line = by_class(drawing.svg, "whisker")[0]
    assert (line.get("x1"), line.get("x2")) == ("25.000%", "50.000%")
    assert len(by_class(drawing.svg, "whisker")) == 3
    assert len(by_class(drawing.svg, "mark-0")) == len(by_class(drawing.svg, "mark-1")) == 1
    assert [e.get("x") for e in parsed(drawing.svg).iter("svg") if e.get("overflow")] == [
        "20.000%",
        "100.000%",
    ]
    assert [words for _, words in drawing.legend] == ["interval", "chance", "planted"]
    assert [e.text for e in by_class(drawing.svg, "axis")] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


def test_bars_beyond_the_axis_end_at_it():
    bar = Bar(label="x", value=0.9, low=-0.2, high=1.3)
    svg = draw_figure(BarFigure(title="t", bars=(bar,))).svg
    line = by_class(svg, "whisker")[0]
    assert (line.get("x1"), line.get("x2")) == ("0.000%", "100.000%")


def test_the_axis_can_count():
    figure = BarFigure(title="t", bars=(Bar(label="x", value=4),), top=8, is_share=False)
    drawing = draw_figure(figure)
    assert [e.text for e in by_class(drawing.svg, "axis")] == ["0", "2", "4", "6", "8"]
    assert by_class(drawing.svg, "bar")[0].get("width") == "50.000%"
    assert drawing.legend == ()


def test_more_kinds_of_marks_than_shapes_start_again():
    marks = tuple(Mark(kind=f"k{i}", value=0.1) for i in range(5))
    drawing = draw_figure(BarFigure(title="t", bars=(Bar(label="x", value=0.4, marks=marks),)))
    assert len(by_class(drawing.svg, "mark-0")) == 2
    assert len(drawing.legend) == 5


def test_letters_are_drawn_against_the_most_frequent():
    letters = (Letter(letter="A", n_gold=2, n_read=8), Letter(letter="B", n_gold=4, n_read=0))
    svg = draw_figure(LetterFigure(title="t", letters=letters)).svg
    assert [b.get("width") for b in by_class(svg, "bar")] == ["100.000%", "0.000%"]
    assert [b.get("width") for b in by_class(svg, "gold")] == ["25.000%", "50.000%"]
    assert "read 8, right answer 2" in svg


def test_nothing_read_and_nothing_right_is_drawn_empty():
    svg = draw_figure(LetterFigure(title="t", letters=(Letter(letter="A", n_gold=0, n_read=0),))).svg
    assert by_class(svg, "bar")[0].get("width") == "0.000%"


def test_a_strip_is_divided_by_counts_and_leaves_out_nothing_but_zeros():
    parts = (
        Part(label="right", style="right", n=3),
        Part(label="failed", style="failed", n=0),
        Part(label="wrong", style="wrong", n=1),
    )
    drawing = draw_figure(StripFigure(title="t", parts=parts))
    assert [(p.get("x"), p.get("width")) for p in by_class(drawing.svg, "part")] == [
        ("0.000%", "75.000%"),
        ("75.000%", "25.000%"),
    ]
    assert [words for _, words in drawing.legend] == ["right 3", "wrong 1"]


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "</svg><img src=x>", "a & b \x00 \ud800", '" onload="x']
)
def test_labels_are_words_never_markup(hostile):
    figures = (
        BarFigure(title=hostile, bars=(Bar(label=hostile, value=0.5, text=hostile),)),
        LetterFigure(title=hostile, letters=(Letter(letter=hostile, n_gold=1, n_read=1),)),
        StripFigure(title=hostile, parts=(Part(label=hostile, style="wrong", n=1),)),
    )
    for figure in figures:
        root = parsed(draw_figure(figure).svg)
        assert {e.tag for e in root.iter()} <= {"svg", "text", "rect", "line", "path"}
        assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)


# differences about a line at zero


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
    places = [e.get("x") for e in parsed(drawing.svg).iter("svg") if e.get("overflow")]
    assert places == ["75.000%", "37.500%", "50.000%"]


@pytest.mark.parametrize(
    ("most", "ends"), [(0.0, "1"), (0.01, "1"), (0.011, "2"), (0.3, "30"), (0.9, "100"), (2.0, "100")]
)
def test_the_axis_reaches_as_far_as_it_must(most, ends):
    svg = drawn(Difference(label="x", value=most)).svg
    assert by_class(svg, "axis")[-1].text == f"+{ends}"


def line(key, value, low=float("nan"), high=float("nan"), *, clear=0.0):
    one = Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="")
    return Row(key=key, label=key, values=(one, Cell(value=clear, text="")))


def differences(*rows):
    columns = (
        Column(key="difference", title="difference, points", kind="difference"),
        Column(key="clear", title="verdict"),
    )
    return Table(name="d", title="D", label="n", figure="differences", columns=columns, rows=rows)


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
