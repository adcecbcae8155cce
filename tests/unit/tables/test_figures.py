import xml.etree.ElementTree as ET

import msgspec
import pytest

from vidence.records import Estimate
from vidence.tables.figures import draw_figure
from vidence.tables.table import Cell, Column, Row, Table

NAN = float("nan")


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def by_class(svg, name):
    return [e for e in parsed(svg).iter() if name in (e.get("class") or "").split()]


def estimate(value, low=NAN, high=NAN):
    return Estimate(value=value, low=low, high=high, level=0.95, n=9, n_clusters=3, method="")


def scores(*rows, **marks):
    """Rows are a label and an estimate; marks are for each key the values of the rows."""
    columns = (
        Column(key="accuracy", title="accuracy", kind="share"),
        *(Column(key=key, title=key, kind="share") for key in marks),
    )
    made = tuple(
        Row(key=label, label=label, values=(value, *(some[i] for some in marks.values())))
        for i, (label, value) in enumerate(rows)
    )
    return Table(name="s", title="t", label="n", figure="scores", columns=columns, rows=made)


def counts(figure, keys, *rows):
    columns = tuple(Column(key=key, title=key, kind="count") for key in keys)
    made = tuple(Row(key=label, label=label, values=values) for label, *values in rows)
    return Table(name="c", title="t", label="n", figure=figure, columns=columns, rows=made)


def test_bars_intervals_and_marks_stand_where_their_numbers_say():
    table = scores(
        ("one", estimate(0.4, 0.25, 0.5)),
        ("two", estimate(0.0)),
        ("three", estimate(NAN)),
        planted=(None, 1.0, 0.5),
        chance=(0.2, None, 0.5),
        median=(0.9, 0.9, 0.9),
    )
    drawing = draw_figure(table)
    assert [b.get("width") for b in by_class(drawing.svg, "bar")] == ["40.000%", "0.000%"]
    line = by_class(drawing.svg, "whisker")[0]
    assert (line.get("x1"), line.get("x2")) == ("25.000%", "50.000%")
    assert len(by_class(drawing.svg, "whisker")) == 3
    assert len(by_class(drawing.svg, "mark-0")) == len(by_class(drawing.svg, "mark-1")) == 1
    places = [e.get("x") for e in parsed(drawing.svg).iter("svg") if e.get("overflow")]
    assert places == ["20.000%", "100.000%"]
    assert [words for _, words in drawing.legend] == ["accuracy", "interval", "planted", "chance"]
    assert [e.text for e in by_class(drawing.svg, "axis")] == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert [e.text for e in by_class(drawing.svg, "number")] == ["40.0", "0.0"]


def test_a_table_without_a_number_or_a_figure_has_none():
    svg = draw_figure(scores(("x", estimate(0.9, -0.2, 1.3)))).svg  # bars beyond the axis end at it
    line_ = by_class(svg, "whisker")[0]
    assert (line_.get("x1"), line_.get("x2")) == ("0.000%", "100.000%")
    empty = draw_figure(counts("letters", ("read", "gold"), ("A", 0, 0))).svg
    assert by_class(empty, "bar")[0].get("width") == "0.000%"
    assert draw_figure(differences(line("c", NAN))) is None
    assert draw_figure(scores(("x", estimate(NAN)))) is None
    assert draw_figure(counts("letters", ("read", "gold"))) is None
    assert draw_figure(counts("", ("n",), ("a", 1))) is None


def test_lines_that_nobody_asked_for_are_in_the_table_alone():
    table = scores(("one", estimate(0.4)), ("two", estimate(0.5)))
    quiet = msgspec.structs.replace(table.rows[1], is_drawn=False)
    svg = draw_figure(msgspec.structs.replace(table, rows=(table.rows[0], quiet))).svg
    assert [e.text for e in by_class(svg, "label")] == ["one"]


def test_counts_stand_one_behind_the_other_the_heaviest_first():
    table = counts("counts", ("note", "severe", "warning"), ("a", 1, 2, 1), ("b", 2, 0, 0))
    drawing = draw_figure(table)
    assert [(p.get("class"), p.get("x"), p.get("width")) for p in by_class(drawing.svg, "part")][:3] == [
        ("part part-severe", "0.000%", "50.000%"),
        ("part part-warning", "50.000%", "25.000%"),
        ("part part-note", "75.000%", "25.000%"),
    ]
    assert [e.text for e in by_class(drawing.svg, "number")] == ["2 severe, 1 warning, 1 note", "2 note"]
    assert [words for _, words in drawing.legend] == ["severe", "warning", "note"]
    assert draw_figure(counts("counts", ("note",))) is None


