import pytest

from vidence.errors import UsageError
from vidence.records import Estimate
from vidence.tables.table import Cell, Column, Row, Table

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
