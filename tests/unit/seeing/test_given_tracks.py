"""Tracks that people gave: identities, classes, marks, sizes and rates, and files of another video."""

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.seeing.following import open_detector
from vidence.seeing.given_tracks import open_tracks
from videos.walkers import HEIGHT, WIDTH, Walker, film

N_FRAMES = 20  # at 10 frames per second


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    return open_video(film(folder / "v.mp4", (Walker(left_px=50, top_px=60),), n_frames=N_FRAMES))


def given(folder, video, *lines, options=""):
    (folder / "gt.txt").write_text("\n".join(lines) + "\n")
    return open_tracks(f"mot:{folder}/gt.txt{options}").of(video)


def test_identities_stay_and_gaps_stay_gaps(tmp_path, video):
    lines = [f"{f + 1},7,{10 + f},5,20,40,1,-1,-1,-1" for f in (0, 1, 2, 9, 10)]
    lines += [f"{f + 1},12,{100 + f},5,20,40,1,-1,-1,-1" for f in range(3, 8)]
    found = given(tmp_path, video, *lines)
    assert [track.track_id for track in found.tracks] == ["7", "12"]
    assert found.tracks[0].frame_indices.tolist() == [0, 1, 2, 9, 10]
    assert found.tracks[0].boxes_px[3].tolist() == [19, 5, 39, 45]
    assert found.tracks[0].is_detected.all()
    assert found.others == ()
    assert found.notes == (
        "the tracks of gt.txt end at 1.0 s, and v.mp4 at 1.9 s; after that the scene counts as empty. If "
        "frame numbers have another rate than 10, add ?fps=",
    )


def test_classes_and_marks_say_who_is_asked_about(tmp_path, video):
    """A car is nobody; who sits, or is not to be considered, is somebody whom no question is about."""
    found = given(
        tmp_path,
        video,
        "1,1,5,5,20,40,1,1,1",
        "20,1,5,5,20,40,1,1,1",
        "1,2,50,5,20,40,1,3,1",
        "1,3,80,5,20,40,1,7,1",
        "1,4,110,5,20,40,0,1,1",
        "2,1,5,5,20,40,0,1,1",
        "1,5,140,5,20,40,1,12,1",
    )
    assert [track.track_id for track in found.tracks] == ["1"]
    assert [track.track_id for track in found.others] == ["1/other", "3", "4"]
    assert [one.what for one in found.dropped] == ["1/other", "3", "4"]
    assert {one.reason for one in found.dropped} == {"not-considered"}
    assert found.notes == ()
    # Boxes are cut to the picture, and a few may leave it.
    lines = [f"{f % 20 + 1},{1 + f // 20},-8,5,20,40,1" for f in range(40)] + [f"20,9,{WIDTH + 5},5,20,40,1"]
    found = given(tmp_path, video, *lines)
    assert [track.track_id for track in found.tracks] == ["1", "2"]
    assert found.tracks[0].boxes_px[0].tolist() == [0, 5, 12, 45]


def test_what_is_hardly_visible_is_left_out_where_wanted(tmp_path, video):
    lines = [f"{f + 1},1,5,5,20,40,1,1,{v}" for f, v in enumerate([1, 0.1, 0.6, 0])]
    assert given(tmp_path, video, *lines).tracks[0].frame_indices.tolist() == [0, 1, 2, 3]
    some = given(tmp_path, video, *lines, options="?visibility=0.3")
    assert some.tracks[0].frame_indices.tolist() == [0, 2]
    with pytest.raises(DataError, match=r"no box in .*gt.txt is as visible as 1"):
        given(tmp_path, video, "1,1,5,5,20,40,1,1,0.5", options="?visibility=1")


def test_frames_between_annotated_ones_are_filled_and_gaps_are_not(tmp_path, video):
    """Every third frame was annotated; of the second person one annotation is missing."""
    lines = [f"{f + 1},1,{f},5,20,40,1" for f in (0, 3, 6, 9)] + [f"{f + 1},2,9,5,20,40,1" for f in (0, 6, 9)]
    one, other = given(tmp_path, video, *lines).tracks
    assert one.frame_indices.tolist() == list(range(10))
    assert one.boxes_px[:, 0].tolist() == list(range(10))
    assert one.is_detected.tolist() == [f % 3 == 0 for f in range(10)]
    assert other.frame_indices.tolist() == [0, 6, 7, 8, 9]


def test_another_size_and_another_rate(tmp_path, video):
    """At 5 frames per second every second frame of the video is annotated."""
    size = f"{2 * WIDTH}x{2 * HEIGHT}"
    lines = [f"{f + 1},1,{20 + 4 * f},10,40,80,1" for f in range(10)]
    (track,) = given(tmp_path, video, *lines, options=f"?size={size}&fps=5").tracks
    assert track.frame_indices.tolist() == list(range(19))
    np.testing.assert_allclose(track.boxes_px[:, 0], 10 + np.arange(19))
    with pytest.raises(DataError, match=r"has boxes at 4.50 s, and .* at 1.90 s"):
        given(tmp_path, video, *lines, options="?fps=2")
    lines = [f"{f + 1},1,{f},5,20,40,1" for f in range(40)]
    (track,) = given(tmp_path, video, *lines, options="?fps=20").tracks
    assert track.boxes_px[:, 0].tolist() == list(range(0, 40, 2))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["25,1,5,5,20,40,1", "2,1,5,5,20,40,1"], r"1 of 2 boxes beyond the end .* frame 25, and it has 20"),
        ([f"1,1,{WIDTH},5,20,40,1"], rf"1 of 1 boxes .* outside of .*{WIDTH} x {HEIGHT}; they reach to"),
        (["1,-1,5,5,20,40,1"], r"no identities"),
        (["1,1,5,5,20,40,1", "1,1,9,5,20,40,1"], r"has the id 1 more than once in frame 1"),
        (["1,1,5,5,20,40,1,3,1"], r"no box of a person .*: 1 car, 0 not to be considered"),
        ([""], r"is empty"),
        (["1,1,5,5"], r"line 1: 4 numbers"),
    ],
)
def test_files_that_are_not_tracks_of_the_video(tmp_path, video, lines, said):
    with pytest.raises(DataError, match=said):
        given(tmp_path, video, *lines)


@pytest.mark.parametrize("spec", ["gt.txt", "mot:", "coco:gt.json", "mot:gt.txt?size=wide", "mot:gt.txt?x=1"])
def test_a_spec_that_names_no_tracks(spec, tmp_path):
    (tmp_path / "gt.txt").write_text("1,1,5,5,20,40,1\n")
    with pytest.raises(UsageError):
        open_tracks(spec, folder=tmp_path)


def test_what_tracks_rest_on_and_what_they_depend_on(tmp_path, video):
    (tmp_path / "gt.txt").write_text("1,1,5,5,20,40,77\n")
    tracks = open_tracks("mot:gt.txt", folder=tmp_path)
    assert tracks.basis.kind == "given"
    assert tracks.basis.detector == "mot:gt.txt"
    assert tracks.basis.is_trusted
    assert tracks.identity != open_tracks("mot:gt.txt?visibility=0.5", folder=tmp_path).identity
    boxes = open_detector(tracks.boxes_spec).detect(video, range(N_FRAMES))
    assert boxes.boxes_px.tolist() == [[5, 5, 25, 45]]
    assert boxes.confidences.tolist() == [1]