def test_letters_are_drawn_against_the_most_frequent():
    svg = draw_figure(counts("letters", ("read", "gold"), ("A", 8, 2), ("B", 0, 4))).svg
    assert [b.get("width") for b in by_class(svg, "bar")] == ["100.000%", "0.000%"]
    assert [b.get("width") for b in by_class(svg, "gold")] == ["25.000%", "50.000%"]
    assert "read 8, right answer 2" in svg


def test_a_strip_is_divided_by_counts_and_leaves_out_nothing_but_zeros():
    drawing = draw_figure(counts("outcomes", ("n",), ("right", 3), ("failed", 0), ("wrong", 1)))
    assert [(p.get("x"), p.get("width")) for p in by_class(drawing.svg, "part")] == [
        ("0.000%", "75.000%"),
        ("75.000%", "25.000%"),
    ]
    assert [words for _, words in drawing.legend] == ["right 3", "wrong 1"]


@pytest.mark.parametrize(
    "hostile", ["<script>alert(1)</script>", "</svg><img src=x>", "a & b \x00 \ud800", '" onload="x']
)
def test_labels_are_words_never_markup(hostile):
    tables = (
        scores((hostile, estimate(0.5, 0.4, 0.6))),
        counts("letters", ("read", "gold"), (hostile, 1, 1)),
        msgspec.structs.replace(
            counts("outcomes", ("n",), ("", 1)), rows=(Row(key="wrong", label=hostile, values=(1,)),)
        ),
        differences(line(hostile, 0.5, 0.4, 0.6)),
    )
    for table in tables:
        drawing = draw_figure(table)
        root = parsed(drawing.svg)
        assert {e.tag for e in root.iter()} <= {"svg", "text", "rect", "line", "path", "circle"}
        assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)
        for swatch, _ in drawing.legend:
            assert not any(name.startswith("on") for e in parsed(swatch).iter() for name in e.attrib)


# differences about a line at zero


def line(key, value, low=NAN, high=NAN, *, clear=0.0, label=""):
    return Row(key=key, label=label or key, values=(estimate(value, low, high), Cell(value=clear, text="")))


def differences(*rows):
    columns = (
        Column(key="difference", title="difference, points", kind="difference"),
        Column(key="clear", title="verdict"),
    )
    return Table(name="d", title="D", label="n", figure="differences", columns=columns, rows=rows)


def test_zero_is_in_the_middle_and_the_ends_where_they_belong():
    drawing = draw_figure(
        differences(
            line("headline", 0.04, 0.02, 0.06, clear=1.0, label="all"),
            line("<one>", -0.02, -0.08, 0.04),
            line("two", 0.0),
            line("none", NAN),
        )
    )
    # The farthest end is 8 points away: steps of 2 points, 8 to either side, every second with its number.
    assert [e.text for e in by_class(drawing.svg, "axis")] == ["-8", "-4", "0", "+4", "+8"]
    (zero,) = by_class(drawing.svg, "zero")
    assert zero.get("x1") == zero.get("x2") == "50.000%"
    first, second = [w for w in by_class(drawing.svg, "whisker") if w.get("x1") != w.get("x2")]
    assert (first.get("x1"), first.get("x2")) == ("62.500%", "87.500%")
    assert (second.get("x1"), second.get("x2")) == ("0.000%", "75.000%")
    assert len(by_class(drawing.svg, "point")) == 1
    assert len(by_class(drawing.svg, "point-open")) == 2
    assert [e.text for e in by_class(drawing.svg, "strong")] == ["all"]
    assert [e.text for e in by_class(drawing.svg, "number")] == ["+4.0", "-2.0", "0.0"]
    assert [words for _, words in drawing.legend] == ["interval", "clear", "not clear"]
    places = [e.get("x") for e in parsed(drawing.svg).iter("svg") if e.get("overflow")]
    assert places == ["75.000%", "37.500%", "50.000%"]


@pytest.mark.parametrize(
    ("most", "ends"), [(0.0, "1"), (0.01, "1"), (0.011, "2"), (0.3, "30"), (0.9, "100"), (2.0, "100")]
)
def test_the_axis_reaches_as_far_as_it_must(most, ends):
    svg = draw_figure(differences(line("x", most))).svg
    assert by_class(svg, "axis")[-1].text == f"+{ends}"
