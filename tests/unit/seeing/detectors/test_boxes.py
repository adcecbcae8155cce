"""Boxes that were found elsewhere: formats, sizes, frame rates, and what is wrong with files."""

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.media.video import open_video
from vidence.seeing.following import open_detector
from videos.walkers import Walker, film


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    return open_video(
        film(tmp_path_factory.mktemp("street") / "v.mp4", (Walker(left_px=50, top_px=60),), n_frames=20)
    )


def found(spec, video, frames=range(20)):
    return open_detector(spec).detect(video, frames)


def test_boxes_are_cut_to_the_frame_and_left_out_beyond_it(tmp_path, video):
    (tmp_path / "d.txt").write_text(
        "1,-1,-10,200,30,100,0.9\n1,-1,400,10,20,20,0.9\n1,-1,-50,-50,20,20,0.9\n2,-1,5,5,10,10,0.9\n"
    )
    seen = found(f"boxes:{tmp_path}/d.txt", video)
    assert seen.boxes_px.tolist() == [[0, 200, 20, 240], [5, 5, 15, 15]]
    assert seen.frame_indices.tolist() == [0, 1]


def test_only_confident_boxes_stay_the_best_first(tmp_path, video):
    (tmp_path / "d.txt").write_text(
        "".join(f"1,-1,{10 * i},5,10,10,{c}\n" for i, c in enumerate([0.2, 0.5, 0.9]))
    )
    assert found(f"boxes:{tmp_path}/d.txt", video).confidences.tolist() == [0.9, 0.5]
    assert found(f"boxes:{tmp_path}/d.txt?most=1&confidence=0.1", video).confidences.tolist() == [0.9]
    (tmp_path / "d.txt").write_text("1,3,5,5,10,10,-1,-1,-1,-1\n")  # not known counts as certain
    assert found(f"boxes:{tmp_path}/d.txt", video).confidences.tolist() == [1.0]
    (tmp_path / "d.txt").write_text("")
    assert len(found(f"boxes:{tmp_path}/d.txt", video).frame_indices) == 0


def test_margins_of_a_classifier_must_be_named_as_such(tmp_path, video):
    (tmp_path / "d.txt").write_text("1,-1,5,5,10,10,-0.4\n2,-1,5,5,10,10,2.0\n")
    with pytest.raises(DataError, match=r"confidences from -0\.4 to 2"):
        found(f"boxes:{tmp_path}/d.txt", video)
    seen = found(f"boxes:{tmp_path}/d.txt?scores=logistic", video)
    assert seen.confidences.tolist() == pytest.approx([1 / (1 + np.exp(0.4)), 1 / (1 + np.exp(-2.0))])


def test_ground_truth_gives_classes_and_only_what_counts(tmp_path, video):
    (tmp_path / "gt.txt").write_text("1,1,5,5,10,10,1,1,1\n1,2,50,5,10,10,0,1,1\n1,3,90,5,10,10,1,3,1\n")
    seen = found(f"boxes:{tmp_path}/gt.txt", video)
    assert [seen.class_names[int(i)] for i in seen.class_ids] == ["person", "car"]


def test_boxes_of_another_size_are_scaled(tmp_path, video):
    (tmp_path / "d.txt").write_text("1,-1,64,48,64,48,1\n")
    assert found(f"boxes:{tmp_path}/d.txt?size=640x480", video).boxes_px.tolist() == [[32, 24, 64, 48]]


def test_boxes_of_another_frame_rate_fall_on_the_frame_of_their_time(tmp_path, video):
    """At 20 frames per second every other frame of the file falls on a frame of the video at 10."""
    (tmp_path / "d.txt").write_text("".join(f"{f + 1},-1,{f},5,10,10,1\n" for f in range(40)))
    with pytest.raises(DataError, match=r"beyond the end .* frame 40, and it has 20.*fps=30"):
        found(f"boxes:{tmp_path}/d.txt", video)
    seen = found(f"boxes:{tmp_path}/d.txt?fps=20", video)
    assert seen.frame_indices.tolist() == list(range(20))
    assert seen.boxes_px[:, 0].tolist() == list(range(0, 40, 2))
    with pytest.raises(DataError, match=r"boxes at 7.80 s, and the last frame .* at 1.90 s"):
        found(f"boxes:{tmp_path}/d.txt?fps=5", video)


def test_a_table_with_a_header(tmp_path, video):
    (tmp_path / "b.csv").write_text(
        "frame,left,top,right,bottom,confidence,class\n3,1,2,11,22,0.8,person\n0,5,5,9,9,0.7,dog\n"
    )
    seen = found(f"boxes:{tmp_path}/b.csv", video)
    assert seen.frame_indices.tolist() == [0, 3]
    assert [seen.class_names[int(i)] for i in seen.class_ids] == ["dog", "person"]
    (tmp_path / "t.csv").write_text("time_s,left,top,width,height\n0.55,1,2,10,20\n")
    assert found(f"boxes:{tmp_path}/t.csv", video).frame_indices.tolist() == [5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("frame,left,top,right\n1,2,3,4\n", "has the columns"),
        ("some words\n", "has the columns some words; expected frame"),
        ("frame,left,top,right,bottom\n1,2,3,9,9\n2,1,1,3,3,4,5\n", "has the columns"),
        ("frame,left,top,right,bottom\n1,2,3,4,\n", "line 2"),
        ("frame,left,top,right,bottom\n1,2,3,9,9\n1,9,9,2,2\n", "line 3: expected finite numbers"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path, text, said):
    (tmp_path / "b.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        open_detector(f"boxes:{tmp_path}/b.csv")


def test_no_file_a_missing_file_an_unknown_option(tmp_path):
    with pytest.raises(UsageError, match="'boxes' needs its path after a colon"):
        open_detector("boxes")
    with pytest.raises(DataError, match="cannot be read"):
        open_detector(f"boxes:{tmp_path}/none.txt")
    (tmp_path / "d.txt").write_text("1,-1,5,5,10,10,1\n")
    with pytest.raises(UsageError, match="Did you mean 'confidence'"):
        open_detector(f"boxes:{tmp_path}/d.txt?confidense=0.4")
    with pytest.raises(UsageError, match="WIDTHxHEIGHT"):
        open_detector(f"boxes:{tmp_path}/d.txt?size=768")
