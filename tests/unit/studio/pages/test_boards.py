"""Boards of tracks and shots: what is shown, what is kept, what is refused, who may."""

import re
from pathlib import Path

from conftest import IS_THOROUGH
from servers.studio import studio
from subjects.board_studio import open_boards
from subjects.hostile_texts import PAYLOADS, Looked
from vidence.make.review.people.rows import TrackRow, read_rows
from vidence.studio.bridge.places import place_id
from vidence.studio.pages.board_tracks import anchor_of
from vidence.studio.records.boards import BoardRow


def check_on(page, track):
    """The letters that the page has for a track."""
    return re.search(rf'name="track" value="{track}"><input type="hidden" name="check" value="(\w+)"', page)[
        1
    ]


def say(boards, track, act, **more):
    check = check_on(boards.page("tracks"), track)
    return boards.post("tracks", track=track, check=check, act=act, **more)


def test_boards_show_tracks_and_refuse_what_says_nothing(boards):
    page = boards.client.get(f"/sets/{boards.made.public}/").content.decode()
    for name in ("shots", "tracks", "cards", "false-cards", "counts"):
        assert boards.at(name) in page
        assert "<h1>north" in boards.page(name)
    assert "vidence make herbench config.toml" in page
    assert "no [people]" not in page
    page = boards.page("tracks")
    order = re.findall(r'data-track="(\w+)"', page)
    assert sorted(order) == ["1", "2", "3", "4", "5", "6", "7", "8", "everybody"]
    assert order[0] != "8"
    assert "8 of 8</span> tracks without a verdict" in page
    crop = boards.client.get(boards.at("crop.jpg"), {"track": "3", "frame": "60"})
    assert crop.headers["Content-Type"] == "image/jpeg"
    whole = boards.client.get(boards.at("crop.jpg"), {"track": "3", "frame": "60", "whole": "1"})
    assert whole.content[:2] == crop.content[:2] == b"\xff\xd8"
    assert whole.content != crop.content
    for wrong in ({"track": "3", "frame": "0"}, {"track": "99", "frame": "60"}, {"track": "3"}):
        assert boards.client.get(boards.at("crop.jpg"), wrong).status_code == 404
    from vidence.studio.records.boards import MadeSetRow

    row = MadeSetRow.objects.create(folder="/elsewhere", people_folder="/elsewhere/people")
    answer = boards.client.get(f"/sets/{row.public}/")
    assert answer.status_code == 404
    assert "start the studio with the configuration" in answer.content.decode()
    assert boards.client.get(boards.at("tracks").replace("north", "east")).status_code == 404
    for act, more, why in [
        ("split", {}, "split needs: frame"),
        ("split", {"frame": "0"}, "is to be split at 0"),
        ("join", {}, "join needs: other"),
        ("join", {"other": "99"}, "there is no track 99"),
        ("join", {"other": "2"}, "cannot be one person"),
        ("drop", {"first": "9", "last": "3"}, "expected"),
        ("drop", {"first": "160", "last": "161"}, "has no box in the frames"),
        ("shout", {}, "there is no act"),
    ]:
        answer = say(boards, "3", act, **more)
        assert answer.status_code == 400, act
        assert 'role="alert"' in answer.content.decode()
        if why != "expected":
            assert why in answer.content.decode().replace("&#x27;", "'"), act
    stale = boards.post("tracks", track="3", check="a" * 12, act="ok")
    assert "has changed since" in stale.content.decode()
    assert boards.post("tracks", act="undo").status_code == 400
    assert boards.file("tracks.csv") == ""


def test_looking_at_boards_changes_nothing(boards):
    from django.db import connection

    from vidence.studio.upkeep import count_tables

    boards.post("tracks", act="ok", track="3", check=check_on(boards.page("tracks"), "3"))

    def there():
        files = {one: one.read_bytes() for one in boards.street.folder.rglob("*") if one.is_file()}
        return files, count_tables(connection)

    before = there()
    names = ("shots", "tracks", "cards", "line-up", "false-cards", "counts", "crop.jpg")
    for name in names:
        for ask in (boards.client.get, boards.client.head):
            assert ask(boards.at(name)).status_code in (200, 404), name
    assert boards.client.get(f"/sets/{boards.made.public}/").status_code == 200
    assert there() == before


