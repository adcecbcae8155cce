"""Merge fragments of one person's track: the merge cost of HERBench, eq. 2."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.records import Record
from vidence.seeing.boxes import iou
from vidence.seeing.tracks import PAPER_FPS, Merge, Track, frames_in

_BLOCK: Final = 256  # fragments whose pairs are looked at together


class MergeSettings(Record):
    """Which fragments may be joined.

    `most_gap_s` is the most time between the two that has a box of neither, in seconds. The last box of the
    first and the first box of the second must overlap by more than `over_iou`. `most_cost` is the most
    that a join may cost (None: any, as in the paper).
    """

    most_gap_s: float = 1.0
    over_iou: float = 0.0
    most_cost: float | None = 50.0


def merge_fragments(
    tracks: Sequence[Track], settings: MergeSettings, *, fps: float = PAPER_FPS
) -> tuple[tuple[Track, ...], tuple[Merge, ...]]:
    """The tracks with fragments joined, and what was joined, cheapest first.

    Joining two fragments costs ``gap + distance / IoU`` of the last box and the first: the gap is the time
    between the two that has a box of neither, in thirtieths of a second, the distance that of the centres in
    pixels; frames and pixels are added as printed. Fragments whose boxes do not overlap are not joined.

    Joins are made in the order of their cost. The end of a track and the start of a track are each used
    once, so that any number of fragments can form a chain; a chain has the id of its first fragment and its
    place in the order. Only tracks of one class are joined. Boxes are never lost, moved or made.

    Source: HERBench, section 7.1, eq. 2.
    Departs: the paper counts frames, at 30 a second. It says "spatially compatible" (ours: boxes overlap),
    "minimize" (ours: greedy), and gives no most cost (ours: 50; of joins that cost more, most are of two
    people).
    """
    ordered = sorted(range(len(tracks)), key=lambda i: (tracks[i].first_frame, tracks[i].track_id))
    groups: dict[str, list[Track]] = defaultdict(list)
    for i in ordered:
        groups[tracks[i].class_name].append(tracks[i])
    joined: dict[str, Track] = {}
    merges: list[Merge] = []
    for name in sorted(groups):
        made, done = _merge_group(groups[name], settings, fps=fps)
        joined.update({track.track_id: track for track in made})
        merges += done
    merges.sort(key=lambda merge: merge.cost)
    return tuple(joined[t.track_id] for t in tracks if t.track_id in joined), tuple(merges)


def _merge_group(
    tracks: list[Track], settings: MergeSettings, *, fps: float
) -> tuple[list[Track], list[Merge]]:
    """Fragments of one class, in the order of their first frames."""
    follows: dict[int, int] = {}
    is_follower: set[int] = set()
    used: list[tuple[int, int, dict[str, float]]] = []
    for before, after, measures in _candidates(tracks, settings, fps=fps):
        if before not in follows and after not in is_follower:
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


def _candidates(
    tracks: list[Track], settings: MergeSettings, *, fps: float
) -> Iterator[tuple[int, int, dict[str, float]]]:
    """Every join that is allowed, cheapest first: both positions, and what was measured.

    `tracks` come in the order of their first frames.
    """
    starts = np.array([track.first_frame for track in tracks])
    ends = np.array([track.last_frame for track in tracks])
    first = np.array([track.boxes_px[0] for track in tracks]).reshape(-1, 4)
    last = np.array([track.boxes_px[-1] for track in tracks]).reshape(-1, 4)
    pairs = [np.zeros((0, 5))]
    for before, after in _close_in_time(starts, ends, most_frames=frames_in(settings.most_gap_s, fps)):
        overlap = iou(last[before], first[after])
        shift = (last[before, :2] + last[before, 2:] - first[after, :2] - first[after, 2:]) / 2
        distance = np.hypot(shift[:, 0], shift[:, 1])
        keep = overlap > max(settings.over_iou, 0.0)
        gaps = (starts[after] - ends[before] - 1) * (PAPER_FPS / fps)
        cost = gaps[keep] + distance[keep] / overlap[keep]
        pairs.append(np.stack([cost, before[keep], after[keep], distance[keep], overlap[keep]], axis=1))
    table = np.concatenate(pairs)
    if settings.most_cost is not None:
        table = table[table[:, 0] <= settings.most_cost]
    for cost, before, after, distance, overlap in table[np.lexsort(table[:, 2::-1].T)].tolist():
        yield int(before), int(after), {"distance_px": distance, "iou": overlap, "cost": cost}


def _close_in_time(
    starts: NDArray[np.int64], ends: NDArray[np.int64], *, most_frames: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Positions of tracks and of tracks that start soon after they end, block by block; `starts` ascend."""
    low = np.searchsorted(starts, ends + 1, side="left")
    high = np.searchsorted(starts, ends + 1 + most_frames, side="right")
    counts = high - low
    for block in range(0, len(starts), _BLOCK):
        n = counts[block : block + _BLOCK]
        before = np.repeat(np.arange(block, block + len(n)), n)
        within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
        yield before, np.repeat(low[block : block + _BLOCK], n) + within
