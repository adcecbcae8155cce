"""Checks of people's rows: the same for the same thing, another one when it changes."""

import json
import re

from subjects.tracks import walk
from vidence.make.pipeline.material import Card, Change, SceneCard
from vidence.make.review.people.checks import (
    changed,
    check_of,
    check_of_card,
    check_of_scene,
    check_of_shots,
    check_of_track,
    check_of_video,
    said_by_people,
)
from vidence.make.review.people.rows import Act, CardCheckRow, CountRow, FalseCheckRow, append_row
from vidence.seeing.shooting import Shot
from vidence.seeing.tracks import track_check

CARD = Card(track_id="3", kind="A", text="A tall man.")
SCENE = SceneCard(card_id="s", shot_id="shot-0001", text="A dog runs.")

ABOUT = {"video_id": "v", "check": "a" * 12}
COUNT = CountRow(**ABOUT, window="whole", place="left:top", n=3, n_low=3, n_high=4, counter="p1")


def shot(first, last):
    return Shot(shot_id="s", first_frame=first, last_frame=last, start_s=first / 10, end_s=last / 10)


def test_every_check_is_twelve_letters():
    act = Act(name="cut-at", first=5, last=5)
    checks = [
        check_of([1]),
        check_of_card(CARD),
        check_of_scene(SCENE),
        check_of_video("ab"),
        check_of_shots([shot(0, 9)], act),
    ]
    assert len(set(checks)) == len(checks)
    assert all(re.fullmatch("[a-z]{12}", one) for one in checks)


def test_a_check_changes_with_what_was_seen_and_with_nothing_else():
    assert check_of_card(CARD) == check_of_card(Card(track_id="3", kind="A", text="A tall man.", writer="x"))
    assert check_of_card(CARD) != check_of_card(Card(track_id="3", kind="A", text="A small man."))
    false = SceneCard(
        card_id="s",
        shot_id="shot-0001",
        text="A dog runs.",
        changes=(Change(kind="modification", before="cat", after="dog"),),
    )
    assert check_of_scene(SCENE) != check_of_scene(false)
    assert check_of_video("ab") != check_of_video("ac")


def test_a_check_of_a_track_is_that_of_the_sheets():
    one = walk("3", [(100.0 + i, 100.0) for i in range(10)])
    assert check_of_track(one) == track_check(one)


def test_a_check_of_cuts_is_of_the_shots_around_it_alone():
    act = Act(name="no-cut-at", first=10, last=10)
    three = [shot(0, 9), shot(10, 19), shot(20, 29)]
    assert check_of_shots(three, act) == check_of_shots([*three[:2], shot(20, 35)], act)
    assert check_of_shots(three, act) != check_of_shots([shot(1, 9), *three[1:]], act)
    assert check_of_shots(three, act) != check_of_shots([three[0], shot(10, 29)], act)


def words(folder, name, *rows):
    path = folder / name / "v.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "\n")


def test_cards_readings_and_counts_are_known_by_their_names(tmp_path):
    assert said_by_people(tmp_path, "v") == {}
    words(tmp_path, "cards", {"track_id": "3", "kind": "A", "text": "Tall."})
    words(
        tmp_path,
        "scenes",
        {"shot_id": "s1", "check": "b" * 12, "text": "A."},
        {"at_s": 0, "text": "B.", "false": "C."},
    )
    append_row(tmp_path, CardCheckRow(**ABOUT, track_id="3", kind="A", fits="one", leaks="no", by="p1"))
    false = FalseCheckRow(**ABOUT, card_id="s1-false", told="true", occurs="no", natural="yes", by="p1")
    append_row(tmp_path, false)
    append_row(tmp_path, COUNT)
    before = said_by_people(tmp_path, "v")
    assert set(before) == {
        "card:3/A",
        f"scene card:{'b' * 12}/true",
        "scene card:0/true",
        "scene card:0/false",
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
    now = said_by_people(tmp_path, "v")
    assert changed(before, now, used={}) == {"card": ["card:3/A"]}
    assert changed(before, now, used={"card:3/A": "Small."}) == changed(before, before, used={}) == {}
    gone = {kind: len(names) for kind, names in changed(before, {}, used=now).items()}
    assert gone == {"card": 1, "scene card": 3, "reading": 2, "count": 1}
