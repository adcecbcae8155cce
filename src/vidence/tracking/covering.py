"""How much of a person's box belongs to somebody else, too."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.tracking.overlap import share_inside
from vidence.tracking.tracks import Track


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
        if other.last_frame < track.first_frame or other.first_frame > track.last_frame:
            continue
        _, mine, theirs = np.intersect1d(
            track.frame_indices, other.frame_indices, assume_unique=True, return_indices=True
        )
        shares = share_inside(track.boxes_px[mine], other.boxes_px[theirs])
        covered[mine] = np.maximum(covered[mine], shares)
    return covered
