"""Crowds without pixels: who walks where, what a detector that misses people makes of them, and the truth."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vidence.catalog import Spec, create
from vidence.make.pipeline.material import Corpus, Draft, Material, VideoSource
from vidence.seeing.recall import counted_frame, recall_of, sample_of, with_recall
from vidence.seeing.space import named_regions
from vidence.seeing.tracks import PERSON, Track, TrackBasis, TrackedVideo

WIDTH, HEIGHT, FPS, N_FRAMES = 1280, 720, 10, 600
EDGES = ("left", "right", "top", "bottom")
_LONGEST_GAP = 6  # frames that a tracker bridges
_SHORTEST = 5  # boxes of a track that lasts half a second


@dataclass(frozen=True)
class Walker:
    """Somebody as planned: edges, and the box in each frame, shape (n, 4)."""

    enters: str
    leaves: str
    frames: np.ndarray
    boxes: np.ndarray


@dataclass(frozen=True)
class Crowd:
    """People, and what a detector found of them; tracks of nobody are called ``false...``."""

    walkers: tuple[Walker, ...]
    tracked: TrackedVideo
    n_false: int


def _place(edge: str, size: tuple[float, float], rng: np.random.Generator) -> tuple[float, float]:
    width, height = size
    across, down = rng.uniform(0.25, 0.75) * (WIDTH - width), rng.uniform(0.4, 0.7) * (HEIGHT - height)
    return {
        "left": (1.0, down),
        "right": (WIDTH - width - 1, down),
        "top": (across, 1.0),
        "bottom": (across, HEIGHT - height - 1),
    }[edge]


def walker(rng: np.random.Generator) -> Walker | None:
    """Somebody who comes through one edge and goes through another; None who is never in the film."""
    height = rng.uniform(70, 170)
    size = (height * 0.4, height)
    enters, leaves = rng.choice(EDGES, 2, replace=False, p=(0.35, 0.35, 0.15, 0.15))
    start, end = np.array(_place(enters, size, rng)), np.array(_place(leaves, size, rng))
    n = max(20, int(np.linalg.norm(end - start) / rng.uniform(50, 200) * FPS))
    frames = int(rng.integers(-80, N_FRAMES)) + np.arange(n)
    corners = start + np.linspace(0, 1, n)[:, None] * (end - start)
    boxes = np.hstack([corners, corners + size])
    there = (frames >= 0) & (frames < N_FRAMES)
    return Walker(str(enters), str(leaves), frames[there], boxes[there]) if there.sum() >= 2 else None


def _seen(n: int, quality: float, rng: np.random.Generator) -> np.ndarray:
    """In which frames somebody is found: stretches of about a second found and missed."""
    stay = 0.9
    seen = np.empty(n, bool)
    now = rng.random() < quality
    for i in range(n):
        if rng.random() > stay:
            now = rng.random() < quality
        seen[i] = now
    return seen


def _tracks(name: str, frames: np.ndarray, boxes: np.ndarray) -> Iterator[Track]:
    """The pieces between gaps that a tracker does not bridge."""
    breaks = np.flatnonzero(np.diff(frames) > _LONGEST_GAP) + 1
    for i, some in enumerate(np.split(np.arange(len(frames)), breaks)):
        if len(some) >= 2:
            yield Track(
                track_id=f"{name}-{i}",
                class_name=PERSON,
                frame_indices=frames[some].astype(np.int64),
                boxes_px=boxes[some] + 0.0,
                confidences=np.ones(len(some)),
                is_detected=np.ones(len(some), bool),
            )


def crowd(rng: np.random.Generator, *, n_people: int, recall: float, false_share: float) -> Crowd:
    """So many people, of whom a detector finds that share of boxes; some it hardly ever finds."""
    walkers: list[Walker] = []
    while len(walkers) < n_people:
        one = walker(rng)
        walkers += [] if one is None else [one]
    tracks: list[Track] = []
    for i, one in enumerate(walkers):
        quality = 1.0 if recall >= 1 else float(rng.beta(3 * recall, 3 * (1 - recall)))
        seen = _seen(len(one.frames), quality, rng)
        tracks += _tracks(f"w{i}", one.frames[seen], one.boxes[seen])
    n_false = int(rng.binomial(max(len(tracks), 1), false_share))
    for i in range(n_false):
        n, height = int(rng.integers(6, 40)), rng.uniform(70, 170)
        first = int(rng.integers(0, N_FRAMES - n))
        corner = rng.uniform(0, 1, 2) * (WIDTH - 0.4 * height, HEIGHT - height)
        corners = np.clip(corner + np.cumsum(rng.normal(0, 2, (n, 2)), axis=0), 0, None)
        boxes = np.hstack([corners, corners + np.array([0.4 * height, height])])
        tracks += _tracks(f"false{i}", first + np.arange(n), boxes)
    long = [t for t in tracks if t.last_frame - t.first_frame >= _SHORTEST]
    short = [t for t in tracks if t.last_frame - t.first_frame < _SHORTEST]
    tracked = TrackedVideo(
        width_px=WIDTH,
        height_px=HEIGHT,
        times_s=np.arange(N_FRAMES) / FPS,
        tracks=tuple(long),
        others=tuple(short),
        basis=TrackBasis(detector="drawn"),
    )
    return Crowd(walkers=tuple(walkers), tracked=tracked, n_false=n_false)


def counted(crowd: Crowd, *, n_frames: int, confidence: float = 0.95) -> TrackedVideo:
    """The tracks with the recall from so many frames, of which the people and the false boxes are counted."""
    looked = []
    for i in range(n_frames):
        frame = (2 * i + 1) * N_FRAMES // (2 * n_frames)
        n_people = sum(frame in one.frames for one in crowd.walkers)
        false = [one for one in crowd.tracked.tracks if one.track_id.startswith("false")]
        n_false = sum(frame in one.frame_indices for one in false)
        looked.append(counted_frame(crowd.tracked, frame, n_people=n_people, n_false=n_false))
    return with_recall(crowd.tracked, recall_of(sample_of(crowd.tracked, looked), confidence=confidence), {})


def true_number(crowd: Crowd, draft: Draft) -> int:
    """How many people of the plan a question is about, by its structure and words."""
    edges = re.findall(r"the (\w+) edge", draft.question)
    n = 0
    for one in crowd.walkers:
        comes, goes = one.frames[0] > 0, one.frames[-1] < N_FRAMES - 1
        match draft.structure:
            case "entered":
                n += comes and one.enters == edges[0]
            case "left":
                n += goes and one.leaves == edges[0]
            case "crossed":
                n += comes and goes and (one.enters, one.leaves) == tuple(edges)
            case _:
                n += _deepest(one, draft.evidence[0].note.rpartition(" in the ")[2]) >= 0.5
    return int(n)


def _deepest(one: Walker, name: str) -> float:
    region = named_regions(WIDTH, HEIGHT)[name].box_px
    low, high = np.maximum(one.boxes[:, :2], region[:2]), np.minimum(one.boxes[:, 2:], region[2:])
    inside = np.prod(np.clip(high - low, 0, None), axis=1)
    return float((inside / np.prod(one.boxes[:, 2:] - one.boxes[:, :2], axis=1)).max())


def asked(tracked: TrackedVideo, *, seed: int, most: int = 40, **options: str) -> list[Draft]:
    """The questions about them."""
    source = VideoSource(
        video_id="crowd",
        path="crowd.mp4",
        n_frames=N_FRAMES,
        fps=float(FPS),
        duration_s=N_FRAMES / FPS,
        width_px=WIDTH,
        height_px=HEIGHT,
    )
    flow = create("task", Spec(name="rlpc", options=options)).draft(
        Material(source=source, tracked=tracked), Corpus(), most=most, rng=np.random.default_rng(seed)
    )
    try:
        next(flow)
    except StopIteration as stopped:
        return [one for one in stopped.value if isinstance(one, Draft)]
    raise AssertionError("the task asked something")


def holds(draft: Draft, number: int) -> bool:
    """Whether the right range holds a number."""
    low, *rest = (int(word) for word in draft.choices[draft.answer_index].split(" to "))
    return low <= number <= (rest[-1] if rest else low)


def tried(seed: int, *, n_people: int, recall: float, n_frames: int = 12, **options: str) -> list[bool]:
    """Whether each range that is asked of one crowd holds the true number."""
    rng = np.random.default_rng(seed)
    some = crowd(rng, n_people=n_people, recall=recall, false_share=float(rng.uniform(0, 0.2)))
    found = asked(counted(some, n_frames=n_frames), seed=seed, **options)
    return [holds(one, true_number(some, one)) for one in found]
