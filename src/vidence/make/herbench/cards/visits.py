"""Tracks that leave and return: boxes alone cannot tell whether it is the same person."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.make.pipeline.material import Dropped
from vidence.seeing.boxes import Edge, edges_at
from vidence.seeing.tracks import Track, TrackedVideo

REASON: Final = "out-and-back"
_LEAST_S = 1.0
_REACH = 0.05  # as near to an edge as this share of the frame, as for coming and going


def part_visits(
    tracks: Sequence[Track], video: TrackedVideo, *, every: int, stage: str
) -> tuple[tuple[Track, ...], tuple[Track, ...], tuple[Dropped, ...]]:
    """Separate tracks that stay in view from those that may be two people in sequence.

    Somebody who was last seen at an edge, and is next seen at an edge a second later or more, has been
    out of view, or is somebody else who came: such a track says neither how long anybody was there nor who.

    Args:
        tracks: after gaps were filled and fragments joined.
        video: for sizes and times.
        every: each how many frames were looked at; a longer step makes no gap by itself.
        stage: for the account.

    Returns:
        The tracks that stay in view, the visits of the others as tracks of their own (``ID/1``, ``ID/2``),
        and why those are not used.

    Source: HERBench says nothing of people who come back.
    """
    stays: list[Track] = []
    visits: list[Track] = []
    dropped: list[Dropped] = []
    for track in tracks:
        seen = np.flatnonzero(track.is_detected)
        frames = track.frame_indices[seen]
        gaps_s = np.diff(video.times_s[frames]) if len(seen) else np.zeros(0)
        long = (gaps_s >= _LEAST_S) & (np.diff(frames) > 3 * every)
        breaks = [
            (int(seen[i]), int(seen[i + 1]))
            for i in np.flatnonzero(long)
            if _at_edge(track, int(seen[i]), video) and _at_edge(track, int(seen[i + 1]), video)
        ]
        if not breaks:
            stays.append(track)
            continue
        starts, ends = [0, *(b for _, b in breaks)], [*(a for a, _ in breaks), len(track.frame_indices) - 1]
        visits += [
            replace(track.part(slice(start, end + 1)), track_id=f"{track.track_id}/{number}")
            for number, (start, end) in enumerate(zip(starts, ends, strict=True), 1)
        ]
        first, again = (float(video.times_s[track.frame_indices[place]]) for place in breaks[0])
        detail = f"not seen from {first:.2f} s to {again:.2f} s, at an edge before and after"
        dropped.append(Dropped(what=track.track_id, stage=stage, reason=REASON, detail=detail))
    return tuple(stays), tuple(visits), tuple(dropped)


def _at_edge(track: Track, place: int, video: TrackedVideo) -> bool:
    """Return whether a box is in an edge band and close to the edge."""
    edges = edges_at(track.centroids_px[place], width_px=video.width_px, height_px=video.height_px)
    return any(_is_near(track.boxes_px[place], edge, video) for edge in edges)


def _is_near(box_px: NDArray[np.float64], edge: Edge, video: TrackedVideo) -> bool:
    left, top, right, bottom = box_px.tolist()
    match edge:
        case "left":
            return bool(left <= _REACH * video.width_px)
        case "right":
            return bool(right >= (1 - _REACH) * video.width_px)
        case "top":
            return bool(top <= _REACH * video.height_px)
        case "bottom":
            return bool(bottom >= (1 - _REACH) * video.height_px)
