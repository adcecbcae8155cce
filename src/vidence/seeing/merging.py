"""Fragments of one person's way, joined: the merge cost of HERBench, eq. 2."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record
from vidence.seeing.boxes import iou
from vidence.seeing.tracks import Merge, Track

_BLOCK: Final = 256  # fragments whose pairs are looked at together


class MergeSettings(Record, kw_only=True):
    """Which fragments may be joined.

    `most_gap_frames` is the most frames between the two that have a box of neither. The last box of the
    first and the first box of the second must overlap by more than `over_iou`. `most_cost` is the most
    that a join may cost (None: any, as in the paper).
    """

    most_gap_frames: int = 30
    over_iou: float = 0.0
    most_cost: float | None = 50.0


@dataclass(frozen=True, kw_only=True)
class _Pairs:
    """Joins that are possible; every array has shape (n,), `before` and `after` are positions of tracks."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    gap_frames: NDArray[np.int64]
    distance_px: NDArray[np.float64]
    iou: NDArray[np.float64]

    @property
    def cost(self) -> NDArray[np.float64]:
        return self.gap_frames + self.distance_px / self.iou


def merge_cost(before: Track, after: Track) -> float:
    """What joining two fragments costs: ``gap + distance / IoU`` of the last box and the first.

    The gap is the number of frames between the two that have a box of neither, the distance that of the
    centres in pixels. Infinite where the two boxes
    do not overlap.

    Source: HERBench, section 7.1, eq. 2.
    Departs: no. Frames and pixels are added as printed; see `merge_fragments` for what is left open.
    """
    overlap = float(iou(before.boxes_px[-1], after.boxes_px[0]))
    distance = float(np.linalg.norm(before.centroids_px[-1] - after.centroids_px[0]))
    gap = after.first_frame - before.last_frame - 1
    return gap + distance / overlap if overlap > 0 else float("inf")


def merge_fragments(
    tracks: Sequence[Track], settings: MergeSettings
) -> tuple[tuple[Track, ...], tuple[Merge, ...]]:
    """The tracks with fragments joined, and what was joined, cheapest first.

    Joins are made in the order of their cost. The end of a track and the start of a track are each used
    once, so that any number of fragments can form a chain; a chain has the id of its first fragment and its
    place in the order. Only tracks of one class are joined. Boxes are never lost, moved or made.

    Source: HERBench, section 7.1, eq. 2.
    Departs: the paper says "spatially compatible" (ours: the boxes overlap), "minimize" (ours: greedy), and
    gives no most cost (ours: 50; of joins that cost more, most are of two people).
    """
    ordered = sorted(range(len(tracks)), key=lambda i: (tracks[i].first_frame, tracks[i].track_id))
    groups: dict[str, list[Track]] = defaultdict(list)
    for i in ordered:
        groups[tracks[i].class_name].append(tracks[i])
    joined: dict[str, Track] = {}
    merges: list[Merge] = []
    for name in sorted(groups):
        made, done = _merge_group(groups[name], settings)
        joined.update({track.track_id: track for track in made})
        merges += done
    merges.sort(key=lambda merge: merge.cost)
    return tuple(joined[t.track_id] for t in tracks if t.track_id in joined), tuple(merges)


def _merge_group(tracks: list[Track], settings: MergeSettings) -> tuple[list[Track], list[Merge]]:
    """Fragments of one class, in the order of their first frames."""
    pairs = _candidates(tracks, settings)
    cost = pairs.cost
    follows: dict[int, int] = {}
    is_follower: set[int] = set()
    used: list[int] = []
    for k in np.lexsort((pairs.after, pairs.before, cost)).tolist():
        before, after = int(pairs.before[k]), int(pairs.after[k])
        if before not in follows and after not in is_follower:
            follows[before] = after
            is_follower.add(after)
            used.append(k)
    chains = [_chain(i, follows) for i in range(len(tracks)) if i not in is_follower]
    head = {i: chain[0] for chain in chains for i in chain}
    merges = [
        Merge(
            before=tracks[pairs.before[k]].track_id,
            after=tracks[pairs.after[k]].track_id,
            into=tracks[head[int(pairs.before[k])]].track_id,
            gap_frames=int(pairs.gap_frames[k]),
            distance_px=float(pairs.distance_px[k]),
            iou=float(pairs.iou[k]),
            cost=float(cost[k]),
        )
        for k in used
    ]
    return [_joined([tracks[i] for i in chain]) for chain in chains], merges


def _chain(first: int, follows: dict[int, int]) -> list[int]:
    chain = [first]
    while chain[-1] in follows:
        chain.append(follows[chain[-1]])
    return chain


def _joined(parts: list[Track]) -> Track:
    if len(parts) == 1:
        return parts[0]
    return Track(
        track_id=parts[0].track_id,
        class_name=parts[0].class_name,
        frame_indices=np.concatenate([part.frame_indices for part in parts]),
        boxes_px=np.concatenate([part.boxes_px for part in parts]),
        confidences=np.concatenate([part.confidences for part in parts]),
        is_detected=np.concatenate([part.is_detected for part in parts]),
    )


def _candidates(tracks: list[Track], settings: MergeSettings) -> _Pairs:
    """Every join that is allowed. `tracks` come in the order of their first frames."""
    starts = np.array([track.first_frame for track in tracks])
    ends = np.array([track.last_frame for track in tracks])
    first = np.array([track.boxes_px[0] for track in tracks]).reshape(-1, 4)
    last = np.array([track.boxes_px[-1] for track in tracks]).reshape(-1, 4)
    found: list[_Pairs] = []
    for before, after in _close_in_time(starts, ends, most_gap_frames=settings.most_gap_frames):
        overlap = iou(last[before], first[after])
        shift = (last[before, :2] + last[before, 2:] - first[after, :2] - first[after, 2:]) / 2
        pairs = _Pairs(
            before=before,
            after=after,
            gap_frames=starts[after] - ends[before] - 1,
            distance_px=np.hypot(shift[:, 0], shift[:, 1]),
            iou=overlap,
        )
        keep = overlap > max(settings.over_iou, 0.0)
        found.append(_only(pairs, keep))
    pairs = _Pairs(
        before=np.concatenate([p.before for p in found]),
        after=np.concatenate([p.after for p in found]),
        gap_frames=np.concatenate([p.gap_frames for p in found]),
        distance_px=np.concatenate([p.distance_px for p in found]),
        iou=np.concatenate([p.iou for p in found]),
    )
    return pairs if settings.most_cost is None else _only(pairs, pairs.cost <= settings.most_cost)


def _only(pairs: _Pairs, keep: NDArray[np.bool_]) -> _Pairs:
    return _Pairs(
        before=pairs.before[keep],
        after=pairs.after[keep],
        gap_frames=pairs.gap_frames[keep],
        distance_px=pairs.distance_px[keep],
        iou=pairs.iou[keep],
    )


def _close_in_time(
    starts: NDArray[np.int64], ends: NDArray[np.int64], *, most_gap_frames: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Positions of tracks and of tracks that start soon after they end, block by block; `starts` ascend."""
    low = np.searchsorted(starts, ends + 1, side="left")
    high = np.searchsorted(starts, ends + 1 + most_gap_frames, side="right")
    counts = high - low
    for block in range(0, len(starts), _BLOCK):
        n = counts[block : block + _BLOCK]
        before = np.repeat(np.arange(block, block + len(n)), n)
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        yield before, np.repeat(low[block : block + _BLOCK], n) + within
