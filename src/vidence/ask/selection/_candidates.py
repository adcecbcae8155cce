"""The frames that learned selectors look at before they choose: about so many per second.

Each rule gives positions of shape (n,) in the order of time, as the released code of its paper does,
rounding included. `fps` is the frame rate in frames per second.
"""

import numpy as np
from numpy.typing import NDArray

from vidence.errors import UsageError


def _check(n_total: int, fps: float) -> None:
    if n_total < 0 or not 0 < fps < np.inf:
        raise UsageError(
            f"{n_total} frames at {fps} frames per second; expected a count of 0 or more and a positive rate"
        )


def aks_1fps(n_total: int, fps: float) -> NDArray[np.int64]:
    """Every int(fps)-th frame, whole strides only: slightly more than one per second.

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
    """The frames nearest to i / rate seconds; a video slower than `rate` repeats frames.

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
    """Every int(fps / 2)-th frame, and every frame of a video of 2 frames per second or less.

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
