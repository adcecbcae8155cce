import xml.etree.ElementTree as ET

import pytest

from vidence.report.figures import (
    Bar,
    BarFigure,
    Letter,
    LetterFigure,
    Mark,
    Part,
    StripFigure,
    draw_figure,
    figure_of,
)
from vidence.report.tables import outcome_table, position_table, score_tables
from vidence.tables.cells import Column, Line, Table, count, words


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


def test_tables_choose_their_figures(runs, rng):
    run = runs.load()
    bars = figure_of(score_tables(run, rng=rng)[1])
    assert isinstance(bars, BarFigure)
    # count: 25 % on four questions, of which A is right on two; chance (3/4 + 1/5) / 4 = 0.2375.
    first = bars.bars[0]
    assert (first.label, first.value) == ("count", 0.25)
    assert [(m.kind, round(m.value, 4)) for m in first.marks] == [
        ("chance", 0.2375),
        ("always A", 0.5),
        ("longest", 0.0),
    ]
    letters = figure_of(position_table(run, rng=rng))
    assert isinstance(letters, LetterFigure)
    assert letters.letters[2] == Letter(letter="C", n_gold=2, n_read=2)
    strip = figure_of(outcome_table(run))
    assert isinstance(strip, StripFigure)
    assert sum(part.n for part in strip.parts) == 7


def test_a_single_video_is_drawn_without_interval(runs, rng):
    figure = figure_of(score_tables(runs.load(), rng=rng)[1])
    assert [bar.low is None for bar in figure.bars] == [False, True]


def test_other_tables_have_no_figure(runs, rng):
    columns = (Column(key="name", title="name"), Column(key="n", title="n"))
    plain = Table(name="p", title="p", columns=columns, lines=(Line(key="a", cells=(words("a"), count(1))),))
    assert figure_of(plain) is None
    assert figure_of(Table(name="e", title="e", columns=columns, lines=(), kind="scores")) is None
    waiting = runs.load(items=[runs.items[6]], trials=[runs.trials[6]])
    assert figure_of(score_tables(waiting, rng=rng)[0]) is None
