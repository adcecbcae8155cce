"""Files of questions and replies: what is in them, and what is said of a row that cannot be used."""

import gzip
from pathlib import Path

import msgspec
import pytest

from vidence.ask import files
from vidence.ask.files import DataFile, FieldError
from vidence.errors import DataError
from vidence.records import Item


def table(text: str | bytes) -> DataFile:
    return DataFile(Path("a.csv"), text if isinstance(text, bytes) else text.encode())


def test_a_gzipped_file_is_known_by_its_name_or_its_first_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl"):
        packed = b"\xef\xbb\xbf{}" if name == "a.jsonl" else gzip.compress(b"{}", mtime=0)
        (tmp_path / name).write_bytes(packed)
    read = [files.read(tmp_path / name) for name in ("a.jsonl", "b.jsonl.gz", "c.jsonl")]
    assert {file.content for file in read} == {b"{}"}
    assert len({file.content_hash for file in read}) == 1
    assert {file.ending for file in read} == {".jsonl"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b" \n", "is empty; expected replies"),
        (b"\xff\xfe{\x00", "is written in UTF-16; expected UTF-8"),
        (gzip.compress(b"{}", mtime=0)[:-3], "cannot be unpacked .*copy or download it again"),
    ],
)
def test_a_file_that_holds_nothing_to_read_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DataError, match=said):
        files.read(tmp_path / "a", what="replies")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(bytes(2**26)) * 9)
    with pytest.raises(DataError, match=r"a\.jsonl\.gz unpacks to more than 512 MB; .* give the plain file"):
        files.read(tmp_path / "a.jsonl.gz")


def test_brackets_that_are_nested_too_deeply_are_a_bad_file_or_a_bad_row() -> None:
    deep = b"[" * 100_000
    with pytest.raises(DataError, match=r"a\.json: brackets are nested in brackets too deeply"):
        list(files.elements(DataFile(Path("a.json"), deep)))
    decoder = msgspec.json.Decoder(dict[str, int])
    with pytest.raises(FieldError, match="JSON: brackets are nested in brackets too deeply"):
        files.decoded(b'{"a": ' + deep, msgspec.json.Decoder())
    assert files.text_of(b'{"a": ' + deep, "a") == ""
    assert files.decoded(b'{"a": 1}', decoder) == {"a": 1}


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (b', "answer": "A"', "JSON: Input data was truncated; expected one JSON object per line"),
        (b'} {"item_id": "2"', "JSON: JSON is malformed"),
        (b', "\xff": 1}', "encoding: not UTF-8"),
    ],
)
def test_what_is_wrong_behind_a_choice_that_is_a_number_is_said_too(behind: bytes, said: str) -> None:
    """It ended the command with msgspec's own error."""
    row = b'{"item_id": "1", "question": "?", "choices": [1, 2]' + behind
    with pytest.raises(FieldError, match=said):
        files.decoded(row, msgspec.json.Decoder(Item))


def test_a_bad_row_is_named_and_blanks_around_a_cell_are_taken_away() -> None:
    text = " id , text \n1, A \n,\n2,B\n"
    assert files.csv_rows(table(text)) == [("2", {"id": "1", "text": "A"}), ("4", {"id": "2", "text": "B"})]
    assert files.csv_rows(table(text), is_verbatim=True)[0] == ("2", {"id": "1", "text": " A "})
    rows = dict(files.csv_rows(table(b"id,text\n1\n2,\xff\n3,C\n")))
    assert str(rows["2"]) == "CSV: 1 cells found; expected 2, one for each column"
    assert str(rows["3"]) == "text: not UTF-8; save the file as UTF-8"
    assert files.usable(rows["4"]) == {"id": "3", "text": "C"}
    with pytest.raises(FieldError, match="1 cells found"):
        files.usable(rows["2"])


