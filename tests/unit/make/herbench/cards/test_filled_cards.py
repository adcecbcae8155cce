"""Sheets of cards that people filled in, wholly, half, and wrongly."""

import pytest

from vidence.errors import DataError
from vidence.make.herbench.cards.filled_cards import COLUMNS, is_sheet, read_filled

HEADING = "video_id,track_id,check,person,hair,upper_body,lower_body,carries,appearance,path,actions,fits"
CHECKS = {"1": "aaa", "2": "bbb", "3": "ccc"}


def file(folder, *rows, heading=HEADING):
    path = folder / "cards.csv"
    path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return path


def read(path, **more):
    given = {"tracks": ["1", "2"], "everybody": ["1", "2", "3"], "checks": CHECKS} | more
    return read_filled(path, "street", **given)


def test_a_half_filled_sheet_gives_the_cards_of_its_rows_with_words(tmp_path):
    path = file(
        tmp_path,
        "street,1,aaa,a tall man,short dark hair,a black jacket,blue jeans,,,goes left.,stops twice,1",
        "street,2,bbb,,,,,,,,,",
        "yard,7,,a girl,,,,,,,,",
    )
    found = read(path, others={"yard"})
    assert [(card.track_id, card.kind, card.text) for card in found.cards] == [
        ("1", "A", "A tall man with short dark hair. Wears a black jacket and blue jeans."),
        ("1", "B", "Goes left. Stops twice."),
    ]
    assert found.n_open == 1
    assert {card.writer for card in found.cards} == {"a person"}


def test_sentences_of_ones_own_stand_behind_the_cells_or_alone(tmp_path):
    row = "street,1,,,,a red coat,,a bag,Hums. Limps!,,,"
    (card,) = read(file(tmp_path, row)).cards
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
    (card,) = read(file(tmp_path, f"street,1,,,,a red coat,,,,,,{said}")).cards
    assert (card.fits, card.fits_it_alone) == (fits, alone)
    assert card.identified_by == ("people" if said else "")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["street,9,,a man,,,,,,,,"], ":2: track_id: there is no track '9'; there are 2 (1, 2, ...)"),
        (["street,3,,a man,,,,,,,,"], ":2: track_id: there is no track '3'"),
        (["street,1,,a man,,,,,,,,", "street,1,,,,,,,,,,"], ":3: track_id: a second row for 1, after line 2"),
        (["alley,1,,a man,,,,,,,,"], ":2: video_id: 'alley' found; expected street"),
        (["street,1,zzz,a man,,,,,,,,"], ":2: check: the track 1 is another one than the sheet shows"),
        (["street,1,,a man,,,,,,,,8"], ":2: fits: there is no track '8'"),
        (["street,1,,,,,,,,,,1"], ":2: fits: '1' found for a row without a description"),
        (["street,1,,,,,,,,Goes left.,,1"], "for a row that does not say what the person looks like"),
        (["street,1,,a man"], ":2: CSV: 4 cells found; expected 12"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path, rows, why):
    with pytest.raises(DataError) as refused:
        read(file(tmp_path, *rows))
    assert why in str(refused.value)


def test_an_unknown_column_is_named_with_the_nearest_known_one(tmp_path):
    with pytest.raises(DataError, match=r":1: 'uper_body': unknown column; did you mean 'upper_body'?"):
        read(file(tmp_path, heading="track_id,uper_body"))


def test_a_sheet_is_told_from_a_list_of_cards_by_its_columns(tmp_path):
    assert is_sheet(file(tmp_path, heading=",".join(COLUMNS)))
    assert is_sheet(file(tmp_path, heading='"track_id";"hair"'))
    assert not is_sheet(file(tmp_path, heading="track_id,kind,text"))
    assert not is_sheet(tmp_path / "nowhere.csv")
    assert not is_sheet(tmp_path / "cards.jsonl")
