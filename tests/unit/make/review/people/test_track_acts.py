"""Rows on tracks, done one after the other on the tracks that programs left."""

from dataclasses import replace

import pytest

from subjects.tracks import shots, video, walk
from vidence.make.review.people.checks import check_of_everybody, check_of_track
from vidence.make.review.people.rows import TrackRow
from vidence.make.review.people.track_acts import apply_tracks, left_by_people


def track(name, first, n=30):
    return walk(name, [(100.0 + i, 100.0) for i in range(n)], size=(40, 80), first=first)


TRACKS = (track("1", 0), track("2", 40), track("3", 20))
OTHERS = (track("4", 60), track("5", 80, n=2))
VIDEO = replace(video(list(TRACKS), size=(640, 480), n_frames=100, fps=10.0), others=OTHERS)
BY_NAME = {one.track_id: one for one in (*TRACKS, *OTHERS)}


def row(name, act, *, seen=None, line=2):
    shown = seen or BY_NAME.get(name.partition("/")[0], TRACKS[0])
    return TrackRow(
        video_id="v",
        check=check_of_track(shown),
        track_id=name,
        act=act,
        by="P03",
        where=f"people/tracks.csv:{line}",
    )


def done(*said):
    return apply_tracks(VIDEO, [row(name, act, line=i) for i, (name, act) in enumerate(said, 2)])


def names(tracks):
    return [one.track_id for one in tracks]


def test_without_rows_nothing_changes():
    made = apply_tracks(VIDEO, [])
    assert (made.tracks, made.others, made.dropped, made.unused) == (TRACKS, OTHERS, (), ())


def test_what_goes_is_by_a_person_and_says_who_and_why():
    made = done(("1", "phantom"), ("2", "split:50"))
    assert names(made.tracks) == ["2/1", "2/2", "3"]
    assert [(one.what, one.reason, one.detail) for one in made.dropped] == [
        ("1", "by-a-person", "a person saw that it shows no one: phantom, P03"),
        ("2", "by-a-person", "a person saw another person from frame 50: split:50, P03"),
    ]
    assert set(made.touched) == {"1", "2", "2/1", "2/2"}


def test_whom_programs_left_out_is_let_in_by_ok():
    assert names(done(("4", "ok")).tracks) == ["1", "2", "3", "4"]


def test_who_is_set_aside_still_counts():
    made = done(("2", "aside"))
    assert (names(made.tracks), names(made.others)) == (["1", "3"], ["4", "5", "2"])


def everybody(tracked=VIDEO):
    return TrackRow(
        video_id="v", check=check_of_everybody(tracked), track_id="everybody", act="all", by="P03"
    )


ALL = [("1", "ok"), ("2", "split:50"), ("3", "aside"), ("4", "phantom")]  # the fifth is too short to look at


def test_a_person_answers_for_everybody_where_each_track_has_a_row():
    rows = [row(*one) for one in ALL]
    made = apply_tracks(VIDEO, [everybody(), *rows])
    assert made.is_complete
    assert not apply_tracks(VIDEO, rows).is_complete
    assert made.digest != apply_tracks(VIDEO, rows).digest


@pytest.mark.parametrize(
    ("rows", "of", "why"),
    [
        (ALL[1:], VIDEO, "1 tracks have no row that counts (1)"),
        (ALL, replace(VIDEO, others=()), "the tracks have changed since; look at them again"),
    ],
)
def test_a_row_on_everybody_that_is_not_true_is_not_used(rows, of, why):
    made = apply_tracks(VIDEO, [*(row(*one) for one in rows), everybody(of)])
    assert (made.is_complete, [one.why for one in made.unused]) == (False, [why])


def test_a_join_over_a_cut_is_not_done():
    cut = replace(VIDEO, shots=shots(35))
    (unused,) = apply_tracks(cut, [row("2", "join:1")]).unused
    assert "in different shots; tracks end at cuts" in unused.why


def test_a_join_has_one_name_and_fills_no_gap():
    (joined,) = [one for one in done(("2", "join:1")).tracks if one.track_id == "1"]
    assert joined.frame_indices.tolist() == [*range(30), *range(40, 70)]


def test_one_person_seen_twice_counts_and_is_not_asked_about():
    made = done(("1", "same-as:2"))
    assert names(made.tracks) == ["3"]
    assert names(made.others) == ["4", "5", "1", "2"]
    assert [one.what for one in made.dropped] == ["1", "2"]
    assert "the same person as 2, who comes back" in made.dropped[0].detail


def test_wrong_boxes_go_and_a_track_with_the_last_one():
    made = done(("1", "drop:0-9"), ("2", "drop:0-99"))
    assert names(made.tracks) == ["1", "3"]
    assert made.tracks[0].first_frame == 10
    assert [one.what for one in made.dropped] == ["1, frames 0 to 9", "2"]


def test_a_second_split_seen_on_the_whole_track_is_one_of_its_part():
    made = done(("1", "split:10"), ("1", "split:20"))
    assert names(made.tracks)[:3] == ["1/1", "1/2/1", "1/2/2"]
    assert made.unused == ()


def test_a_row_on_a_part_is_known_by_the_check_of_the_part():
    part = done(("1", "split:10")).tracks[1]
    said = [row("1", "split:10"), row("1/2", "phantom", seen=part)]
    assert names(apply_tracks(VIDEO, said).tracks) == ["1/1", "2", "3"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([("9", "ok")], "there is no track 9"),
        ([("1", "split:10"), ("2", "join:1")], "there is no track 1; it is split, name its part, 1/1"),
        ([("1", "join:9")], "there is no track 9"),
        ([("1", "join:3")], "the tracks 1 and 3 cannot be one person"),
        ([("1", "same-as:3")], "the tracks 1 and 3 cannot be one person"),
        ([("1", "split:50")], "the track 1 is to be split at 50; expected a frame from 1 to 29"),
        ([("1", "drop:50-60")], "the track 1 has no box in the frames 50 to 60"),
        ([("1", "phantom"), ("1", "ok")], "an earlier row has changed the track 1"),
        ([("1", "split:10"), ("1", "phantom")], "an earlier row has changed the track 1"),
    ],
)
def test_a_row_that_cannot_be_done_is_named_and_the_others_count(said, why):
    made = done(*said, ("2", "phantom"))
    (unused,) = made.unused
    assert str(unused).startswith(f"people/tracks.csv:{len(said) + 1}: not used: ")
    assert why in unused.why
    assert "2" not in names(made.tracks)
    assert len(made.used) == len(said)


def test_a_row_on_a_track_that_has_changed_since_is_not_used():
    made = apply_tracks(VIDEO, [row("1", "phantom", seen=track("1", 1))])
    assert made.tracks == TRACKS
    assert made.unused[0].why == "the track 1 has changed since; look at it again"
    assert made.digest == apply_tracks(VIDEO, []).digest


def test_the_digest_is_of_what_is_said_and_not_of_where_it_stands():
    one, two = row("1", "phantom", line=2), row("1", "phantom", line=9)
    assert apply_tracks(VIDEO, [one]).digest == apply_tracks(VIDEO, [two]).digest
    assert apply_tracks(VIDEO, [one]).digest != done(("2", "phantom")).digest


def test_a_preview_has_the_tracks_as_they_are_left():
    left = left_by_people(VIDEO, done(("1", "phantom")))
    assert names(left.tracks) == ["2", "3"]
    assert left.times_s is VIDEO.times_s
