"""Every frame is the one that was asked for, on every kind of file that decoders get wrong."""

import av
import numpy as np
import pytest
from av.video.reformatter import Interpolation

from vidence.media.encode import Size
from vidence.media.video import FrameProblem, open_video
from videos.special import MAKERS
from videos.stamped import HEIGHT, WIDTH, read_number

_TURNS = {"turned-90": -1, "turned-180": 2, "turned-270": 1}
_FLAGS = int(Interpolation.AREA)  # what `pixels.py` pins, for frames that are not scaled


def stored(name, image):
    """An upright picture as it lies in the file."""
    if name == "mirrored":
        return image[:, ::-1]
    return np.rot90(image, -_TURNS.get(name, 0))


def upright(name, image):
    """A stored picture as it is to be shown."""
    return image[:, ::-1] if name == "mirrored" else np.rot90(image, _TURNS.get(name, 0))


def in_order(clip, wanted):
    """Frames of a plain decode from start to end, as they are stored."""
    with av.open(str(clip.path)) as container:
        return {
            index: frame.to_ndarray(
                format="rgb24", width=frame.width, height=frame.height, interpolation=_FLAGS, threads=1
            )
            for index, frame in enumerate(container.decode(video=0))
            if index in wanted and frame.format.name != "bgra"
        }


@pytest.mark.parametrize("name", MAKERS)
def test_times_and_counts_are_those_that_were_written(name, clip, opened):
    made, video = clip(name), opened(name)
    assert video.n_frames == len(made.numbers)
    np.testing.assert_allclose(video.times_s, made.times_s, rtol=0, atol=made.tick_s)
    counted = video.probe.counted
    assert counted.n_frames == len(made.numbers)
    assert counted.is_variable == made.is_variable
    span_s = made.times_s[-1]
    assert counted.fps == pytest.approx((len(made.numbers) - 1) / span_s, rel=1e-3)
    assert counted.duration_s == pytest.approx(span_s * len(made.numbers) / (len(made.numbers) - 1), rel=1e-3)
    assert video.probe.problem == ""


@pytest.mark.parametrize("name", MAKERS)
def test_random_frames_are_exact_and_the_same_as_in_a_plain_decode(name, clip, opened):
    made, video = clip(name), opened(name)
    rng = np.random.default_rng(5)
    asked = [
        (rng.choice(video.n_frames, n, replace=False), threads) for n, threads in ((1, 1), (5, 2), (8, 3))
    ]
    reference = in_order(made, {int(index) for indices, _ in asked for index in indices})
    for indices, threads in asked:
        for index, image in zip(indices, video.frames(indices, threads=threads), strict=True):
            assert not isinstance(image, FrameProblem), image
            assert read_number(stored(name, image)) == made.numbers[index]
            if reference:  # GIF is drawn with transparency, which a plain decode does not resolve
                np.testing.assert_array_equal(image, upright(name, reference[index]))


@pytest.mark.parametrize("name", ["hevc-open", "vp9", "av1", "open-gop", "intra-refresh", "cut", "raw"])
def test_every_single_frame_is_exact_when_asked_alone(name, clip, opened):
    made, video = clip(name), opened(name)
    for index in range(0, video.n_frames, 11):
        (image,) = video.frames([index])
        assert not isinstance(image, FrameProblem), image
        assert read_number(image) == made.numbers[index]


@pytest.mark.parametrize("name", ["vfr", "cut", "offset", "ts", "avi"])
def test_the_frame_at_a_time_is_the_last_that_has_begun(name, clip, opened):
    made, video = clip(name), opened(name)
    times = np.array(made.times_s)
    for time_s in (0.0, 0.31, 1.0, 1.49, float(times[7]), float(times[-1])):
        begun = [number for number, start in zip(made.numbers, times, strict=True) if start <= time_s + 1e-9]
        (image,) = video.frames([video.index_at(time_s)])
        assert read_number(image) == begun[-1]
    assert video.index_at(-1.0) == 0
    assert video.index_at(1e9) == len(made.numbers) - 1


@pytest.mark.parametrize("name", ["turned-90", "turned-180", "turned-270", "mirrored"])
def test_turned_videos_are_shown_upright(name, clip):
    made = clip(name)
    video = open_video(made.path)
    lies = name in {"turned-90", "turned-270"}
    size = (HEIGHT, WIDTH) if lies else (WIDTH, HEIGHT)
    assert (video.probe.width_px, video.probe.height_px) == size
    assert video.probe.rotation_deg == made.rotation_deg
    (image,) = video.frames([17], size=Size.parse("short:54"))
    assert image.shape == ((96, 54, 3) if lies else (54, 96, 3))
    assert read_number(stored(name, image)) == 17


def test_what_the_header_claims_is_kept_apart(clip):
    plain, vfr, webm, cut, raw = (
        open_video(clip(n).path).probe for n in ("h264", "vfr", "vp9", "cut", "raw")
    )
    assert (plain.claimed.n_frames, plain.claimed.duration_s, plain.claimed.fps) == (120, 4.0, 30.0)
    assert plain.codec == "h264"
    assert not plain.has_audio
    assert vfr.claimed.n_frames == vfr.counted.n_frames
    assert webm.claimed.n_frames is None
    assert (cut.claimed.n_frames, cut.counted.n_frames) == (90, 75)  # 15 frames before the cut are hidden
    assert raw.claimed.n_frames is None
    assert raw.claimed.duration_s is None


def test_frames_that_do_not_exist_are_problems_that_name_the_file(plain):
    video = open_video(plain)
    images = video.frames([100, 3, 100, 64, 3])  # indices may repeat and come in any order
    assert [read_number(image) for image in images] == [100, 3, 100, 64, 3]
    whole, above, below = video.frames([5, 120, -1])
    assert read_number(whole) == 5
    for problem, index in ((above, 120), (below, -1)):
        assert isinstance(problem, FrameProblem)
        assert problem.frame_index == index
        assert str(plain) in problem.message
        assert f"frame {index} does not exist; there are 120" in problem.message


def test_scaling_agrees_with_a_mean_over_the_area(plain):
    video = open_video(plain)
    (large,) = video.frames([50])
    (small,) = video.frames([50], size=Size.parse("short:54"))
    mean = large.reshape(54, 2, 96, 2, 3).mean(axis=(1, 3))
    assert small.shape == (54, 96, 3)
    # Chroma is scaled before the conversion, so single pixels at edges of colour may differ.
    assert np.abs(small - mean).mean() < 2
