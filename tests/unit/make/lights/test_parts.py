"""Parts of recordings: seconds, frames, moments, and what is not there."""

import numpy as np
import pytest

from vidence.errors import DataError, UsageError
from vidence.make.lights.parts import RecordingPart, of_part, of_window
from vidence.pointlight.motion import Motion, MotionSource
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import in_time


def motion(n_frames: int = 120, *, fps: float = 60.0, first: int = 0) -> Motion:
    """Two seconds of one point that moves by a metre a second of the file."""
    times = (first + np.arange(n_frames)) / fps
    places = np.zeros((n_frames, 1, 3))
    places[:, 0, 0] = times
    return Motion(
        positions_m=places,
        is_valid=np.ones((n_frames, 1), bool),
        names=("head",),
        fps=fps,
        source=MotionSource(first_frame=first),
    )


@pytest.mark.parametrize(
    ("part", "start", "n_frames"),
    [
        (RecordingPart(start_s=0.5, end_s=1.5), 15, 30),
        (RecordingPart(start_s=0.5), 15, 45),
        (RecordingPart(end_s=0.5), 0, 15),
        (RecordingPart(start_frame=30, n_frames=60), 15, 30),
        (RecordingPart(event_s=1.0, duration_s=0.5), 30 - 7, 15),
    ],
)
def test_a_part_is_counted_in_frames_of_the_display(part, start, n_frames):
    spec = of_part(StimulusSpec(fps=30.0, trim_share=0.1, seed=4), part, [motion()])
    assert (spec.start_frame, spec.n_frames, spec.trim_share, spec.seed) == (start, n_frames, 0.0, 4)


def test_times_are_those_of_the_file_where_its_beginning_is_left_out():
    short = motion(110, first=10)
    spec = of_part(StimulusSpec(fps=60.0), RecordingPart(start_s=0.5, end_s=1.0), [short])
    assert (spec.start_frame, spec.n_frames) == (20, 30)
    with pytest.raises(DataError, match="the first 10 frames are left out"):
        of_part(StimulusSpec(), RecordingPart(start_s=0.1, end_s=1.0), [short])


def test_the_moment_is_in_the_middle_of_what_is_shown():
    for at in (0.6, 1.0, 1.3):
        spec = of_part(StimulusSpec(fps=None), RecordingPart(event_s=at, duration_s=0.5), [motion()])
        assert spec.start_frame + spec.n_frames // 2 == at * 60


def test_steps_stay_within_the_part():
    spec = of_part(StimulusSpec(fps=60.0, step=4), RecordingPart(start_s=0.5, end_s=1.0), [motion()])
    assert (spec.start_frame, spec.n_frames) == (30, 8)


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (RecordingPart(start_s=1.0, end_s=2.5), "from 1.000 to 2.500 s, and the motion ends at 2.000 s"),
        (RecordingPart(start_s=2.0), "ends at 2.000 s"),
        (RecordingPart(start_frame=100, n_frames=60), "120 frames at 60 per second"),
        (RecordingPart(event_s=0.1, duration_s=1.0), "begins at -0.400 s"),
    ],
)
def test_what_is_not_there_is_told(part, said):
    with pytest.raises(DataError, match=said):
        of_part(StimulusSpec(), part, [motion()])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start_s": 1.0, "n_frames": 5}, "together"),
        ({"event_s": 1.0}, "belong together"),
        ({"n_frames": 5}, "without start_frame"),
        ({"start_s": 2.0, "end_s": 1.0}, "expected it later"),
        ({"start_s": -1.0}, "expected 0 or more"),
        ({"start_frame": 0, "n_frames": 0}, "expected more than 0"),
        ({"start_s": float("nan")}, "start_s is nan"),
    ],
)
def test_parts_that_make_no_sense_are_refused(given, said):
    with pytest.raises(UsageError, match=said):
        RecordingPart(**given)


@pytest.mark.parametrize(
    "spec",
    [
        StimulusSpec(fps=30.0),
        StimulusSpec(fps=30.0, trim_share=0.1),
        StimulusSpec(fps=60.0, n_frames=90),
        StimulusSpec(fps=60.0, step=2, n_frames=40),
        StimulusSpec(fps=60.0, step=2),
        StimulusSpec(fps=60.0, start_frame=11, n_frames=70),
    ],
)
def test_a_window_is_a_part_of_the_frames_of_the_clip(spec):
    (whole,) = in_time([motion()], spec)
    (cut,) = in_time([motion()], of_window(spec, (0.5, 1.0), [motion()]))
    first, end = round(0.5 * whole.fps), round(1.0 * whole.fps)
    assert np.array_equal(cut.positions_m, whole.positions_m[first:end])
    (late,) = in_time([motion()], of_window(spec, (0.5, 9.0), [motion()]))
    assert np.array_equal(late.positions_m, whole.positions_m[first:])
    with pytest.raises(DataError, match="was the study about another clip"):
        of_window(spec, (2.5, 3.0), [motion()])
