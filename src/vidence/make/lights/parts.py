"""The part of a recording that a clip shows: by seconds, by frames, or around a moment."""

import math
from collections.abc import Sequence

import msgspec

from vidence.errors import DataError, UsageError
from vidence.pointlight.motion import Motion
from vidence.pointlight.specs import StimulusSpec
from vidence.pointlight.stimulus import in_time
from vidence.records import Record

_HAIR = 1e-6


class RecordingPart(Record, omit_defaults=True):
    """A part of a recording; seconds and frames count from 0 in its file, at its true rate.

    It is given in one of three ways: from `start_s` up to `end_s` (each may be left out), `n_frames` from
    `start_frame` on, or `duration_s` with the moment `event_s` in the middle. Nothing of it: all there is.
    """

    start_s: float | None = None
    end_s: float | None = None
    start_frame: int | None = None
    n_frames: int | None = None
    event_s: float | None = None
    duration_s: float | None = None

    def __post_init__(self) -> None:
        given = {name for name in self.__struct_fields__ if getattr(self, name) is not None}
        ways = [{"start_s", "end_s"}, {"start_frame", "n_frames"}, {"event_s", "duration_s"}]
        if not any(given <= way for way in ways):
            raise UsageError(
                f"{', '.join(sorted(given))} do not go together; expected start_s and end_s, or start_frame "
                "and n_frames, or event_s and duration_s"
            )
        for name in given:
            value, least = getattr(self, name), name in {"n_frames", "duration_s", "end_s"}
            if not (math.isfinite(value) and (value > 0 if least else value >= 0)):
                raise UsageError(f"{name} is {value:g}; expected {'more than 0' if least else '0 or more'}")
        if (self.event_s is None) != (self.duration_s is None):
            raise UsageError("event_s and duration_s belong together; give both")
        if self.n_frames is not None and self.start_frame is None:
            raise UsageError("n_frames without start_frame; give both")
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise UsageError(f"end_s is {self.end_s:g} and start_s {self.start_s:g}; expected it later")

    @property
    def name(self) -> str:
        """A short name of the part, for clips; empty for the whole recording.

        >>> RecordingPart(start_s=1.2, end_s=3.0).name, RecordingPart(event_s=2.0, duration_s=1.0).name
        ('1.2-3s', 'at2s-1s')
        """
        if self.event_s is not None:
            return f"at{self.event_s:g}s-{self.duration_s:g}s"
        if self.start_frame is not None:
            return f"f{self.start_frame}" + ("" if self.n_frames is None else f"-{self.n_frames}")
        ends = ["" if v is None else f"{v:g}" for v in (self.start_s, self.end_s)]
        return f"{'-'.join(ends)}s" if any(ends) else ""


def of_part(spec: StimulusSpec, chosen: RecordingPart, figures: Sequence[Motion]) -> StimulusSpec:
    """The settings of a stimulus that shows only a part of its figures.

    The part is rounded to frames of the display. No share is cut off its ends, and what the settings say of
    frames gives way. With `event_s` the moment falls on the middle frame (the later of two middles).

    Args:
        spec: how the motion is shown.
        chosen: what of it.
        figures: one or two on one clock.

    Raises:
        DataError: the part reaches beyond the recording, or beyond what is left of it.
    """
    if chosen == RecordingPart():
        return spec
    fps, first = figures[0].fps, figures[0].source.first_frame
    n_all = min(figure.n_frames for figure in figures)
    start_s, end_s = _times(chosen, fps=fps, first=first, n_all=n_all)
    low_s, high_s = first / fps, (first + n_all) / fps
    if start_s < low_s - _HAIR:
        why = f": the first {first} frames are left out" if first and start_s >= -_HAIR else ""
        raise DataError(f"the part begins at {start_s:.3f} s, and the motion at {low_s:.3f} s{why}")
    if end_s > high_s + _HAIR or start_s >= high_s - _HAIR:
        raise DataError(
            f"the part is from {start_s:.3f} to {end_s:.3f} s, and the motion ends at {high_s:.3f} s "
            f"({n_all} frames at {fps:g} per second)"
        )
    rate = fps if spec.fps is None else spec.fps
    n_shown = int((n_all - 1) / fps * rate + _HAIR) + 1
    n_wanted = max(1, round((end_s - start_s) * rate))
    start = round((start_s - low_s) * rate)
    if chosen.event_s is not None:
        start = max(0, round((chosen.event_s - low_s) * rate) - n_wanted // 2)
    start = min(start, n_shown - 1)
    n_wanted = min(n_wanted, n_shown - start)
    return msgspec.structs.replace(
        spec, trim_share=0.0, start_frame=start, n_frames=(n_wanted - 1) // spec.step + 1
    )


def of_window(spec: StimulusSpec, window: tuple[float, float], figures: Sequence[Motion]) -> StimulusSpec:
    """The settings of a stimulus that shows a window of the original, rounded to its frames.

    Args:
        spec: how the motion is shown.
        window: from when to when, in seconds of the clip that `spec` gives.
        figures: one or two on one clock.

    Raises:
        DataError: the window begins behind the end of the clip.
    """
    n_all = in_time(figures, msgspec.structs.replace(spec, start_frame=0, n_frames=None, step=1))[0].n_frames
    motion = in_time(figures, spec)[0]
    first, end = (round(at_s * motion.fps) for at_s in window)
    if first >= motion.n_frames:
        raise DataError(
            f"the window is from {window[0]:g} to {window[1]:g} s, and the clip ends at "
            f"{motion.n_frames / motion.fps:.3f} s; was the study about another clip?"
        )
    start = spec.start_frame
    if start is None:
        start = (n_all - (motion.n_frames - 1) * spec.step - 1) // 2
    return msgspec.structs.replace(
        spec, start_frame=start + first * spec.step, n_frames=max(1, min(end, motion.n_frames) - first)
    )


def _times(chosen: RecordingPart, *, fps: float, first: int, n_all: int) -> tuple[float, float]:
    """Start and end of a part, in seconds of the file."""
    if chosen.event_s is not None and chosen.duration_s is not None:
        return chosen.event_s - chosen.duration_s / 2, chosen.event_s + chosen.duration_s / 2
    end_s = (first + n_all) / fps
    if chosen.start_frame is not None:
        start_s = chosen.start_frame / fps
        return start_s, end_s if chosen.n_frames is None else start_s + chosen.n_frames / fps
    return (
        first / fps if chosen.start_s is None else chosen.start_s,
        end_s if chosen.end_s is None else chosen.end_s,
    )
