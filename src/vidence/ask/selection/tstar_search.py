"""T*'s search: look at mosaics of frames, guess where else to look, until every target is found.

The search waits for nothing: it is a generator that yields which frames it wants looked at and is sent
what a detector found on them, many frames as the cells of one picture. Frames count on an index space of
one per second.
"""

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from vidence.ask.selection.scored import GridName, ScoredSettings
from vidence.ask.selection.search import Objects
from vidence.ask.selection.uniform import Positions
from vidence.errors import DataError, UsageError
from vidence.weights.checkpoints import library

# Of the scores of one round, and of the belief, the released code goes on with the upper quarter.
UPPER_QUARTER = 75
# Neighbours of a good frame that inherit from its score, on each side.
REACH = 5
SMOOTHING = 0.5
MOST_SHOWN = 1000
# The sizes of the released code, in pixels.
CELL_WIDTH_PX, CELL_HEIGHT_PX = 200, 95
ALONE_WIDTH_PX, ALONE_HEIGHT_PX = 600, 285
TARGET_WEIGHT, CUE_WEIGHT = 1.0, 0.5

Picture: TypeAlias = NDArray[np.uint8]


def weights_of(objects: Objects) -> dict[str, float]:
    """Return the weight of a detection by label.

    Source: T*, released code.
    Departs: what is both target and cue counts as a target.
    """
    return dict.fromkeys(objects.cues, CUE_WEIGHT) | dict.fromkeys(objects.targets, TARGET_WEIGHT)


class SearchSettings(ScoredSettings):
    """The parameters of the released class.

    Source: T*, released code (the class; its command line has side 4, ratio 1.0, threshold 0.7).
    Departs: no.
    """

    grid: GridName = "fps:1"
    side: Annotated[int, Meta(ge=1, description="a mosaic has side x side cells")] = 8
    ratio: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="at most min(1000, ratio x frames) are looked at, rounded up to whole mosaics",
        ),
    ] = 0.1
    threshold: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="a target is found where it is detected with more than this in a frame shown alone",
        ),
    ] = 0.5


@dataclass(frozen=True, kw_only=True)
class SearchStep:
    """Frames to detect objects in: the cells of one mosaic, or one frame in full size."""

    frames: tuple[int, ...]
    is_alone: bool


# For each frame of a step the highest confidence (0 to 1) of each label that is detected in it.
Detections: TypeAlias = Sequence[Mapping[str, float]]


@dataclass(kw_only=True)
class SearchState:
    """The current state of a search, and its result.

    Shapes: `scores`, `belief` and `is_visited` are (n_frames,). `scores` are weighted confidences, spread
    to neighbours; `belief` sums to 1. `missing` are the targets that were not found, `n_shown` counts
    cells and frames alone that a detector was shown. `weights` says how much a detection counts, by label.
    """

    scores: NDArray[np.float64]
    belief: NDArray[np.float64]
    is_visited: NDArray[np.bool_]
    missing: tuple[str, ...]
    n_shown: int = 0
    weights: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def nothing(cls, n_frames: int, objects: Objects) -> Self:
        """Return the state before the first look."""
        return cls(
            scores=np.zeros(n_frames),
            belief=np.full(n_frames, 1 / n_frames),
            is_visited=np.zeros(n_frames, np.bool_),
            missing=tuple(dict.fromkeys(objects.targets)),
            weights=weights_of(objects),
        )

    def weighted(self, seen: Mapping[str, float], frame: int) -> float:
        """Return the highest weighted confidence of the objects searched for; 0 if none is seen.

        Raises:
            DataError: a confidence outside [0, 1].
        """
        for label, confidence in seen.items():
            if not 0 <= confidence <= 1:
                raise DataError(
                    f"frame {frame}: confidence {confidence} for {label!r}; a detector must give numbers "
                    "from 0 to 1"
                )
        return max((self.weights.get(label, 0.0) * c for label, c in seen.items()), default=0.0)

    def best(self, n: int) -> Positions:
        """Return the `n` frames with the highest scores; ties by belief, then time.

        Note: the released code draws them; see `sampled`.
        """
        counting = np.arange(len(self.scores))
        return np.lexsort((counting, -self.belief, -self.scores))[:n].astype(np.int64)

    def sampled(self, n: int, rng: np.random.Generator) -> Positions:
        """Sample `n` frames without replacement in proportion to scores, in sampled order.

        Source: T*, released code (final frames).
        Departs: the generator is seeded, and a shorter draw from the same state is the beginning of a
            longer one. Frames with a score of 0 come last, as `best` orders them; the released code
            fails where it needs them.
        """
        waits = rng.exponential(size=len(self.scores))
        with np.errstate(divide="ignore"):
            arrival = np.where(self.scores > 0, waits / self.scores, np.inf)
        counting = np.arange(len(self.scores))
        return np.lexsort((counting, -self.belief, -self.scores, arrival))[:n].astype(np.int64)


