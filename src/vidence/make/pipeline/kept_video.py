"""A video with a frame cache, so that crops need no second decoding."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from vidence.media.cache import FrameCache
from vidence.media.encode import EncodedFrame, Encoding, Size, decode_image, encode
from vidence.media.files import known_video
from vidence.media.pixels import resize
from vidence.media.scan import Scan
from vidence.media.video import FrameProblem, Video
from vidence.seeing.watching import FrameDetections, Image

MadeT = TypeVar("MadeT")
# Good enough for texture and for readers of crops, and a tenth of the raw pixels.
ENCODING: Final = Encoding(size=Size(), format="jpeg", quality=92)
# A reader knows only when it has read on whether a frame is whole; until then it is kept under this key.
_NOT_YET_SURE: Final = f"{ENCODING.key}-not-yet-sure"


class KeptVideo(Video):
    """The same video through a cache of encoded frames.

    A picture is always the one that the encoded frame decodes to, whether the frame was kept or not: what is
    computed from it does not depend on what the cache happens to hold. Frames that turn out to be damaged
    are not kept: the next reader finds them damaged again.
    """

    def __init__(self, scan: Scan, *, cache: FrameCache, content_hash: str) -> None:
        super().__init__(scan)
        self.cache = cache
        self.content_hash = content_hash

    def read(
        self,
        indices: Sequence[int],
        make: Callable[[int, NDArray[np.uint8]], MadeT],
        *,
        size: Size = Size(),  # noqa: B008 - a frozen value, as in the class that this one extends
        threads: int = 1,
    ) -> dict[int, MadeT | FrameProblem]:
        """Read like `Video.read`, taking cached frames from the cache."""
        fit = size.fit(self.probe.width_px, self.probe.height_px)
        values: dict[int, MadeT | FrameProblem] = {}
        missing: list[int] = []
        for index in sorted({int(index) for index in indices}):
            kept = self.cache.get(self.content_hash, index, ENCODING.key)
            if kept is None:
                missing.append(index)
            else:
                values[index] = make(index, _fit(decode_image(kept.data), fit))

        def keep(index: int, image: NDArray[np.uint8]) -> MadeT:
            return make(index, _fit(decode_image(self.keep(index, image).data), fit))

        if missing:
            read = super().read(missing, keep, threads=threads)
            self.settle(index for index, entry in read.items() if not isinstance(entry, FrameProblem))
            values.update(read)
        return dict(sorted(values.items()))

    def keep(self, index: int, image: NDArray[np.uint8]) -> EncodedFrame:
        """Store a frame, usable once `settle` confirms it; RGB, shape (height, width, 3)."""
        frame = encode(image, ENCODING)
        self.cache.put(self.content_hash, index, _NOT_YET_SURE, frame=frame)
        return frame

    def settle(self, indices: Iterable[int]) -> None:
        """Confirm these stored frames as complete."""
        for index in indices:
            self.cache.rename(self.content_hash, index, before=_NOT_YET_SURE, after=ENCODING.key)


def _fit(image: NDArray[np.uint8], values: tuple[int, int]) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    return image if (width, height) == values else resize(image, size=values)


def kept_video(path: Path, *, cache_root: Path, max_bytes: int, kind: str = "video") -> KeptVideo:
    """A video file, and the cache for its frames; `kind` as for `media.files.read_facts`.

    Raises:
        MediaError: it cannot be read.
    """
    video, content_hash = known_video(path, kind=kind, cache_root=cache_root)
    cache = FrameCache(cache_root, max_bytes=max_bytes)
    return KeptVideo(video.scan, cache=cache, content_hash=content_hash)


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Opens the keeper of the frames of one video, in whatever process watches it."""

    cache_root: Path
    max_bytes: int
    content_hash: str

    def __call__(self, video: Video) -> "FrameKeeper":
        """The keeper, for the video as numbered frames."""
        cache = FrameCache(self.cache_root, max_bytes=self.max_bytes)
        return FrameKeeper(KeptVideo(video.scan, cache=cache, content_hash=self.content_hash))


class FrameKeeper:
    """Keeps the frames that have boxes while a video is read; an observer of `watching.watch`."""

    def __init__(self, video: KeptVideo) -> None:
        self._video = video
        self._kept: set[int] = set()

    def see(self, frame_index: int, image: Image, detections: FrameDetections) -> None:
        """Keep the frame, if something was found in it."""
        if len(detections.boxes_px):
            self._video.keep(frame_index, image)
            self._kept.add(frame_index)

    def settle(self, problems: Iterable[FrameProblem]) -> None:
        """All has been read, and these frames are damaged."""
        self._video.settle(self._kept - {problem.frame_index for problem in problems})
