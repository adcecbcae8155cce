"""The board of counts: windows and places, ranges, a second counter who is blind."""

import pytest

from servers.studio import studio
from subjects.board_studio import Boards, open_boards
from vidence.make.people.rows import CountRow, read_rows
from vidence.studio.pages.board_counts import places, rectangles, span_of, urls, when

COUNT = {"place": "visited:right-third", "first": "", "last": "", "n": "6", "n_low": "6", "n_high": "7"}


def test_places_have_words_and_a_part_of_the_frame():
    known = places(320, 240)
    assert known["entered:left"] == "come into view through the left edge"
    assert known["crossed:left-right"] == "come through the left edge and go through the right one"
    assert known["visited:top-left"] == "are in the top left at some time"
    assert all(rectangles(place, 320, 240) for place in known)
    assert rectangles("entered:left", 320, 240) == [(0.0, 0.0, 48.0, 240.0)]
    assert len(rectangles("crossed:left-right", 320, 240)) == 2
    assert rectangles("visited:nowhere", 320, 240) == []
    assert rectangles("visited:whole", 320, 240) == [(0.0, 0.0, 320.0, 240.0)]


def test_a_count_is_kept_and_the_tracks_own_is_shown_only_then(boards):
    page = boards.page("counts?place=visited:right-third")
    assert "the tracks clearly" not in page
    assert "<rect" in page
    assert boards.post("counts", act="count", **COUNT, frames="61 70 80").status_code == 302
    page = boards.page("counts")
    assert "solo: 6" in page
    assert "counted once" in page
    assert "the tracks clearly show 5" in page
    (row,) = read_rows(boards.street.people, CountRow, videos=None)
    assert (row.window, row.n, row.n_high, row.frames) == ("whole", 6, 7, (61, 70, 80))
    assert boards.post("counts", act="undo").status_code == 302
    assert boards.file("counts.csv") == ""


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": "x"},
        {"n": "3"},
        {"place": "visited:"},
        {"place": "shouted:left"},
        {"first": "80", "last": "8"},
        {"first": "8", "last": "999"},
        {"frames": "1 b"},
        {"first": "8", "last": "80", "frames": "100"},
    ],
)
def test_what_makes_no_sense_is_refused(boards, wrong):
    answer = boards.post("counts", act="count", **{**COUNT, "frames": "", **wrong})
    assert answer.status_code == 400
    assert boards.file("counts.csv") == ""


def test_a_second_counter_does_not_see_the_first(street, tmp_path):
    with studio("team", tmp_path / "studio", paths=(street.config,)) as made:
        made.project("films")
        made.user("Olga", "operator", project="films")
        first = open_boards(street, made.signed_in("Olga"), project="films")
        made.user("Ada", "author", project="films")
        second = Boards(street=street, made=first.made, client=made.signed_in("Ada"))
        assert first.post("counts", act="count", **COUNT, frames="").status_code == 302
        page = second.page("counts?place=visited:right-third")
        assert "1 other counted this" in page
        assert "p001: 6" not in page
        assert "the tracks clearly" not in page
        assert "Counted by others, not by you" in page
        said = {**COUNT, "n": "7", "n_low": "7", "n_high": "7", "frames": ""}
        assert second.post("counts", act="count", **said).status_code == 302
        page = second.page("counts")
        assert "p001: 6 (6 to 7)" in page
        assert "they differ by 1, and both ranges hold 7; the tracks clearly show 5" in page


def test_windows_have_words():
    assert (when("whole"), when("8-80")) == ("in the whole video", "in frames 8-80")
    assert (span_of("whole"), span_of("8-80")) == (None, (8, 80))
    assert all(one.callback.roles for one in urls)
