"""What the board of shots computes: the curve of the detector, and where a cut may be missing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vidence.seeing.shooting import Shot, ShotScores

CURVE_WIDTH: Final = 1000
CURVE_HEIGHT: Final = 100
_MOST_HIGH: Final = 12
_BESIDE: Final = 2  # frames within which a high score belongs to the change that was found there


@dataclass(frozen=True, kw_only=True)
class Curve:
    """What a shot detector measured, for drawing: `CURVE_WIDTH` wide by time, `CURVE_HEIGHT` high.

    Heights grow with the square root of a score, so that weak cuts show beside strong ones.
    `points` is a line of the scores, `least_y` the height below which no score is a cut, `cuts` are the
    places where shots begin, `mixed` left side and width of the gradual changes. `top` is the score at the
    upper edge.
    """

    points: str
    least_y: str
    cuts: tuple[str, ...]
    mixed: tuple[tuple[str, str], ...]
    top: float


@dataclass(frozen=True, kw_only=True)
class HighScore:
    """A frame in which a detector measured much, and at which no shot begins."""

    frame: int
    time_s: float
    score: float


def curve(scores: ShotScores, shots: Sequence[Shot], *, times_s: NDArray[np.float64]) -> Curve:
    """The scores as a line, highest of each part of the film, with the shots as they are now."""
    n = min(len(scores.values), len(times_s))
    whole_s = max(shots[-1].end_s if shots else 0.0, float(times_s[n - 1]), 1e-9)
    top = max(float(scores.values[:n].max(initial=0)), scores.least)

    def x(time_s: float) -> float:
        return time_s / whole_s * CURVE_WIDTH

    def y(value: float) -> float:
        return CURVE_HEIGHT * (1 - math.sqrt(max(value, 0.0) / top))

    parts = np.array_split(np.arange(n), min(n, CURVE_WIDTH))
    peaks = [int(part[np.argmax(scores.values[part])]) for part in parts]
    points = " ".join(f"{x(times_s[at]):.1f},{y(float(scores.values[at])):.1f}" for at in peaks)
    mixed = [(one.start_s, float(times_s[one.clear_frame])) for one in shots if one.n_mixed]
    return Curve(
        points=points,
        least_y=f"{y(scores.least):.1f}",
        cuts=tuple(f"{x(one.start_s):.1f}" for one in shots[1:]),
        mixed=tuple((f"{x(start):.1f}", f"{max(x(end - start), 1):.1f}") for start, end in mixed),
        top=top,
    )


def score_at(scores: ShotScores, before: Shot, shot: Shot) -> float:
    """The highest score from the last frame of a shot to the first clear one of the next."""
    found = scores.values[before.last_frame : shot.clear_frame + 1]
    return float(found.max(initial=0))


def high_scores(
    scores: ShotScores, shots: Sequence[Shot], *, times_s: NDArray[np.float64]
) -> tuple[HighScore, ...]:
    """The highest scores well within shots, highest first: where a cut may have been missed."""
    values = scores.values[: len(times_s)]
    is_open = np.zeros(len(values), np.bool_)
    for shot in shots:
        is_open[shot.clear_frame + _BESIDE : max(shot.last_frame - _BESIDE + 1, 0)] = True
    wide = np.pad(values, _BESIDE, constant_values=-1)
    around = np.lib.stride_tricks.sliding_window_view(wide, 2 * _BESIDE + 1).max(axis=1)
    places = np.flatnonzero(is_open & (values >= scores.least) & (values == around))
    places = places[np.argsort(-values[places], kind="stable")][:_MOST_HIGH]
    return tuple(
        HighScore(frame=int(at), time_s=float(times_s[at]), score=float(values[at])) for at in places
    )
