"""Local cues: whether the motion of single dots, without their places, tells figure from noise."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError
from vidence.pointlight.stimulus import Stimulus

Floats = NDArray[np.float64]
# A dot whose step is below this, in pixels, stands still in that frame.
STILL_PX = 0.05
CUES = (
    "net displacement",
    "net displacement to the right",
    "largest step",
    "mean speed",
    "median step",
    "still",
)


def local_cues(stimulus: Stimulus, *, first: int = 0, n_frames: int | None = None) -> Mapping[str, Floats]:
    """What can be measured of each dot by itself: the names of `CUES`, each of shape (n_dots,).

    Displacements, steps and speeds are in pixels and pixels per frame, ``still`` is the share of steps below
    `STILL_PX`. Dots that are seen in fewer than two frames on end have NaN.

    Args:
        stimulus: figure and noise.
        first: the first frame that is looked at.
        n_frames: how many are; None: all that follow.
    """
    last = None if n_frames is None else first + n_frames
    places = stimulus.centres_px[first:last]
    steps = np.diff(places, axis=0)
    sizes = np.linalg.norm(steps, axis=2)
    is_step = np.isfinite(sizes)
    counted = is_step.sum(axis=0)
    there = counted > 0
    size = np.where(is_step, sizes, np.nan)[:, there]
    way = _net(places[:, there])
    found = np.full((len(CUES), places.shape[1]), np.nan)
    found[:, there] = [
        np.linalg.norm(way, axis=1),
        way[:, 0],
        np.nanmax(size, axis=0),
        np.nanmean(size, axis=0),
        np.nanmedian(size, axis=0),
        np.nansum(size < STILL_PX, axis=0) / counted[there],
    ]
    return dict(zip(CUES, found, strict=True))


def _net(places: Floats) -> Floats:
    """From the first to the last frame in which each dot is seen, shape (n_dots, 2)."""
    is_seen = np.asarray(np.isfinite(places).all(axis=2))
    dots = np.arange(places.shape[1])
    start = is_seen.argmax(axis=0)
    end = len(places) - 1 - is_seen[::-1].argmax(axis=0)
    made: Floats = places[end, dots] - places[start, dots]
    return made


def detection(
    stimuli: Sequence[Stimulus], *, first: int | None = None, n_frames: int | None = None
) -> Mapping[str, float]:
    """How well each local cue tells dots of the figure from noise dots: the area under its ROC curve.

    .5 is chance; 1 says that every dot of a figure has more of it than every noise dot, 0 the opposite. The
    dots of all stimuli are put together.

    Args:
        stimuli: with noise dots.
        first: the first frame that is looked at; None: so that `n_frames` are in the middle.
        n_frames: how many are; None: all.

    Source: Green & Swets (1966), chapter 2: the area under the curve is the share right in two-alternative
        forced choice.

    Raises:
        UsageError: no figure or no noise dots anywhere.
    """
    values: dict[str, tuple[list[Floats], list[Floats]]] = {cue: ([], []) for cue in CUES}
    for stimulus in stimuli:
        length = stimulus.n_frames if n_frames is None else min(n_frames, stimulus.n_frames)
        start = (stimulus.n_frames - length) // 2 if first is None else first
        is_own = stimulus.owners >= 0
        for cue, found in local_cues(stimulus, first=start, n_frames=length).items():
            own, noise = values[cue]
            own.append(found[is_own & np.isfinite(found)])
            noise.append(found[~is_own & np.isfinite(found)])
    return {cue: roc_area(np.concatenate(own), np.concatenate(noise)) for cue, (own, noise) in values.items()}


def roc_area(signal: Floats, noise: Floats, *, digits: int = 6) -> float:
    """The chance that a value of `signal` is above one of `noise`; equal ones, after rounding, count half.

    Raises:
        UsageError: one of them is empty.

    >>> roc_area(np.array([2.0, 3.0]), np.array([1.0, 3.0]))
    0.625
    """
    if len(signal) == 0 or len(noise) == 0:
        raise UsageError("dots of a figure and noise dots are needed to tell one from the other")
    ours, theirs = signal.round(digits), np.sort(noise.round(digits))
    below = np.searchsorted(theirs, ours, side="left") + np.searchsorted(theirs, ours, side="right")
    return float(below.mean() / 2 / len(theirs))
