"""Truncated and damaged files give the frames that are whole, and name the others."""

import numpy as np
import pytest

from vidence.media.video import FrameProblem, open_video
from videos.special import truncated
from videos.stamped import RATE, copy, damage, packet_places, read_number, write


def delivered(video, *, threads=1):
    return dict(enumerate(video.frames(range(video.n_frames), threads=threads)))


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_a_truncated_file_gives_what_is_there(suffix, clip_folder):
    path = truncated(clip_folder, suffix)
    video = open_video(path)
    assert 40 < video.n_frames < 90
    if suffix != "ts":  # MPEG-TS says nowhere how long it should be
        assert video.probe.problem.startswith("truncated: the header says")
    frames = delivered(video)
    problems = [f for f in frames.values() if isinstance(f, FrameProblem)]
    assert len(problems) <= 1
    for index, image in frames.items():
        if not isinstance(image, FrameProblem):
            assert read_number(image) == round(video.times_s[index] * RATE)
    assert read_number(frames[0]) == 0


@pytest.mark.parametrize("n_shown", [60, 119])
def test_frames_that_an_edit_leaves_out_are_not_lost(n_shown, clip_folder):
    """The header counts all 120 frames, and an edit list that ends earlier hides the last of them."""
    content = write(clip_folder / "whole.mp4", codec="mpeg4", options={"bf": "0"}).read_bytes()
    place = content.index(b"elst") + 12
    whole = int.from_bytes(content[place : place + 4], "big")
    path = clip_folder / f"edited-{n_shown}.mp4"
    path.write_bytes(content[:place] + (whole * n_shown // 120).to_bytes(4, "big") + content[place + 4 :])
    video = open_video(path)
    assert (video.n_frames, video.probe.problem) == (n_shown, "")
    assert read_number(delivered(video)[n_shown - 1]) == n_shown - 1


@pytest.mark.parametrize("name", ["avi", "mpeg4-avi", "mpeg4-avi-b", "mjpeg"])
def test_half_a_frame_at_the_end_is_no_frame(name, clip, clip_folder):
    source = clip(name).path
    places = packet_places(source)
    start, size, _, _ = places[70]
    for share in (0.0, 0.5):  # with 0 the end falls between two packets, and nothing looks damaged
        path = clip_folder / f"half-{source.name}"
        path.write_bytes(source.read_bytes()[: start + int(share * size)])
        frames = delivered(open_video(path))
        assert 66 <= len(frames) <= 70
        for index, image in frames.items():
            assert not isinstance(image, FrameProblem)
            assert read_number(image) == index


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_damage_spoils_the_rest_of_its_group_and_nothing_else(suffix, threads, plain, clip_folder):
    whole = plain if suffix == "mp4" else copy(plain, clip_folder / f"sound.{suffix}")
    pristine = open_video(whole)
    # The first packets of the second group of pictures (frames 30 to 59), behind their headers.
    places = packet_places(plain)
    content = plain.read_bytes()
    start, size, _, is_key = places[30]
    assert is_key
    broken = content[start + 40 : start + 40 + min(size - 60, 400)]
    path = clip_folder / f"damaged-{threads}.{suffix}"
    data = whole.read_bytes()
    # MPEG-TS cuts packets into pieces: the first piece of 80 bytes that is found whole is wiped out.
    where = next(w for i in range(0, len(broken), 20) if (w := data.find(broken[i : i + 80])) > 0)
    path.write_bytes(data[:where] + bytes(80) + data[where + 80 :])
    video = open_video(path)
    assert video.n_frames == 120
    frames = delivered(video, threads=threads)
    spoilt = {i for i, f in frames.items() if isinstance(f, FrameProblem)}
    assert set(range(33, 60)) <= spoilt <= set(range(27, 60))
    for index in spoilt:
        problem = frames[index]
        assert problem.frame_index == index
        assert problem.message.startswith(f"{path}: frame {index} (at {index / RATE:.3f} s)")
    sound = sorted(frames.keys() - spoilt)
    for index, image in zip(sound, pristine.frames(sound), strict=True):
        np.testing.assert_array_equal(frames[index], image)


@pytest.mark.parametrize("name", ["avi", "raw"])
def test_damage_in_files_that_are_counted_spoils_a_group(name, clip, clip_folder):
    source = clip(name).path
    pristine = open_video(source)
    content = source.read_bytes()
    middle = len(content) // 2
    path = clip_folder / f"damaged-{source.name}"
    path.write_bytes(content[:middle] + bytes(400) + content[middle + 400 :])
    video = open_video(path)
    frames = delivered(video)
    spoilt = {i for i, f in frames.items() if isinstance(f, FrameProblem)}
    assert spoilt
    assert len(spoilt) < 80
    before = [i for i in range(min(spoilt)) if i not in spoilt]
    assert len(before) >= 20
    for index, image in zip(before, pristine.frames(before), strict=True):
        np.testing.assert_array_equal(frames[index], image)


@pytest.mark.parametrize("name", ["h264", "ts", "hevc-open", "vp9", "av1", "mpeg4", "gif"])
def test_no_damage_crashes_the_reader(name, clip, clip_folder):
    source = clip(name).path
    size = source.stat().st_size
    for seed in range(2):
        places = [int(p) for p in np.random.default_rng(seed).integers(size // 10, size, 5)]
        path = clip_folder / f"battered{source.suffix}"
        video = open_video(damage(source, path, places=places, n_bytes=48, seed=seed))
        for frame in video.frames(range(0, video.n_frames, 17)):
            if isinstance(frame, FrameProblem):
                assert str(path) in frame.message
            else:
                assert frame.shape == (108, 192, 3)
