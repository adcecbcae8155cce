"""When people are visible, and how much of them is occluded by others."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record
from vidence.seeing.boxes import share_inside
from vidence.seeing.tracks import Track, TrackedVideo

TIE_S: Final = 3.0


class Visible(Record):
    """The time span of one track, from its first frame to its last, in seconds."""

    track_id: str
    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """The duration in seconds.

        Source: HERBench, section 7.3 (t_end - t_start).
        Departs: no. The time that the last frame stays on screen is not counted.
        """
        return self.end_s - self.start_s


def visible(video: TrackedVideo) -> tuple[Visible, ...]:
    """Every track of a video with its span, by start, end and id.

    Times are presentation times of the frames, so that they hold where the frame rate changes.
    """
    spans = [(*video.span_s(track), track.track_id) for track in video.tracks]
    return tuple(Visible(track_id=name, start_s=start, end_s=end) for start, end, name in sorted(spans))


def overlap_s(visible: Visible, other: Visible) -> float:
    """For how long both are visible, in seconds; 0 if they are not."""
    return max(min(visible.end_s, other.end_s) - max(visible.start_s, other.start_s), 0.0)


def longest(spans: Sequence[Visible], *, tie_s: float = TIE_S) -> tuple[str, ...]:
    """Who stays longest, and all within `tie_s` of that; several mean that it is not clear.

    The ids come longest first; none for no spans.

    Source: HERBench, section 7.3 (duration computation).
    Departs: the tie band is that of an example of MPDR, where less than 3 s count as equal.
    """
    best = max((span.duration_s for span in spans), default=0.0)
    near = [span for span in spans if best - span.duration_s < tie_s or span.duration_s == best]
    return tuple(span.track_id for span in sorted(near, key=lambda span: (-span.duration_s, span.track_id)))


def shares_covered(track: Track, others: Sequence[Track]) -> NDArray[np.float64]:
    """Occlusion: the share of each box covered by one other track in the same frame, 0 to 1.

    It is the largest part that a single other one has, shape (n,). Boxes do not tell who stands in front: a
    box that is covered may show either of the two.

    Args:
        track: whose boxes.
        others: tracks of the same video; the track itself is left out where it is among them.
    """
    covered = np.zeros(len(track.frame_indices))
    for other in others:
        if other.track_id == track.track_id:
            continue
        mine, theirs = shared_rows(track, other)
        if len(mine):
            shares = share_inside(track.boxes_px[mine], other.boxes_px[theirs])
            covered[mine] = np.maximum(covered[mine], shares)
    return covered


def shared_rows(track: Track, other: Track) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the boxes of two tracks are in their common frames, in order of frames."""
    first, last = max(track.first_frame, other.first_frame), min(track.last_frame, other.last_frame)
    if first > last:
        nowhere = np.zeros(0, np.int64)
        return nowhere, nowhere
    (start, stop), (begin, end) = (
        np.searchsorted(entry.frame_indices, (first, last + 1)) for entry in (track, other)
    )
    mine, theirs = np.arange(start, stop), np.arange(begin, end)
    if len(mine) == len(theirs) == last - first + 1:  # neither has a gap
        return mine, theirs
    _, here, there = np.intersect1d(
        track.frame_indices[mine], other.frame_indices[theirs], assume_unique=True, return_indices=True
    )
    return mine[here], theirs[there]


def at_the_same_time(tracks: Sequence[Track], others: Sequence[Track]) -> Iterator[tuple[Track, list[Track]]]:
    """Each track with the other tracks that overlap it in time."""
    firsts = np.array([other.first_frame for other in others], np.int64)
    lasts = np.array([other.last_frame for other in others], np.int64)
    for track in tracks:
        values = np.flatnonzero((firsts <= track.last_frame) & (lasts >= track.first_frame))
        yield track, [others[i] for i in values.tolist()]
