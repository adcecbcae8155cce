"""The times of frames in ticks, on the file's own clock."""

from fractions import Fraction

import numpy as np
import pytest

from vidence.media.clock import read_clock
from vidence.media.video import open_video
from videos.stamped import copy, write


@pytest.mark.parametrize("name", ["h264", "vfr", "vp9", "vp8", "av1", "cut", "offset", "mkv", "mpeg4-avi-b"])
def test_ticks_are_the_times_of_the_frames(clip, name):
    video = open_video(clip(name).path)
    clock = read_clock(video)
    assert len(clock.ticks) == video.n_frames
    assert np.all(np.diff(clock.ticks) > 0)
    from_first = (clock.ticks - clock.ticks[0]) * float(clock.time_base)
    assert from_first == pytest.approx(video.times_s, abs=1e-9)
    assert clock.start_s == pytest.approx(float(clock.ticks[0] * clock.time_base))


def test_the_first_frame_keeps_its_time(clip, tmp_path):
    assert read_clock(open_video(clip("h264").path)).start_s == 0.0
    assert read_clock(open_video(clip("offset").path)).start_s == 5.0
    shifted = copy(clip("vp8").path, tmp_path / "later.webm", shift_s=2)
    assert read_clock(open_video(shifted)).start_s == 2.0


def test_the_pixel_format_is_that_of_the_decoder(clip):
    assert read_clock(open_video(clip("h264").path)).pixel_format == "yuv420p"


def test_a_folder_of_images_has_a_tick_for_each(tmp_path):
    from PIL import Image

    for i in range(3):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{i}.png")
    clock = read_clock(open_video(tmp_path, kind="frames"))
    assert (clock.ticks.tolist(), clock.time_base, clock.start_s) == ([0, 1, 2], Fraction(1), 0.0)


def test_a_short_one_has_its_own_time_base(tmp_path):
    path = write(tmp_path / "a.mp4", numbers=range(5), time_base=Fraction(1001, 30000))
    clock = read_clock(open_video(path))
    assert clock.ticks.tolist() == [0, 1001, 2002, 3003, 4004]
    assert clock.time_base == Fraction(1, 30000)
