"""Pictures become a video: exact times, lossless pixels, what is refused."""

from fractions import Fraction

import av
import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.media.written import video_file, write_video


def pictures(n=12, width_px=96):
    return list(np.random.default_rng(0).integers(0, 256, (n, 64, width_px, 3), dtype=np.uint8))


def test_a_lossless_video_has_the_very_pixels_at_the_exact_times(tmp_path):
    drawn, path = pictures(), tmp_path / "clip.mp4"
    with video_file(path, fps=30_000 / 1001, size_px=(96, 64), is_lossless=True) as add:
        for picture in drawn:
            add(picture)
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
    assert [f.pts * f.time_base for f in frames] == [Fraction(1001 * n, 30_000) for n in range(12)]
    assert all(np.array_equal(f.to_ndarray(format="rgb24"), p) for f, p in zip(frames, drawn, strict=True))


@pytest.mark.parametrize(
    ("name", "drawn", "words"),
    [
        ("a.mp4", pictures(width_px=95), "even"),
        ("a.avi", pictures(), "ends in"),
        ("a.mp4", [], "no pictures"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, name, drawn, words):
    with pytest.raises(UsageError, match=words):
        write_video(drawn, tmp_path / name, fps=24.0)
