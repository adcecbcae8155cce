"""Scene cards that people wrote."""

import json
import re

import pytest

from vidence.errors import DataError
from vidence.make.herbench.cards.scene_files import read_scene_cards
from vidence.make.review.people.checks import check_of_shot
from vidence.seeing.shooting import Shot

SHOTS = (
    Shot(shot_id="shot-0001", first_frame=0, last_frame=9, start_s=0.0, end_s=1.0),
    Shot(shot_id="shot-0002", first_frame=10, last_frame=29, start_s=1.0, end_s=3.0),
)
TRUE = "A woman in a red coat walks past two cars."
FALSE = "A woman in a green coat walks past three cars."
CHANGES = [
    {"kind": "modification", "before": "red", "after": "green"},
    {"kind": "modification", "before": "two", "after": "three"},
]


def lines(path, *rows):
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return path


def test_scene_cards_name_their_shot_by_its_id_or_a_time(tmp_path):
    path = lines(
        tmp_path / "scenes.jsonl",
        {"at_s": 1.0, "text": TRUE},
        {"shot_id": "shot-0002", "text": FALSE, "changes": CHANGES, "card_id": "wrong-2"},
    )
    read = read_scene_cards(path, shots=SHOTS)
    true, false = read.cards
    assert (true.card_id, true.shot_id, true.is_faithful) == ("shot-0002-true", "shot-0002", True)
    assert (false.card_id, false.is_faithful, len(false.changes)) == ("wrong-2", False, 2)
    # By what was seen: other cuts have given the shot another number since.
    seen = lines(
        tmp_path / "seen.jsonl", {"shot_id": "shot-0001", "text": TRUE, "check": check_of_shot(SHOTS[1])}
    )
    assert read_scene_cards(seen, shots=SHOTS).cards[0].shot_id == "shot-0002"
    table = tmp_path / "scenes.csv"
    table.write_text(f"at_s,text\n0.5,{TRUE}\n")
    assert read_scene_cards(table, shots=SHOTS).cards[0].shot_id == "shot-0001"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"text": TRUE}, "shot_id or by at_s"),
        ({"text": TRUE, "shot_id": "shot-0001", "at_s": 0.2}, "shot_id or by at_s"),
        ({"text": TRUE, "shot_id": "shot-0009"}, "no shot 'shot-0009'; there are 2"),
        ({"text": TRUE, "at_s": 3.0}, "the shots end at 3.00 s"),
        ({"text": f"{TRUE} It rains.", "at_s": 0.2}, "2 sentences"),
        ({"text": TRUE, "at_s": 2}, "has a true card already"),
        ({"text": TRUE, "at_s": "noon"}, "at_s"),
    ],
)
def test_a_bad_scene_card_is_named(tmp_path, row, told):
    path = lines(tmp_path / "scenes.jsonl", {"at_s": 1.5, "text": TRUE}, row)
    with pytest.raises(DataError, match=rf"scenes\.jsonl:2: .*{re.escape(told)}"):
        read_scene_cards(path, shots=SHOTS)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"text": FALSE, "at_s": 0.2, "changes": CHANGES}, "has to stand before its false one"),
        ({"text": FALSE, "at_s": 2, "changes": CHANGES[:1]}, "lists 1 change;"),
    ],
)
def test_a_bad_false_card_is_left_out_and_the_others_stay(tmp_path, row, told):
    path = lines(tmp_path / "scenes.jsonl", {"at_s": 1.5, "text": TRUE}, row)
    read = read_scene_cards(path, shots=SHOTS)
    assert [card.text for card in read.cards] == [TRUE]
    (unused,) = read.unused
    assert unused.where.endswith("scenes.jsonl:2")
    assert told in unused.why


SHEET = "video_id,shot_id,start_s,end_s,text,false,note\n"


def test_a_sheet_has_the_false_sentence_beside_the_true_one(tmp_path):
    path = lines(
        tmp_path / "scenes.csv",
        SHEET + f"v,shot-0001,0.000,1.000,{TRUE},{FALSE},",
        "v,shot-0002,1.000,3.000,,,",
    )
    (true, false) = read_scene_cards(path, shots=SHOTS).cards
    assert (true.text, true.changes, true.writer) == (TRUE, (), "a person")
    assert (false.text, false.card_id) == (FALSE, "shot-0001-false")
    assert [(c.before, c.after) for c in false.changes] == [("red", "green"), ("two", "three")]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (f"v,shot-0001,0.5,1.0,{TRUE},,", "start_s: shot-0001 begins at 0.000 s, and not at 0.500 s"),
        (f"v,shot-0001,0.0,1.0,{TRUE},{TRUE},", "stands without another text that is true"),
        (f"v,shot-0001,0.0,1.0,,{FALSE},", "stands without another text that is true"),
    ],
)
def test_what_is_wrong_in_a_sheet_of_scenes_is_named(tmp_path, row, told):
    path = lines(tmp_path / "scenes.csv", SHEET + row)
    with pytest.raises(DataError, match=re.escape(told)):
        read_scene_cards(path, shots=SHOTS)


def test_a_false_sentence_that_cannot_be_used_stops_nothing(tmp_path):
    path = lines(
        tmp_path / "scenes.csv",
        SHEET + f"v,shot-0001,0.0,1.0,{TRUE},A man in a red coat walks past two cars.,",
        "v,shot-0002,1.0,3.0,A red car and a black car wait.,A yellow bus and a black car wait.,",
    )
    read = read_scene_cards(path, shots=SHOTS)
    assert [card.is_faithful for card in read.cards] == [True, True, False]
    (unused,) = read.unused
    assert "it lists 1 change" in unused.why
