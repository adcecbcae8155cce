from vidence.tables.rendering import header_groups
from vidence.tables.table import Column, Table


def test_headings_over_columns_are_as_wide_as_their_columns():
    columns = (
        Column(key="b", title="b", group="g"),
        Column(key="c", title="c", group="g"),
        Column(key="d", title="d"),
    )
    table = Table(name="t", title="t", label="a", columns=columns, rows=())
    assert header_groups(table) == [("", 1), ("g", 2), ("", 1)]
    plain = Table(name="t", title="t", label="a", columns=(), rows=())
    assert header_groups(plain) == []
