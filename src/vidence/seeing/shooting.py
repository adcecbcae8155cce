"""Cut a video into shots: the interface of shot detectors, and one pass over the frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vidence.errors import MediaError
from vidence.media.encode import Size
from vidence.media.pixels import resize
from vidence.media.video import FrameProblem, Video
from vidence.records import Record
from vidence.seeing.tracks import Span

# So many pictures wait for one that is late; then it counts as damaged, like the one before it.
_MOST_WAITING: Final = 300
# Pictures that are in memory at the same time take about so many bytes at most.
MOST_BYTES: Final = 64_000_000


class Shot(Record):
    """Frames ``first_frame`` to ``last_frame``, both included, between two cuts; times in seconds.

    The first ``n_mixed`` frames still show the shot before it, or come up from black.
    """

    shot_id: str
    first_frame: int
    last_frame: int
    start_s: float
    end_s: float
    n_mixed: int = 0

    @property
    def clear_frame(self) -> int:
        """The first frame that shows only this shot."""
        return self.first_frame + self.n_mixed

    @property
    def frames(self) -> Span:
        """Its frames, in the form used by tracks."""
        return Span(first_frame=self.first_frame, last_frame=self.last_frame, n_mixed=self.n_mixed)


@dataclass(frozen=True, kw_only=True)
class ShotScores:
    """A detector's measurements per frame, for people who check its cuts.

    `values` (n_frames,): how much a frame looks like the beginning of another shot. Below `least` none is
    taken for one by its value. `what` says in words what is measured.
    """

    values: NDArray[np.float32]
    least: float
    what: str


@dataclass(frozen=True, kw_only=True)
class FoundShots:
    """The shots of a video, and what its detector measured (None if it gives no scores)."""

    shots: tuple[Shot, ...]
    scores: ShotScores | None = None


class ShotWatch(Protocol):
    """One detector watching one video, frame by frame."""

    def see(self, picture: NDArray[np.uint8]) -> None:
        """Look at the next frame: RGB, shape (height, width, 3), at most the detector's `size`."""

    def spans(self) -> tuple[Span, ...]:
        """The shots of all frames seen, in order; frames of a gradual transition may be in none."""

    def scores(self) -> ShotScores | None:
        """The measurements at all frames seen; None if the detector gives no scores."""


class ShotDetector(Protocol):
    """Finds the cuts of a video; one file in ``seeing/shots``.

    `identity` is what the shots depend on: name, version, weights, options. `size` limits the pictures
    that it wants to see.
    """

    identity: str
    size: Size

    def watch(self) -> ShotWatch:
        """Start with a new video."""


def find_shots(video: Video, detector: ShotDetector) -> tuple[Shot, ...]:
    """The shots of a video, in order, with the exact times of their frames.

    Raises:
        MediaError: the file cannot be opened any more, or no frame of it can be decoded.
    """
    return find_scored_shots(video, detector).shots


def find_scored_shots(video: Video, detector: ShotDetector) -> FoundShots:
    """The shots of a video, and what was measured at its frames.

    The video is decoded once, from its beginning to its end. A frame that is damaged counts as the one
    before it.

    Raises:
        MediaError: the file cannot be opened any more, or no frame of it can be decoded.
    """
    watch = detector.watch()
    for picture in pictures_in_order(video, size=detector.size):
        watch.see(picture)
    return FoundShots(shots=timed(watch.spans(), video.times_s), scores=watch.scores())


class ShotObserver:
    """Feeds a shot detector with frames read by another pass, once each and in order."""

    def __init__(self, detector: ShotDetector, *, n_frames: int, size_px: tuple[int, int]) -> None:
        self._watch: ShotWatch = detector.watch()
        self._n_frames = n_frames
        self._size_px = detector.size.fit(*size_px)
        self._waiting: dict[int, NDArray[np.uint8]] = {}
        self._next = 0
        self._n_early = 0
        self._last: NDArray[np.uint8] | None = None

    def see(self, frame_index: int, image: NDArray[np.uint8], result: object) -> None:
        """Look at a frame, or queue it until those before it arrive."""
        if frame_index >= self._next:
            self._waiting[frame_index] = resize(image, size=self._size_px)
        while self._next in self._waiting or len(self._waiting) > _MOST_WAITING:
            self._advance()

    def shots(self, times_s: NDArray[np.float64]) -> tuple[Shot, ...]:
        """The shots, after all frames; errors as for `found`."""
        return self.found(times_s).shots

    def found(self, times_s: NDArray[np.float64]) -> FoundShots:
        """The shots and what was measured, after all frames.

        Raises:
            MediaError: not one frame was seen.
        """
        while self._next < self._n_frames:
            self._advance()
        if self._last is None:
            raise MediaError("no frame of the video can be decoded, so that it has no shots")
        return FoundShots(shots=timed(self._watch.spans(), times_s), scores=self._watch.scores())

    def _advance(self) -> None:
        """Feed the next frame; a missing one is replaced by its predecessor."""
        picture = self._waiting.pop(self._next, self._last)
        self._next += 1
        if picture is None:
            self._n_early += 1
            return
        for _ in range(self._n_early):
            self._watch.see(picture)
        self._n_early = 0
        self._watch.see(picture)
        self._last = picture


