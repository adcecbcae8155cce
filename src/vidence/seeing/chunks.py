"""Watch a video in chunks, which any process can watch and store."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.media.scan import Scan
from vidence.media.video import FrameProblem, Video
from vidence.seeing.describers.describing import Describer, Portraits
from vidence.seeing.shooting import FoundShots, ShotDetector, ShotObserver, stretches
from vidence.seeing.tracks import Detections
from vidence.seeing.watching import (
    Detector,
    Finder,
    FrameDetections,
    Image,
    Observer,
    Watched,
    check_problems,
    frames_at,
    watch,
)

CHUNK_FRAMES = 240
"""The most frames of a chunk; fewer if a keyframe is near."""
_N_CHUNKS: Final = 16  # of a short video, whose progress is told chunk by chunk
_LEAST_FRAMES: Final = 24


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Consecutive frames of a video before `end_frame`, and those that a detector looks at."""

    first_frame: int
    end_frame: int
    looks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class ChunkResult:
    """The detections in one chunk.

    Shapes: `vectors` (n, n_dims), one for each box, where they are described; `pictures` (m, height, width,
    3) of the frames `picture_frames` (m,), where shots are looked for.
    """

    detections: Detections
    problems: tuple[FrameProblem, ...]
    vectors: NDArray[np.float32] | None = None
    pictures: NDArray[np.uint8] | None = None
    picture_frames: NDArray[np.int64] | None = None


class FrameKeeper(Observer, Protocol):
    """An observer that stores frames and at the end receives the list of damaged ones."""

    def settle(self, problems: Iterable[FrameProblem]) -> None:
        """Receive the damaged frames after all have been read."""


@runtime_checkable
class OpensAnywhere(Protocol):
    """A small CPU detector or describer that each process can open for itself.

    Others, such as networks on a device, watch one chunk after the other in one process of a machine.
    """

    opens_anywhere: bool


@dataclass(frozen=True, kw_only=True)
class Eyes:
    """The detector of a video, and the describer of boxes of some classes (empty: all).

    `shot_size` is the size of the pictures that a shot detector wants of every frame; `keeper` opens what
    keeps frames.
    """

    detector: Detector
    describer: Describer | None = None
    classes: tuple[str, ...] = ()
    shot_size: Size | None = None
    keeper: Callable[[Video], FrameKeeper] | None = None

    @property
    def identity(self) -> list[object]:
        """The settings that determine what is detected in a chunk."""
        described = "" if self.describer is None else self.describer.identity
        return [self.detector.identity, described, self.classes, self.shot_size, CHUNK_FRAMES]

    @property
    def can_part(self) -> bool:
        """Whether other processes of this machine can watch chunks."""
        parts = [self.detector, *([] if self.describer is None else [self.describer])]
        return self.can_travel and all(
            isinstance(part, OpensAnywhere) and part.opens_anywhere for part in parts
        )

    @property
    def can_travel(self) -> bool:
        """Whether other machines can watch chunks; boxes from files stay with their files."""
        return isinstance(self.detector, Finder)


