"""Copies for browsers: the same frames at the same times; and which files need none."""

from fractions import Fraction

import numpy as np
import pytest

from vidence.errors import MediaError
from vidence.media import browser
from vidence.media.browser import plays_as_it_is, read_clock, write_copy
from vidence.media.video import open_video
from videos.stamped import copy, damage, packet_places, read_number, write

PLAYED = {"h264", "mov", "mkv", "vp8", "vp9", "av1", "cut", "trimmed", "turned-90"}
NOT_PLAYED = {
    *("hevc-open", "hevc-closed", "mpeg4", "mpeg4-avi", "mpeg2-ts", "ts", "avi", "open-gop", "intra-refresh"),
    "vfr",  # a jump to the frame before a keyframe lands on that
}


@pytest.mark.parametrize("name", sorted(PLAYED | NOT_PLAYED))
def test_what_plays_as_it_is(clip, name):
    video = open_video(clip(name).path)
    assert plays_as_it_is(video, read_clock(video)) is (name in PLAYED)


COPIED = ("hevc-open", "mpeg4", "mpeg2-ts", "vfr", "offset", "open-gop", "mpeg4-avi-b")


@pytest.mark.parametrize("name", COPIED)
def test_a_copy_has_the_same_frames_at_the_same_times(clip, tmp_path, rng, name):
    truth = clip(name)
    video = open_video(truth.path)
    clock = read_clock(video)
    target = tmp_path / "copy.mp4"
    told = []
    write_copy(video, clock, target, progress=told.append)
    made = open_video(target)
    copied = read_clock(made)
    assert made.n_frames == video.n_frames == told[-1]
    assert copied.start_s == 0.0
    ticks = (clock.ticks - clock.ticks[0]) * float(clock.time_base / copied.time_base)
    assert np.abs(copied.ticks - ticks).max() <= 1
    draws = sorted(set(rng.integers(0, made.n_frames, 50).tolist()))
    pictures = made.frames(draws)
    assert [read_number(one) for one in pictures] == [truth.numbers[index] for index in draws]
    assert plays_as_it_is(made, copied)
    if name == "vfr":  # only its times of decoding mislead: its packets are copied
        sizes = [[size for _, size, *_ in packet_places(path)] for path in (target, truth.path)]
        assert sizes[0] == sizes[1]


def test_a_turned_video_is_copied_upright_and_without_sound(clip, tmp_path):
    video = open_video(clip("turned-90").path)
    write_copy(video, read_clock(video), tmp_path / "copy.mp4")
    made = open_video(tmp_path / "copy.mp4").probe
    assert (made.width_px, made.height_px, made.rotation_deg) == (108, 192, 0)
    assert not made.has_audio


def test_a_damaged_frame_is_grey_and_the_next_ones_keep_their_numbers(clip, tmp_path):
    source = clip("mjpeg").path
    offset, size, _, _ = packet_places(source)[10]
    broken = damage(source, tmp_path / "broken.avi", places=[offset], n_bytes=size)
    video = open_video(broken)
    write_copy(video, read_clock(video), tmp_path / "copy.mp4")
    made = open_video(tmp_path / "copy.mp4")
    assert made.n_frames == video.n_frames
    assert np.ptp(made[10].data) < 12
    assert read_number(made[11].data) == 11


def test_nothing_is_left_of_a_copy_that_cannot_be_written(clip, tmp_path, monkeypatch):
    video = open_video(clip("h264").path)
    with pytest.raises(MediaError, match="cannot make a copy for browsers"):
        write_copy(video, read_clock(video), tmp_path / "absent" / "copy.mp4")
    for name, value, words in (
        ("_OPTIONS", {"preset": "no such preset"}, "cannot make a copy for browsers"),
        ("_ENCODER", "no-such-encoder", "pip install"),
    ):
        monkeypatch.setattr(browser, name, value)
        with pytest.raises(MediaError, match=words):
            write_copy(video, read_clock(video), tmp_path / "copy.mp4")
        assert list(tmp_path.iterdir()) == []


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
