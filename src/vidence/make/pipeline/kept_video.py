"""A video whose frames are kept as they are seen, so that crops do not need it to be decoded again."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from vidence.media.cache import FrameCache
from vidence.media.encode import Encoding, Size, decode_image, encode
from vidence.media.files import known_video
from vidence.media.pixels import resize
from vidence.media.scan import Scan
from vidence.media.video import FrameProblem, Video
from vidence.seeing.watching import Found, Image

MadeT = TypeVar("MadeT")
# Good enough for texture and for readers of crops, and a tenth of the raw pixels.
ENCODING: Final = Encoding(size=Size(), format="jpeg", quality=92)


class KeptVideo(Video):
    """The same video through a cache of encoded frames.

    A picture is always the one that the encoded frame decodes to, whether the frame was kept or not: what is
    computed from it does not depend on what the cache happens to hold.
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
        """Like `Video.read`; frames that are kept are not decoded from the video."""
        shown = size.fit(self.probe.width_px, self.probe.height_px)
        made: dict[int, MadeT | FrameProblem] = {}
        missing: list[int] = []
        for index in sorted({int(index) for index in indices}):
            kept = self.cache.get(self.content_hash, index, ENCODING.key)
            if kept is None:
                missing.append(index)
            else:
                made[index] = make(index, _fit(decode_image(kept.data), shown))

        def keep(index: int, image: NDArray[np.uint8]) -> MadeT:
            return make(index, _fit(self.keep(index, image), shown))

        if missing:
            made.update(super().read(missing, keep, threads=threads))
        return dict(sorted(made.items()))

    def keep(self, index: int, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Keep a frame, and give it as it will be read: RGB, shape (height, width, 3)."""
        frame = encode(image, ENCODING)
        self.cache.put(self.content_hash, index, ENCODING.key, frame=frame)
        return decode_image(frame.data)


def _fit(image: NDArray[np.uint8], shown: tuple[int, int]) -> NDArray[np.uint8]:
    height, width = image.shape[:2]
    return image if (width, height) == shown else resize(image, size=shown)


def kept_video(path: Path, *, cache_root: Path, max_bytes: int) -> KeptVideo:
    """A video file, and the cache for its frames.

    Raises:
        MediaError: it cannot be read.
    """
    video, content_hash = known_video(path, kind="video", cache_root=cache_root)
    cache = FrameCache(cache_root, max_bytes=max_bytes)
    return KeptVideo(video.scan, cache=cache, content_hash=content_hash)


class FrameKeeper:
    """Keeps the frames that have boxes while a video is read; a part of `watching.watch`."""

    def __init__(self, video: KeptVideo) -> None:
        self._video = video

    def see(self, frame_index: int, image: Image, found: Found) -> None:
        """Keep the frame, if something was found in it."""
        if len(found.boxes_px):
            frame = encode(image, ENCODING)
            self._video.cache.put(self._video.content_hash, frame_index, ENCODING.key, frame=frame)