def chunks_of(video: Video, *, rate: float, has_shots: bool) -> tuple[Chunk, ...]:
    """The chunks of a video, in order.

    Chunks end at keyframes where there are any, so that hardly a packet is decoded twice. A video whose
    frames must be counted from its start is one chunk.

    Args:
        video: the video.
        rate: how many frames a second the detector looks at; 0 is all.
        has_shots: whether all frames are read for the shots; otherwise frames behind the last look are not.
    """
    looks = np.array(frames_at(video.times_s, rate), np.int64)
    most = video.n_frames
    if video.scan.table is not None or video.probe.kind != "video":
        most = min(CHUNK_FRAMES, max(_LEAST_FRAMES, most // _N_CHUNKS))
    chunks = []
    for frames in stretches(video, most=most):
        mine = looks[(looks >= frames.start) & (looks < frames.stop)].tolist()
        if mine or has_shots:
            chunks.append(Chunk(first_frame=frames.start, end_frame=frames.stop, looks=tuple(mine)))
    return tuple(chunks)


def watch_chunk(video: Video, chunk: Chunk, eyes: Eyes) -> ChunkResult:
    """Read the frames of a chunk once for detector, describer, shot detector and keeper.

    Raises:
        MediaError: the file cannot be opened any more.
        DataError: a file of boxes cannot be used.
    """
    observers: list[Observer] = []
    portraits = cutter = keeper = None
    if eyes.describer is not None:
        portraits = Portraits(eyes.describer, class_names=eyes.classes)
        observers.append(portraits)
    if eyes.shot_size is not None:
        cutter = _Small(eyes.shot_size.fit(video.probe.width_px, video.probe.height_px))
        observers.append(cutter)
    if eyes.keeper is not None and (isinstance(eyes.detector, Finder) or observers):
        keeper = eyes.keeper(video)
        observers.append(keeper)
    frames = range(chunk.first_frame, chunk.end_frame) if eyes.shot_size is not None else chunk.looks
    watched = watch(video, frames, detector=eyes.detector, observers=observers, looks=chunk.looks)
    if keeper is not None:
        keeper.settle(watched.problems)
    damaged = {problem.frame_index for problem in watched.problems}
    values = [] if cutter is None else sorted(set(cutter.pictures) - damaged)
    return ChunkResult(
        detections=watched.detections,
        problems=watched.problems,
        vectors=None if portraits is None else portraits.of(watched.detections),
        pictures=None if cutter is None else cutter.of(values),
        picture_frames=None if cutter is None else np.array(values, np.int64),
    )


class _Small:
    """Keeps every frame in a small size."""

    def __init__(self, size_px: tuple[int, int]) -> None:
        self._size_px = size_px
        self.pictures: dict[int, NDArray[np.uint8]] = {}

    def see(self, frame_index: int, image: Image, detections: FrameDetections) -> None:
        """Store one frame."""
        self.pictures.setdefault(frame_index, resize(image, size=self._size_px))

    def of(self, frames: Sequence[int]) -> NDArray[np.uint8]:
        """The pictures of these frames, shape (n, height, width, 3)."""
        width_px, height_px = self._size_px
        nothing = np.zeros((0, height_px, width_px, 3), np.uint8)
        return np.concatenate([nothing, *(self.pictures[frame][None] for frame in frames)])


class ChunkStore(Protocol):
    """Stores the results of a video's chunks until all are done."""

    def has(self, chunk: Chunk) -> bool:
        """Return whether the chunk is stored."""

    def find(self, chunk: Chunk) -> ChunkResult | None:
        """Return the stored result of a chunk, if it is readable."""

    def keep(self, chunk: Chunk, seen: ChunkResult) -> None:
        """Store the result of a chunk."""

    def clear(self) -> None:
        """Delete all chunks, after their joint result has been stored."""


class NoStore:
    """A store that keeps nothing."""

    def has(self, chunk: Chunk) -> bool:
        """Return False."""
        return False

    def find(self, chunk: Chunk) -> ChunkResult | None:
        """Return None."""
        return None

    def keep(self, chunk: Chunk, seen: ChunkResult) -> None:
        """Discard the result."""

    def clear(self) -> None:
        """Nothing to do."""


@dataclass(frozen=True, kw_only=True)
class ChunkWork:
    """Where chunks are watched and stored; no setting changes the results.

    `store` opens what keeps them until the video is done (None: nothing is kept), `prepare` may watch chunks
    elsewhere before, `on_frames` hears how many frames more are done.
    """

    store: Callable[[Eyes], ChunkStore] | None = None
    prepare: "Callable[[Watch], None]" = lambda watch: None
    on_frames: Callable[[int], None] = lambda n: None


@dataclass(frozen=True, kw_only=True)
class SeenVideo:
    """The results for a whole video: boxes, vectors and shots, as far as requested."""

    watched: Watched
    vectors: NDArray[np.float32] | None = None
    cut: FoundShots | None = None


class Watch:
    """Watches one video in chunks; stored chunks are not watched again."""

    def __init__(
        self,
        video: Video,
        eyes: Eyes,
        *,
        rate: float,
        store: ChunkStore | None = None,
        on_frames: Callable[[int], None] = lambda n: None,
    ) -> None:
        """Reads nothing yet.

        Args:
            video: the video.
            eyes: who watches it.
            rate: how many frames a second the detector looks at; 0 is all.
            store: where chunks are kept (None: nowhere).
            on_frames: hears how many frames more are done.
        """
        self.scan: Scan = video.scan
        self.eyes = eyes
        self.chunks = chunks_of(video, rate=rate, has_shots=eyes.shot_size is not None)
        self._store = NoStore() if store is None else store
        self._on_frames = on_frames
        self._told: set[Chunk] = set()

    @property
    def looks(self) -> tuple[int, ...]:
        """The frames that the detector looks at."""
        return tuple(frame for chunk in self.chunks for frame in chunk.looks)

    @property
    def n_frames(self) -> int:
        """The total number of frames in the chunks."""
        return sum(chunk.end_frame - chunk.first_frame for chunk in self.chunks)

    def pass_kept(self) -> int:
        """Skip stored frames without reporting them to `on_frames`."""
        kept = set(self.chunks) - set(self.missing)
        self._told |= kept
        return sum(chunk.end_frame - chunk.first_frame for chunk in kept)

    @property
    def missing(self) -> tuple[Chunk, ...]:
        """Return the chunks that are not stored."""
        return tuple(chunk for chunk in self.chunks if not self._store.has(chunk))

    def take(self, chunk: Chunk, seen: ChunkResult) -> None:
        """Add the result of a chunk that another process watched."""
        self._store.keep(chunk, seen)
        self._tell(chunk)

    def finish(self, cutter: ShotDetector | None = None) -> SeenVideo:
        """Watch missing chunks and join all; only one chunk's pictures are in memory at a time.

        Args:
            cutter: finds the shots, where pictures of all frames were wanted.

        Raises:
            MediaError: not one of the frames can be read.
            DataError: a file of boxes cannot be used.
        """
        video = Video(self.scan)
        observer = None
        if cutter is not None and self.eyes.shot_size is not None:
            size_px = (video.probe.width_px, video.probe.height_px)
            observer = ShotObserver(cutter, n_frames=video.n_frames, size_px=size_px)
        results: list[ChunkResult] = []
        for chunk in self.chunks:
            seen = self._store.find(chunk)
            if seen is None:
                seen = watch_chunk(video, chunk, self.eyes)
                self._store.keep(chunk, seen)
            self._tell(chunk)
            if observer is not None and seen.pictures is not None and seen.picture_frames is not None:
                for frame, picture in zip(seen.picture_frames.tolist(), seen.pictures, strict=True):
                    observer.see(frame, picture, None)
            results.append(replace(seen, pictures=None, picture_frames=None))
        problems = tuple(problem for seen in results for problem in seen.problems)
        n_read = len(self.looks) if observer is None else video.n_frames
        check_problems(video, problems, n_read=n_read)
        return SeenVideo(
            watched=Watched(detections=_joined([seen.detections for seen in results]), problems=problems),
            vectors=_vectors(results) if self.eyes.describer is not None else None,
            cut=None if observer is None else observer.found(video.times_s),
        )

    def clear(self) -> None:
        """Delete the chunks once their joint result has been stored."""
        self._store.clear()

    def _tell(self, chunk: Chunk) -> None:
        if chunk not in self._told:
            self._told.add(chunk)
            self._on_frames(chunk.end_frame - chunk.first_frame)


def _joined(parts: Sequence[Detections]) -> Detections:
    """The boxes of all chunks in one."""
    names = {i: name for part in parts for i, name in part.class_names.items()}
    first, *others = parts
    return replace(first.joined(others), class_names=dict(sorted(names.items())))


def _vectors(parts: Sequence[ChunkResult]) -> NDArray[np.float32] | None:
    known = [part.vectors for part in parts if part.vectors is not None]
    return np.concatenate(known) if known else None
