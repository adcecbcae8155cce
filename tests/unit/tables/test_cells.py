import math

import pytest

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.tables.cells import Column, Line, Table, count, estimated, percent, share, words
from vidence.tables.visible import visible


def test_cells_say_their_numbers():
    estimate = Estimate(value=0.431, low=0.39, high=0.472, level=0.95, n=500, n_clusters=87, method="m")
    assert (estimated(estimate).text, estimated(estimate).detail) == ("43.1", "39.0 to 47.2")
    assert count(26806).text == "26,806"
    assert share(0.2).text == "20.0"
    assert share(None).text == share(math.nan).text == "\u2013"
    assert percent(1.0, digits=0) == "100"


def test_an_estimate_that_does_not_exist_is_a_dash():
    nothing = Estimate(value=math.nan, low=math.nan, high=math.nan, level=0.95, n=0, n_clusters=0, method="m")
    assert estimated(nothing).text == "\u2013"
    assert estimated(nothing).value is None


def test_a_line_must_fill_the_columns():
    columns = (Column(key="a", title="a"), Column(key="b", title="b"))
    with pytest.raises(UsageError, match="has 1 cells, expected 2"):
        Table(name="t", title="t", columns=columns, lines=(Line(key="x", cells=(words("1"),)),))


def test_an_unknown_cell_is_refused():
    table = Table(name="t", title="t", columns=(Column(key="a", title="a"),), lines=())
    with pytest.raises(UsageError, match="no cell at line 'x', column 'a'"):
        table.cell("x", "a")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain\ttext\nwith lines", "plain\ttext\nwith lines"),
        ("a\r\nb", "a\nb"),
        ("\x00\x1b[31m\x7f", "␀␛[31m␡"),
        ("\x9b2J", "⟨U+009B⟩2J"),
        ("abc\u202edcb\u2066", "abc⟨U+202E⟩dcb⟨U+2066⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("سلام 漢字 🎥", "سلام 漢字 🎥"),
    ],
)
def test_hidden_characters_are_written_out(text, seen):
    assert visible(text) == seen
