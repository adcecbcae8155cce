"""A medium as numbered frames, for library users and later stages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import index as as_index
from typing import Final, TypeVar, overload

import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from vidence.errors import MediaError, UsageError
from vidence.media.address import MediaPath, place
from vidence.media.encode import Size
from vidence.media.pixels import to_rgb
from vidence.media.probe import MediaKind, Probe
from vidence.media.scan import Scan, scan_video
from vidence.media.sparse import SparseFrames, read_counted, read_sparse
from vidence.media.stills import images_in, read_image, scan_folder, scan_image

MadeT = TypeVar("MadeT")
_NATIVE: Final = Size()
_BLOCK_BYTES: Final = 1 << 28  # of pictures that are in memory at a time while a video is iterated over


@dataclass(frozen=True, kw_only=True)
class FrameProblem:
    """Why a frame cannot be shown; the message names file and frame."""

    frame_index: int
    message: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Frame:
    """A frame of a video: its picture, number and time.

    Shapes: `data` (height, width, 3), RGB, upright.
    Units: `index` counts from 0 in the order of presentation; `time_s` is in seconds from the first frame.
    """

    data: NDArray[np.uint8]
    index: int
    time_s: float


class Video:
    """A video, an image or a folder of images, as numbered frames with times.

    It holds no open file. ``len(video)`` counts the frames; ``video[5]``, ``video[-1]``, ``video[2:10]`` and
    ``video.at(1.5)`` decode exactly what they name, whatever the codec and the frame rate; iterating goes
    through all of them. A frame that is damaged raises `MediaError`; `frames` gives it as a `FrameProblem`.

    Args:
        source: the file, or the folder of images, or the address of one (``s3://...``), which is read by
            ranges; or what was found out about it before.
        kind: ``video``, ``image`` or ``frames`` (a folder of images, one per second, by name).

    Raises:
        MediaError: it cannot be read, or holds no frame.
        UsageError: an unknown kind.
    """

    scan: Scan
    """The scan of the file from when it was opened."""

    def __init__(self, source: MediaPath | str | Scan, *, kind: MediaKind = "video") -> None:
        if isinstance(source, Scan):
            self.scan = source
            return
        if kind not in _SCANNERS:
            raise UsageError(f"unknown kind of media {kind!r}; expected one of {', '.join(_SCANNERS)}")
        self.scan = _SCANNERS[kind](place(source) if isinstance(source, str) else source)

    def __repr__(self) -> str:
        return f"Video({self.probe.path!r}, {self.n_frames} frames, {self.probe.counted.duration_s:.3f} s)"

    def __len__(self) -> int:
        return self.n_frames

    @overload
    def __getitem__(self, key: int) -> Frame: ...
    @overload
    def __getitem__(self, key: slice) -> list[Frame]: ...
    def __getitem__(self, key: int | slice) -> Frame | list[Frame]:
        """The frame with this number (negative ones count from the end), or those of a slice.

        Raises:
            IndexError: there is no such frame.
            MediaError: a frame is damaged; the message names the file and the frame.
        """
        if isinstance(key, slice):
            return self._whole(range(self.n_frames)[key])
        number = as_index(key)
        if not -self.n_frames <= number < self.n_frames:
            raise IndexError(f"{self.probe.path} has no frame {number}; it has 0 to {self.n_frames - 1}")
        return self._whole([number % self.n_frames])[0]

    def __iter__(self) -> Iterator[Frame]:
        """Yield all frames in time order; at most 256 MiB of pictures are in memory at a time."""
        size = self.probe.width_px * self.probe.height_px * 3
        block = max(_BLOCK_BYTES // size, 1)
        for start in range(0, self.n_frames, block):
            yield from self._whole(range(start, min(start + block, self.n_frames)))

    def at(self, time_s: float) -> Frame:
        """Return the frame on screen at a time, in seconds from the first frame.

        Raises:
            UsageError: a time before the first frame or after the end.
            MediaError: the frame is damaged.
        """
        fps = self.probe.counted.fps
        end_s = float(self.times_s[-1]) + (1 / fps if fps > 0 else 0.0)
        if not 0 <= time_s <= end_s:
            raise UsageError(f"{self.probe.path} has no frame at {time_s} s; it lasts {end_s:.3f} s")
        return self[self.index_at(time_s)]

    def _whole(self, indices: Sequence[int]) -> list[Frame]:
        """Return frames in the requested order."""
        entries = []
        for index, picture in zip(indices, self.frames(indices), strict=True):
            if isinstance(picture, FrameProblem):
                raise MediaError(picture.message)
            entries.append(Frame(data=picture, index=index, time_s=float(self.times_s[index])))
        return entries

    @property
    def probe(self) -> Probe:
        """Return the file's facts."""
        return self.scan.probe

    @property
    def times_s(self) -> NDArray[np.float64]:
        """Return each frame's presentation time, in seconds from the first; shape (n_frames,)."""
        return self.scan.times_s

    @property
    def n_frames(self) -> int:
        """Return the number of frames."""
        return len(self.scan.times_s)

    def index_at(self, time_s: float) -> int:
        """Return the frame on screen at a time: the last one that starts at or before it.

        Before the first frame, the first; after the last, the last.
        """
        # Times are fractions of ticks; without this, the printed time of a frame could miss it.
        return max(int(np.searchsorted(self.times_s, time_s + 1e-9, side="right")) - 1, 0)

    def frames(
        self, indices: Sequence[int], *, size: Size = _NATIVE, threads: int = 1
    ) -> list[NDArray[np.uint8] | FrameProblem]:
        """Return the pictures of these frames, in the requested order.

        Args:
            indices: frame numbers from 0; repeats are allowed.
            size: limits the pictures.
            threads: how many groups of pictures are decoded side by side.

        Returns:
            RGB arrays of shape (height, width, 3); a `FrameProblem` for each frame that is damaged
            or does not exist.

        Raises:
            MediaError: the file cannot be opened any more.
        """
        text = self.read(indices, lambda _, image: image, size=size, threads=threads)
        return [text[int(index)] for index in indices]

    def read(
        self,
        indices: Sequence[int],
        make: Callable[[int, NDArray[np.uint8]], MadeT],
        *,
        size: Size = _NATIVE,
        threads: int = 1,
    ) -> dict[int, MadeT | FrameProblem]:
        """Like `frames`, but keeps only the result of `make` for each picture; by frame number."""
        wanted = sorted({int(index) for index in indices})
        inside = [index for index in wanted if 0 <= index < self.n_frames]
        values: dict[int, MadeT | FrameProblem] = {
            index: self._problem(index, f"does not exist; there are {self.n_frames}, counted from 0")
            for index in wanted
            if index not in inside
        }
        if self.probe.kind == "video":
            values.update(self._read_video(inside, make, size=size, threads=threads))
        else:
            values.update(self._read_images(inside, make, size=size))
        return values

    def _read_video(
        self, indices: list[int], make: Callable[[int, NDArray[np.uint8]], MadeT], *, size: Size, threads: int
    ) -> dict[int, MadeT | FrameProblem]:
        scan, path = self.scan, place(self.probe.path)
        fit = size.fit(self.probe.width_px, self.probe.height_px)
        reading: SparseFrames[MadeT]

        def convert(index: int, frame: VideoFrame) -> MadeT:
            return make(index, to_rgb(frame, size=fit, turn=scan.turn))

        if scan.table is None:
            reading = read_counted(path, frame_indices=indices, convert=convert)
        else:
            reading = read_sparse(path, scan.table, frame_indices=indices, convert=convert, threads=threads)
        values: dict[int, MadeT | FrameProblem] = dict(reading.values)
        for index in reading.damaged:
            values[index] = self._problem(
                index, "is damaged: it, or a frame that it builds on, cannot be decoded"
            )
        for index in reading.missing:
            values[index] = self._problem(index, "did not come out of the decoder")
        return values

    def _read_images(
        self, indices: list[int], make: Callable[[int, NDArray[np.uint8]], MadeT], *, size: Size
    ) -> dict[int, MadeT | FrameProblem]:
        path = place(self.probe.path)
        images: tuple[MediaPath, ...] = (path,) if self.probe.kind == "image" else images_in(path)
        if len(images) != self.n_frames:
            raise MediaError(f"{path}: had {self.n_frames} images and now has {len(images)}; open it again")
        values: dict[int, MadeT | FrameProblem] = {}
        for index in indices:
            try:
                values[index] = make(index, read_image(images[index], size=size))
            except MediaError as error:
                values[index] = self._problem(index, f"cannot be read: {error}")
        return values

    def _problem(self, index: int, what: str) -> FrameProblem:
        inside = 0 <= index < self.n_frames
        where = f" (at {self.times_s[index]:.3f} s)" if inside and self.n_frames > 1 else ""
        return FrameProblem(frame_index=index, message=f"{self.probe.path}: frame {index}{where} {what}")


_SCANNERS: Final = {"video": scan_video, "image": scan_image, "frames": scan_folder}


def open_video(path: MediaPath | str, *, kind: MediaKind = "video") -> Video:
    """Open a file, or a folder of images (`kind` ``frames``), local or at an address.

    Raises:
        MediaError: it cannot be read, or holds no frame.
        UsageError: an unknown kind.
    """
    return Video(path, kind=kind)
