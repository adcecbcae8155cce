import math

import msgspec
import pytest

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.tables.table import (
    DASH,
    Cell,
    Column,
    Row,
    Table,
    filled,
    has_interval,
    percent,
    show,
    shown,
    shown_columns,
    shown_rows,
    videos_cell,
    videos_row,
)

ONE = Estimate(value=0.5, low=0.4, high=0.6, level=0.95, n=9, n_clusters=3, method="m")
NONE = Estimate(value=float("nan"), low=0.4, high=0.6, level=0.95, n=9, n_clusters=3, method="m")
COLUMNS = (Column(key="a", title="a", kind="share"), Column(key="b", title="b"))


def made(*values):
    return Table(
        name="t", title="t", label="l", columns=COLUMNS, rows=(Row(key="x", label="X", values=values),)
    )


def test_a_row_must_fill_the_columns():
    with pytest.raises(UsageError, match="row 'x' of table 't' has 1 values, expected 2"):
        made(1)


@pytest.mark.parametrize(
    ("row", "column", "said"), [("y", "a", "no row 'y'"), ("x", "c", "no column 'c'"), ("y", "c", "'c'")]
)
def test_an_unknown_cell_is_refused(row, column, said):
    table = made(1, 2)
    for read in (table.cell, table.value, table.estimate):
        with pytest.raises(KeyError, match=said):
            read(row, column)


def test_cells_carry_the_kind_of_their_column_or_their_own():
    table = made(0.5, Cell(value=0.25, kind="p", text="so"))
    assert table.cell("x", "a") == Cell(value=0.5, kind="share")
    assert table.cell("x", "b") == Cell(value=0.25, kind="p", text="so")
    assert made(Cell(value=1), 2).cell("x", "a") == Cell(value=1, kind="share")


def test_estimates_are_those_that_exist():
    table = made(ONE, 1)
    assert table.estimate("x", "a") == ONE
    assert table.estimate("x", "b") is None
    assert made(NONE, Cell(value=ONE)).estimate("x", "a") is None
    assert made(NONE, Cell(value=ONE)).estimate("x", "b") == ONE


ESTIMATE = Estimate(value=0.431, low=0.39, high=0.472, level=0.95, n=500, n_clusters=87, method="m")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0000999, "< 0.001"), (0.001, "0.001"), (0.0421, "0.042"), (0.4567, "0.46"), (1.0, "1.00")],
)
def test_small_p_values_are_never_printed_as_nothing(value, text):
    assert show(value, "p").text == text
    assert show(value, "p").value == value  # files get it in full
    assert show(math.nan, "p").text == show(None, "p").text == DASH
    assert show(math.nan, "p").value is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (0.0004, "0.0004"),
        (-0.0004, "-0.0004"),
        (0.005, "0.01"),
        (2.345, "2.35"),
        (12345.6, "12,346"),
    ],
)
def test_numbers_have_two_digits_where_they_say_something(value, text):
    assert show(value, "number").text == text
    # Ends of an interval are printed like its value.
    few = Estimate(value=0.001, low=-0.0002, high=2.0, level=0.95, n=9, n_clusters=9, method="t")
    assert (show(few, "number").text, show(few, "number").detail) == ("0.001", "-0.0002 to 2.00")
    assert [show(n, "count").text for n in (26806, 26806.4)] == ["26,806"] * 2
    assert [show(x, "share").text for x in (0.2, None, math.nan)] == ["20.0", DASH, DASH]
    assert percent(1.0, digits=0) == "100"


