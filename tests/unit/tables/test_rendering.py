import msgspec

from vidence.records import Record
from vidence.tables.rendering import header_groups, settings_of
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


class _Settings(Record):
    models: tuple[str, ...] = ()
    where: dict[str, str] = msgspec.field(default_factory=dict)
    words: str = ""
    is_on: bool = True


def test_settings_are_said_in_words():
    assert settings_of(_Settings()) == (
        ("models", "none"),
        ("where", "none"),
        ("words", "\u2013"),
        ("is_on", "yes"),
    )
    some = settings_of(_Settings(models=("a", "b"), where={"task": "x"}), ["is_on"])
    assert some == (("models", "a, b"), ("where", "task x"), ("words", "\u2013"))
