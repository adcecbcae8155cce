"""Random frames of real clips against a plain decode from the start."""

import zlib

import av
import numpy as np
import pytest

from vidence.media.pixels import to_rgb
from vidence.media.video import open_video

_MOST_FRAMES = 500
_CLIPS = (
    "big_buck_bunny_60s_640x360.mp4",
    "intel_one_by_one_person_detection_768x432.mp4",
    "nasa_13013_320x180.mp4",
    "pets09_s2l1_view1_480x360.mp4",
    "pets09_s2l1_view1_768x576.mp4",
    "sintel_trailer_480x204.mp4",
)


@pytest.mark.parametrize("name", _CLIPS)
def test_random_frames_equal_a_plain_decode(name, data_dir):
    path = data_dir / "video" / name
    if not path.exists():
        pytest.skip(f"{path} is not there; set VIDENCE_DATA to the folder that has video/{name}")
    video = open_video(path)
    most = min(video.n_frames, _MOST_FRAMES)
    indices = np.sort(np.random.default_rng(len(name)).choice(most, 12, replace=False))
    wanted = set(indices.tolist())
    size = (video.probe.width_px, video.probe.height_px)
    expected = {}
    with av.open(str(path)) as container:
        for index, frame in enumerate(container.decode(video=0)):
            if index in wanted:
                expected[index] = zlib.crc32(to_rgb(frame, size=size, turn=video.scan.turn))
            if index == indices[-1]:
                break
    found = {
        int(i): zlib.crc32(image) for i, image in zip(indices, video.frames(indices, threads=2), strict=True)
    }
    assert found == expected
    assert video.probe.problem == ""
    assert video.probe.claimed.n_frames == video.probe.counted.n_frames
