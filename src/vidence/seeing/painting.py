"""The annotated video and the contact sheet, from one more reading of the video."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Final

import av
import numpy as np

from vidence.errors import MediaError
from vidence.media.cache import write_whole
from vidence.media.encode import Encoding, encode
from vidence.media.sizes import Size
from vidence.media.video import Video
from vidence.seeing.drawing import draw, marks_by_frame
from vidence.seeing.sheet import ContactSheet
from vidence.seeing.tracks import TrackedVideo
from vidence.seeing.watching import Image, in_size

_TICKS_PER_S: Final = 90_000
_OPTIONS: Final = {"crf": "23", "preset": "veryfast"}


class _Film:
    """A video that is being written; frames keep the times that they have in the original."""

    def __init__(self, path: Path, *, size: tuple[int, int]) -> None:
        # Half the colours of 4:2:0 need sides of an even number of pixels.
        self._size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
        self._container = av.open(str(path), "w", format="mp4")
        self._stream = self._container.add_stream("libx264", rate=30, options=_OPTIONS)
        self._stream.width, self._stream.height = self._size
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.time_base = Fraction(1, _TICKS_PER_S)
        self._last = -1

    def add(self, image: Image, *, time_s: float) -> None:
        """Write a frame; one that comes late, because it had to be read again, is left out."""
        ticks = round(time_s * _TICKS_PER_S)
        if ticks <= self._last:
            return
        self._last = ticks
        below, right = self._size[1] - image.shape[0], self._size[0] - image.shape[1]
        if below or right:
            image = np.pad(image, ((0, below), (0, right), (0, 0)), mode="edge")
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
        frame.pts, frame.time_base = ticks, Fraction(1, _TICKS_PER_S)
        self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Write what is left."""
        if self._last >= 0:
            self._container.mux(self._stream.encode(None))
        self._container.close()


@contextmanager
def _film(path: Path, *, size: tuple[int, int]) -> Iterator[_Film]:
    """A video that gets its name when it is complete.

    Raises:
        MediaError: it cannot be encoded or written.
    """
    unfinished = path.with_suffix(".part")
    try:
        film = _Film(unfinished, size=size)
        try:
            yield film
        finally:
            film.close()
        unfinished.replace(path)
    except (av.FFmpegError, OSError, ValueError) as error:
        raise MediaError(f"the annotated video {path} cannot be written: {error}; say --no-video") from error
    finally:
        unfinished.unlink(missing_ok=True)


def paint(
    video: Video, tracked: TrackedVideo, *, sheet: ContactSheet, sheet_path: Path, film_path: Path | None
) -> None:
    """Write the contact sheet and, where `film_path` is given, the video with all boxes drawn.

    Raises:
        MediaError: the video cannot be read, or a file cannot be written.
    """
    if film_path is None:
        video.read(sheet.wanted, lambda index, image: sheet.see(index, in_size(image, video)))
    else:
        wanted = frozenset(sheet.wanted)
        marks = marks_by_frame(tracked.tracks)
        size = (tracked.width_px, tracked.height_px)
        with _film(film_path, size=size) as film:

            def see(index: int, shown: Image) -> None:
                image = in_size(shown, video)
                if index in wanted:
                    sheet.see(index, image)
                time_s = float(tracked.times_s[index])
                note = f"{index}  {time_s:.2f} s"
                film.add(draw(image, marks.get(index, []), note=note), time_s=time_s)

            video.read(range(video.n_frames), see)
    encoded = encode(sheet.picture(), Encoding(size=Size(), quality=88))
    write_whole(sheet_path, encoded.data)
