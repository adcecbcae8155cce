import io

import msgspec
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
        rows=(row, *(msgspec.structs.replace(row, key=key) for key in "yzw")),
        footnotes=("†1 so",),
    )
    text = printed(wide, width=60)
    assert max(map(len, text.splitlines())) <= 60
    assert text.count("12.3") == 4 * 12
    assert text.count("a long name") > 4
    assert all(f"c{i}" in text for i in range(12))
    assert "†1 so" in text


def test_long_tables_and_signs_of_footnotes():
    def table(*rows):
        return Table(name="s", title="S", label="n", columns=(), rows=rows)

    long = table(*(Row(key=f"l{n}", label="x", values=()) for n in range(MOST_LINES + 1)))
    assert f"{MOST_LINES + 1} rows; see the page or the files." in printed(long)
    assert "GPT †1" in printed(table(Row(key="x", label="GPT", detail="†1", values=())))
    assert "S" in printed(table())


def lines_of(table, *, width=80):
    return [line.rstrip() for line in printed(table, width=width).splitlines()]


def wide(*labels, n, title="a column"):
    return Table(
        name="t",
        title="Wide",
        label="run",
        columns=tuple(Column(key=f"c{i}", title=f"{title} {i}") for i in range(n)),
        rows=tuple(Row(key=label, label=label, values=(1234.5,) * n) for label in labels),
    )


def test_labels_fold_before_a_table_is_split():
    long = "a run with a long name (and the folder of it, which is long)"
    lines = lines_of(wide(*[f"{long} {k}" for k in range(4)], n=5))
    assert sum(line.count("1,234") for line in lines if line.count("1,234")) == 20
    assert all(line.count("1,234") in (0, 5) for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_table_of_few_rows_is_laid_on_its_side():
    lines = lines_of(wide("first", "second", n=9))
    assert [line.split() for line in lines[2:5]] == [
        ["run", "first", "second"],
        ["a", "column", "0", "1,234", "1,234"],
        ["a", "column", "1", "1,234", "1,234"],
    ]
    assert len(lines) == 12


def test_what_has_to_be_split_is_split_evenly_and_says_so():
    lines = lines_of(wide(*"abcde", n=9))
    (place,) = [i for i, line in enumerate(lines) if line == "the same rows, further columns:"]
    counts = {line.count("1,234") for line in lines[:place]}, {line.count("1,234") for line in lines[place:]}
    assert counts == ({0, 5}, {0, 4})
    assert "the same rows" not in "".join(lines_of(wide(*"abcde", n=9), width=200))