def test_verdicts_are_written_and_shown_and_tracks_follow(boards):
    assert say(boards, "4", "ok").status_code == 302
    assert say(boards, "7", "phantom").status_code == 302
    assert say(boards, "3", "split", frame="100").status_code == 302
    page = boards.page("tracks")
    order = re.findall(r'data-track="([\w/]+)"', page)
    assert set(order) == {"1", "2", "3/1", "3/2", "4", "5", "6", "8", "everybody"}
    assert order[-2] == "4"  # what has a verdict comes last
    assert "7: a person saw that it shows no one" in page
    assert "<strong>Redone next time:</strong> crops of 2 tracks" in page
    acts = [(row.track_id, row.act) for row in read_rows(boards.street.people, TrackRow, videos=None)]
    assert acts == [("4", "ok"), ("7", "phantom"), ("3", "split:100")]
    assert say(boards, "3/2", "drop", first="100", last="110").status_code == 302
    assert boards.post("tracks", act="undo").status_code == 302
    assert BoardRow.objects.filter(board="tracks").count() == 3


def test_cuts_and_joins_are_kept_and_a_file_with_a_fault_is_named(boards):
    done = boards.post("shots", act="cut-at", frame="80")
    assert (done.status_code, done.headers["Location"]) == (302, f"{boards.at('shots')}#s-80")
    page = boards.page("shots")
    assert "2 shots" in page
    assert "begun by people" in page
    assert "tracks, crops and cards of changed tracks, drafts of this video" in page
    assert boards.post("shots", act="gradual", frame="80", last="84").status_code == 302
    assert "the first 5 show both shots" in boards.page("shots")
    done = boards.post("shots", act="no-cut-at", frame="80")
    assert done.headers["Location"] == f"{boards.at('shots')}#s-0"
    assert "1 shot." in boards.page("shots")
    for said in (
        {"act": "cut-at", "frame": "0"},
        {"act": "cut-at", "frame": "x"},
        {"act": "gradual", "frame": "20"},
        {"act": "no-cut-at", "frame": "33"},
        {"act": "cut-at", "frame": "999"},
        {"act": "shout", "frame": "3"},
    ):
        assert boards.post("shots", **said).status_code == 400, said
    for _ in range(3):
        assert boards.post("shots", act="undo").status_code == 302
    assert boards.file("shots.csv") == ""
    assert not BoardRow.objects.filter(board="shots").exists()
    assert say(boards, "6", "same-as", other="8").status_code == 400  # at the same time
    assert say(boards, "3", "split", frame="100").status_code == 302
    page = boards.page("tracks")
    assert all(f'id="{anchor_of(name)}"' in page for name in ("3/1", "3/2"))
    assert say(boards, "3/2", "join", other="3/1").status_code == 302
    assert 'data-track="3/1"' in boards.page("tracks")
    assert 'data-track="3/2"' not in boards.page("tracks")
    (boards.street.people / "tracks.csv").write_text("video_id\nnorth\n")
    assert "tracks.csv" in boards.page("tracks", status=409)
    (boards.street.people / "shots.csv").write_text("video_id\nnorth\n")
    assert "shots.csv" in boards.page("shots", status=409)
    again = boards.client.post(f"/sets/{boards.made.public}/")
    assert again.status_code == 400
    assert "csv" in again.content.decode()


def test_a_person_is_set_aside_and_another_answers_for_all(boards):
    assert say(boards, "7", "aside").status_code == 302
    assert "7: a person left it out" in boards.page("tracks")
    early = say(boards, "everybody", "all")
    assert (early.status_code, "7 tracks have no row that counts" in early.content.decode()) == (400, True)
    for name in "1234568":
        assert say(boards, name, "ok").status_code == 302
    assert say(boards, "1", "all").status_code == 400
    assert say(boards, "everybody", "all").status_code == 302
    rows = read_rows(boards.street.people, TrackRow, videos=None)
    assert (rows[0].act, rows[-1].track_id, rows[-1].act) == ("aside", "everybody", "all")
    assert boards.street.opened().video("north").with_tracks(rows).is_complete