def test_values_keep_their_kind():
    values = (0.123, 1234, "words", None)
    kinds = ("share", "number", "number", "number")
    columns = tuple(Column(key=str(i), title="x", kind=kind) for i, kind in enumerate(kinds))
    row = Row(key="a", label="A", values=values, detail="d")
    table = Table(name="s", title="S", label="l", columns=columns, rows=(row,))
    (line,) = shown_rows(table)
    assert [cell.text for cell in line.cells] == ["A", "12.3", "1,234", "words", "\u2013"]
    assert line.cells[0].detail == shown(table, "a", "label").detail == "d"
    # The unit of a share is said in its heading; a column of words alone is one of text.
    found = [(c.key, c.title, c.kind) for c in shown_columns(table)]
    assert found[:2] == [("label", "l", "text"), ("0", "x, %", "share")]
    assert [kind for *_, kind in found[2:]] == ["number", "text", "number"]
    # A group says the unit for its columns.
    column = Column(key="a", title="A", kind="share", group="accuracy, %")
    label = Column(key="name", title="n", note="so")
    titles = [
        (c.key, c.title, c.note)
        for c in shown_columns(Table(name="t", title="t", label=label, columns=(column,), rows=()))
    ]
    assert titles == [("name", "n", "so"), ("a", "A", "")]


@pytest.mark.parametrize(
    ("kind", "text", "detail"),
    [
        ("share", "43.1", "39.0 to 47.2"),
        ("difference", "+43.1", "39.0 to 47.2"),
        ("points", "0.43", "0.39 to 0.47"),
        ("number", "0.43", "0.39 to 0.47"),
    ],
)
def test_estimates_say_their_interval(kind, text, detail):
    cell = show(ESTIMATE, kind)
    assert (cell.text, cell.detail, cell.value, cell.estimate) == (text, detail, 0.431, ESTIMATE)


def test_cells_say_what_their_values_cannot():
    cell = show(Cell(value=0.25, kind="share", detail="on 3", mark="best"), "number")
    assert (cell.text, cell.detail, cell.value, cell.mark) == ("25.0", "on 3", 0.25, "best")
    cell = show(Cell(value=1.0, text="clear"), "text")
    assert (cell.text, cell.value) == ("clear", 1.0)
    assert show(ESTIMATE, "share").detail != ""
    assert show(Cell(value=ESTIMATE, detail=""), "share").detail == ""


def test_without_an_interval_the_reason_stands_in_its_place():
    nothing = {"low": math.nan, "high": math.nan}
    few = msgspec.structs.replace(ESTIMATE, **nothing, reason="too few videos (1)")
    assert show(few, "share").detail == "too few videos (1)"
    unknown = show(msgspec.structs.replace(few, value=math.nan), "share")
    assert (unknown.text, unknown.value) == (DASH, None)
    assert show(msgspec.structs.replace(ESTIMATE, **nothing), "share").detail == "no interval"


def test_ends_that_only_rounding_keeps_apart_are_no_interval():
    third = 1 / 3
    same = msgspec.structs.replace(ESTIMATE, value=third, low=third, high=third + 1e-15)
    assert not has_interval(same)
    assert has_interval(msgspec.structs.replace(same, high=third + 1e-6))


def test_a_row_of_videos_says_where_estimates_come_from():
    columns = tuple(Column(key=key, title=key, kind="share") for key in "abc")
    other = msgspec.structs.replace(ESTIMATE, n_clusters=ESTIMATE.n_clusters + 5)
    rows = [
        Row(key="x", label="X", values=(ESTIMATE, Cell(value=ESTIMATE), None)),
        Row(key="y", label="Y", values=(ESTIMATE, Cell(value=other), 0.5)),
    ]
    n = ESTIMATE.n_clusters
    found = videos_row(rows, columns)
    assert [show(value).text for value in found.values] == [str(n), f"{n} to {n + 5}", DASH]
    assert videos_cell(9).detail == "few"
    assert videos_cell(10).detail == ""
    assert videos_row([Row(key="z", label="Z", values=(0.5, 0.5, None))], columns) is None


def test_columns_that_are_empty_in_every_row_are_not_shown():
    columns = tuple(Column(key=key, title=key) for key in "abc")
    row = Row(key="x", label="x", values=(1, None, Cell(value=math.nan, detail="no interval")))
    table = Table(name="t", title="T", label="l", columns=columns, rows=(row, row), note="So.")
    assert filled(table).keys == ("a", "c")
    bare = msgspec.structs.replace(row, values=(None, None, ""))
    empty = filled(msgspec.structs.replace(table, rows=(bare,)))
    assert (empty.rows, empty.note) == ((), "T: no row has a value.")
    assert filled(msgspec.structs.replace(table, rows=())).columns == columns
