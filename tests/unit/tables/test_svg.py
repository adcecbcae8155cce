"""The parts of figures: places, escaped texts, axes."""

import xml.etree.ElementTree as ET

import pytest

from vidence.tables.svg import Tick, axis, dot, dot_swatch, interval, line, rect, scale, shorten, text, whole


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


@pytest.mark.parametrize(("value", "at"), [(0, 10.0), (5, 50.0), (10, 90.0), (-3, 10.0), (99, 90.0)])
def test_values_are_drawn_between_both_ends(value, at):
    assert scale(0, 10, start=10, end=90)(value) == at
    assert scale(3, 3, start=10, end=90)(3) == 10
    assert (shorten("x" * 44), shorten("x" * 45)) == ("x" * 44, "x" * 43 + "…")


def test_foreign_words_are_escaped_and_what_cannot_be_seen_is_shown():
    drawn = text("a < b & \u202e", x="5%", y=12.0, style='x"y')
    element = parsed(drawn)
    assert element.text.startswith("a < b & ")
    assert "\u202e" not in drawn
    assert element.attrib == {"x": "5%", "y": "12", "text-anchor": "start", "class": 'x"y'}


def test_boxes_and_lines_have_their_place_in_per_cent_across():
    assert parsed(rect(x=1, width=2.5, y=3, height=4, style="bar")).attrib == {
        "x": "1.000%", "width": "2.500%", "y": "3", "height": "4", "class": "bar",
    }  # fmt: skip
    assert parsed(line(x1=1, x2=2, y1=3, y2=4, style="grid")).attrib == {
        "x1": "1.000%", "x2": "2.000%", "y1": "3", "y2": "4", "class": "grid",
    }  # fmt: skip


def test_an_interval_is_a_line_with_a_small_one_at_both_ends():
    places = [parsed(part).attrib for part in interval((20, 60), y=10)]
    assert [(p["x1"], p["x2"], p["y1"], p["y2"]) for p in places] == [
        ("20.000%", "60.000%", "10", "10"),
        ("20.000%", "20.000%", "6", "14"),
        ("60.000%", "60.000%", "6", "14"),
    ]


def test_the_numbers_of_an_axis_stay_inside_the_figure():
    ticks = [Tick(at=0, words="0"), Tick(at=50, words="½", style="zero"), Tick(at=100, words="1")]
    parts = [parsed(part) for part in axis(ticks, bottom=40)]
    assert [p.attrib["text-anchor"] for p in parts if p.tag == "text"] == ["start", "middle", "end"]
    assert [p.attrib["class"] for p in parts if p.tag == "line"] == ["grid", "zero", "grid"]
    assert [parsed(p).tag for p in axis(ticks, bottom=40, has_lines=False)] == ["text"] * 3


def test_a_figure_is_one_element_with_its_title():
    figure = parsed(whole([dot("<circle r='4'/>", x=5, y=6)], height=30, title='"Scores" & more'))
    assert figure.attrib["aria-label"] == '"Scores" & more'
    assert (figure.attrib["height"], figure[0].attrib["x"], figure[0][0].tag) == ("30", "5.000%", "circle")
    assert parsed(dot_swatch("<circle r='4'/>"))[0].attrib["transform"] == "translate(8 8)"