def test_a_set_is_opened_by_operators_from_what_the_studio_was_told_of(street, tmp_path):
    with studio("team", tmp_path / "studio", paths=(street.config,)) as made:
        made.project("films")
        made.user("Olga", "operator", project="films")
        made.user("Ada", "author", project="films")
        made.user("Rita", "researcher", project="films")
        made.user("Eve", "author", project="films")
        author = made.signed_in("Ada")
        told = {"set": place_id(street.made), "project": "films"}
        assert author.post("/sets/", told).status_code == 400
        olga = made.signed_in("Olga")
        assert olga.post("/sets/", {"set": place_id(Path("/etc")), "project": "films"}).status_code == 400
        assert olga.post("/sets/", told | {"project": ""}).status_code == 400
        made.project("zanzibar")
        page = olga.get("/sets/").content.decode()
        assert street.config.name in page
        assert str(street.made) not in page
        assert 'value="films"' in page
        assert "zanzibar" not in page
        boards = open_boards(street, olga, project="films")
        assert boards.made.project.slug == "films"
        reader = made.signed_in("Rita")
        page = reader.get(boards.at("tracks")).content.decode()
        assert "One person" not in page
        check = check_on(page, "3")
        said = {"track": "3", "check": check, "act": "ok"}
        assert reader.post(boards.at("tracks"), said).status_code == 403
        assert "Read the files again" not in reader.get(f"/sets/{boards.made.public}/").content.decode()
        assert reader.post(f"/sets/{boards.made.public}/").status_code == 403
        for name in ("shots", "tracks", "cards", "false-cards", "counts"):
            assert reader.post(boards.at(name), {"act": "undo"}).status_code == 403, name
        assert reader.post(boards.at("line-up"), {"fits": "none"}).status_code in (403, 404)
        assert author.post(boards.at("tracks"), said).status_code == 302
        assert "p002" in boards.file("tracks.csv")
        assert "Ada" not in boards.file("tracks.csv")
        made.project("others")
        made.user("Mallory", "operator", project="others")
        mallory = made.signed_in("Mallory")
        assert mallory.get(boards.at("tracks")).status_code == 404
        assert str(street.made) not in mallory.get("/sets/").content.decode()
        again = mallory.post("/sets/", told | {"project": "others"})
        assert (again.status_code, str(boards.made.public) in again.content.decode()) == (400, False)


def test_no_word_on_a_board_becomes_more_than_a_word(boards):
    n_kept = 0
    for text in PAYLOADS[:: 8 if IS_THOROUGH else 16]:
        check = check_on(boards.page("tracks"), "3")
        count = {"place": "entered:left", "first": "", "last": "", "n": 1, "n_low": 1, "n_high": 1}
        for name, sent in (
            ("tracks", {"act": "ok", "track": "3", "check": check, "note": text}),
            ("cards", {"act": "keep", "track": "3", "check": check, "A": text, "B": text}),
            ("shots", {"act": "cut-at", "frame": text, "note": text}),
            ("counts", {"act": "count", **count, "frames": "", "note": text}),
        ):
            answer = boards.post(name, **sent)
            assert answer.status_code < 500, (name, text)
            n_kept += answer.status_code == 302
            looked = Looked()
            looked.feed(answer.content.decode())
            assert looked.faults == [], (name, text)
        for name in ("tracks", "shots", "cards", "false-cards", "counts", "line-up?track=3"):
            looked = Looked()
            looked.feed(boards.client.get(boards.at(name)).content.decode())
            assert looked.faults == [], (name, text)
        for name in ("tracks", "cards", "counts"):
            boards.post(name, act="undo")
    assert n_kept > 2
