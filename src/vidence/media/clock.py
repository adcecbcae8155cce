"""The times of frames as a file has them: in ticks, on its own clock."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.media.address import place
from vidence.media.opened import OpenVideoFile, decode, open_video_stream, packets_to_end
from vidence.media.video import Video

_MICROSECOND: Final = Fraction(1, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class FrameClock:
    """When the frames of a file are presented.

    Shapes: `ticks` (n_frames,), ascending, in units of `time_base` seconds.
    `start_s` is the time of the first frame on the file's own clock, which is not 0 where sound begins
    earlier, or where the file was cut out of another; `pixel_format` is the decoder's, empty for images.
    """

    ticks: NDArray[np.int64]
    time_base: Fraction
    start_s: float
    pixel_format: str


def read_clock(video: Video) -> FrameClock:
    """The times of the frames of a file that was opened before.

    Images and folders of images have one tick of a second for each frame, as `Video` numbers them.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    if video.probe.kind != "video":
        ticks = np.arange(video.n_frames, dtype=np.int64)
        return FrameClock(ticks=ticks, time_base=Fraction(1), start_s=0.0, pixel_format="")
    with open_video_stream(place(video.probe.path)) as opened:
        time_base = opened.stream.time_base or _MICROSECOND
        pixel_format = opened.codec.pix_fmt or ""
        if video.scan.table is not None:
            ticks = video.scan.table.frame_pts
        else:
            ticks, time_base = _ticks_of_times(video, time_base=time_base, first=_first_pts(opened))
    start_s = float(int(ticks[0]) * time_base)
    return FrameClock(ticks=ticks, time_base=time_base, start_s=start_s, pixel_format=pixel_format)


def _first_pts(opened: OpenVideoFile) -> int:
    """The time of the first frame that comes out of the decoder, in ticks."""
    for packet in packets_to_end(opened):
        for frame in decode(opened.codec, packet) or ():
            return frame.pts or 0
    return 0


def _ticks_of_times(video: Video, *, time_base: Fraction, first: int) -> tuple[NDArray[np.int64], Fraction]:
    """Ticks of frames that were counted by decoding; microseconds where they have no times of their own."""
    for unit in (time_base, _MICROSECOND):
        steps = np.rint(video.times_s / float(unit)).astype(np.int64)
        is_exact = float(np.abs(steps * float(unit) - video.times_s).max()) < float(unit) / 4
        if unit == _MICROSECOND or (is_exact and bool(np.all(np.diff(steps) > 0))):
            break
    return steps + round(first * time_base / unit), unit
