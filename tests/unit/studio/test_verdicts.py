"""Verdicts in the database and in people's files: both or neither, the same bytes, rows of others kept."""

import pytest

from vidence.errors import DataError
from vidence.make.review.people.checks import check_of_track
from vidence.make.review.people.rows import CountRow, ShotRow, TrackRow, append_row
from vidence.studio.records.boards import BoardRow
from vidence.studio.verdicts import (
    Reading,
    Refused,
    Words,
    change,
    in_words,
    natural,
    on_file,
    record_of,
    rows_of,
    say,
    take_back,
    take_in,
)


@pytest.fixture
def person():
    from vidence.studio.access import Person

    return Person(name="p007", shown="Ada", roles={"": frozenset({"author"})})


def verdict(boards, track="3", act="ok", **more):
    tracks = {one.track_id: one for one in boards.street.opened().video("north").found.tracks}
    row = {"video_id": "north", "by": "p007", "track_id": track, "act": act, **more}
    return TrackRow(check=check_of_track(tracks[track]), **row)


def tell(boards, said):
    return say(boards.made, said)


def test_a_row_stands_in_both_once_and_taken_back_in_neither(boards, person):
    row = tell(boards, verdict(boards))
    assert boards.file("tracks.csv").splitlines()[1].split(",")[2:5] == ["3", "ok", "p007"]
    assert rows_of(boards.made, TrackRow, video_id="north")[0].act == "ok"
    assert rows_of(boards.made, TrackRow, video_id="south") == ()
    back = take_back(boards.made, "tracks", person, video_id="north")
    assert in_words(back) == "3 ok"
    assert back == row
    assert boards.file("tracks.csv") == ""
    assert not BoardRow.objects.filter(board="tracks").exists()
    assert isinstance(take_back(boards.made, "tracks", person, video_id="north"), Refused)
    assert isinstance(tell(boards, verdict(boards, note="=1+1")), Refused)
    assert boards.file("tracks.csv") == ""
    tell(boards, verdict(boards))
    before = boards.file("tracks.csv")
    assert isinstance(tell(boards, verdict(boards)), Refused)
    assert boards.file("tracks.csv") == before
    assert BoardRow.objects.filter(board="tracks").count() == 1
    tell(boards, verdict(boards, "3", "ok"))
    tell(boards, verdict(boards, "2", "split:60"))
    before = boards.file("tracks.csv")
    tell(boards, verdict(boards, "7", "phantom"))
    assert boards.file("tracks.csv").startswith(before)
    take_back(boards.made, "tracks", person, video_id="north")
    assert boards.file("tracks.csv") == before


def test_rows_written_by_hand_are_taken_in_once_and_no_file_of_a_gigabyte(boards, person):
    for name in ("tracks.csv", "cards/north.jsonl", "scenes/south.jsonl"):
        path = boards.street.people / name
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.truncate(1_000_000_000)
        with pytest.raises(DataError, match=r"has 1,000 MB; expected at most 16 MB"):
            take_in(boards.made)
        path.unlink()
    append_row(boards.street.people, verdict(boards, "2", "phantom", by="P03", note="a shadow"))
    before = boards.file("tracks.csv")
    assert take_in(boards.made) == 1
    assert take_in(boards.made) == 0
    assert boards.file("tracks.csv") == before
    assert BoardRow.objects.filter(board="tracks").get().by_name == "P03"
    tell(boards, verdict(boards, "3"))
    take_back(boards.made, "tracks", person, video_id="north")
    assert boards.file("tracks.csv") == before


def test_a_file_with_a_fault_refuses_the_row_in_the_database_too(boards, person):
    (boards.street.people / "tracks.csv").write_text("video_id,check\nx\n")
    refused = tell(boards, verdict(boards))
    assert isinstance(refused, Refused)
    assert "tracks.csv" in refused.reason
    assert not BoardRow.objects.filter(board="tracks").exists()


