"""How many people a detector finds, by frames that a person looked at."""

from dataclasses import replace

import numpy as np
import pytest

from subjects.tracks import video, walk
from vidence.seeing.recall import (
    LEAST_POOLED,
    LabelledFrame,
    Sample,
    counted_frame,
    marked_frame,
    people_of,
    pooled_recall,
    recall_of,
    sample_of,
    shown,
    with_recall,
)
from vidence.seeing.space import named_regions
from vidence.seeing.tracks import TrackBasis

LEFT = walk("left", [(100 + i, 400) for i in range(100)], first=10)
RIGHT = walk("right", [(800, 400)] * 40, first=10)
SHORT = walk("short", [(500, 100)] * 8, first=15)


def looked(time_s: float, real: int, missed: int, false: int = 0) -> LabelledFrame:
    """A frame in which others are found each time."""
    return LabelledFrame(
        time_s=time_s,
        n_people=real + missed,
        real=tuple(f"r{time_s}-{i}" for i in range(real)),
        false=tuple(f"f{time_s}-{i}" for i in range(false)),
    )


def sample(*frames: LabelledFrame, stay_s: float = 1.0, length: int = 10) -> Sample:
    names = [name for one in frames for name in (*one.real, *one.false)]
    return Sample(looked=frames, lengths=dict.fromkeys(names, length), stay_s=stay_s)


def test_the_boxes_of_a_frame_are_those_of_people_the_longest_track_first() -> None:
    car = walk("car", [(500, 400)] * 50, first=10, kind="car")
    tracked = video([RIGHT, LEFT, car])
    assert shown(tracked, 20) == ("left", "right")
    assert shown(tracked, 60) == ("left",)
    region = named_regions(1000, 800)["right-half"]
    assert shown(tracked, 20, region) == ("right",)


def test_who_is_left_out_counts_from_half_a_second_on() -> None:
    flicker = walk("flicker", [(300, 300)] * 4, first=15)
    tracked = replace(video([LEFT]), others=(SHORT, flicker))
    assert [one.track_id for one in people_of(tracked)] == ["left", "short"]


def test_false_boxes_of_a_counted_frame_are_those_of_the_shortest_tracks() -> None:
    found = counted_frame(video([LEFT, SHORT, RIGHT]), 16, n_people=4, n_false=1)
    assert (found.n_people, found.real, found.false) == (4, ("left", "right"), ("short",))


@pytest.mark.parametrize(
    ("n_people", "n_false", "words"),
    [(1, 0, "leave 3 people, but 1 were counted"), (5, 4, "4 false boxes, but the frame has 3")],
)
def test_counts_that_cannot_be(n_people: int, n_false: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        counted_frame(video([LEFT, SHORT, RIGHT]), 16, n_people=n_people, n_false=n_false)


def test_marked_people_are_matched_by_their_boxes() -> None:
    people = np.array([[60.0, 300, 160, 500], [300, 300, 400, 500]])  # where LEFT is, and somebody missed
    ignored = np.array([[450.0, 0, 550, 200]])  # a reflection where SHORT is
    found = marked_frame(video([LEFT, SHORT, RIGHT]), 16, people_px=people, ignored_px=ignored)
    assert (found.n_people, found.real, found.false) == (2, ("left",), ("right",))
    region = named_regions(1000, 800)["left-half"]
    found = marked_frame(video([LEFT, RIGHT]), 16, people_px=people, ignored_px=ignored, region=region)
    assert (found.n_people, found.real, found.false) == (2, ("left",), ())


def test_frames_far_apart_tell_more_than_frames_of_one_moment() -> None:
    apart = recall_of(sample(*(looked(10.0 * i, 4, 1) for i in range(6))), confidence=0.95)
    together = recall_of(sample(*(looked(0.1 * i, 4, 1) for i in range(6))), confidence=0.95)
    assert apart is not None
    assert together is not None
    assert apart.share == together.share == 0.8
    assert (apart.n_independent, together.n_independent) == (30, 5)
    assert together.low < apart.low < 0.8 < apart.high < together.high


def test_bounds_are_those_of_a_beta_distribution() -> None:
    from scipy import stats

    found = recall_of(sample(*(looked(10.0 * i, 4, 1) for i in range(6))), confidence=0.9)
    assert found is not None
    assert [found.low, found.high] == pytest.approx(stats.beta(25, 7).ppf([0.05, 0.95]))


def test_moments_that_differ_are_worth_less() -> None:
    same = recall_of(sample(*(looked(10.0 * i, 4, 4) for i in range(6))), confidence=0.95)
    mixed = recall_of(
        sample(*(looked(10.0 * i, 8 * (i % 2), 8 - 8 * (i % 2)) for i in range(6))), confidence=0.95
    )
    assert same is not None
    assert mixed is not None
    assert same.share == mixed.share == 0.5
    assert mixed.n_independent < 6 < same.n_independent


def test_false_tracks_count_by_their_number_not_their_length() -> None:
    """Ten tracks of 100 boxes and ten false ones of 10: in a frame ten boxes to one, in all half of them."""
    frames = [
        LabelledFrame(
            time_s=float(10 * i), n_people=10, real=tuple(f"r{k}" for k in range(10)), false=(f"f{i}",)
        )
        for i in range(10)
    ]
    lengths = {f"r{k}": 100 for k in range(10)} | {f"f{i}": 10 for i in range(10)}
    found = recall_of(Sample(looked=tuple(frames), lengths=lengths, stay_s=1.0), confidence=0.95)
    assert found is not None
    assert found.false_share == pytest.approx(0.5)
    assert found.n_independent_tracks == pytest.approx(20)


def test_empty_frames_tell_nothing() -> None:
    assert recall_of(sample(looked(0.0, 0, 0), looked(9.0, 0, 0)), confidence=0.95) is None


def test_videos_that_were_counted_speak_for_others_from_three_on() -> None:
    some = [
        recall_of(sample(*(looked(10.0 * i, 9, 1) for i in range(6))), confidence=0.95),
        recall_of(sample(*(looked(10.0 * i, 8, 2) for i in range(6))), confidence=0.95),
        recall_of(sample(*(looked(10.0 * i, 7, 3) for i in range(6))), confidence=0.95),
    ]
    known = [one for one in some if one is not None]
    assert LEAST_POOLED == 3
    assert pooled_recall(known[:2], confidence=0.95) is None
    pooled = pooled_recall(known, confidence=0.95)
    assert pooled is not None
    assert pooled.share == pytest.approx(0.8)
    assert pooled.low < min(one.low for one in known)
    assert pooled.n_videos == 3


def test_tracks_say_their_recall_by_region() -> None:
    whole = recall_of(sample(*(looked(10.0 * i, 9, 1) for i in range(6))), confidence=0.95)
    there = recall_of(sample(*(looked(10.0 * i, 5, 5) for i in range(6))), confidence=0.95)
    assert whole is not None
    assert there is not None
    basis = with_recall(video([LEFT], basis=TrackBasis(detector="hog")), whole, {"top-half": there}).basis
    assert basis.detector == "hog"
    assert basis.recall_in("top-half") == there
    assert basis.recall_in("left-half") == whole


def test_how_long_a_track_lasts_that_is_met_in_a_frame() -> None:
    assert sample_of(video([LEFT]), []).stay_s == pytest.approx(9.9)
    mixed = sample_of(video([LEFT, RIGHT]), []).stay_s
    assert mixed == pytest.approx((9.9**2 + 3.9**2) / (9.9 + 3.9))
