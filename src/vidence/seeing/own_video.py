"""Whether boxes belong to the video that they are laid over: what is in them has to go along with them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.media.video import FrameProblem, Video
from vidence.seeing.boxes import share_inside
from vidence.seeing.tracks import Track

MOST_STEPS: Final = 40
LEAST_STEPS: Final = 12
"""So many steps of people are looked at, and so few say nothing."""
LEAST_FOLLOWED: Final = 0.4
"""In so many steps the picture goes along with true boxes; with those of another video in a sixth at most."""
_LEAST_MOVE: Final = 0.5  # of the width or the height of the box: it then shows mostly another place
MOST_STEP_S: Final = 2.0
"""A step takes no longer."""
_MOST_COVERED: Final = 0.3
_LEAST_PX: Final = 6.0
_AROUND: Final = 0.1  # of the box, on each side: its outline tells more than its inside
_GRID: Final = (32, 16)
_EVEN: Final = 1e-9  # of what has no pattern nothing can be said


@dataclass(frozen=True, kw_only=True)
class Followed:
    """How many steps of tracks were looked at, and in what share of them the picture went along."""

    n_steps: int
    share: float

    @property
    def is_known(self) -> bool:
        """Whether enough people move far enough for it to say anything."""
        return self.n_steps >= LEAST_STEPS

    @property
    def is_other(self) -> bool:
        """Whether the boxes go over what is there as if nothing was in them."""
        return self.is_known and self.share < LEAST_FOLLOWED


@dataclass(frozen=True, kw_only=True)
class _Step:
    """Somebody in two frames, half a box apart or more."""

    frames: tuple[int, int]
    boxes_px: tuple[NDArray[np.float64], NDArray[np.float64]]


def followed(video: Video, tracks: Sequence[Track]) -> Followed:
    """In how many steps of tracks what a box shows is found in the next box, and not where it was before.

    A box of another video, or of another time, slides over what stays where it is. The camera may move, as
    what is in a true box goes along with it all the same; who stands still says nothing. At most
    `MOST_STEPS` steps are looked at, spread over the video, of people who are hardly covered by others.

    Raises:
        MediaError: the file cannot be opened any more.
    """
    steps = [one for one in _spread(list(_steps(video, tracks)), 4 * MOST_STEPS) if _is_clear(one, tracks)]
    steps = _spread(steps, MOST_STEPS)
    wanted = sorted({frame for one in steps for frame in one.frames})
    patches: dict[int, NDArray[np.uint8]] = {
        index: picture
        for index, picture in zip(wanted, video.frames(wanted), strict=True)
        if not isinstance(picture, FrameProblem)
    }
    went = [
        _goes_along(patches[one.frames[0]], patches[one.frames[1]], one)
        for one in steps
        if all(frame in patches for frame in one.frames)
    ]
    return Followed(n_steps=len(went), share=float(np.mean(went)) if went else 0.0)


def _steps(video: Video, tracks: Sequence[Track]) -> Iterator[_Step]:
    """All steps of all tracks, in the order of tracks."""
    for track in tracks:
        sides = track.boxes_px[:, 2:] - track.boxes_px[:, :2]
        seen = np.flatnonzero(track.is_detected & np.all(sides >= _LEAST_PX, axis=1))
        if not len(seen):
            continue
        start = int(seen[0])
        for here in seen[1:].tolist():
            frames = int(track.frame_indices[start]), int(track.frame_indices[here])
            moved = np.abs(track.centroids_px[here] - track.centroids_px[start]) / sides[start]
            if video.times_s[frames[1]] - video.times_s[frames[0]] > MOST_STEP_S:
                start = here
            elif np.any(moved >= _LEAST_MOVE):
                yield _Step(frames=frames, boxes_px=(track.boxes_px[start], track.boxes_px[here]))
                start = here


def _spread(steps: list[_Step], most: int) -> list[_Step]:
    if len(steps) <= most:
        return steps
    return [steps[i] for i in np.linspace(0, len(steps) - 1, most).round().astype(int).tolist()]


def _is_clear(step: _Step, tracks: Sequence[Track]) -> bool:
    """Whether hardly anybody else is in the boxes of a step."""
    for frame, box in zip(step.frames, step.boxes_px, strict=True):
        there = [t.boxes_px[t.frame_indices == frame] for t in tracks]
        others = np.concatenate([np.zeros((0, 4)), *there])
        others = others[~np.all(others == box, axis=1)]
        if len(others) and float(share_inside(box[None], others).max()) > _MOST_COVERED:
            return False
    return True


def _goes_along(first: NDArray[np.uint8], second: NDArray[np.uint8], step: _Step) -> bool:
    """Whether the two boxes are more alike than each is to the same place in the other frame."""
    before, after = step.boxes_px
    along = _alike(_patch(first, before), _patch(second, after))
    stays = (_alike(_patch(first, box), _patch(second, box)) for box in step.boxes_px)
    return along > max(stays)


def _patch(image: NDArray[np.uint8], box_px: NDArray[np.float64]) -> NDArray[np.float64]:
    """What is in a box and around it, on a grid; shape (*_GRID, 3)."""
    (left, top), size = box_px[:2], box_px[2:] - box_px[:2]
    (left, top), (width, height) = (left, top) - _AROUND * size, (1 + 2 * _AROUND) * size
    rows = top + (np.arange(_GRID[0]) + 0.5) * height / _GRID[0]
    columns = left + (np.arange(_GRID[1]) + 0.5) * width / _GRID[1]
    ys = np.clip(rows.astype(np.int64), 0, image.shape[0] - 1)
    xs = np.clip(columns.astype(np.int64), 0, image.shape[1] - 1)
    return image[np.ix_(ys, xs)].astype(np.float64)


def _alike(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The correlation of two patches, -1 to 1; 0 where one of them has no pattern."""
    one = one - one.mean(axis=(0, 1))
    other = other - other.mean(axis=(0, 1))
    size = float(np.sqrt((one * one).sum() * (other * other).sum()))
    return float((one * other).sum()) / size if size > _EVEN else 0.0