def _next_frames(state: SearchState, n_cells: int, rng: np.random.Generator) -> Positions:
    """Return the next mosaic's frames, ascending: evenly at first, then where the belief is high."""
    n = len(state.belief)
    if not state.is_visited.any():
        stride = max(n // n_cells, 1)
        return np.arange(0, n, stride, dtype=np.int64)[:n_cells]
    wish = (state.belief + n_cells / n) * ~state.is_visited
    wish[wish < np.percentile(wish, UPPER_QUARTER)] = 0.0
    open_frames = np.flatnonzero(wish)
    size = min(n_cells, len(open_frames))
    drawn = rng.choice(open_frames, size=size, replace=False, p=wish[open_frames] / wish.sum())
    return np.sort(drawn).astype(np.int64)


def _spread_to_neighbours(state: SearchState, frames: Positions) -> None:
    """Frames near the upper quarter of a round get score / (distance + 1), unless theirs is higher."""
    n, round_scores = len(state.scores), state.scores[frames]
    steps = np.arange(-REACH, REACH + 1)
    for frame in frames[round_scores >= np.percentile(round_scores, UPPER_QUARTER)]:
        near = (frame + steps >= 0) & (frame + steps < n)
        there = frame + steps[near]
        inherited = state.scores[frame] / (np.abs(steps[near]) + 1)
        state.scores[there] = np.maximum(state.scores[there], inherited)


def believed(scores: NDArray[np.float64], is_visited: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return where to look next, from a smooth curve through the scores so far: shape (n_frames,), sum 1.

    Args:
        scores: of all frames, shape (n_frames,).
        is_visited: which of them were looked at; at least one.

    Source: T*, released code (smoothing spline with s = 0.5, floor 1/n, sigmoid).
    Departs: with fewer than 4 frames the spline is of lower degree; the released code fails there.
    """
    interpolate = library("scipy.interpolate", owner="selector tstar", extra="select")
    n, visited = len(scores), np.flatnonzero(is_visited)
    if len(visited) == 1:
        curve = np.full(n, scores[visited[0]])
    else:
        degree = min(3, len(visited) - 1)
        with warnings.catch_warnings():
            # Once in some hundred fits it stops close to the smoothing that it aims at, and says so.
            warnings.filterwarnings("ignore", "\nThe maximal number of iterations", UserWarning)
            curve = interpolate.UnivariateSpline(visited, scores[visited], k=degree, s=SMOOTHING)(
                np.arange(n)
            )
    lifted: NDArray[np.float64] = 1 / (1 + np.exp(-np.maximum(1 / n, curve)))
    shares: NDArray[np.float64] = lifted / lifted.sum()
    return shares


def _verify(
    state: SearchState, frame: int, seen: Mapping[str, float], *, threshold: float
) -> Generator[SearchStep, Detections, None]:
    """Look at a single frame if its cell shows a target that is still missing."""
    hits = [target for target in state.missing if seen.get(target, 0.0) > 0]
    if not hits:
        return
    state.n_shown += 1
    (alone,) = yield SearchStep(frames=(frame,), is_alone=True)
    state.scores[frame] = state.weighted(alone, frame)
    state.missing = tuple(t for t in state.missing if t not in hits or alone.get(t, 0.0) <= threshold)


def search(
    n_frames: int, objects: Objects, *, settings: SearchSettings, rng: np.random.Generator
) -> Generator[SearchStep, Detections, SearchState]:
    """Search a video of `n_frames` seconds; yields what to look at and is sent the detections.

    Args:
        n_frames: length of the index space, one frame per second.
        objects: what is searched for.
        settings: size of the mosaics, budget, threshold.
        rng: draws the frames of every mosaic but the first.

    Returns:
        The scores of all frames.

    Source: T*, released code (search with an object detector).
    Departs: the search also ends when every frame was looked at, and each mosaic shows as many frames as
        there are left; the released code fails there. Its generator is not seeded.

    Raises:
        UsageError: no frames, or no target.
        DataError: a confidence outside [0, 1], or not one answer for each frame.
    """
    if n_frames < 1 or not objects.targets:
        raise UsageError(
            f"a search in {n_frames} frames for {len(objects.targets)} targets; expected 1 or more of both"
        )
    state = SearchState.nothing(n_frames, objects)
    n_cells = settings.side**2
    budget = min(MOST_SHOWN, n_frames * settings.ratio)
    while state.missing and budget > 0 and not state.is_visited.all():
        frames = _next_frames(state, n_cells, rng)
        state.n_shown += len(frames)
        seen = yield SearchStep(frames=tuple(frames.tolist()), is_alone=False)
        if len(seen) != len(frames):
            raise DataError(
                f"{len(seen)} answers of a detector for {len(frames)} frames; expected one for each"
            )
        for frame, row in zip(frames.tolist(), seen, strict=True):
            state.scores[frame] = state.weighted(row, frame)
        state.is_visited[frames] = True
        for frame, row in zip(frames.tolist(), seen, strict=True):
            yield from _verify(state, frame, row, threshold=settings.threshold)
        _spread_to_neighbours(state, frames)
        state.belief = believed(state.scores, state.is_visited)
        budget -= n_cells
    return state


def run_search(
    searching: Generator[SearchStep, Detections, SearchState], detect: Callable[[SearchStep], Detections]
) -> SearchState:
    """Drive a search with a function that detects objects."""
    try:
        wanted = next(searching)
        while True:
            wanted = searching.send(detect(wanted))
    except StopIteration as done:
        state: SearchState = done.value
        return state


@dataclass(frozen=True, kw_only=True)
class Box:
    """A detected object: corners in pixels from the upper left, label, confidence 0 to 1."""

    left_px: float
    top_px: float
    right_px: float
    bottom_px: float
    label: str
    confidence: float


@runtime_checkable
class Detector(Protocol):
    """Detects objects in a picture. Pictures are RGB, shape (height, width, 3)."""

    def detect(self, picture: Picture, labels: Sequence[str]) -> Sequence[Box]:
        """Return the objects with one of these labels."""


def mosaic(cells: Sequence[Picture], side: int) -> Picture:
    """Arrange `side` x `side` cells of one size in one picture, row by row; unused cells are black.

    Source: T*, released code.
    Departs: no.

    Raises:
        DataError: more cells than places, or cells of different sizes.
    """
    if len(cells) > side**2 or len({cell.shape for cell in cells}) != 1:
        sizes = ", ".join(sorted({str(cell.shape) for cell in cells}))
        raise DataError(f"{len(cells)} cells of sizes {sizes} for {side} x {side} places; expected one size")
    height, width = cells[0].shape[:2]
    picture = np.zeros((side * height, side * width, 3), np.uint8)
    for i, cell in enumerate(cells):
        row, column = divmod(i, side)
        picture[row * height : (row + 1) * height, column * width : (column + 1) * width] = cell
    return picture


def by_cell(boxes: Sequence[Box], *, side: int, width_px: int, height_px: int) -> list[dict[str, float]]:
    """Return each cell's highest confidence per label among boxes with their centre in it: side² of them.

    Args:
        boxes: what was detected on the whole mosaic.
        side: cells in a row.
        width_px: width of one cell.
        height_px: height of one cell.

    Source: T*, released code.
    Departs: a centre outside the picture counts for the nearest cell.
    """
    entries: list[dict[str, float]] = [{} for _ in range(side**2)]
    for box in boxes:
        column = int((box.left_px + box.right_px) / 2 // width_px)
        row = int((box.top_px + box.bottom_px) / 2 // height_px)
        cell = entries[min(max(row, 0), side - 1) * side + min(max(column, 0), side - 1)]
        cell[box.label] = max(cell.get(box.label, 0.0), box.confidence)
    return entries
