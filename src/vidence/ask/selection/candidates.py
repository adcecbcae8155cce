"""The frames that learned selectors score before they choose: about so many per second.

A grid is named ``herbench-2fps``, ``aks-1fps``, ``bolt-1fps``, ``fps:X``, ``uniform:N`` or ``all``. The rules
of papers give positions of shape (n,) in time order, as the released code does, rounding included;
`fps` is the frame rate in frames per second.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidence.ask.selection.uniform import Positions, strided
from vidence.errors import UsageError
from vidence.media.clip import Clip

# A frame that is due at 29.999999999 grid steps through rounding is due at 30.
ROUNDING = 1e-6


def _check(n_total: int, fps: float) -> None:
    if n_total < 0 or not 0 < fps < np.inf:
        raise UsageError(
            f"{n_total} frames at {fps} frames per second; expected a count of 0 or more and a positive rate"
        )


def aks_1fps(n_total: int, fps: float) -> NDArray[np.int64]:
    """Return every int(fps)-th frame, whole strides only: slightly more than one per second.

    Source: AKS, released code (feature extraction).
    Departs: no. Where the code divides by zero (fps < 1) this says so.

    Raises:
        UsageError: `fps` is below 1, or the arguments make no sense.

    >>> aks_1fps(100, 29.97).tolist()
    [0, 29, 58]
    """
    _check(n_total, fps)
    stride = int(fps)
    if stride == 0:
        raise UsageError(
            f"AKS takes every int(fps)-th frame, and int({fps}) is 0; use another rule for such videos"
        )
    return np.arange(n_total // stride, dtype=np.int64) * stride


def bolt(n_total: int, fps: float, *, rate: float) -> NDArray[np.int64]:
    """Return the frames closest to i / rate seconds; a video slower than `rate` repeats frames.

    Args:
        n_total: how many frames the video has.
        fps: its frame rate.
        rate: frames per second that are wanted; the paper uses 1.

    Source: BOLT, released code (feature extraction).
    Departs: no.

    Raises:
        UsageError: the arguments make no sense.

    >>> bolt(100, 29.97, rate=1).tolist()
    [0, 30, 60]
    """
    _check(n_total, fps)
    _check(n_total, rate)
    i = np.arange(int(n_total / fps * rate))
    return np.clip(np.round(i / rate * fps), 0, max(n_total - 1, 0)).astype(np.int64)


def herbench_blip_2fps(n_total: int, fps: float) -> NDArray[np.int64]:
    """Return every int(fps / 2)-th frame, and all frames of a video of 2 fps or less.

    Source: HERBench, released code (Vanilla-BLIP selector).
    Departs: no.

    Raises:
        UsageError: the arguments make no sense.

    >>> herbench_blip_2fps(60, 29.97).tolist()
    [0, 14, 28, 42, 56]
    """
    _check(n_total, fps)
    stride = int(fps / 2) if fps > 2 else 1
    return np.arange(0, n_total, stride, dtype=np.int64)


def nearest_to_grid(times_s: NDArray[np.float64], rate: float) -> Positions:
    """Return the frames closest to the points ``times_s[0] + j / rate``, up to the last frame.

    A point halfway between two frames takes the earlier one; a frame nearest to several points is
    taken once. No grid is built, so that any rate costs the same.

    Args:
        times_s: presentation times, ascending, shape (n,), n >= 1.
        rate: points per second.

    >>> nearest_to_grid(np.array([0.0, 0.4, 0.9, 1.6, 2.0]), 1.0).tolist()
    [0, 2, 4]
    """
    since_s = times_s - times_s[0]
    ends_s = np.append((since_s[:-1] + since_s[1:]) / 2, since_s[-1])
    last_points = np.floor(ends_s * rate + ROUNDING)
    return np.flatnonzero(np.diff(last_points, prepend=-1.0) > 0).astype(np.int64)


# From presentation times in seconds, shape (n,), and frames per second to positions.
_Rule = Callable[[NDArray[np.float64], float], Positions]

_NAMED: dict[str, _Rule] = {
    "herbench-2fps": lambda times_s, fps: herbench_blip_2fps(len(times_s), fps),
    "aks-1fps": lambda times_s, fps: aks_1fps(len(times_s), fps),
    "bolt-1fps": lambda times_s, fps: bolt(len(times_s), fps, rate=1),
    "all": lambda times_s, fps: np.arange(len(times_s), dtype=np.int64),
}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A rule for candidates.

    If a question has several media, the rule applies to each. A medium for which the rule gives nothing (it
    is shorter than one step) gives its first frame, where the released code gives none.
    """

    rule: _Rule

    def positions(self, clip: Clip) -> Positions:
        """Return positions in `clip`, ascending, shape (n_candidates,); BOLT's rule may repeat one.

        Raises:
            UsageError: the rule cannot take this frame rate.
        """
        if not clip.n_frames:
            return np.empty(0, np.int64)
        starts = np.flatnonzero(np.diff(clip.media_indices, prepend=-1))
        ends = np.append(starts[1:], clip.n_frames)
        parts = [
            a + self._of_medium(clip.times_s[a:b], clip.fps if len(starts) == 1 else 0.0)
            for a, b in zip(starts, ends, strict=True)
        ]
        return np.concatenate(parts).astype(np.int64)

    def _of_medium(self, times_s: NDArray[np.float64], fps: float) -> Positions:
        lasting_s = float(times_s[-1] - times_s[0])
        if lasting_s <= 0:
            return np.zeros(1, np.int64)
        values = self.rule(times_s, fps if fps > 0 else (len(times_s) - 1) / lasting_s)
        return values if len(values) else np.zeros(1, np.int64)


def grid(text: str) -> Grid:
    """Return the rule of that name.

    Raises:
        UsageError: there is none; the message lists them.
    """
    if text in _NAMED:
        return Grid(rule=_NAMED[text])
    kind, _, number = text.partition(":")
    try:
        if kind == "fps" and 0 < (rate := float(number)) < np.inf:
            return Grid(rule=lambda times_s, fps: nearest_to_grid(times_s, rate))
        if kind == "uniform" and (n := int(number)) > 0:
            return Grid(rule=lambda times_s, fps: strided(len(times_s), n))
    except ValueError:
        pass
    raise UsageError(
        f"the grid {text!r} is not known; expected one of {', '.join(_NAMED)}, fps:X or uniform:N, with X "
        "and N above 0"
    )
