"""Boxes -> tracks, shot by shot: nobody is followed across a cut, and no limb is followed at all."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.account import DroppedTrack
from vidence.seeing.association import Tracker
from vidence.seeing.parts import without_parts
from vidence.seeing.perspective import out_of_scale
from vidence.seeing.tracks import Detections, Track


@dataclass(frozen=True, kw_only=True)
class Footage:
    """The video that boxes were found in: each `stride`-th of its frames was looked at.

    `cuts` are the frames with which shots begin, without the first.
    """

    n_frames: int
    height_px: int
    fps: float
    stride: int = 1
    cuts: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ShotTracks:
    """The tracks of a video as association gives them.

    `raw_ids` are the ids of all, `tracks` those that are no limbs, `parts` why the others are.
    `n_out_of_scale` is the number of boxes that were not used because their size does not fit their place.
    """

    raw_ids: tuple[str, ...]
    tracks: tuple[Track, ...]
    parts: tuple[DroppedTrack, ...] = ()
    n_out_of_scale: int = 0


def track_shots(
    detections: Detections,
    tracker: Tracker,
    footage: Footage,
    *,
    vectors: NDArray[np.float32] | None = None,
    finds_parts: bool = False,
) -> ShotTracks:
    """The tracks of each shot, named ``1``, ``2``, ... over the whole video.

    Args:
        detections: the boxes.
        tracker: what makes tracks of them; it is shown vectors if it asks for any.
        footage: what they were found in.
        vectors: one for each box, shape (n, n_dims).
        finds_parts: whether the detector takes limbs for people now and then.

    Source: HERBench, section 7.1.
    Departs: the paper does not say what becomes of tracks at cuts; ours end there.
    """
    raw_ids: list[str] = []
    tracks: list[Track] = []
    limbs: list[DroppedTrack] = []
    n_out = 0
    for first, end in pairwise((0, *footage.cuts, footage.n_frames)):
        here = (detections.frame_indices >= first) & (detections.frame_indices < end)
        if finds_parts:
            is_out = out_of_scale(detections.part(here), height_px=footage.height_px)
            n_out += int(np.count_nonzero(is_out))
            here[here] = ~is_out
        found = tracker.track(
            detections.part(here),
            frame_indices=range(-(-first // footage.stride) * footage.stride, end, footage.stride),
            fps=footage.fps,
            vectors=vectors[here] if vectors is not None and tracker.describer else None,
        )
        mine = tuple(replace(track, track_id=str(len(raw_ids) + i)) for i, track in enumerate(found, 1))
        raw_ids += [track.track_id for track in mine]
        if finds_parts:
            mine, parts = without_parts(mine)
            limbs += parts
        tracks += mine
    return ShotTracks(raw_ids=tuple(raw_ids), tracks=tuple(tracks), parts=tuple(limbs), n_out_of_scale=n_out)
