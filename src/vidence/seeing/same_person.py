"""Detect identity switches: whether a track shows one person from its first box to its last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.records import Record
from vidence.seeing.boxes import areas_px, intersections_px, iou
from vidence.seeing.tracks import Detections, DroppedTrack, Track, rows_in_frames
from vidence.seeing.visibility import at_the_same_time, shared_rows, shares_covered

STAGE: Final = "same-person"
REASON: Final = "changes-person"
_SAME_BOX: Final = 0.5  # the IoU of a smoothed box with the one that was detected
_END_SHARE: Final = 0.2
_EDGE_PX: Final = 2.0
_PAUSE: Final = 10  # frames between two meetings


class SamePersonRules(Record):
    """When a track counts as two people.

    Two looks are apart by their cosine distance, each the mean of boxes that nobody else covers by more than
    `most_covered`, at least `least_boxes` of them. A track has changed the person where two of its three
    parts (the first fifth, the last, what lies between) are apart by more than `most_apart`; or where,
    after it met another track (they share `touching` of the smaller box or more), it looks more like the
    other one than like itself before, by `clear_by` or more. So it has where the other one looks after the
    meeting as this one did before. Looks before and after are those of up to `window_boxes` boxes.
    With 2 or more for `most_apart` and `clear_by` nothing is rejected.
    """

    most_apart: float = 0.35
    clear_by: float = 0.05
    most_covered: float = 0.3
    touching: float = 0.3
    window_boxes: int = 20
    least_boxes: int = 5

    def __post_init__(self) -> None:
        if not 1 <= self.least_boxes <= self.window_boxes:
            raise UsageError(
                f"least_boxes is {self.least_boxes} and window_boxes {self.window_boxes}; "
                "expected 1 or more, and no more than window_boxes"
            )


@dataclass(frozen=True, kw_only=True)
class TrackAppearance:
    """A track's appearance where it is seen well.

    Shapes: `frame_indices` (n,), ascending; `vectors` (n, n_dims), rows of length 1. n may be 0.
    """

    frame_indices: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def mean(self, keep: NDArray[np.bool_] | slice, *, least: int) -> NDArray[np.float32] | None:
        """The mean of some vectors, of length 1; None if there are fewer than `least`."""
        some = self.vectors[keep]
        if len(some) < max(least, 1):
            return None
        total: NDArray[np.float32] = some.sum(axis=0)
        return total / np.float32(np.linalg.norm(total) or 1.0)

    def before(self, frame: int, rules: SamePersonRules) -> NDArray[np.float32] | None:
        """The appearance shortly before a frame."""
        end = int(np.searchsorted(self.frame_indices, frame, side="left"))
        return self.mean(slice(max(end - rules.window_boxes, 0), end), least=rules.least_boxes)

    def after(self, frame: int, rules: SamePersonRules) -> NDArray[np.float32] | None:
        """The appearance shortly after a frame."""
        start = int(np.searchsorted(self.frame_indices, frame, side="right"))
        return self.mean(slice(start, start + rules.window_boxes), least=rules.least_boxes)


def looks_of(
    tracks: Sequence[Track],
    detections: Detections,
    vectors: NDArray[np.float32] | None,
    *,
    size_px: tuple[int, int],
    most_covered: float,
) -> dict[str, TrackAppearance]:
    """The appearance of each track in detected boxes that no other track covers.

    Boxes at the edge of the frame are left out: they show a part of somebody, and the place beside.

    Args:
        tracks: all of a video.
        detections: what they were made of.
        vectors: one for each detection.
        size_px: width and height of the frame.
        most_covered: how much of a box somebody else's may have.

    Shapes: `vectors` (n, n_dims), one for each detection, of length 1, or zeros where it is not known.
    """
    looks: dict[str, TrackAppearance] = {}
    if vectors is None:
        return looks
    for track, around in at_the_same_time(tracks, tracks):
        rows = _rows(track, detections)
        inside = (track.boxes_px[:, :2] > _EDGE_PX) & (track.boxes_px[:, 2:] < np.array(size_px) - _EDGE_PX)
        is_clear = (rows >= 0) & track.is_detected & inside.all(axis=1)
        is_clear &= shares_covered(track, around) <= most_covered
        is_clear[is_clear] = np.any(vectors[rows[is_clear]] != 0, axis=1)
        looks[track.track_id] = TrackAppearance(
            frame_indices=track.frame_indices[is_clear], vectors=vectors[rows[is_clear]]
        )
    return looks


def _rows(track: Track, detections: Detections) -> NDArray[np.int64]:
    """Return for each box of a track the index of its detection, -1 without one."""
    box, row = rows_in_frames(detections.frame_indices, track.frame_indices)
    overlap = iou(track.boxes_px[box], detections.boxes_px[row])
    values = np.full(len(track.frame_indices), -1, np.int64)
    order = np.argsort(overlap, kind="stable")  # the best of each box comes last, and stays
    values[box[order]] = np.where(overlap[order] >= _SAME_BOX, row[order], -1)
    return values


def without_changed(
    tracks: Sequence[Track],
    looks: Mapping[str, TrackAppearance],
    rules: SamePersonRules,
    *,
    others: Sequence[Track] = (),
) -> tuple[tuple[Track, ...], tuple[Track, ...], tuple[DroppedTrack, ...]]:
    """Split tracks into those of a single person and those that change person, with reasons.

    Args:
        tracks: those that are judged.
        looks: of them and of the others; a track without looks is not judged.
        rules: when a track counts as two people.
        others: tracks that the judged ones can have met, too.

    HERBench says nothing of tracks that change the person.
    """
    everybody = (*tracks, *others)
    kept: list[Track] = []
    changed: list[Track] = []
    dropped: list[DroppedTrack] = []
    for track, around in at_the_same_time(tracks, everybody):
        why = _apart(track, looks, rules) or _swapped(track, around, looks, rules=rules)
        if why:
            changed.append(track)
            dropped.append(DroppedTrack(what=track.track_id, stage=STAGE, reason=REASON, detail=why))
        else:
            kept.append(track)
    return tuple(kept), tuple(changed), tuple(dropped)


def distance(values: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """The cosine distance of two appearance vectors of length 1, from 0 to 2."""
    return float(1.0 - np.dot(values, other))


def _apart(track: Track, looks: Mapping[str, TrackAppearance], rules: SamePersonRules) -> str:
    """Return which parts of a track differ too much; empty if none."""
    own = looks.get(track.track_id)
    if own is None:
        return ""
    length = track.last_frame - track.first_frame + 1
    ends = [track.first_frame + share * length for share in (0, _END_SHARE, 1 - _END_SHARE, 1)]
    parts = {
        name: own.mean((own.frame_indices >= low) & (own.frame_indices < high), least=rules.least_boxes)
        for name, (low, high) in zip(("first fifth", "middle", "last fifth"), pairwise(ends), strict=True)
    }
    known = [(name, look) for name, look in parts.items() if look is not None]
    for i, (name, look) in enumerate(known):
        for other, another in known[i + 1 :]:
            far = distance(look, another)
            if far > rules.most_apart:
                return (
                    f"its {name} and its {other} look too different ({far:.2f}, at most {rules.most_apart:g})"
                )
    return ""


def _swapped(
    track: Track, around: Sequence[Track], looks: Mapping[str, TrackAppearance], *, rules: SamePersonRules
) -> str:
    """Return the track with which a track swapped persons, and when; empty without a swap."""
    own = looks.get(track.track_id)
    if own is None:
        return ""
    for other in around:
        theirs = looks.get(other.track_id)
        if theirs is None or other.track_id == track.track_id:
            continue
        for first, last in _meetings(track, other, touching=rules.touching):
            before, after = own.before(first, rules), own.after(last, rules)
            if before is None or after is None:
                continue
            itself = distance(before, after)
            for look, mine, words in (
                (theirs.before(first, rules), after, "it looks as the track {} did before"),
                (theirs.after(last, rules), before, "the track {} looks as it did before"),
            ):
                if look is not None and itself - distance(look, mine) >= rules.clear_by:
                    return (
                        f"after frame {last} {words.format(other.track_id)} ({distance(look, mine):.2f}; "
                        f"itself {itself:.2f})"
                    )
    return ""


def _meetings(track: Track, other: Track, *, touching: float) -> list[tuple[int, int]]:
    """First and last frame of every time that two tracks overlap."""
    mine, theirs = shared_rows(track, other)
    these, those = track.boxes_px[mine], other.boxes_px[theirs]
    smaller = np.minimum(areas_px(these), areas_px(those))
    met = track.frame_indices[mine][(smaller > 0) & (intersections_px(these, those) >= touching * smaller)]
    if not len(met):
        return []
    runs = np.split(met, np.flatnonzero(np.diff(met) > _PAUSE) + 1)
    return [(int(run[0]), int(run[-1])) for run in runs]
