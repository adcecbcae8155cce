"""What people's files say of a video, and what has changed between two times."""

import json

import pytest

from vidence.errors import DataError
from vidence.make.review.people.people_files import changed, said_by_people
from vidence.make.review.people.rows import CardCheckRow, CountRow, FalseCheckRow, append_row

ABOUT = {"video_id": "v", "check": "a" * 12}
COUNT = CountRow(**ABOUT, window="whole", place="left:top", n=3, n_low=3, n_high=4, counter="p1")


def words(folder, name, *rows):
    path = folder / name / "v.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "\n")


def test_cards_readings_and_counts_are_known_by_their_names(tmp_path):
    assert said_by_people(tmp_path, "v") == {}
    words(tmp_path, "cards", {"track_id": "3", "kind": "A", "text": "Tall."})
    words(tmp_path, "scenes", {"shot_id": "s1", "text": "A."}, {"shot_id": "s1", "text": "B."})
    append_row(tmp_path, CardCheckRow(**ABOUT, track_id="3", kind="A", fits="one", leaks="no", by="p1"))
    false = FalseCheckRow(**ABOUT, card_id="s1-false", told="true", occurs="no", natural="yes", by="p1")
    append_row(tmp_path, false)
    append_row(tmp_path, COUNT)
    before = said_by_people(tmp_path, "v")
    assert set(before) == {
        "card:3/A",
        "scene card:s1//",
        "scene card:s1//#2",
        "reading:3/A p1",
        "reading:s1-false p1",
        "count:left:top whole p1",
    }
    assert said_by_people(tmp_path, "w") == {}
    words(tmp_path, "cards", {"track_id": "3", "kind": "A", "text": "Small."})
    append_row(
        tmp_path,
        CountRow(
            **{**ABOUT, "video_id": "w"},
            window="whole",
            place="left:top",
            n=3,
            n_low=3,
            n_high=4,
            counter="p1",
        ),
    )
    assert changed(before, said_by_people(tmp_path, "v")) == {"card": 1}
    assert changed(before, before) == {}
    assert changed(before, {}) == {"card": 1, "scene card": 2, "reading": 2, "count": 1}


def test_a_line_that_is_none_is_named(tmp_path):
    path = tmp_path / "cards" / "v.jsonl"
    path.parent.mkdir()
    path.write_text("{}\n[]\n")
    with pytest.raises(DataError, match=r"v\.jsonl:2"):
        said_by_people(tmp_path, "v")
