"""Streets planned by us, of any number of people at any frame rate: true tracks, and damage to them.

People are as high as the place of their feet says; they walk in from outside the frame, may stand or turn
around, and walk out of it. Boxes are cut at the frame, as annotators and detectors do.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vidence.seeing.boxes import iou
from vidence.seeing.tracks import PERSON, Track, TrackedVideo

WIDTH, HEIGHT = 1280, 720
DURATION_S = 20.0
_LEAST_PX = 8.0  # who shows less than so much of width or height is not there


@dataclass(frozen=True)
class Crowd:
    """The true tracks of one street."""

    video: TrackedVideo

    @property
    def tracks(self) -> tuple[Track, ...]:
        return self.video.tracks


def _track(name: str, frames: np.ndarray, boxes: np.ndarray) -> Track:
    n = len(frames)
    return Track(
        track_id=name,
        class_name=PERSON,
        frame_indices=frames.astype(np.int64),
        boxes_px=boxes.astype(np.float64),
        confidences=np.full(n, 0.9),
        is_detected=np.ones(n, bool),
    )


def _outside(rng: np.random.Generator) -> tuple[float, float]:
    """Where the feet of somebody are who is just outside the frame."""
    side = rng.choice(["left", "right", "bottom", "far"], p=[0.4, 0.4, 0.15, 0.05])
    down = rng.uniform(300, 760)
    match side:
        case "left":
            return -0.5 * _tall(down), down
        case "right":
            return WIDTH + 0.5 * _tall(down), down
        case "bottom":
            return rng.uniform(0, WIDTH), HEIGHT + 1.1 * _tall(HEIGHT)
        case _:
            return rng.uniform(-100, WIDTH + 100), 300.0


def _tall(down: float | np.ndarray) -> np.ndarray:
    """How high somebody is whose feet are so far down, in pixels."""
    return np.clip(60 + (np.asarray(down, float) - 300) * 0.55, 40, 340)


def crowd(n_people: int, *, fps: float, seed: int, duration_s: float = DURATION_S) -> Crowd:
    """A street of `n_people` over its whole time."""
    rng = np.random.default_rng([seed, n_people])
    times = np.arange(round(duration_s * fps)) / fps
    tracks = []
    for number in range(1, n_people + 1):
        points = [_outside(rng)]
        for _ in range(int(rng.integers(0, 3))):
            points.append((rng.uniform(100, WIDTH - 100), rng.uniform(330, 700)))
        points.append(_outside(rng))
        start = rng.uniform(-6, duration_s - 2)
        at, when = [points[0]], [start]
        for one, following in pairwise(points):
            pace = rng.uniform(0.6, 1.3) * float(_tall((one[1] + following[1]) / 2)) * 0.8
            when.append(when[-1] + max(float(np.hypot(*np.subtract(following, one))) / pace, 0.3))
            at.append(following)
            if rng.random() < 0.3 and following is not points[-1]:  # stands there
                when.append(when[-1] + rng.uniform(0.5, 4))
                at.append(following)
        keep = (times >= when[0]) & (times <= when[-1])
        x, y = (np.interp(times[keep], when, [point[i] for point in at]) for i in (0, 1))
        tall = _tall(y)
        wide = 0.41 * tall * (1 + 0.08 * np.sin(2 * np.pi * times[keep] * 1.8 + rng.uniform(0, 6)))
        whole = np.stack([x - wide / 2, y - tall, x + wide / 2, y], axis=1)
        boxes = np.clip(whole, 0, [WIDTH, HEIGHT, WIDTH, HEIGHT])
        shown = ((boxes[:, 2:] - boxes[:, :2]) >= _LEAST_PX).all(axis=1)
        frames = np.flatnonzero(keep)[shown]
        rng.normal(0, 1, 32)  # what was drawn here once; the streets stay the same
        if len(frames) >= 2:
            # Who walks out of the frame and in again is one track with a gap: so does MOTChallenge.
            tracks.append(_track(str(number), frames, boxes[shown]))
    return Crowd(video=TrackedVideo(width_px=WIDTH, height_px=HEIGHT, times_s=times, tracks=tuple(tracks)))


@dataclass(frozen=True)
class Damage:
    """What happens to true tracks: boxes lost, edges moved, tracks cut, and exchanged where two meet."""

    lost: float = 0.2
    jitter: float = 0.03
    cuts_per_s: float = 0.15
    most_gap_s: float = 0.8
    swaps: float = 0.1


@dataclass(frozen=True)
class Pieces:
    """Damaged tracks; `owners` says of each whom it shows, box by box."""

    tracks: tuple[Track, ...]
    owners: dict[str, np.ndarray]

    def is_right(self, before: str, after: str) -> bool:
        """Whether a join is of one person: at the end of the one and at the beginning of the other."""
        return bool(self.owners[before][-1] == self.owners[after][0])


def damaged(video: TrackedVideo, damage: Damage, *, seed: int) -> Pieces:
    """The tracks of a video, damaged; pieces have the name of their track and a number."""
    rng = np.random.default_rng(seed)
    rows = {
        one.track_id: (one.frame_indices, one.boxes_px, np.full(len(one.frame_indices), one.track_id, "U16"))
        for one in video.tracks
    }
    rows = _swapped(rows, damage, rng)
    tracks, owners = [], {}
    for name, (frames, boxes, who) in rows.items():
        keep = rng.random(len(frames)) >= damage.lost
        label = np.zeros(len(frames), int)
        span_s = (frames[-1] - frames[0] + 1) / video.fps
        for _ in range(rng.poisson(damage.cuts_per_s * span_s)):
            at = int(rng.integers(frames[0], frames[-1] + 1))
            gone = int(rng.uniform(0, damage.most_gap_s) * video.fps)
            keep &= ~((frames >= at) & (frames < at + gone))
            label += frames >= at
        sides = np.tile(boxes[:, 2:] - boxes[:, :2], 2)
        moved = np.clip(
            boxes + rng.normal(0, 1, boxes.shape) * damage.jitter * sides,
            0,
            [video.width_px, video.height_px] * 2,
        )
        keep &= ((moved[:, 2:] - moved[:, :2]) >= 2).all(axis=1)
        for part in np.unique(label[keep]):
            mine = keep & (label == part)
            piece = f"{name}.{part}"
            tracks.append(_track(piece, frames[mine], moved[mine]))
            owners[piece] = who[mine]
    return Pieces(tracks=tuple(tracks), owners=owners)


_Rows = dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]


def _swapped(rows: _Rows, damage: Damage, rng: np.random.Generator) -> _Rows:
    """The same, some pairs exchanged from the frame on in which they cover each other most."""
    names = list(rows)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            (f1, b1, w1), (f2, b2, w2) = rows[one], rows[other]
            both, at1, at2 = np.intersect1d(f1, f2, return_indices=True)
            if not len(both):
                continue
            overlap = iou(b1[at1], b2[at2])
            if overlap.max() < 0.4 or rng.random() >= damage.swaps:
                continue
            frame = both[int(overlap.argmax())]
            k1, k2 = np.searchsorted(f1, frame), np.searchsorted(f2, frame)
            rows[one] = tuple(np.concatenate([a[:k1], b[k2:]]) for a, b in ((f1, f2), (b1, b2), (w1, w2)))
            rows[other] = tuple(np.concatenate([b[:k2], a[k1:]]) for a, b in ((f1, f2), (b1, b2), (w1, w2)))
            if not len(rows[one][0]) or not len(rows[other][0]):
                rows[one], rows[other] = (f1, b1, w1), (f2, b2, w2)
    return rows
