import csv
import io

import msgspec
import pytest

from vidence.records import Estimate
from vidence.tables.charts import Chart
from vidence.tables.export import csv_cell, csv_text, statement_as_json, table_as_csv, table_as_json
from vidence.tables.table import Column, Row, Table


def made(name="a"):
    one = Estimate(value=0.5, low=0.41, high=0.59, level=0.95, n=9, n_clusters=3, method="m")
    columns = (
        Column(key="n", title="", kind="count"),
        Column(key="acc", title="acc", kind="share", group="ours"),
        Column(key="x", title="x", kind="share", group="ours"),
    )
    rows = (
        Row(key="1", label="=1+1", detail="so", values=(1200, one, None)),
        Row(key="2", label="b", values=(3, 0.25, 1.0)),
    )
    return Table(name=name, title="T", label=Column(key="name", title="name"), columns=columns, rows=rows)


def test_figures_have_their_ends_and_words_their_notes():
    rows = list(csv.reader(table_as_csv(made()).splitlines()))
    assert rows == [
        ["name", "name, note", "n", "ours: acc", "ours: acc, low", "ours: acc, high", "ours: x"],
        ["'=1+1", "so", "1,200", "50.0", "41.0", "59.0", ""],
        ["b", "", "3", "25.0", "", "", "100.0"],
    ]


def test_json_has_the_texts_and_the_numbers_behind_them():
    found = msgspec.json.decode(msgspec.json.encode(table_as_json(made())))
    assert found["columns"] == [
        {"key": "name", "title": "name", "is_text": True},
        {"key": "n", "title": ""},
        {"key": "acc", "title": "acc", "group": "ours"},
        {"key": "x", "title": "x", "group": "ours"},
    ]
    first = found["lines"][0]
    assert list(first) == ["key", "name", "n", "acc", "x"]
    assert first["name"] == {"text": "=1+1", "detail": "so"}
    assert first["n"] == {"text": "1,200", "value": 1200}
    told = (first["acc"]["text"], first["acc"]["detail"], first["acc"]["value"])
    assert told == ("50.0", "41.0 to 59.0", 0.5)
    assert first["acc"]["estimate"]["n_clusters"] == 3
    assert first["x"] == {"text": "\u2013"}


def test_statements_keep_their_values_and_the_kinds_of_their_columns():
    columns = (Column(key="s", title="S", kind="share", note="so"), Column(key="p", title="p", kind="p"))
    rows = (Row(key="a", label="A", values=(0.5, None), detail="d"),)
    table = Table(name="t", title="T", label="l", columns=columns, rows=rows, note="n")
    assert statement_as_json(table) == {
        "kind": "sheet",
        "name": "t",
        "title": "T",
        "label": "l",
        "headings": [
            {"key": "s", "title": "S", "note": "so", "is_share": True},
            {"key": "p", "title": "p", "is_p": True},
        ],
        "entries": [{"key": "a", "label": "A", "values": (0.5, None), "detail": "d"}],
        "note": "n",
    }
    chart = Chart(name="c", title="C", x_title="x", y_title="y", series=())
    assert statement_as_json(chart)["kind"] == "chart"


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", '"', ","])
def test_no_end_of_a_line_in_a_text_ends_a_row(end):
    text = csv_text([("id", "said"), (f"a{end}b", f"rabbit{end}=1+cmd|/C!A0")])
    assert f'"a{end.replace(chr(34), chr(34) * 2)}b"' in text
    assert list(csv.reader(io.StringIO(text, newline="")))[1] == [f"a{end}b", f"rabbit{end}=1+cmd|/C!A0"]


@pytest.mark.parametrize(
    "text", ["=1", "+a", "-a", "@a", " =1", "\r=1", "\n+a", "\t", "\x00=1", "\u200b@a", "\ufeff-a", "\uff1d1"]
)
def test_what_a_spreadsheet_would_run_is_made_a_text(text):
    assert csv_cell(text) == f"'{text}"
    assert next(csv.reader(io.StringIO(csv_text([(text, "x")], is_data=True), newline=""))) == [text, "x"]


@pytest.mark.parametrize("text", ["-1.5", "+3", "-.5e-3", "1=1", "", "-1.", "'=1"])
def test_numbers_and_plain_texts_stay(text):
    assert csv_cell(text) == text


def test_numbers_are_whole_and_an_empty_row_is_a_row():
    assert csv_text([(1234567, 0.1 + 0.2, 1.0, None)]) == "1234567,0.3,1,\n"
    assert csv_text([("",)]) == '""\n'
