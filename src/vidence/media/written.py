"""Write pictures as a video, one at a time."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Final, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError

Picture: TypeAlias = NDArray[np.uint8]
Sink: TypeAlias = Callable[[Picture], None]
"""Receives each picture, in order."""
# With macroblock trees, x264 as built into PyAV 18.1 does not give the same bytes every time.
_OPTIONS: Final = {"crf": "16", "preset": "medium", "mbtree": "0"}


@contextmanager
def video_file(
    path: Path, *, fps: float, size_px: tuple[int, int], is_lossless: bool = False
) -> Iterator[Sink]:
    """Write an MP4 (H.264); its pictures come one by one, and each has its exact time.

    The file says that its colours are BT.709 in limited range; half the resolution is kept for colour. A
    lossless one (H.264 in RGB) has the very pixels; browsers do not play it.

    Args:
        path: the file.
        fps: frames per second.
        size_px: width and height.
        is_lossless: keep every pixel.

    Raises:
        UsageError: another ending, or sides of odd length.
    """
    import av
    from av.video.reformatter import ColorPrimaries, ColorRange, Colorspace, ColorTrc
    from av.video.stream import VideoStream

    width_px, height_px = size_px
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"{path}: a video ends in .mp4, not {path.suffix or 'nothing'}")
    if height_px % 2 or width_px % 2:
        raise UsageError(f"{path}: the sides of a video must be even, not {width_px}x{height_px}")
    codec, pixels = ("libx264rgb", "rgb24") if is_lossless else ("libx264", "yuv420p")
    options = {"crf": "0", "preset": "veryfast"} if is_lossless else _OPTIONS
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(str(path), "w", container_options={"fflags": "+bitexact"}) as container:
        stream = cast(VideoStream, container.add_stream(codec, rate=rate, options=options))
        stream.width, stream.height, stream.pix_fmt = width_px, height_px, pixels
        context = stream.codec_context
        if not is_lossless:
            context.colorspace, context.color_range = Colorspace.ITU709, ColorRange.MPEG
            context.color_primaries, context.color_trc = ColorPrimaries.BT709, ColorTrc.BT709

        def add(picture: Picture) -> None:
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            if not is_lossless:
                frame = frame.reformat(
                    format=pixels, dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
                )
            for packet in stream.encode(frame):
                container.mux(packet)

        yield add
        for packet in stream.encode():
            container.mux(packet)


def write_video(pictures: Iterable[Picture], path: Path, *, fps: float) -> None:
    """Write pictures of one size as `video_file` does.

    Raises:
        UsageError: there are none; and as for `video_file`.
    """
    rest = iter(pictures)
    first = next(rest, None)
    if first is None:
        raise UsageError(f"{path}: no pictures to write")
    with video_file(path, fps=fps, size_px=(first.shape[1], first.shape[0])) as add:
        for picture in chain([first], rest):
            add(picture)