def timed(spans: Sequence[Span], times_s: NDArray[np.float64]) -> tuple[Shot, ...]:
    """Spans as shots ``shot-0001``, ``shot-0002``, ..., each ending when the next frame would start.

    Shapes: `times_s` (n_frames,), in seconds. The last frame of a video is taken to last as long as the
    frame before it.
    """
    ends_s = np.append(times_s[1:], times_s[-1] + (times_s[-1] - times_s[-2] if len(times_s) > 1 else 0.0))
    return tuple(
        Shot(
            shot_id=f"shot-{number:04d}",
            first_frame=span.first_frame,
            last_frame=span.last_frame,
            n_mixed=span.n_mixed,
            start_s=float(times_s[span.first_frame]),
            end_s=float(ends_s[span.last_frame]),
        )
        for number, span in enumerate(spans, start=1)
    )


@dataclass(frozen=True, kw_only=True, order=True)
class Gap:
    """The change from one shot to the next: the last frame of one, and the first showing the other.

    Frames between them are in no shot. The first `n_mixed` frames of the next one still show the shot before
    it, or come up from black. -1 and the number of frames stand for before and behind the video.
    """

    last_frame: int
    first_frame: int
    n_mixed: int = 0

    @property
    def clear_frame(self) -> int:
        """The first frame that shows only the next shot."""
        return self.first_frame + self.n_mixed

    def is_near(self, other: "Gap", *, reach: int = 1) -> bool:
        """Whether two gaps overlap with their mixed frames, or come within this many frames of each other."""
        return self.last_frame - reach <= other.clear_frame and other.last_frame <= self.clear_frame + reach


def spans_between(gaps: Sequence[Gap], *, n_frames: int) -> tuple[Span, ...]:
    """The shots between gaps, in order; a shot mixed to its end counts its last frame as clear.

    >>> spans_between([Gap(last_frame=2, first_frame=4)], n_frames=6)
    (Span(first_frame=0, last_frame=2, n_mixed=0), Span(first_frame=4, last_frame=5, n_mixed=0))
    """
    spans: list[Span] = []
    start = clear = 0
    for gap in [*sorted(gaps), Gap(last_frame=n_frames - 1, first_frame=n_frames)]:
        if start <= gap.last_frame:
            n_mixed = min(max(clear - start, 0), gap.last_frame - start)
            spans.append(Span(first_frame=start, last_frame=gap.last_frame, n_mixed=n_mixed))
        start, clear = max(start, gap.first_frame), max(clear, gap.clear_frame)
    return tuple(spans)


def cuts_to_spans(first_frames: Sequence[int], *, n_frames: int) -> tuple[Span, ...]:
    """The shots between hard cuts; `first_frames` are the first frames of new shots.

    >>> cuts_to_spans([3], n_frames=5)
    (Span(first_frame=0, last_frame=2, n_mixed=0), Span(first_frame=3, last_frame=4, n_mixed=0))
    """
    return spans_between([Gap(last_frame=i - 1, first_frame=i) for i in first_frames], n_frames=n_frames)


def pictures_in_order(
    video: Video, *, size: Size, most_bytes: int = MOST_BYTES
) -> Iterator[NDArray[np.uint8]]:
    """Every frame of a video in order, damaged ones replaced by their predecessor.

    It is read in stretches that begin at keyframes, so that each packet is decoded once and only one
    stretch is in memory. A stretch between keyframes that is too long for that is read in parts.

    Raises:
        MediaError: the file cannot be opened any more, or no frame of it can be decoded.
    """
    width_px, height_px = size.fit(video.probe.width_px, video.probe.height_px)
    most = max(most_bytes // (3 * width_px * height_px), 1)
    values: NDArray[np.uint8] | None = None
    n_early, problem = 0, "it holds no frame"
    for stretch in stretches(video, most=most):
        for frame in video.frames(stretch, size=size):
            if isinstance(frame, FrameProblem):
                problem = frame.message
                if values is None:
                    n_early += 1
                    continue
            else:
                # Some files change their size on the way; what compares pictures needs one size.
                values = resize(frame, size=(width_px, height_px))
                while n_early:
                    n_early -= 1
                    yield values
            if values is not None:
                yield values
    if values is None:
        raise MediaError(f"{video.probe.path}: no frame can be decoded, so that it has no shots: {problem}")


def stretches(video: Video, *, most: int) -> Iterator[range]:
    """Runs of frames of at most `most`, ending before a keyframe if possible."""
    table, n_frames = video.scan.table, video.n_frames
    keys = np.zeros(0, np.int64) if table is None else np.flatnonzero(table.is_key[table.packet_of_frame])
    start = 0
    while start < n_frames:
        end = min(start + most, n_frames)
        inside = keys[(keys > start) & (keys <= end)]
        if end < n_frames and len(inside):
            end = int(inside[-1])
        yield range(start, end)
        start = end
