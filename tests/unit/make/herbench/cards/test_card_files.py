"""Cards that people wrote."""

import json

import pytest

from vidence.errors import DataError
from vidence.make.herbench.cards.card_files import is_sheet, read_cards, read_filled
from vidence.make.pipeline.material import Card
from vidence.make.review.people.rows import CardSheetRow, columns


def lines(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return path


def test_json_lines_become_cards(tmp_path):
    path = lines(
        tmp_path / "cards.jsonl",
        {"track_id": "t1", "kind": "A", "text": " A red  coat. "},
        "",
        {"track_id": "t1", "kind": "path", "text": "They stop.", "frames": [4, 9], "writer": "Ann"},
    )
    read = read_cards(path, tracks={"t1"})
    assert read.cards == (
        Card(track_id="t1", kind="A", text="A red coat.", writer="cards.jsonl"),
        Card(track_id="t1", kind="B", text="They stop.", frames=(4, 9), writer="Ann"),
    )


def test_csv_becomes_cards(tmp_path):
    path = tmp_path / "cards.csv"
    path.write_bytes(
        '\ufefftrack_id,kind,text,frames\r\nt1,A,"A red coat, a cap.",\r\nt2,b,"They\nstop.",4 9\r\n'.encode()
    )
    read = read_cards(path)
    assert [(c.track_id, c.kind, c.text, c.frames) for c in read.cards] == [
        ("t1", "A", "A red coat, a cap.", ()),
        ("t2", "B", "They stop.", (4, 9)),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "Input data was truncated"),
        ('{"track_id": "t1", "kind": "A"}', "text"),
        ('{"track_id": "t1", "kind": "A", "text": "x", "colour": "red"}', "colour"),
        ('{"track_id": "t1", "kind": "C", "text": "x"}', "kind: 'C'"),
        ('{"track_id": "t1", "kind": "A", "text": "  "}', "text: it is empty"),
        ('{"track_id": "t9", "kind": "A", "text": "x"}', "no track 't9'"),
        ('{"track_id": "t2", "kind": "A", "text": "again"}', "has a card of the kind A already"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, told):
    path = lines(tmp_path / "cards.jsonl", {"track_id": "t2", "kind": "A", "text": "x"}, line)
    with pytest.raises(DataError, match=rf"cards\.jsonl:2: .*{told}"):
        read_cards(path, tracks={"t1", "t2"})


HEADING = "video_id,track_id,check,person,hair,upper_body,lower_body,carries,appearance,path,actions,fits"
CHECKS = {"1": "aaa", "2": "bbb", "3": "ccc"}


def sheet(folder, *rows, heading=HEADING):
    path = folder / "cards.csv"
    path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return path


def read_sheet(path, **more):
    given = {"tracks": ["1", "2"], "everybody": ["1", "2", "3"], "checks": CHECKS} | more
    return read_filled(path, "street", **given)


def test_a_half_filled_sheet_gives_the_cards_of_its_rows_with_words(tmp_path):
    path = sheet(
        tmp_path,
        "street,1,aaa,a tall man,short dark hair,a black jacket,blue jeans,,,goes left.,stops twice,1",
        "street,2,bbb,,,,,,,,,",
        "yard,7,,a girl,,,,,,,,",
    )
    found = read_sheet(path, others={"yard"})
    assert [(card.track_id, card.kind, card.text) for card in found.cards] == [
        ("1", "A", "A tall man with short dark hair. Wears a black jacket and blue jeans."),
        ("1", "B", "Goes left. Stops twice."),
    ]
    assert found.n_open == 1
    assert {card.writer for card in found.cards} == {"a person"}


def test_sentences_of_ones_own_stand_behind_the_cells_or_alone(tmp_path):
    row = "street,1,,,,a red coat,,a bag,Hums. Limps!,,,"
    (card,) = read_sheet(sheet(tmp_path, row)).cards
    assert card.text == "Wears a red coat. Has a bag. Hums. Limps!"


@pytest.mark.parametrize(
    ("said", "fits", "alone"),
    [
        ("", (), False),
        ("1", ("1",), True),
        ("3; 1", ("1", "3"), False),
        ("2", ("2",), False),
        ("None", (), False),
    ],
)
def test_whom_a_description_fits_is_read_and_says_whether_anybody_tried(tmp_path, said, fits, alone):
    (card,) = read_sheet(sheet(tmp_path, f"street,1,,,,a red coat,,,,,,{said}")).cards
    assert (card.fits, card.fits_it_alone) == (fits, alone)
    assert card.identified_by == ("people" if said else "")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["street,9,,a man,,,,,,,,"], ":2: track_id: there is no track '9'; there are 2 (1, 2, ...)"),
        (["street,3,,a man,,,,,,,,"], ":2: track_id: there is no track '3'"),
        (["street,1,,a man,,,,,,,,", "street,1,,,,,,,,,,"], ":3: track_id: a second row for 1, after line 2"),
        (["alley,1,,a man,,,,,,,,"], ":2: video_id: 'alley' found; expected street"),
        (["street,1,zzz,a man,,,,,,,,"], ":2: check: the track 1 differs from the one on the sheet"),
        (["street,1,,a man,,,,,,,,8"], ":2: fits: there is no track '8'"),
        (["street,1,,,,,,,,,,1"], ":2: fits: '1' found for a row without a description"),
        (["street,1,,,,,,,,Goes left.,,1"], "for a row that does not say what the person looks like"),
        (["street,1,,a man"], ":2: CSV: 4 cells found; expected 12"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path, rows, why):
    with pytest.raises(DataError) as refused:
        read_sheet(sheet(tmp_path, *rows))
    assert why in str(refused.value)


def test_a_sheet_is_told_from_a_list_of_cards_by_its_columns(tmp_path):
    assert is_sheet(sheet(tmp_path, heading=",".join(columns(CardSheetRow))))
    assert is_sheet(sheet(tmp_path, heading='"track_id";"hair"'))
    assert not is_sheet(sheet(tmp_path, heading="track_id,kind,text"))
    assert not is_sheet(tmp_path / "nowhere.csv")
    assert not is_sheet(tmp_path / "cards.jsonl")
