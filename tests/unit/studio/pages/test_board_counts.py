"""The board of counts: windows and places, ranges, a second counter who is blind."""

from vidence.make.review.people.rows import CountRow, read_rows
from vidence.studio.pages.board_counts import places, rectangles

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


def test_what_makes_no_sense_is_refused_and_stays_typed(boards):
    for wrong in [
        {"n": "x"},
        {"n": "3"},
        {"place": "visited:"},
        {"place": "shouted:left"},
        {"first": "80", "last": "8"},
        {"first": "8", "last": "999"},
        {"frames": "1 b"},
        {"first": "8", "last": "80", "frames": "100"},
    ]:
        answer = boards.post("counts", act="count", **{**COUNT, "frames": "", **wrong})
        assert answer.status_code == 400
        assert boards.file("counts.csv") == ""
    answer = boards.post("counts", act="count", **{**COUNT, "n_high": "2"}, frames="", note="two at once")
    page = answer.content.decode()
    assert answer.status_code == 400
    assert 'name="n_high" inputmode="numeric" size="4" value="2"' in page
    assert 'value="two at once"' in page
    page = boards.page("counts?place=visited:right-third")
    assert "the tracks clearly" not in page
    assert "<rect" in page
    assert boards.post("counts", act="count", **COUNT, frames="61 70 80").status_code == 302
    page = boards.page("counts")
    assert "solo: 6" in page
    assert "counted once" in page
    assert "the tracks clearly show 5" in page
    assert "1 count, drafts of this video" in page
    (row,) = read_rows(boards.street.people, CountRow, videos=None)
    assert (row.window, row.n, row.n_high, row.frames) == ("whole", 6, 7, (61, 70, 80))
    assert boards.post("counts", act="undo").status_code == 302
    assert boards.file("counts.csv") == ""
    assert "Redone next time" not in boards.page("counts")


def test_a_second_counter_does_not_see_the_first(two_boards):
    first, second = two_boards
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
    assert "they differ by 1, and both ranges hold 7; the tracks clearly show 5 of 7: recall 0.71" in page


def agree(boards, n, **more):
    said = {**COUNT, "n": n, "n_low": n, "n_high": n, "frames": "", **more}
    return boards.post("counts", act="agree", **said)


def test_counters_see_their_difference_and_agree(two_boards):
    first, second = two_boards
    fives = {**COUNT, "n": "3", "n_low": "3", "n_high": "3"}
    assert first.post("counts", act="count", **fives, frames="5 40 60").status_code == 302
    assert agree(first, "4").status_code == 400  # alone
    assert agree(second, "4").status_code == 400  # who has not counted
    fours = {**COUNT, "n": "4", "n_low": "4", "n_high": "4"}
    assert second.post("counts", act="count", **fours, frames="6 41 62 85").status_code == 302
    page = second.page("counts?place=visited:right-third")
    assert "no number is in both ranges: look again together" in page
    assert "frame 85: p002, not p001" in page
    assert '{"name":"p001","frames":[5,40,60]}' in page.replace("&quot;", '"')
    assert 'value="5 40 60 85"' in page
    assert agree(second, "4", frames="5 40 60 85").status_code == 302
    assert agree(second, "4").status_code == 400  # once
    assert "p001 has not agreed yet" in second.page("counts")
    assert agree(first, "5").status_code == 302
    assert "they say different numbers: p002 4 (4 to 4); p001 5 (5 to 5)" in first.page("counts")
    assert first.post("counts", act="undo").status_code == 302
    assert agree(first, "4").status_code == 302
    assert "agreed on 4 (4 to 4)." in first.page("counts")
    rows = read_rows(first.street.people, CountRow, videos=None)
    assert [(one.counter, one.n, one.agreed) for one in rows] == [
        ("p001", 3, ()),
        ("p002", 4, ()),
        ("p002", 4, ("p001", "p002")),
        ("p001", 4, ("p001", "p002")),
    ]
