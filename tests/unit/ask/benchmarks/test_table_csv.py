"""A user's own questions in CSV: columns, cells, and what is said of bad rows."""

from pathlib import Path

import pytest

from vidence.ask.benchmarks import table
from vidence.contracts import Loaded
from vidence.errors import DataError
from vidence.records import Evidence, Item, Media, Provenance

HEADER = "item_id,question,answer,choice_a,choice_b,choice_c,video,start_s,end_s"
GOOD = "g,Which?,A,x,y,,a.mp4,,"


def load_text(folder: Path, text: str | bytes, *, strict: bool = False) -> Loaded:
    path = folder / "q.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return table.create().load(path, split="all", strict=strict)


def test_every_column_finds_its_field(tmp_path: Path) -> None:
    text = (
        "item_id,benchmark,question,answer,answer_kind,choices,media,media_kind,start_s,end_s,tag_task,"
        "tags.level,rationale,hints,knowledge,evidence,provenance\n"
        '1,mine,"Which one,\nand why?",three,choice,one| two |three,a b.mp4,video,1.5,00:20,order,2,because,'
        'look|listen,K,"[{""start_s"": 2, ""end_s"": 3}]","{""licence"": ""CC0-1.0""}"\n'
    )
    found = load_text(tmp_path, text)
    assert found.problems == ()
    assert found.items == (
        Item(
            item_id="1",
            benchmark="mine",
            media=(Media(path="a b.mp4", start_s=1.5, end_s=20.0),),
            question="Which one,\nand why?",
            choices=("one", "two", "three"),
            answer="C",
            tags={"task": "order", "level": "2"},
            evidence=(Evidence(start_s=2.0, end_s=3.0),),
            rationale="because",
            hints=("look", "listen"),
            knowledge=("K",),
            provenance=Provenance(licence="CC0-1.0"),
        ),
    )


def test_empty_cells_and_rows_are_absent(tmp_path: Path) -> None:
    found = load_text(tmp_path, f"\ufeff{HEADER}\r\n{GOOD}\r\n\r\n,,,,,,,,\r\n")
    assert found.items == (
        Item(item_id="g", question="Which?", answer="A", choices=("x", "y"), media=(Media(path="a.mp4"),)),
    )
    assert found.problems == ()


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_seen_in_the_header(tmp_path: Path, delimiter: str) -> None:
    text = f"{HEADER}\n{GOOD}\n".replace(",", delimiter)
    assert load_text(tmp_path, text).items[0].choices == ("x", "y")


@pytest.mark.parametrize(
    ("column", "cell", "media"),
    [
        ("video", "a.mp4", (Media(path="a.mp4"),)),
        ("media", "a.mp4|b.mp4", (Media(path="a.mp4"), Media(path="b.mp4"))),
        ("media", '"[""a.mp4"", ""b|c.mp4""]"', (Media(path="a.mp4"), Media(path="b|c.mp4"))),
        ("media", '"[{""path"": ""a"", ""kind"": ""frames""}]"', (Media(path="a", kind="frames"),)),
    ],
)
def test_media_are_paths_or_json(tmp_path: Path, column: str, cell: str, media: tuple[Media, ...]) -> None:
    text = f"item_id,question,answer,choices,{column}\n1,?,A,x|y,{cell}\n"
    assert load_text(tmp_path, text).items[0].media == media


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("h,Which?,A,x,,z,a.mp4,,", "choice_b: empty, and choice_c is not"),
        ("h,Which?,A,x,y,,a.mp4,,,more", "CSV: 10 cells found; expected 9"),
        ("h,Which?,A,x,y,,a.mp4", "CSV: 7 cells found; expected 9"),
        ('h,"Whi"ch?,A,x,y,,a.mp4,,', "CSV: "),
        ("h,Which?,A,x,y,,a.mp4,1.30 min,", "start_s: '1.30 min' found; expected seconds, or HH:MM:SS"),
        ("h,Which?,A,x,y,,a.mp4,nan,", "start_s: 'nan' found"),
        ("h,Which?,A,x,y,,a.mp4|b.mp4,9,10", "start_s: a span for 2 media"),
        ("h,Which?,A,x,y,,,9,10", "start_s: a span for 0 media"),
        ('h,Which?,A,x,y,,"[{""path"": ""a.mp4""}]",9,', "start_s: given beside media in JSON"),
        ('h,Which?,A,x,y,,"[{""pth"": ""a.mp4""}]",,', "media[0].pth: unknown field; did you mean 'path'?"),
        ("h,Which?,A,x,y,,[a.mp4],,", "media: JSON is malformed"),
        ('h,"Which?,A,x,y,,a.mp4,,', "CSV: unexpected end of data"),
        ("h,Caf\u00e9?,A,x,y,,a.mp4,,", "question: not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_bad_row_is_left_out_and_named(tmp_path: Path, row: str, expected: str) -> None:
    last = (
        "" if row.startswith('h,"Which') else f"i{GOOD[1:]}\n"
    )  # quotes that are never closed hide the rest
    found = load_text(tmp_path, f"{HEADER}\n{GOOD}\n{row}\n{last}".encode("latin-1"))
    assert [item.item_id for item in found.items] == (["g", "i"] if last else ["g"])
    (problem,) = found.problems
    assert problem.startswith(f"q.csv:3: {expected}")
    with pytest.raises(DataError, match=r"q\.csv:3"):
        load_text(tmp_path, f"{HEADER}\n{GOOD}\n{row}\n".encode("latin-1"), strict=True)


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        ("item_id,question,answer,choices,choice_a", "1,?,A,x|y,x", "choices: given beside choice_a"),
        ("item_id,question,answer,choices", '1,?,A,"[""x"", true]"', "choices[1]: Expected `str`"),
        ("item_id,question,answer,choices", "1,?,A,[x|y]", "choices: JSON is malformed"),
        ("item_id,question,answer,choices,media,video", "1,?,A,x|y,a,b", "video: given beside media"),
        ("item_id,question,answer,choices,tags,tag_a", '1,?,A,x|y,"{""b"": ""1""}",2', "tags: given beside"),
        ("item_id,question,answer,choices,tags", '1,?,A,x|y,"{""b"": 1}"', "tags: Expected `str`"),
        ("item_id,question,answer,choices,evidence", "1,?,A,x|y,3 to 4", "evidence: "),
        ("item_id,question,answer,choices,answer_kind", "1,?,A,x|y,mc", "answer_kind: Invalid enum value"),
    ],
)
def test_cells_that_cannot_be_read_are_named(tmp_path: Path, header: str, row: str, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        load_text(tmp_path, f"{header}\n{row}\n")
    assert f"q.csv:2: {expected}" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("item_id,question,answer,choics", r"q\.csv:1: 'choics': unknown column; did you mean 'choices'\?"),
        ("item_id,question,answer,zzz", r"'zzz': unknown column; known: item_id"),
        ("item_id,question,answer,question", "'question' is there twice"),
        ("question,choices", r"no column item_id; expected a first line"),
    ],
)
def test_a_wrong_header_is_refused(tmp_path: Path, header: str, expected: str) -> None:
    with pytest.raises(DataError, match=expected):
        load_text(tmp_path, f"{header}\n1,?,A,x\n")


def test_a_column_names_the_film(tmp_path: Path) -> None:
    found = load_text(tmp_path, f"{HEADER},source_id\n{GOOD},film\n{GOOD.replace('g,', 'h,', 1)},\n")
    assert [item.source_id for item in found.items] == ["film", "a.mp4"]
