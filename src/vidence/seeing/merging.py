"""Start and end of tracks, and merging of fragments by HERBench's merge cost (eq. 2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record, by_key
from vidence.seeing.boxes import EDGES, Edge, iou
from vidence.seeing.same_person import TrackAppearance, distance
from vidence.seeing.tracks import PAPER_FPS, Merge, Track, frames_in

_BLOCK: Final = 256  # fragments whose pairs are looked at together
_SOON_FRAMES: Final = 2  # who touches an edge within so many frames is passing it
_LOOK_BOXES: Final = 20  # of each fragment, next to the other, as in `SamePersonRules`
_LEAST_BOXES: Final = 5


class MergeSettings(Record):
    """Which fragments may be joined.

    `most_gap_s` is the most time between the two that has a box of neither, in seconds. The last box of the
    first and the first box of the second must overlap by more than `over_iou`. `most_cost` is the most
    that a join may cost (None: any, as in the paper).

    `across_edges` says whether somebody who walks out of the frame may be joined with somebody who
    then is there, and whoever walks in with somebody who was there before. `most_apart` is the most cosine
    distance of what the two look like next to the gap; fragments whose looks are not known are joined by
    place alone. The paper has neither of the two: ``across_edges = true`` and ``most_apart = 2`` leave them
    out.
    """

    most_gap_s: float = 1.0
    over_iou: float = 0.0
    most_cost: float | None = 50.0
    across_edges: bool = False
    most_apart: float = 0.2


def merge_fragments(
    tracks: Sequence[Track],
    settings: MergeSettings,
    *,
    size_px: tuple[int, int],
    fps: float = PAPER_FPS,
    looks: Mapping[str, TrackAppearance] | None = None,
) -> tuple[tuple[Track, ...], tuple[Merge, ...]]:
    """The tracks with fragments joined, and what was joined, cheapest first.

    Joining two fragments costs ``gap + distance / IoU`` of the last box and the first: the gap is the time
    between the two that has a box of neither, in thirtieths of a second, the distance that of the centres in
    pixels; frames and pixels are added as printed. Fragments whose boxes do not overlap are not joined.

    Joins are made in the order of their cost. The end of a track and the start of a track are each used
    once, so that any number of fragments can form a chain; a chain has the id of its first fragment and its
    place in the order. Only tracks of one class are joined. Boxes are never lost, moved or made.

    Args:
        tracks: fragments of one video, or of one shot of it.
        settings: which of them may be joined.
        size_px: width and height of the frame.
        fps: of the video.
        looks: what the fragments look like, as far as that is known.

    Source: HERBench, section 7.1, eq. 2.
    Departs: the paper counts frames, at 30 a second. It says "spatially compatible" (ours: boxes overlap,
    and nobody has left the frame in between), "minimize" (ours: greedy), and gives no most cost (ours: 50; of
    joins that cost more, most are of two people). It does not compare looks.
    """
    ordered = sorted(range(len(tracks)), key=lambda i: (tracks[i].first_frame, tracks[i].track_id))
    groups = by_key((tracks[i].class_name, tracks[i]) for i in ordered)
    joined: dict[str, Track] = {}
    merges: list[Merge] = []
    for name in sorted(groups):
        candidates = _candidates(groups[name], settings, size_px=size_px, fps=fps)
        entries, done = _merge_group(
            groups[name], candidates, looks=looks or {}, most_apart=settings.most_apart
        )
        joined.update({track.track_id: track for track in entries})
        merges += done
    merges.sort(key=lambda merge: merge.cost)
    return tuple(joined[t.track_id] for t in tracks if t.track_id in joined), tuple(merges)


def _merge_group(
    tracks: list[Track],
    candidates: Iterator[tuple[int, int, dict[str, float]]],
    *,
    looks: Mapping[str, TrackAppearance],
    most_apart: float,
) -> tuple[list[Track], list[Merge]]:
    """Fragments of one class, in order of first frame."""
    follows: dict[int, int] = {}
    is_follower: set[int] = set()
    used: list[tuple[int, int, dict[str, float]]] = []
    for before, after, measures in candidates:
        if before in follows or after in is_follower:
            continue
        if _look_alike(tracks[before], tracks[after], looks, most_apart=most_apart):
            follows[before] = after
            is_follower.add(after)
            used.append((before, after, measures))
    chains = [_chain(i, follows) for i in range(len(tracks)) if i not in is_follower]
    head = {i: chain[0] for chain in chains for i in chain}
    merges = [
        Merge(
            before=tracks[before].track_id,
            after=tracks[after].track_id,
            into=tracks[head[before]].track_id,
            gap_frames=tracks[after].first_frame - tracks[before].last_frame - 1,
            **measures,
        )
        for before, after, measures in used
    ]
    return [tracks[first].joined([tracks[i] for i in rest]) for first, *rest in chains], merges


def _chain(first: int, follows: dict[int, int]) -> list[int]:
    chain = [first]
    while chain[-1] in follows:
        chain.append(follows[chain[-1]])
    return chain


def _look_alike(
    before: Track, after: Track, looks: Mapping[str, TrackAppearance], *, most_apart: float
) -> bool:
    """Whether two fragments look alike around the gap between them; yes if one is not seen well there."""
    mine, theirs = looks.get(before.track_id), looks.get(after.track_id)
    if mine is None or theirs is None:
        return True
    last = mine.mean(slice(-_LOOK_BOXES, None), least=_LEAST_BOXES)
    first = theirs.mean(slice(_LOOK_BOXES), least=_LEAST_BOXES)
    return last is None or first is None or distance(last, first) <= most_apart


def _crosses(
    tracks: Sequence[Track], *, at: Literal[0, -1], size_px: tuple[int, int], fps: float
) -> NDArray[np.bool_]:
    """Which tracks touch an edge of the frame close to their start (0) or end (-1)."""
    motions = [EndMotion.of(track, at=at, fps=fps) for track in tracks]
    soonest = [min(motion.touches_in_s(size_px=size_px).values(), default=np.inf) for motion in motions]
    return np.array(soonest) <= _SOON_FRAMES / fps


def _candidates(
    tracks: list[Track], settings: MergeSettings, *, size_px: tuple[int, int], fps: float
) -> Iterator[tuple[int, int, dict[str, float]]]:
    """Every join possible in position and time, cheapest first, with its measurements.

    `tracks` come in the order of their first frames.
    """
    first_frames = np.array([track.first_frame for track in tracks], np.int64)
    last_frames = np.array([track.last_frame for track in tracks], np.int64)
    first_px = np.array([track.boxes_px[0] for track in tracks]).reshape(-1, 4)
    last_px = np.array([track.boxes_px[-1] for track in tracks]).reshape(-1, 4)
    comes = _crosses(tracks, at=0, size_px=size_px, fps=fps)
    goes = _crosses(tracks, at=-1, size_px=size_px, fps=fps)
    pairs = [np.zeros((0, 5))]
    most_frames = frames_in(settings.most_gap_s, fps)
    for before, after in _close_in_time(first_frames, last_frames, most_frames=most_frames):
        last, first = last_px[before], first_px[after]
        overlap = iou(last, first)
        shift = (last[:, :2] + last[:, 2:] - first[:, :2] - first[:, 2:]) / 2
        distance_px = np.hypot(shift[:, 0], shift[:, 1])
        passed = goes[before] | comes[after]
        keep = (overlap > max(settings.over_iou, 0.0)) & (settings.across_edges | ~passed)
        gaps = (first_frames[after] - last_frames[before] - 1) * (PAPER_FPS / fps)
        cost = gaps[keep] + distance_px[keep] / overlap[keep]
        pairs.append(np.stack([cost, before[keep], after[keep], distance_px[keep], overlap[keep]], axis=1))
    table = np.concatenate(pairs)
    if settings.most_cost is not None:
        table = table[table[:, 0] <= settings.most_cost]
    for cost, before, after, distance_px, overlap in table[np.lexsort(table[:, 2::-1].T)].tolist():
        yield int(before), int(after), {"distance_px": distance_px, "iou": overlap, "cost": cost}


def _close_in_time(
    starts: NDArray[np.int64], ends: NDArray[np.int64], *, most_frames: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of tracks where one starts soon after the other ends, in blocks; `starts` ascend."""
    low = np.searchsorted(starts, ends + 1, side="left")
    high = np.searchsorted(starts, ends + 1 + most_frames, side="right")
    counts = high - low
    for block in range(0, len(starts), _BLOCK):
        n = counts[block : block + _BLOCK]
        before = np.repeat(np.arange(block, block + len(n)), n)
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        yield before, np.repeat(low[block : block + _BLOCK], n) + within


