"""Workbooks and logs: what is in them, and what is said of damaged ones."""

import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from subjects.layouts import inspect_log, workbook
from vidence.ask.files import DataFile
from vidence.ask.mapping.sheets import arrow_rows, inspect_rows, workbook_rows
from vidence.errors import DataError

SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def packed(**parts: str) -> DataFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return DataFile(Path("x.xlsx"), content.getvalue())


def sheet(rows: str, **more: str) -> DataFile:
    body = f"<worksheet {SPACE}><sheetData>{rows}</sheetData></worksheet>"
    return packed(**{"xl/worksheets/sheet1.xml": body}, **more)


def test_cells_have_the_types_of_the_workbook() -> None:
    rows = (
        '<row r="1"><c r="A1" t="inlineStr"><is><r><t>na</t></r><r><t>me</t></r></is></c>'
        '<c r="B1" t="str"><v>n</v></c><c r="D1" t="str"><v>b</v></c></row>'
        '<row r="3"><c r="B3"><v>2</v></c><c r="C3"><v>9</v></c><c r="D3" t="b"><v>1</v></c></row>'
        '<row r="4"><c r="A4" t="str"><v>x</v></c><c r="B4"><v>2.5</v></c></row>'
    )
    assert list(workbook_rows(sheet(rows))) == [
        ("3", {"name": None, "n": 2, "b": True}),
        ("4", {"name": "x", "n": 2.5, "b": None}),
    ]
    found = list(workbook_rows(DataFile(Path("x.xlsx"), workbook([{"a <&>": "ä", "n": 3}]))))
    assert found == [("2", {"a <&>": "ä", "n": 3})]


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (DataFile(Path("x.xlsx"), b"PK"), "is not an Excel workbook"),
        (packed(a="b"), "holds no xl/worksheets/sheet1.xml"),
        (packed(**{"xl/worksheets/sheet1.xml": "<row"}), "cannot be read as a workbook"),
        (packed(**{"xl/worksheets/sheet1.xml": "<!DOCTYPE x []><a/>"}), "declares a document type"),
    ],
)
def test_what_is_no_workbook_is_refused(file: DataFile, said: str) -> None:
    with pytest.raises(DataError, match=said):
        list(workbook_rows(file))


def test_a_log_has_its_samples_and_its_header(tmp_path: Path) -> None:
    path = inspect_log(tmp_path, epochs=2)
    found = list(inspect_rows(DataFile(path, path.read_bytes())))
    assert [(place, row["id"], row["epoch"]) for place, row in found] == [
        (f"samples/q{n}_epoch_{epoch}.json", f"q{n}", epoch) for epoch in (1, 2) for n in (1, 2)
    ]
    assert found[0][1]["eval"] == {"task": "bowls", "model": "openai/tiny", "created": "2026-01-01T00:00:00"}


def test_long_texts_are_put_back_and_scores_that_are_no_number_do_not_stop_a_log() -> None:
    sample = {"id": 1, "input": [{"content": "attachment://ab"}], "attachments": {"ab": "long"}}
    file = DataFile(Path("x.json"), json.dumps({"eval": {}, "samples": [sample]}).encode())
    assert next(inspect_rows(file))[1]["input"] == [{"content": "long"}]
    file = DataFile(Path("x.json"), b'{"eval": {}, "samples": [{"id": 1, "scores": {"s": {"value": NaN}}}]}')
    assert next(inspect_rows(file))[1]["id"] == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.json", b"[1]", "the log is not a JSON object"),
        ("x.json", b"{", "the log is not readable as JSON"),
        ("x.json", b"{}", "holds no samples"),
        ("x.eval", b"{}", "is not a log of inspect_ai"),
        ("x.eval", packed(a="b").content, "holds no header.json"),
        ("x.eval", packed(**{"header.json": "{}", "samples/a.json": "?"}).content, "a.json is not readable"),
    ],
)
def test_what_is_no_log_is_refused(name: str, content: bytes, said: str) -> None:
    with pytest.raises(DataError, match=said):
        list(inspect_rows(DataFile(Path(name), content)))


def zstd_archive(name: str, text: bytes, *, crc: int | None = None) -> bytes:
    """An archive with one part in the way that inspect_ai packs by default, which Python's writer cannot."""
    pa = pytest.importorskip("pyarrow")
    body = pa.compress(text, codec="zstd", asbytes=True)
    crc = zlib.crc32(text) if crc is None else crc
    common = struct.pack("<HHHHHIIIHH", 20, 0, 93, 0, 0x21, crc, len(body), len(text), len(name), 0)
    local = b"PK\x03\x04" + common + name.encode() + body
    central = (
        b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    )
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + end


def test_logs_packed_with_zstandard_are_read() -> None:
    header = json.dumps({"eval": {"task": "bowls"}}).encode()
    assert list(inspect_rows(DataFile(Path("x.eval"), zstd_archive("header.json", header)))) == []
    with pytest.raises(DataError, match=r"header\.json is damaged"):
        list(inspect_rows(DataFile(Path("x.eval"), zstd_archive("header.json", header, crc=1))))


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name, kind in (("x.parquet", "Parquet"), ("x.arrow", "Arrow")):
        (tmp_path / name).write_bytes(b"nothing")
        with pytest.raises(DataError, match=f"cannot be read as {kind}"):
            list(arrow_rows(tmp_path / name, lambda names: names))
