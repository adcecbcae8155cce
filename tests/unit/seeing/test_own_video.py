"""Boxes that go along with what they show, and boxes that slide over it."""

from dataclasses import replace

import numpy as np
import pytest

from vidence.errors import DataError
from vidence.media.video import open_video
from vidence.seeing.given_tracks import open_tracks
from vidence.seeing.own_video import LEAST_STEPS, MOST_STEPS, followed
from vidence.seeing.tracks import PERSON, Track
from videos.walkers import Walker, film, mot_lines

N_FRAMES = 60
CROSSING = tuple(
    Walker(left_px=-5.0 + 10 * i, top_px=4 + 80 * i, speed_px=(5, 0), size_px=(16, 32), coat=coat)
    for i, coat in enumerate([(180, 30, 30), (30, 120, 40), (30, 60, 200)])
)


def tracks_of(walkers: tuple[Walker, ...], *, n_frames: int = N_FRAMES) -> tuple[Track, ...]:
    found = []
    for number, walker in enumerate(walkers, start=1):
        boxes = {f: walker.box(f) for f in range(n_frames)}
        inside = {f: box for f, box in boxes.items() if box[0] >= 0 and box[2] <= 320}
        found.append(
            Track(
                track_id=str(number),
                class_name=PERSON,
                frame_indices=np.array(list(inside), np.int64),
                boxes_px=np.array(list(inside.values()), np.float64),
                confidences=np.ones(len(inside)),
                is_detected=np.ones(len(inside), np.bool_),
            )
        )
    return tuple(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("own")


@pytest.fixture(scope="module")
def video(folder):
    return open_video(film(folder / "v.mp4", CROSSING, n_frames=N_FRAMES))


def test_true_boxes_are_followed(video):
    found = followed(video, tracks_of(CROSSING))
    assert LEAST_STEPS <= found.n_steps <= MOST_STEPS
    assert found.share >= 0.9
    assert not found.is_other


@pytest.mark.parametrize(
    "others",
    [
        tuple(replace(one, top_px=one.top_px + 40) for one in CROSSING),
        tuple(replace(one, left_px=one.left_px + 70) for one in CROSSING),
        tuple(replace(one, left_px=280.0 - one.left_px, speed_px=(-5, 0)) for one in CROSSING),
    ],
    ids=["other places", "another time", "another way"],
)
def test_other_boxes_are_not(video, others):
    found = followed(video, tracks_of(others))
    assert found.is_known
    assert found.is_other


def test_of_people_who_stand_nothing_is_known(video):
    found = followed(video, tracks_of(tuple(replace(one, left_px=50.0, speed_px=(0, 0)) for one in CROSSING)))
    assert (found.n_steps, found.is_known, found.is_other) == (0, False, False)


def test_filled_in_boxes_and_gaps_are_no_steps(video):
    tracks = tracks_of(CROSSING)
    assert followed(video, [replace(one, is_detected=one.is_detected & False) for one in tracks]).n_steps == 0
    far = [one.part(slice(None, None, 30)) for one in tracks]
    assert followed(video, far).n_steps == 0


def test_a_file_that_is_of_another_video_is_refused_unless_somebody_is_sure(folder, video):
    others = tuple(replace(one, top_px=one.top_px + 40) for one in CROSSING)
    path = folder / "gt.txt"
    path.write_text(mot_lines(others, n_frames=N_FRAMES, with_ids=True))
    with pytest.raises(DataError, match=r"does not seem to be of .*v.mp4: what is in a box goes along"):
        open_tracks(f"mot:{path}").check_belonging(video)
    assert open_tracks(f"mot:{path}?sure=true").check_belonging(video) == ()
    path.write_text(mot_lines(CROSSING, n_frames=N_FRAMES, with_ids=True))
    assert open_tracks(f"mot:{path}").check_belonging(video) == ()


def test_tracks_that_end_before_the_middle_are_refused(folder, video):
    path = folder / "short.txt"
    path.write_text(mot_lines(CROSSING, n_frames=N_FRAMES // 2 - 2, with_ids=True))
    with pytest.raises(DataError, match=r"the tracks end at 2.7 s, and the video at 5.9 s\. Is it"):
        open_tracks(f"mot:{path}").check_belonging(video)
    (note,) = open_tracks(f"mot:{path}?sure=true").check_belonging(video)
    assert "nobody counts as there after that" in note