FIT_S: Final = 0.6
"""The time before its end, or after its start, from which a track's motion is estimated."""
_FEWEST: Final = 3
_STANDS: Final = 0.05  # heights in a second; who is slower stands


@dataclass(frozen=True, kw_only=True)
class EndMotion:
    """Position and velocity of a track in its first or last frame, extrapolated outwards.

    What is `ahead` of an end lies in the past for a beginning: somebody who comes in through the left edge
    moves out through it when time is turned around. A straight line through the centres of the boxes of
    `FIT_S` seconds says both; of fewer than three boxes nothing is known, and the track stands.

    Shapes: `box_px` (4,), `ahead_px_per_s` (2,).
    Units: `height_px` is the median of those boxes.
    """

    box_px: NDArray[np.float64]
    ahead_px_per_s: NDArray[np.float64]
    height_px: float

    @classmethod
    def of(cls, track: Track, *, at: Literal[0, -1], fps: float) -> Self:
        """The motion at the start (0) or the end (-1) of a track."""
        frame = track.first_frame if at == 0 else track.last_frame
        near = np.abs(track.frame_indices - frame) <= max(frames_in(FIT_S, fps), _FEWEST - 1)
        boxes = track.boxes_px[near]
        before_s = np.abs(track.frame_indices[near] - frame) / fps
        points = (boxes[:, :2] + boxes[:, 2:]) / 2
        pace = np.zeros(2)
        if len(points) >= _FEWEST:
            away = before_s.mean() - before_s
            pace = (away[:, None] * points).sum(axis=0) / (away**2).sum()
        return cls(
            box_px=boxes[at], ahead_px_per_s=pace, height_px=float(np.median(boxes[:, 3] - boxes[:, 1]))
        )

    def touches_in_s(self, *, size_px: tuple[int, int]) -> dict[Edge, float]:
        """When the box touches each edge it moves towards; other edges are absent."""
        left, top, right, bottom = self.box_px.tolist()
        return self._after(size_px, room={"top": top, "left": left, "bottom": bottom, "right": right})

    def is_out_in_s(self, *, size_px: tuple[int, int]) -> dict[Edge, float]:
        """When the box has left the frame past each edge it moves towards; other edges are absent."""
        left, top, right, bottom = self.box_px.tolist()
        return self._after(size_px, room={"top": bottom, "left": right, "bottom": top, "right": left})

    def _after(self, size_px: tuple[int, int], *, room: dict[Edge, float]) -> dict[Edge, float]:
        """When sides at these coordinates reach their edges."""
        right, down = self.ahead_px_per_s.tolist()
        paces: dict[Edge, float] = {"top": -down, "left": -right, "bottom": down, "right": right}
        far: dict[Edge, float] = {**room, "bottom": size_px[1] - room["bottom"]}
        far["right"] = size_px[0] - room["right"]
        slowest = _STANDS * self.height_px
        return {edge: max(far[edge], 0.0) / paces[edge] for edge in EDGES if paces[edge] > slowest}