def test_a_header_has_the_needed_columns_and_no_others() -> None:
    with pytest.raises(DataError, match=r"a\.csv:1: no column text; .*at least id, text"):
        files.csv_rows(table("id\n1\n"), needed=("id", "text"))
    with pytest.raises(DataError, match=r"'txt': unknown column; did you mean 'text'\? known"):
        files.csv_rows(table("id,txt\n1,A\n"), known=("id", "text"))
    with pytest.raises(DataError, match="the column 'id' is there twice"):
        files.csv_rows(table("id,id\n1,A\n"))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            b'{"media": "a.mp4"}',
            r'media: Expected `array`, got `str`; write it as \[\{"path": "clip\.mp4"\}\]',
        ),
        (b'{"media": ["a.mp4"]}', r'media\[0\]: Expected `object`, got `str`; write it as \[\{"path"'),
        (b'{"choices": "a, b"}', r'choices: Expected `array`, got `str`; write it as \["one", "another"\]'),
        (b'{"item_id": true}', "item_id: Expected `str`, got `bool`; put it in quotes"),
        (b'{"question": "Q"}', "item_id: absent; this field is required"),
        (b"{", "JSON: Input data was truncated; expected one JSON object per line"),
        (b'{"item_id": "\xff"}', "encoding: not UTF-8"),
        (
            b'{"item_id": "1", "question": "Q", "answer": "A", "media": [{"pth": "a"}]}',
            r"media\[0\].pth: unknown field; did you mean 'path'\?",
        ),
        (
            b'{"item_id": "1", "question": "Q", "answer": "A", "media": [{"kind": "gif"}]}',
            r"media\[0\].kind: Invalid enum value 'gif'; expected video or image or frames",
        ),
    ],
)
def test_a_row_says_its_field_and_what_is_expected(row: bytes, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        files.decoded(row, msgspec.json.Decoder(Item))


def test_the_name_of_a_question_is_found_in_a_row_that_is_bad_otherwise() -> None:
    assert files.text_of(b'{"id": "q1", "n": 1}', "id") == "q1"
    assert [files.text_of(row, "id") for row in (b"{", b"[1]", b'{"id": 1}', b"\xff")] == [""] * 4


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (b"3", b'"3"'), (b"-1.50", b'"-1.50"'), (b"1e3", b'"1e3"'),
        (b'[1, "two", 3.0]', b'["1","two","3.0"]'), (b'{"A": 1, "B": [2]}', b'{"A":"1","B":["2"]}'),
        (b"true", b"true"), (b"null", b"null"), (b'"3"', b'"3"'),
    ],
)  # fmt: skip
def test_numbers_become_the_texts_that_were_written(value: bytes, expected: bytes) -> None:
    assert files.numbers_as_texts(value) == expected


def test_ids_tags_choices_and_answer_may_be_numbers() -> None:
    line = (
        b'{"item_id": 7, "source_id": 12, "question": "?", "choices": ["a", "b"], "answer": "A", '
        b'"tags": {"level": 2, "fps": 29.97}}'
    )
    found = files.decoded(line, msgspec.json.Decoder(Item))
    assert (found.item_id, found.source, found.tags) == ("7", "12", {"level": "2", "fps": "29.97"})
    line = b'{"item_id": "q", "question": "How many?", "choices": [1, 2.50, "many"], "answer": 2.50}'
    found = files.decoded(line, msgspec.json.Decoder(Item))
    assert (found.choices, found.answer) == (("1", "2.50", "many"), "2.50")


@pytest.mark.parametrize(
    ("line", "field"),
    [
        (b'{"item_id": "q", "question": "?", "choices": ["a", true], "answer": "A"}', "choices[1]"),
        (b'{"item_id": "q", "question": "?", "choices": [1, null], "answer": "A"}', "choices[1]"),
        (b'{"item_id": [7], "question": "?", "choices": ["a", "b"], "answer": "A"}', "item_id"),
    ],
)
def test_what_is_neither_text_nor_number_is_a_fault(line: bytes, field: str) -> None:
    with pytest.raises(files.FieldError) as caught:
        files.decoded(line, msgspec.json.Decoder(Item))
    assert caught.value.field == field


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_end_as_everywhere_and_are_counted(end):
    content = end.join([b'{"a": 1}', b" ", b'{"b": 2}'])
    for text in (content, content + end):
        found = list(files.objects(DataFile(Path("a.jsonl"), text)))
        assert found == [("1", b'{"a": 1}'), ("3", b'{"b": 2}')]
