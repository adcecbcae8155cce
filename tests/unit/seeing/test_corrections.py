"""Tracks as people correct them: each verdict, their order, and everything that contradicts itself."""

import numpy as np
import pytest

from subjects.tracks import video, walk
from vidence.errors import DataError
from vidence.seeing.corrections import TrackVerdict, correct, track_check


def track(name, first, n=30):
    return walk(name, [(100.0 + i, 100.0) for i in range(n)], size=(40, 80), first=first)


TRACKS = (track("1", 0), track("2", 40), track("3", 20))
OTHERS = (track("4", 60), track("5", 80, n=2))
VIDEO = video(list(TRACKS), size=(640, 480), n_frames=100, fps=10.0)


def say(*said, all_at=""):
    verdicts = [
        TrackVerdict(
            track_id=name,
            verdict=verdict.partition("@")[0].partition(":")[0],
            at_frames=tuple(int(at) for at in verdict.partition("@")[2].split(",") if at),
            into=verdict.partition(":")[2],
            where=f"tracks.csv:{line}",
        )
        for line, (name, verdict) in enumerate(said, 2)
    ]
    return correct(TRACKS, OTHERS, verdicts, video=VIDEO, all_at=all_at)


def names(tracks):
    return [one.track_id for one in tracks]


def test_without_verdicts_nothing_changes():
    done = say()
    assert (done.tracks, done.others, done.dropped, done.is_complete) == (TRACKS, OTHERS, (), False)


def test_a_phantom_counts_nowhere_and_who_is_dropped_still_counts():
    done = say(("1", "phantom"), ("4", "phantom"), ("2", "drop"), ("3", "ok"))
    assert names(done.tracks) == ["3"]
    assert names(done.others) == ["5", "2"]
    assert [(one.what, one.reason) for one in done.dropped] == [
        ("1", "phantom"),
        ("4", "phantom"),
        ("2", "dropped-by-people"),
    ]


def test_whom_a_program_left_out_is_let_in():
    assert names(say(("4", "ok")).tracks) == ["1", "2", "3", "4"]


def test_a_track_is_split_where_it_changes_the_person_and_its_parts_are_spoken_of():
    done = say(("1", "switch@10,20"), ("1/2", "phantom"), ("1/3", "merge:2"))
    assert names(done.tracks) == ["1/1", "2", "3"]
    first, joined, _ = done.tracks
    assert first.frame_indices.tolist() == list(range(10))
    assert joined.frame_indices.tolist() == [*range(20, 30), *range(40, 70)]
    assert np.all(np.diff(joined.frame_indices) > 0)


def test_fragments_are_joined_in_the_order_of_time_whatever_the_chain():
    done = correct(
        (track("1", 0, n=10), track("2", 20, n=10), track("3", 40, n=10)),
        (),
        [
            TrackVerdict(track_id="3", verdict="merge", into="1"),
            TrackVerdict(track_id="2", verdict="merge", into="3"),
        ],
        video=VIDEO,
    )
    (one,) = done.tracks
    assert one.track_id == "1"
    assert one.frame_indices.tolist() == [*range(10), *range(20, 30), *range(40, 50)]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ([("9", "ok")], "tracks.csv:2: there is no track '9'; there are 5 (1, 2, 3, 4, 5)"),
        ([("1", "ok"), ("1", "drop")], "tracks.csv:3: a second verdict on the track 1, after tracks.csv:2"),
        ([("1", "switch@0")], "tracks.csv:2: the track 1 is to be split at 0; expected frames from 1 to 29"),
        ([("1", "switch@99")], "expected frames from 1 to 29"),
        ([("1", "switch@20,10")], "expected frames from 1 to 29, ascending"),
        ([("1", "switch@10"), ("1/3", "ok")], "the track 1 is not split that often"),
        ([("1", "merge:1")], "the track 1 is joined with itself"),
        ([("1", "merge:2"), ("2", "merge:1")], "joined with itself"),
        ([("1", "merge:2"), ("2", "phantom")], "joined with 2, which is a phantom (tracks.csv:3)"),
        ([("1", "merge:7")], "joined with '7', which there is not"),
        ([("2", "switch@50"), ("1", "merge:2")], "it is split, name its part, 2/1"),
        ([("3", "merge:1")], "cannot be one person: both have a box in 10 frames, 20 to 29"),
    ],
)
def test_what_contradicts_itself_is_named_with_its_line(said, why):
    with pytest.raises(DataError) as refused:
        say(*said)
    assert why in str(refused.value)


def test_tracks_of_different_shots_are_not_joined():
    from dataclasses import replace

    from vidence.seeing.tracks import Span

    cut = replace(VIDEO, shots=(Span(first_frame=0, last_frame=34), Span(first_frame=35, last_frame=99)))
    with pytest.raises(DataError, match="different shots"):
        correct(TRACKS, (), [TrackVerdict(track_id="2", verdict="merge", into="1")], video=cut)


def test_verdicts_on_other_tracks_are_noticed_and_say_what_to_do():
    fresh = [TrackVerdict(track_id="1", verdict="ok", check=track_check(TRACKS[0]))]
    assert names(correct(TRACKS, (), fresh, video=VIDEO).tracks) == ["1", "2", "3"]
    stale = [TrackVerdict(track_id="1", verdict="ok", check=track_check(TRACKS[1]), where="tracks.csv:2")]
    with pytest.raises(
        DataError, match=r"tracks.csv:2: 1 verdicts were given on other tracks \(1\).*--sheets"
    ):
        correct(TRACKS, (), stale, video=VIDEO)


def test_the_check_of_a_track_follows_its_boxes_and_holds_no_digit():
    checks = {track_check(one) for one in (*TRACKS, *OTHERS)}
    assert len(checks) == 5
    assert not any(letter.isdigit() for check in checks for letter in check)
    assert track_check(TRACKS[0]) == track_check(track("other name", 0))


def test_tracks_are_answered_for_only_where_a_person_says_that_nobody_is_missing():
    every = [(name, "ok") for name in "1234"]
    assert not say(*every).is_complete
    assert say(*every, all_at="tracks.csv:9").is_complete  # 5 is too short to be looked at
    with pytest.raises(DataError, match=r"tracks.csv:9: everybody .* 2 tracks have no verdict \(3, 4\)"):
        say(("1", "ok"), ("2", "ok"), all_at="tracks.csv:9")
