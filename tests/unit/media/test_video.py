"""A video as a sequence of frames."""

import numpy as np
import pytest

from vidence.errors import UsageError
from vidence.media import video as video_module
from vidence.media.video import Frame, Video
from videos.stamped import read_number


@pytest.mark.parametrize("name", ["h264", "vfr", "hevc-open", "raw"])
def test_frames_are_found_by_number_by_slice_and_in_turn(name, clip):
    made = clip(name)
    video = Video(made.path)
    assert len(video) == video.n_frames == len(video.times_s)
    fifth = video[5]
    assert isinstance(fifth, Frame)
    assert fifth.data.dtype == np.uint8
    assert fifth.data.shape == (video.probe.height_px, video.probe.width_px, 3)
    assert (fifth.index, fifth.time_s) == (5, video.times_s[5])
    assert video[-1].index == len(video) - 1
    assert video[np.int64(3)].index == 3
    part = video[2:10:3]
    assert [frame.index for frame in part] == [2, 5, 8]
    np.testing.assert_array_equal(part[1].data, fifth.data)
    assert video[len(video) :] == []
    numbers = [read_number(frame.data) for frame in video]
    assert numbers == sorted(numbers)
    assert numbers[5] == read_number(fifth.data)
    assert len(numbers) == len(video)


def test_iterating_holds_few_pictures_at_a_time(plain, monkeypatch):
    asked = []
    read = Video.frames

    def frames(video, indices):
        asked.append(len(indices))
        return read(video, indices)

    monkeypatch.setattr(video_module, "_BLOCK_BYTES", 192 * 108 * 3 * 50)
    monkeypatch.setattr(Video, "frames", frames)
    assert [frame.index for frame in Video(plain)] == list(range(120))
    assert asked == [50, 50, 20]


def test_at_gives_the_frame_on_screen_where_the_rate_varies(clip):
    video = Video(clip("vfr").path)
    times_s = video.times_s
    assert len(set(np.round(np.diff(times_s), 3))) > 1
    assert video.at(0).index == 0
    for index in (1, 7, 40):
        assert video.at(times_s[index]).index == index
        assert video.at((times_s[index] + times_s[index + 1]) / 2).index == index
    assert video.at(times_s[-1]).index == len(video) - 1
    seventh = float(times_s[7])  # a time that was rounded finds its frame, and an earlier one does not
    found = [video.index_at(seventh - earlier) for earlier in (0, 5e-10, 1e-8)]
    assert found == [7, 7, 6]
    for time_s in (-0.1, float(times_s[-1]) + 60, float("nan")):
        with pytest.raises(UsageError, match=r"has no frame at .* it lasts "):
            video.at(time_s)


def test_a_frame_that_is_not_there_is_an_error(plain):
    video = Video(str(plain))
    for number in (120, -121):
        with pytest.raises(IndexError, match=f"has no frame {number}; it has 0 to 119"):
            video[number]
    with pytest.raises(TypeError):
        video["5"]
    with pytest.raises(UsageError, match="unknown kind of media 'film'"):
        Video(plain, kind="film")
    assert repr(video) == f"Video({str(plain)!r}, 120 frames, 4.000 s)"
