"""Reading printed tables, good and bad."""

import pytest

from vidence.errors import DataError
from vidence.explain.published.printed_tables import is_blank, number, read_file, read_notes, read_table


def read(text, toml=""):
    return read_table(text, name="t", where="t.csv", notes=read_notes(toml, where="t.toml"))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("45.78", "45.78"),
        (" 61.1 % ", "61.1"),
        ("26,806", "26806"),
        ("1,234,567.5", "1234567.5"),
        ("+0.22", "0.22"),
        ("-1.13", "-1.13"),
        ("\N{MINUS SIGN}1.13", "-1.13"),
        ("100", "100"),
    ],
)
def test_a_number_is_read_as_printed(text, plain):
    assert number(text) == plain


@pytest.mark.parametrize("text", ["", "-", "56.", ".5", "1e3", "45,78", "45.78*", "n/a", "٤٥", "1,23", "nan"])
def test_what_is_no_number_is_none(text):
    assert number(text) is None
    assert all(map(is_blank, ["", " ", "-", "\N{EN DASH}", "\N{EM DASH}", "n/a"]))
    assert not any(map(is_blank, ["0", "56.", "x"]))


def test_a_plain_csv_becomes_a_table():
    table = read("model,size,a,b\nX,7B,10.0,-\nY,8B,12.5,3\n")
    kinds = {c.name: c.kind for c in table.columns}
    assert kinds == {"model": "text", "size": "text", "a": "percent", "b": "percent"}
    cells = [[row.name, row.line, *(cell.text for cell in row.cells)] for row in table.rows]
    assert cells == [["X", 2, "X", "7B", "10.0", "-"], ["Y", 3, "Y", "8B", "12.5", "3"]]
    table = read('m,a\n\nX,1\n"Y\nZ",2\n\nW,3\n')  # lines are counted in the file
    assert [(row.name, row.line) for row in table.rows] == [("X", 3), ("Y\nZ", 4), ("W", 7)]
    table = read("a,b,c\nX,-,1\n-,-,2\n", 'names = ["a", "b"]')  # a blank part is no part of a name
    assert [row.name for row in table.rows] == ["X", "-"]
    assert table.title == "t"


@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_commas_semicolons_and_tabs_separate(between):
    text = "m,a,b\nX,1.0,2.0\n".replace(",", between)
    assert [c.name for c in read(text).columns] == ["m", "a", "b"]


def test_the_toml_file_beside_it_is_read(tmp_path):
    (tmp_path / "mine.csv").write_text("\N{BOM}Model,Size,A,Right,Asked\nX,7B,50.0,5,10\nX,8B,40.0,2,5\n")
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\nnames = ["Model", "Size"]\nnotes = ["of all"]\n'
        '[source]\npaper = "P"\nwhere = "Table 1"\n'
        '[[columns]]\nname = "A"\nn = 10\nmeasure = { where = { task = ["a"] } }\n'
        '[[columns]]\nname = "Right"\nkind = "number"\n'
        '[[columns]]\nname = "Asked"\nkind = "number"\n'
        '[[rows]]\nrow = "X / 8B"\nkind = "human"\nn = { A = 4 }\n'
        '[[flags]]\nrow = "X / 8B"\nsays = "odd row"\n'
        '[[flags]]\nrow = "X / 7B"\ncolumns = ["A"]\nsays = "odd cell"\nproblem = true\n'
        '[[flags]]\ncolumns = ["Right"]\nsays = "odd column"\n'
    )
    table = read_file(tmp_path / "mine.csv")
    assert (table.name, table.title, table.source.where) == ("mine", "Mine", "Table 1")
    first, second = table.rows
    a = table.columns[2]
    assert (first.name, second.name) == ("X / 7B", "X / 8B")
    assert (a.n, first.n, second.n) == (10, {}, {"A": 4})
    assert (second.kind, first.kind) == ("human", "model")
    assert [flag.is_problem for cell in first.cells for flag in cell.flags] == [True, False]
    said = [[[flag.says for flag in cell.flags] for cell in row.cells] for row in table.rows]
    assert said == [[[], [], ["odd cell"], ["odd column"], []], [["odd row"], [], [], ["odd column"], []]]
    assert a.measure.where == {"task": ("a",)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv: no rows"),
        ("m,a\n", "t.csv: no rows"),
        ("m,a\nX,1\nY,1,2\n", "t.csv:3: 3 cells found; expected 2"),
        ("m,a\nX\n", "t.csv:2: 1 cells found; expected 2"),
        ("m,a\n" + "X\n" * 7, "and 2 more lines"),
        ("m,a,a\nX,1,2\n", "t.csv:1: column 2 'a' is there twice"),
        ("m,,a\nX,1,2\n", "t.csv:1: column 2 '' has no name"),
        ('m,a\nX,"1\n', "t.csv:2: unexpected end of data"),
        ("m,a\nX,1\nY,2\nX,3\n", "lines 2 and 4 are both named 'X' by m"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(text, message):
    with pytest.raises(DataError) as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("title = ", "t.toml: Invalid value"),
        ("titel = 'x'", "unknown field `titel`"),
        ('[[columns]]\nname = "b"', "there is no column 'b'"),
        ('names = ["b"]', "there is no column 'b'"),
        ('[[rows]]\nrow = "Z"', "there is no row 'Z'"),
        ('[[rows]]\nrow = "X"\nn = { b = 5 }', "there is no column 'b'"),
        ('[[flags]]\nrow = "Z"\nsays = "x"', "there is no row 'Z'"),
        ('[[flags]]\nrow = "X"\ncolumns = ["b"]\nsays = "x"', "there is no column 'b'"),
        ('[across]\ncolumn = "m"\nwhere = { Y = {} }', "there is no value 'X'"),
        ('[across]\ncolumn = "c"\nwhere = { Y = {} }', "there is no column 'c'"),
    ],
)
def test_notes_on_what_is_not_there_are_refused(toml, message):
    with pytest.raises(DataError) as caught:
        read("m,a\nX,1\n", toml)
    assert message in str(caught.value)


def test_a_file_that_cannot_be_read_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match="cannot read"):
        read_file(tmp_path / "none.csv")
    (tmp_path / "old.csv").write_bytes(b"m,a\nX,1\nM\xfcller,2\n")
    with pytest.raises(DataError, match=r"old\.csv:3: not UTF-8"):
        read_file(tmp_path / "old.csv")
