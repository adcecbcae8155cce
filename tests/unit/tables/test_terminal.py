import io

from rich.console import Console

from vidence.tables.table import Cell, Column, Row, Table
from vidence.tables.terminal import MOST_LINES, print_table


def printed(table, width=80):
    out = io.StringIO()
    print_table(table, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def test_wide_tables_are_printed_in_blocks_that_fit():
    row = Row(
        key="x",
        label="a long name of a model that goes on and on " * 3,
        values=tuple(Cell(value="12.3", detail="1.0 to 2.0") for _ in range(12)),
    )
    wide = Table(
        name="w",
        title="Wide",
        label="name",
        columns=tuple(Column(key=f"{i}", title=f"c{i}", group="g") for i in range(12)),
        rows=(row,),
        footnotes=("†1 so",),
    )
    text = printed(wide, width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("12.3") == 12
    assert text.count("a long name") > 1
    assert all(f"c{i}" in text for i in range(12))
    assert "†1 so" in text


def test_long_tables_and_signs_of_footnotes():
    def table(*rows):
        return Table(name="s", title="S", label="n", columns=(), rows=rows)

    long = table(*(Row(key=f"l{n}", label="x", values=()) for n in range(MOST_LINES + 1)))
    assert f"{MOST_LINES + 1} lines, on the page and in the files." in printed(long)
    assert "GPT †1" in printed(table(Row(key="x", label="GPT", detail="†1", values=())))
    assert "S" in printed(table())
