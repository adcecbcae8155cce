"""How much of a person's box belongs to somebody else, too."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.overlap import share_inside
from vidence.seeing.tracks import Track


def shares_covered(track: Track, others: Sequence[Track]) -> NDArray[np.float64]:
    """The part of each box of a track that lies in a box of one other track in the same frame, 0 to 1.

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
    """Where two tracks have their boxes of the frames that both have, in the order of the frames."""
    first, last = max(track.first_frame, other.first_frame), min(track.last_frame, other.last_frame)
    if first > last:
        nowhere = np.zeros(0, np.int64)
        return nowhere, nowhere
    (start, stop), (begin, end) = (
        np.searchsorted(one.frame_indices, (first, last + 1)) for one in (track, other)
    )
    mine, theirs = np.arange(start, stop), np.arange(begin, end)
    if len(mine) == len(theirs) == last - first + 1:  # neither has a gap
        return mine, theirs
    _, here, there = np.intersect1d(
        track.frame_indices[mine], other.frame_indices[theirs], assume_unique=True, return_indices=True
    )
    return mine[here], theirs[there]


def at_the_same_time(tracks: Sequence[Track], others: Sequence[Track]) -> Iterator[tuple[Track, list[Track]]]:
    """Each of the tracks with those of the others that begin before it ends, and end after it begins."""
    firsts = np.array([other.first_frame for other in others], np.int64)
    lasts = np.array([other.last_frame for other in others], np.int64)
    for track in tracks:
        together = np.flatnonzero((firsts <= track.last_frame) & (lasts >= track.first_frame))
        yield track, [others[i] for i in together.tolist()]