def test_every_kind_of_row_is_the_row_of_its_file_and_comes_back(boards):
    about = {"video_id": "north", "check": "a" * 12}
    rows = [
        ShotRow(**about, act="cut-at:80", by="p007"),
        Words(**about, track_id="3", kind="A", fits="several", leaks="yes", by="p007"),
        Reading(
            **about,
            card_id="shot-0001-false",
            told="cannot-say",
            occurs="cannot-say",
            natural="yes",
            by="p007",
        ),
        CountRow(
            **about,
            window="0-80",
            place="left:top",
            n=3,
            n_low=3,
            n_high=4,
            frames=(4, 9, 20),
            counter="p007",
        ),
        verdict(boards),
    ]
    assert [tell(boards, row) for row in rows] == rows
    files = ["shots.csv", "card_checks.csv", "false_checks.csv", "counts.csv", "tracks.csv"]
    assert [type(on_file(one)).file for one in rows] == files
    BoardRow.objects.all().delete()
    assert take_in(boards.made) == 7  # with the two sentences of the scene
    again = [record_of(row) for row in BoardRow.objects.all()]
    assert [one for one in again if not getattr(one, "text", "")] == [rows[i] for i in (0, 4, 1, 2, 3)]


def test_words_go_into_files_that_the_making_reads_and_have_one_row(boards, person):
    from vidence.make.herbench.cards.card_files import read_cards

    about = {"video_id": "north", "check": "a" * 12, "kind": "A", "by": "p007"}
    row = tell(boards, Words(**about, track_id="10", text="A tall man in a red coat and boots."))
    tell(boards, Words(**about, track_id="3", text="A small woman in a blue coat and shoes."))
    path = boards.street.people / "cards" / "north.jsonl"
    cards = read_cards(path, tracks={"3", "10"}).cards
    assert [(one.track_id, one.writer) for one in cards] == [("3", "p007"), ("10", "p007")]
    assert on_file(row) is None  # it was tried on nobody
    new = Words(**about, track_id="10", text="A tall man in a green coat and boots.")
    assert change(boards.made, row, new) == new
    assert "green" in path.read_text()
    assert "another window" in change(boards.made, row, new).reason
    take_back(boards.made, "cards", person, video_id="north")
    take_back(boards.made, "cards", person, video_id="north")
    assert not path.exists()
    about = {"video_id": "north", "check": "a" * 12, "track_id": "3", "kind": "A", "by": "p007"}
    wrote = tell(boards, Words(**about, text="A tall man in a red coat and boots."))
    tried = change(boards.made, wrote, Words(**about, text=wrote.text, fits="none", note="rejected"))
    BoardRow.objects.all().delete()
    take_in(boards.made)
    assert tried in [record_of(row) for row in BoardRow.objects.all()]
    assert take_in(boards.made) == 0


def test_words_written_by_hand_stay_and_are_not_written_over(boards):
    path = boards.street.people / "scenes" / "north.jsonl"
    there = [record_of(row) for row in BoardRow.objects.all()]
    assert sorted((one.kind, one.by) for one in there) == [("false", "P09"), ("scene", "P09")]
    about = {"video_id": "north", "check": "a" * 12, "kind": "scene", "by": "p007"}
    tell(boards, Words(**about, track_id="shot-0001", text="A dog runs along a street."))
    assert '"false":"A woman in a red coat' in path.read_text()
    assert '"text":"A dog runs' in path.read_text()
    path.write_text(path.read_text() + '{"shot_id":"shot-0002","text":"A cat sits on a wall."}\n')
    before = path.read_text()
    row = Words(**about, track_id="shot-0003", text="A cow stands in a field.")
    assert "read the files again" in tell(boards, row).reason
    assert path.read_text() == before
    take_in(boards.made)
    tell(boards, row)
    assert len(path.read_text().splitlines()) == 3
    path.write_text('{"at_s":3.0,"text":"A cat sits on a wall."}\n')
    with pytest.raises(DataError, match="expected shot_id"):
        take_in(boards.made)


def test_numbers_in_names_are_ordered_as_numbers():
    assert sorted(["10", "9", "9/2", "a"], key=natural) == ["a", "9", "9/2", "10"]
