"""Verdicts in the database and in people's files: both or neither, the same bytes, rows of others kept."""

import re

import pytest

from servers.studio import studio
from subjects.board_studio import open_boards
from vidence.errors import DataError
from vidence.make.pipeline.ledger import UnitDone
from vidence.make.review.people.checks import check_of_track
from vidence.make.review.people.rows import TrackRow, append_row
from vidence.studio.records.boards import (
    CardCheckRow,
    FalseCheckRow,
    ShotEditRow,
    TrackVerdictRow,
    WindowCountRow,
)
from vidence.studio.verdicts import (
    Refused,
    change,
    counts_of,
    file_row,
    natural,
    rows_of,
    said,
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
    return TrackVerdictRow(
        made_set=boards.made,
        video_id="north",
        track_id=track,
        act=act,
        seen=check_of_track(tracks[track]),
        **more,
    )


def test_a_row_stands_in_both_and_taken_back_in_neither(boards, person):
    row = say(verdict(boards), person)
    assert boards.file("tracks.csv").splitlines()[1].split(",")[2:5] == ["3", "ok", "p007"]
    assert rows_of(boards.made, TrackRow, video_id="north")[0].act == "ok"
    assert rows_of(boards.made, TrackRow, video_id="south") == ()
    back = take_back(boards.made, "tracks", person, video_id="north")
    assert said(back) == "3 ok"
    assert back.seen == row.seen
    assert boards.file("tracks.csv") == ""
    assert not TrackVerdictRow.objects.exists()
    assert isinstance(take_back(boards.made, "tracks", person, video_id="north"), Refused)


def test_undone_the_first_bytes_are_back(boards, person):
    say(verdict(boards, "3", "ok"), person)
    say(verdict(boards, "2", "split:60"), person)
    before = boards.file("tracks.csv")
    say(verdict(boards, "7", "phantom"), person)
    assert boards.file("tracks.csv").startswith(before)
    take_back(boards.made, "tracks", person, video_id="north")
    assert boards.file("tracks.csv") == before


def test_what_was_said_already_is_refused_and_nothing_changes(boards, person):
    say(verdict(boards), person)
    before = boards.file("tracks.csv")
    assert isinstance(say(verdict(boards), person), Refused)
    assert boards.file("tracks.csv") == before
    assert TrackVerdictRow.objects.count() == 1


@pytest.mark.parametrize("name", ["tracks.csv", "cards/north.jsonl", "scenes/south.jsonl"])
def test_a_file_of_a_gigabyte_is_refused_before_it_is_read(boards, name):
    path = boards.street.people / name
    path.parent.mkdir(exist_ok=True)
    with path.open("ab") as file:
        file.truncate(1_000_000_000)
    with pytest.raises(DataError, match=r"has 1,000 MB; expected at most 16 MB"):
        take_in(boards.made)


def test_a_file_with_a_fault_refuses_the_row_in_the_database_too(boards, person):
    (boards.street.people / "tracks.csv").write_text("video_id,check\nx\n")
    refused = say(verdict(boards), person)
    assert isinstance(refused, Refused)
    assert "tracks.csv" in refused.reason
    assert not TrackVerdictRow.objects.exists()


def test_a_row_that_a_spreadsheet_would_run_is_refused(boards, person):
    assert isinstance(say(verdict(boards, note="=1+1"), person), Refused)
    assert boards.file("tracks.csv") == ""


def test_rows_written_by_hand_are_taken_in_once_and_stay_in_their_file(boards, person):
    row = verdict(boards, "2", "phantom")
    append_row(
        boards.street.people,
        TrackRow(video_id="north", check=row.seen, track_id="2", act="phantom", by="P03", note="a shadow"),
    )
    before = boards.file("tracks.csv")
    assert take_in(boards.made) == 1
    assert take_in(boards.made) == 0
    assert boards.file("tracks.csv") == before
    assert TrackVerdictRow.objects.get().by_name == "P03"
    say(verdict(boards, "3"), person)
    take_back(boards.made, "tracks", person, video_id="north")
    assert boards.file("tracks.csv") == before


def test_every_kind_of_row_is_the_row_of_its_file_and_comes_back(boards, person):
    about = {"made_set": boards.made, "video_id": "north", "seen": "a" * 12}
    rows = [
        ShotEditRow(**about, act="cut-at:80"),
        CardCheckRow(**about, track_id="3", kind="A", fits="several", leaks=True),
        FalseCheckRow(
            **about,
            card_id="shot-0001-false",
            told_without_film="cannot-say",
            occurs_in_film=None,
            reads_natural=True,
        ),
        WindowCountRow(**about, window="0-80", place="left:top", n=3, n_low=3, n_high=4, frames=[4, 9, 20]),
        verdict(boards),
    ]
    kept = [file_row(say(row, person)) for row in rows]
    assert [type(one).file for one in kept] == [
        "shots.csv",
        "card_checks.csv",
        "false_checks.csv",
        "counts.csv",
        "tracks.csv",
    ]
    assert (kept[2].occurs, kept[2].natural, kept[2].told) == ("cannot-say", "yes", "cannot-say")
    assert kept[3].frames == (4, 9, 20)
    for table in (ShotEditRow, CardCheckRow, FalseCheckRow, WindowCountRow, TrackVerdictRow):
        table.objects.all().delete()
    assert take_in(boards.made) == 7  # with the two sentences of the scene
    CardCheckRow.objects.exclude(text="").delete()
    again = [
        file_row(table.objects.get())
        for table in (ShotEditRow, CardCheckRow, FalseCheckRow, WindowCountRow, TrackVerdictRow)
    ]
    assert again == kept


def test_words_go_into_a_file_of_cards_that_the_making_reads(boards, person):
    from vidence.make.herbench.cards.card_files import read_cards

    about = {"made_set": boards.made, "video_id": "north", "seen": "a" * 12}
    row = say(
        CardCheckRow(**about, track_id="10", kind="A", text="A tall man in a red coat and boots."), person
    )
    say(CardCheckRow(**about, track_id="3", kind="A", text="A small woman in a blue coat and shoes."), person)
    path = boards.street.people / "cards" / "north.jsonl"
    cards = read_cards(path, tracks={"3", "10"}).cards
    assert [(one.track_id, one.writer) for one in cards] == [("3", "p007"), ("10", "p007")]
    assert file_row(row) is None  # nobody has tried it
    row.text = "A tall man in a green coat and boots."
    change(row)
    assert "green" in path.read_text()
    stale = CardCheckRow.objects.get(pk=row.pk)
    row.text = "Other words."
    change(row)
    assert "another window" in change(stale).reason
    take_back(boards.made, "cards", person, video_id="north")
    take_back(boards.made, "cards", person, video_id="north")
    assert not path.exists()


def test_words_written_by_hand_stay_and_are_not_written_over(boards, person):
    path = boards.street.people / "scenes" / "north.jsonl"
    assert sorted(CardCheckRow.objects.values_list("kind", "by_name")) == [("false", "P09"), ("scene", "P09")]
    about = {"made_set": boards.made, "video_id": "north", "seen": "a" * 12}
    say(CardCheckRow(**about, track_id="shot-0001", kind="scene", text="A dog runs along a street."), person)
    assert '"false":"A woman in a red coat' in path.read_text()
    assert '"text":"A dog runs' in path.read_text()
    path.write_text(path.read_text() + '{"shot_id":"shot-0002","text":"A cat sits on a wall."}\n')
    before = path.read_text()
    row = CardCheckRow(**about, track_id="shot-0003", kind="scene", text="A cow stands in a field.")
    assert "read the files again" in say(row, person).reason
    assert path.read_text() == before
    take_in(boards.made)
    say(row, person)
    assert len(path.read_text().splitlines()) == 3
    path.write_text('{"at_s":3.0,"text":"A cat sits on a wall."}\n')
    with pytest.raises(DataError, match="expected shot_id"):
        take_in(boards.made)


def test_counts_stand_by_window_and_place(boards):
    rows = [WindowCountRow(window="0-9", place=place, n=1, n_low=1, n_high=1) for place in ("a", "b", "a")]
    assert [(key, len(found)) for key, found in counts_of(rows).items()] == [
        (("0-9", "a"), 2),
        (("0-9", "b"), 1),
    ]


def test_numbers_in_names_are_ordered_as_numbers():
    assert sorted(["10", "9", "9/2", "a"], key=natural) == ["a", "9", "9/2", "10"]


# --------------------------------------------------------------------------- boards, files, the making

LOOKS = "A tall figure in a purple coat and grey trousers."
WAY = "This person comes in from the left side. They go on to the right without a stop, past all others."


def checked(page, track):
    """The letters that a board has for a track."""
    found = re.search(rf'name="track" value="{track}"><input type="hidden" name="check" value="(\w+)"', page)
    return {"track": track, "check": found[1]}


def judge_on_every_board(boards):
    """One verdict on each board of the north, one shot of the south."""
    said = [
        boards.post("tracks", act="ok", **checked(boards.page("tracks"), "4")),
        boards.post("cards", act="keep", A=LOOKS, B=WAY, **checked(boards.page("cards"), "3")),
        boards.post(
            "counts", act="count", place="visited:right-third", first="", last="", n=6, n_low=6, n_high=7
        ),
        boards.client.post(boards.at("shots").replace("north", "south"), {"act": "cut-at", "frame": "80"}),
    ]
    for _ in range(2):
        card = re.search(r'name="card" value="(\w+)"', boards.page("false-cards"))[1]
        said.append(boards.post("false-cards", card=card, told="false"))
    while found := re.search(r'name="card" value="(\w+)"', boards.page("false-cards")):
        said.append(boards.post("false-cards", card=found[1], occurs="no", natural="yes"))
        assert len(said) < 9
    return [one.status_code for one in said]


def people_of(street):
    """People's files, as bytes."""
    return {
        str(one.relative_to(street.people)): one.read_bytes()
        for one in street.people.rglob("*")
        if one.is_file()
    }


def made_of(street):
    """What a making leaves for people: its questions and what they rest on."""
    names = ("items.jsonl", "drafts.jsonl", "dropped.jsonl", "account.json")
    return {name: (street.made / name).read_bytes() for name in names}


def remade(street):
    """Make once more: the units that were not there from before."""
    done = []
    street.make(on_event=done.append)
    return {(one.stage, one.unit) for one in done if isinstance(one, UnitDone) and not one.was_cached}


def test_verdicts_of_every_board_go_through_the_making_and_one_changed_remakes_its_video_alone(
    street, tmp_path
):
    street.add_south()
    street.make()
    with studio("solo", tmp_path / "studio", paths=(street.config,)) as made:
        boards = open_boards(street, made.signed_in())
        assert set(judge_on_every_board(boards)) == {302}
        kept = people_of(street)
        assert {"tracks.csv", "shots.csv", "cards/north.jsonl", "false_checks.csv", "counts.csv"} <= set(kept)
        assert remade(street)
        first = made_of(street)
        assert remade(street) == set()
        assert (made_of(street), people_of(street)) == (first, kept)
    with studio("solo", tmp_path / "second", paths=(street.config,)) as made:
        boards = open_boards(street, made.signed_in())
        take_in(boards.made)
        assert people_of(street) == kept
        assert boards.post("tracks", act="ok", **checked(boards.page("tracks"), "5")).status_code == 302
        south = boards.at("tracks").replace("north", "south")
        page = boards.client.get(south).content.decode()
        assert boards.client.post(south, {"act": "phantom", **checked(page, "7")}).status_code == 302
        changed = remade(street)
        assert changed
        assert {unit for _, unit in changed if "north" in unit} == set(), changed
        assert made_of(street) != first
        for name, before in kept.items():
            if name != "tracks.csv":
                assert people_of(street)[name] == before, name
